/* SPDX-License-Identifier: MIT */
/* What the commands' table says, for what is made of it while building; not installed.
 *
 *   describe options COMMAND   a line for each option: name, tab, argument   ─► man/page.awk
 *   describe completion        the tables of share/completion/whylate        ─► the same file
 *   describe checked           a line for each command that `check` is about ─► its schema
 */
#include <stdio.h>
#include <string.h>

#include "cli/record_options.h"
#include "commands/commands.h"
#include "rules/rule_text.h"
#include "waits/causes.h"

/* What all commands have, beside their rows. */
static const struct option json_schema = {"json-schema", .help = ""}, help = {"help", .help = ""},
			   version = {"version", .help = ""};

typedef void option_visit(const struct command *command, const struct option *option, void *data);

static void each_option(const struct command *command, option_visit *visit, void *data)
{
	for (const struct option *const *at = command->options; *at; at++)
		visit(command, *at, data);
	if (command_has_schema(command))
		visit(command, &json_schema, data);
	visit(command, &help, data);
	visit(command, &version, data);
}

/* Those that read traces, then those that record; NULL: no more. */
static const struct command *nth_command(size_t number)
{
	static const struct command *const recording[] = {&record_command, &snapshot_command, NULL};
	size_t count = 0;

	while (commands[count])
		count++;
	if (number < count)
		return commands[number];
	return number < count + G_N_ELEMENTS(recording) ? recording[number - count] : NULL;
}

static void print_row(const struct command *command, const struct option *option, void *data)
{
	(void) command;
	(void) data;
	printf("%s\t%s\n", option->name, option->argument ? option->argument : "");
}

static void print_name(const struct command *command, const struct option *option, void *first)
{
	(void) command;
	printf("%s--%s", *(bool *) first ? "" : " ", option->name);
	*(bool *) first = false;
}

static void add_words(GString *text, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		g_string_append_printf(text, "%s%s", i ? " " : "", words[i]);
}

/* How bash completes an option's value. */
static char *completion_of(const struct command *command, const struct option *option)
{
	g_autoptr(GString) words = g_string_new(NULL);
	const char *files = "";

	if (strcmp(option->name, "operation") == 0)
		return g_strdup("_whylate_patterns \"$2\" ");
	if (strcmp(option->name, "what-if") == 0)
		return g_strdup("_whylate_rule \"$2\" ");
	if (g_str_has_prefix(option->argument, "DIR["))
		return g_strdup("_whylate_search_path \"$2\" ");
	if (strcmp(option->argument, "FILE") == 0 || strcmp(option->argument, "DIR") == 0 ||
	    strcmp(option->argument, "WHERE") == 0)
		files = "_whylate_files \"$2\" ";
	if (option->words)
		add_words(words, option->words);
	for (int i = 0; strcmp(option->name, "format") == 0 && i < FORMAT_COUNT; i++)
		if (command->writers[i])
			g_string_append_printf(words, "%s%s", words->len ? " " : "",
					       format_name((enum format) i));
	if (!words->len)
		return g_strdup(files);
	return g_strdup_printf("_whylate_words '%s' \"$2\"%s%s", words->str, *files ? "; " : " ",
			       files);
}

static void print_value(const struct command *command, const struct option *option, void *data)
{
	g_autofree char *text = option->argument ? completion_of(command, option) : NULL;

	(void) data;
	if (text)
		printf("\t'%s --%s') %s;;\n", command->name, option->name, text);
}

/* What may stand in a rule of --what-if: names of selectors, kinds of causes. */
static void print_rules(void)
{
	g_autoptr(GString) selectors = g_string_new(NULL);

	add_words(selectors, rule_selectors());
	printf("_whylate_selectors='%s'\n_whylate_causes='", selectors->str);
	for (int i = 0; i < CAUSE_KIND_COUNT; i++)
		printf("%s%s", i ? " " : "", cause_kind_text((enum cause_kind) i));
	printf("'\n");
}

static void print_completion(void)
{
	g_autoptr(GString) kinds = g_string_new(NULL);

	printf("_whylate_commands='");
	for (size_t i = 0; nth_command(i); i++)
		printf("%s%s", i ? " " : "", nth_command(i)->name);
	printf("'\n");
	for (size_t i = 0; nth_command(i); i++) {
		bool first = true;

		printf("_whylate_options_%s='", nth_command(i)->name);
		each_option(nth_command(i), print_name, &first);
		printf("'\n");
	}
	print_rules();
	add_words(kinds, command_option(&profile_command, "operation")->words);
	printf("# Kinds of operations; what follows the colon is the trace's.\n"
	       "_whylate_operations='%s'\n\n"
	       "# Fills COMPREPLY for the value $2 of option $1 of command $3; fails if $1 takes "
	       "none.\n"
	       "_whylate_value()\n{\n\tcase \"${3:-overview} $1\" in\n",
	       kinds->str);
	for (size_t i = 0; nth_command(i); i++)
		each_option(nth_command(i), print_value, NULL);
	printf("\t*) return 1 ;;\n\tesac\n\treturn 0\n}\n");
}

static void print_checked(void)
{
	for (size_t i = 0; commands[i]; i++)
		if (command_needs_any(commands[i]))
			puts(commands[i]->name);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "completion") == 0) {
		print_completion();
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "checked") == 0) {
		print_checked();
		return 0;
	}
	for (size_t i = 0; argc == 3 && strcmp(argv[1], "options") == 0 && nth_command(i); i++)
		if (strcmp(nth_command(i)->name, argv[2]) == 0) {
			each_option(nth_command(i), print_row, NULL);
			return 0;
		}
	fprintf(stderr, "usage: describe options COMMAND | completion | checked\n");
	return 2;
}
