/* SPDX-License-Identifier: MIT */
/* The words that may come first, and --help; see cli.h. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

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

/* The lines of a help text, one below the other. */
static void print_row(int column, const char *left, const char *help)
{
	g_auto(GStrv) lines = g_strsplit(help, "\n", -1);

	for (char **line = lines; *line; line++)
		printf("  %-*s %s\n", column, line == lines ? left : "", *line);
}

void help_print(const struct command *command)
{
	int column = command->help_column ? command->help_column : 23;

	printf("Usage: whylate %s %s\n\n%s\n\nOptions:\n", command->name, command->usage,
	       command->summary);
	for (const struct option *const *at = command->options; *at; at++) {
		g_autofree char *left = g_strconcat("--", (*at)->name, (*at)->argument ? " " : NULL,
						    (*at)->argument, NULL);

		print_row(column, left, (*at)->help);
	}
	if (command_has_schema(command))
		print_row(column, "--json-schema",
			  "print the JSON Schema of this command's output");
	print_row(column, "--help", "print this help");
	print_row(column, "--version", "print the version");
	if (command->help_end)
		command->help_end();
	printf("\nThe manual page whylate-%s(1) says more.\n",
	       command->manual ? command->manual : command->name);
}

static void print_brief(const struct command *command)
{
	const char *brief = command->brief ? command->brief : command->summary;

	printf("  %-10s %.*s\n", command->name, (int) strcspn(brief, "\n"), brief);
}

void help_print_words(void)
{
	printf("Usage: whylate [COMMAND] [OPTIONS] TRACE...\n\n"
	       "Says why something was late, from a recorded LTTng kernel trace.\n"
	       "TRACE is a directory that LTTng wrote. Without a COMMAND: overview.\n\n"
	       "Commands:\n");
	for (size_t i = 0; commands[i]; i++)
		print_brief(commands[i]);
	for (size_t i = 0; recording[i]; i++)
		print_brief(recording[i]);
	printf("\n'whylate COMMAND --help' lists a command's options.\n");
}
