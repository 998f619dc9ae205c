/* SPDX-License-Identifier: MIT */
/* The command line: from words to struct options, by the command's rows; see cli.h. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "config.h"
#include "run/command.h"
#include "schemas.h"
#include "report/report.h"
#include "util/error.h"

static int usage_error(char **heard, const char *format, ...) G_GNUC_PRINTF(2, 3);
static int usage_error(char **heard, const char *format, ...)
{
	g_autofree char *message = NULL;
	va_list list;

	va_start(list, format);
	message = g_strdup_vprintf(format, list);
	va_end(list);
	tell(heard, message);
	return WHYLATE_ERROR_USAGE;
}

const char *schema_at(size_t number, const char **text)
{
	if (number >= G_N_ELEMENTS(schemas))
		return NULL;
	*text = schemas[number].text;
	return schemas[number].command;
}

static void print_schema(const struct options *options)
{
	const char *wanted = options->self ? "self" : options->command->name;

	for (size_t i = 0; i < G_N_ELEMENTS(schemas); i++)
		if (strcmp(schemas[i].command, wanted) == 0)
			fputs(schemas[i].text, stdout);
}

/* The command's option of that name; another's, to know whether a value follows. */
static const struct option *option_find(const struct command *command, const char *name)
{
	const struct option *option = command_option(command, name);

	for (size_t i = 0; !option && commands[i]; i++)
		option = command_option(commands[i], name);
	return option;
}

int arguments_first_word(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		const char *word = argv[i], *equals = strchr(word, '=');
		g_autofree char *name = NULL;
		const struct option *option;

		if (word[0] != '-' || !word[1])
			return i;
		if (word[1] != '-' || !word[2])
			return -1;
		name = equals ? g_strndup(word + 2, (gsize) (equals - word - 2))
			      : g_strdup(word + 2);
		option = option_find(&overview_command, name);
		if (!option)
			return -1;
		i += option->argument && !equals;
	}
	return -1;
}

/* One option at argv[*at]; its value may be the next word. */
static int parse_option(int argc, char **argv, int *at, struct options *options, char **heard)
{
	const char *word = argv[*at] + 2, *equals = strchr(word, '='), *value = "";
	g_autofree char *name = equals ? g_strndup(word, (gsize) (equals - word)) : g_strdup(word);
	const struct command *command = options->command;
	const struct option *option = option_find(command, name);
	g_autoptr(GError) error = NULL;

	if (equals && (strcmp(name, "help") == 0 || strcmp(name, "version") == 0 ||
		       strcmp(name, "json-schema") == 0))
		return usage_error(heard, "--%s takes no value", name);
	if (strcmp(name, "help") == 0) {
		help_print(command);
		return 0;
	}
	if (strcmp(name, "version") == 0) {
		printf("whylate %s\n", PACKAGE_VERSION);
		return 0;
	}
	if (strcmp(name, "json-schema") == 0 && command_has_schema(command)) {
		print_schema(options);
		return 0;
	}
	if (option && equals)
		value = equals + 1;
	else if (option && option->argument && *at + 1 < argc)
		value = argv[++*at];
	else if (option && option->argument)
		return usage_error(heard, "--%s needs a value: --%s %s", name, name,
				   option->argument);
	if (!options_set(options, name, value, &error))
		return tell_error(heard, error);
	return -1;
}

/* What was given together: paths or words of the command. */
static int check_all(struct options *options, GPtrArray *paths, char **heard)
{
	const struct command *command = options->command;
	g_autoptr(GError) error = NULL;

	if (command->tell) {
		struct output output;
		FILE *plain;
		bool told;

		help_begin(&output, &plain);
		told = command->tell(paths, output.file);
		help_finish(&output, plain);
		if (told)
			return 0;
	}
	if (command->take_words && !command->take_words(options, paths, &error))
		return tell_error(heard, error);
	g_free(options->trace);
	options->trace = paths->len ? suggested_trace(paths) : NULL;
	if (!options_check(options, &error))
		return tell_error(heard, error);
	if (!paths->len && !options->standard_input && !options->self)
		return usage_error(heard, "no trace given: name the directory that LTTng wrote");
	return -1;
}

int arguments_parse(int argc, char **argv, struct options *options, GPtrArray *paths, char **heard)
{
	bool only_paths = false;

	for (int i = 0; i < argc; i++) {
		int status;

		if (!only_paths && strcmp(argv[i], "--") == 0) {
			only_paths = true;
		} else if (!only_paths && g_str_has_prefix(argv[i], "--")) {
			status = parse_option(argc, argv, &i, options, heard);
			if (status >= 0)
				return status;
		} else if (!only_paths && strcmp(argv[i], "-h") == 0) {
			help_print(options->command);
			return 0;
		} else if (!only_paths && argv[i][0] == '-' && argv[i][1]) {
			return usage_error(heard, "unknown option '%s' (see whylate %s --help)",
					   argv[i], options->command->name);
		} else {
			g_ptr_array_add(paths, argv[i]);
		}
	}
	return check_all(options, paths, heard);
}
