/* SPDX-License-Identifier: MIT */
/* The words that may come first, and --help; see cli.h. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "util/pattern.h"

/* Those that read no trace. */
static const struct command *const recording[] = {&record_command, &snapshot_command, NULL};

const struct command *word_find(const char *word)
{
	const struct command *command = command_find(commands, word);

	return command ? command : command_find(recording, word);
}

char *word_nearest(const char *word)
{
	struct nearest nearest = {.wanted = word};

	for (const struct command *const *at = commands; *at; at++)
		nearest_offer(&nearest, (*at)->name);
	for (const struct command *const *at = recording; *at; at++)
		nearest_offer(&nearest, (*at)->name);
	return nearest_words(&nearest, "; did you mean ");
}

/* --- what --help prints ---------------------------------------------------------------------- */

void help_begin(struct output *output, FILE **plain)
{
	output_open(output, NULL, NULL);
	*plain = text_dress(output, false, false);
}

void help_finish(struct output *output, FILE *plain)
{
	if (plain)
		text_undress(output, plain);
	output_clear(output);
}

void help_print(const struct command *command)
{
	int column = command->help_column ? command->help_column : 23;
	g_auto(GStrv) summary = g_strsplit(command->summary, "\n", -1);
	g_autofree char *usage =
		g_strdup_printf("Usage: whylate %s %s", command->name, command->usage);
	g_autofree char *more = g_strdup_printf("The manual page whylate-%s(1) says more.",
						command->manual ? command->manual : command->name);
	struct output output;
	FILE *plain;

	help_begin(&output, &plain);
	text_wrapped(&output, usage, 0, 7);
	fputc('\n', output.file);
	for (char **line = summary; *line; line++)
		text_wrapped(&output, *line, 0, 0);
	fputs("\nOptions:\n", output.file);
	for (const struct option *const *at = command->options; *at; at++) {
		const char *argument = (*at)->argument;
		g_autofree char *left =
			g_strconcat("--", (*at)->name, !argument || *argument == '[' ? "" : " ",
				    argument, NULL);

		text_described(&output, column, left, (*at)->help);
	}
	if (command_has_schema(command))
		text_described(&output, column, "--json-schema",
			       "print the JSON Schema of this command's output");
	text_described(&output, column, "--help", "print this help");
	text_described(&output, column, "--version", "print the version");
	if (command->help_end)
		command->help_end(&output);
	fputc('\n', output.file);
	text_wrapped(&output, more, 0, 0);
	help_finish(&output, plain);
}

static void print_brief(struct output *output, const struct command *command)
{
	const char *brief = command->brief ? command->brief : command->summary;
	g_autofree char *line = g_strndup(brief, strcspn(brief, "\n"));

	text_described(output, 10, command->name, line);
}

void help_print_words(void)
{
	struct output output;
	FILE *plain;

	help_begin(&output, &plain);
	text_wrapped(&output, "Usage: whylate [COMMAND] [OPTIONS] TRACE...", 0, 7);
	fputc('\n', output.file);
	text_wrapped(&output,
		     "Says why something was late, from a kernel trace that LTTng, ftrace or perf "
		     "recorded.",
		     0, 0);
	text_wrapped(&output,
		     "TRACE is a directory that LTTng wrote, a trace.dat or a perf.data. Without a "
		     "COMMAND: overview.",
		     0, 0);
	fputs("\nCommands:\n", output.file);
	for (size_t i = 0; commands[i]; i++)
		print_brief(&output, commands[i]);
	for (size_t i = 0; recording[i]; i++)
		print_brief(&output, recording[i]);
	fputc('\n', output.file);
	text_wrapped(&output, "'whylate COMMAND --help' lists a command's options.", 0, 0);
	help_finish(&output, plain);
}
