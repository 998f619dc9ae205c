/* SPDX-License-Identifier: MIT */
/* The command line: from the table of options to struct options, and --help;
 * see cli.h.
 */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "findings/findings.h"
#include "config.h"
#include "schemas.h"

static const struct {
	enum command command;
	const char *usage, *summary;
} commands[] = {
	{COMMAND_OVERVIEW, "whylate overview [OPTIONS] TRACE...",
	 "What is in this trace, who waited most and for what."},
	{COMMAND_DELAY, "whylate delay [OPTIONS] TRACE...",
	 "Why was the target not reached sooner?\n"
	 "Verdict, lineage, state summary and instances, blocking causality, critical path."},
	{COMMAND_PROFILE, "whylate profile [OPTIONS] TRACE...",
	 "How long do operations take, and what makes the slow ones slow?\n"
	 "Latency profiles, their peaks, and the root causes of each peak."},
	{COMMAND_CHECK, "whylate check [OPTIONS] TRACE...",
	 "What has this trace, and what does it lack for each command?\n"
	 "Names the events, contexts and buffers to record it with."},
	{COMMAND_REQUESTS, "whylate requests [OPTIONS] TRACE...",
	 "Which requests were there, what did each cost, and why?\n"
	 "Follows them from thread to thread by what was read and written."},
	{COMMAND_DIFF, "whylate diff [OPTIONS] TRACE [TRACE]",
	 "What differs between two requests, groups of them, windows or traces?\n"
	 "Ranks causes, steps and system calls by what they add to the difference."},
	{COMMAND_FUNCTIONS, "whylate functions [OPTIONS] TRACE...",
	 "Where does time go along the calls, on both sides of the kernel boundary?\n"
	 "Walks down from the outermost function into the kernel, and to what it waits for."},
	{COMMAND_EXPORT, "whylate export [OPTIONS] --as FORMAT TRACE...",
	 "Writes threads, states, calls and wake-ups in other tools' formats.\n"
	 "For Perfetto, flame graphs, speedscope, pprof, SQL; or cuts the trace."},
	{COMMAND_EXPLAIN, "whylate explain [OPTIONS] ID TRACE...",
	 "Shows one finding of a report, by its id, in full.\n"
	 "What it is, where it is seen best, and why it took so long there."},
	{COMMAND_BATCH, "whylate batch [OPTIONS] DIR...",
	 "Analyses all traces below directories, and adds them up.\n"
	 "One JSON line each, in parallel; goes on past those that cannot be read."},
};

/* The lines of a help text, one below the other. */
static void print_help_line(const char *left, const char *help)
{
	g_auto(GStrv) lines = g_strsplit(help, "\n", -1);

	for (char **line = lines; *line; line++)
		printf("  %-23s %s\n", line == lines ? left : "", *line);
}

static void print_options(unsigned command)
{
	for (const struct option_spec *spec = option_specs; spec->name; spec++) {
		g_autofree char *left = NULL;

		if (!(spec->commands & command))
			continue;
		left = spec->argument ? g_strdup_printf("--%s %s", spec->name, spec->argument)
				      : g_strdup_printf("--%s", spec->name);
		print_help_line(left, spec->help);
	}
	if (!(command & 1u << COMMAND_EXPORT)) /* its formats are others' */
		print_help_line("--json-schema", "print the JSON Schema of this command's output");
	print_help_line("--help", "print this help");
	print_help_line("--version", "print the version");
}

void help_print(const char *command)
{
	for (size_t i = 0; command && i < G_N_ELEMENTS(commands); i++)
		if (strcmp(command, command_name(commands[i].command)) == 0) {
			printf("Usage: %s\n\n%s\n\nOptions:\n", commands[i].usage,
			       commands[i].summary);
			print_options(1u << commands[i].command);
			printf("\nThe manual page whylate-%s(1) says more.\n", command);
			return;
		}
	printf("Usage: whylate [COMMAND] [OPTIONS] TRACE...\n\n"
	       "Says why something was late, from a recorded LTTng kernel trace.\n"
	       "TRACE is a directory that LTTng wrote. Without a COMMAND: overview.\n\n"
	       "Commands:\n");
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		printf("  %-10s %.*s\n", command_name(commands[i].command),
		       (int) strcspn(commands[i].summary, "\n"), commands[i].summary);
	printf("  record     Records with LTTng what they need: whylate record -- PROGRAM\n"
	       "  snapshot   Writes a flight recorder's memory out.\n");
	printf("\n'whylate COMMAND --help' lists a command's options.\n");
}

