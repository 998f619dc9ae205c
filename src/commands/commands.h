/* SPDX-License-Identifier: MIT */
/* All commands that read traces, and how one is carried out: by the command line and by the
 * component classes.
 *
 * Place: commands/, above the questions' rooms, which know nothing of each other.
 */
#ifndef WHYLATE_COMMANDS_COMMANDS_H
#define WHYLATE_COMMANDS_COMMANDS_H

#include "run/command.h"

/* The one list of them, as --help has it. */
#define COMMANDS(COMMAND)                                                                          \
	COMMAND(overview)                                                                          \
	COMMAND(delay)                                                                             \
	COMMAND(profile)                                                                           \
	COMMAND(check)                                                                             \
	COMMAND(requests)                                                                          \
	COMMAND(diff)                                                                              \
	COMMAND(functions)                                                                         \
	COMMAND(export)                                                                            \
	COMMAND(explain)                                                                           \
	COMMAND(batch)

#define COMMAND_DECLARE(name) extern const struct command name##_command;
COMMANDS(COMMAND_DECLARE)
#undef COMMAND_DECLARE

extern const struct command *const commands[]; /* ends with NULL */

/* Options with the command's defaults. */
void command_options(struct options *options, const struct command *command);

/* Writes the report that the session's options ask for. False without an error: interrupted. */
bool report_write(const struct session *session, GError **error);
/* The same to what is open already. */
bool report_write_to(const struct session *session, struct output *output, GError **error);
/* All has been read: finishes the session and writes the report, or with --every the
 * last of them. */
bool report_end(struct session *session, GError **error);

#endif
