/* SPDX-License-Identifier: MIT */
/* whylate: from the command line to the exit status; see cli.h.
 *
 * 0 done · 1 a limit is exceeded · 2 wrong usage · 3 no trace · 4 damaged input (or lost events
 * with --strict) · 5 output not written. Source: interface.md, "Exit status".
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "util/error.h"

static int refuse(int status, const char *format, const char *word) G_GNUC_PRINTF(2, 0);
static int refuse(int status, const char *format, const char *word)
{
	g_autofree char *message = g_strdup_printf(format, word);

	tell(NULL, message);
	return status;
}

/* What is no command: "dealy" may be one with a slip. */
static int refuse_word(int status, const char *what, const char *word)
{
	g_autofree char *near = word_nearest(word), *message = NULL;

	message = g_strdup_printf("%s%s; whylate --help lists the commands", what, near);
	return refuse(status, message, word);
}

static int help(const char *word)
{
	const struct command *command = word ? word_find(word) : NULL;

	if (word && !command)
		return refuse_word(WHYLATE_ERROR_USAGE, "there is no command '%s'", word);
	if (command)
		help_print(command);
	else
		help_print_words();
	return 0;
}

/* All that are not just a trace read and reported. */
static const struct {
	const struct command *command;
	int (*run)(int argc, char **argv);
} programs[] = {{&batch_command, batch_run},
		{&serve_command, serve_run},
		{&record_command, record_command_run},
		{&snapshot_command, snapshot_command_run}};

static int analyse(const struct command *command, int argc, char **argv)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new();
	struct options options;
	int status;

	for (size_t i = 0; i < G_N_ELEMENTS(programs); i++)
		if (programs[i].command == command)
			return programs[i].run(argc, argv);
	command_options(&options, command);
	status = arguments_parse(argc, argv, &options, paths, NULL);
	if (status < 0)
		status = options.self ? self_run(&options) : run(&options, paths, NULL);
	options_clear(&options);
	return status;
}

/* Options before the command: it is found behind them, if no trace is called so, and moved to the
 * front. NULL: there is none. */
static const struct command *command_behind(int argc, char **argv)
{
	int at = arguments_first_word(argc - 1, argv + 1) + 1;
	const struct command *command = at > 0 ? word_find(argv[at]) : NULL;
	char *word = argv[at];

	if (!command || access(word, F_OK) == 0)
		return NULL;
	memmove(argv + 2, argv + 1, (size_t) (at - 1) * sizeof *argv);
	argv[1] = word;
	return command;
}

static int whylate(int argc, char **argv)
{
	g_autofree char *program = g_path_get_basename(argc ? argv[0] : "");
	const struct command *command;

	if (g_str_has_prefix(program, "whylate-lami-"))
		return lami_command(program + strlen("whylate-lami-"), argc - 1, argv + 1);
	if (argc < 2) {
		tell(NULL, "no trace given: whylate TRACE shows what is in one; whylate --help "
			   "lists the commands");
		return WHYLATE_ERROR_USAGE;
	}
	if (strcmp(argv[1], "help") == 0)
		return help(argc > 2 ? argv[2] : NULL);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help(NULL);
	command = word_find(argv[1]);
	if (!command && argv[1][0] == '-')
		command = command_behind(argc, argv);
	if (command)
		return analyse(command, argc - 2, argv + 2);
	if (argv[1][0] != '-' && access(argv[1], F_OK) != 0 && errno != EACCES)
		return refuse_word(strchr(argv[1], '/') ? WHYLATE_ERROR_NO_TRACE
							: WHYLATE_ERROR_USAGE,
				   "'%s' is neither a command nor a trace", argv[1]);
	return analyse(&overview_command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	process_begin();
	return process_end(whylate(argc, argv));
}