static int usage_error(const char *message)
{
	tell(message);
	return 2;
}

/* One option at argv[*at]; its value may be the next word. */
static int parse_option(int argc, char **argv, int *at, struct options *options)
{
	const char *word = argv[*at] + 2, *equals = strchr(word, '='), *value;
	g_autofree char *name = equals ? g_strndup(word, (gsize) (equals - word)) : g_strdup(word);
	const struct option_spec *spec = option_find(name);
	g_autofree char *message = NULL;
	g_autoptr(GError) error = NULL;

	if (equals && (strcmp(name, "help") == 0 || strcmp(name, "version") == 0 ||
		       strcmp(name, "json-schema") == 0)) {
		message = g_strdup_printf("--%s takes no value", name);
		return usage_error(message);
	}
	if (strcmp(name, "help") == 0) {
		help_print(command_name(options->command));
		return 0;
	}
	if (strcmp(name, "version") == 0) {
		printf("whylate %s\n", PACKAGE_VERSION);
		return 0;
	}
	if (strcmp(name, "json-schema") == 0 && options->command != COMMAND_EXPORT) {
		static const char *const schemas[] = {
			[COMMAND_OVERVIEW] = schema_overview,   [COMMAND_DELAY] = schema_delay,
			[COMMAND_PROFILE] = schema_profile,     [COMMAND_CHECK] = schema_check,
			[COMMAND_REQUESTS] = schema_requests,   [COMMAND_DIFF] = schema_diff,
			[COMMAND_FUNCTIONS] = schema_functions, [COMMAND_EXPLAIN] = schema_explain,
			[COMMAND_BATCH] = schema_batch};

		fputs(schemas[options->command], stdout);
		return 0;
	}
	if (spec && !spec->argument && equals)
		value = equals + 1;
	else if (!spec || !spec->argument)
		value = "";
	else if (equals)
		value = equals + 1;
	else if (*at + 1 < argc)
		value = argv[++*at];
	else {
		message =
			g_strdup_printf("--%s needs a value: --%s %s", name, name, spec->argument);
		return usage_error(message);
	}
	if (!options_set(options, name, value, &error))
		return usage_error(error->message);
	return -1;
}

int arguments_parse(int argc, char **argv, struct options *options, GPtrArray *paths)
{
	g_autoptr(GError) error = NULL;
	bool only_paths = false;

	for (int i = 0; i < argc; i++) {
		g_autofree char *message = NULL;
		int status;

		if (!only_paths && strcmp(argv[i], "--") == 0) {
			only_paths = true;
		} else if (!only_paths && g_str_has_prefix(argv[i], "--")) {
			status = parse_option(argc, argv, &i, options);
			if (status >= 0)
				return status;
		} else if (!only_paths && strcmp(argv[i], "-h") == 0) {
			help_print(command_name(options->command));
			return 0;
		} else if (!only_paths && argv[i][0] == '-' && argv[i][1]) {
			message = g_strdup_printf("unknown option '%s' (see whylate %s --help)",
						  argv[i], command_name(options->command));
			return usage_error(message);
		} else {
			g_ptr_array_add(paths, argv[i]);
		}
	}
	if (options->command == COMMAND_EXPLAIN && paths->len && finding_is_id(paths->pdata[0]))
		options->finding = g_ptr_array_remove_index(paths, 0);
	else if (options->command == COMMAND_EXPLAIN)
		return usage_error("explain: the id of a finding comes first, as reports list them "
				   "(such as w-k3f7qa)");
	if (!options_check(options, &error))
		return usage_error(error->message);
	if (!paths->len && (options->batch.map || options->batch.merge))
		return -1; /* standard input */
	if (!paths->len)
		return usage_error("no trace given: name the directory that LTTng wrote");
	return -1;
}
