/* SPDX-License-Identifier: MIT */
/* All commands that read traces, and how one is carried out: by the command line and by the
 * component classes.
 *
 * Place: commands/, above the questions' rooms, which know nothing of each other.
 */
#ifndef WHYLATE_COMMANDS_COMMANDS_H
#define WHYLATE_COMMANDS_COMMANDS_H

#include "run/command.h"

/* The one list of them, as --help has it. COMMAND: also a component class, whose description and
 * manual page follow; COMMAND_ONLY: none. */
#define COMMANDS(COMMAND, COMMAND_ONLY)                                                            \
	COMMAND(overview, "Say what is in a kernel trace, and who waited for what.",               \
		"whylate-overview(1)")                                                             \
	COMMAND(delay, "Say why a target event was not reached sooner.",                           \
		"babeltrace2-sink.whylate.delay(7)")                                               \
	COMMAND(profile, "Profile latencies, find their peaks and root causes.",                   \
		"babeltrace2-sink.whylate.profile(7)")                                             \
	COMMAND(check, "Say what a kernel trace has and lacks for each analysis.",                 \
		"whylate-check(1)")                                                                \
	COMMAND(requests, "Find the requests in a kernel trace, what each cost, and why.",         \
		"whylate-requests(1)")                                                             \
	COMMAND(diff,                                                                              \
		"Say what differs between two groups of requests or two windows of a kernel "      \
		"trace.",                                                                          \
		"whylate-diff(1)")                                                                 \
	COMMAND(functions,                                                                         \
		"Say where time goes along the calls of threads, in user space and in the "        \
		"kernel.",                                                                         \
		"whylate-functions(1)")                                                            \
	COMMAND(export, "Write threads, states, calls and wake-ups in other tools' formats.",      \
		"babeltrace2-sink.whylate.export(7)")                                              \
	COMMAND_ONLY(explain)                                                                      \
	COMMAND_ONLY(batch)                                                                        \
	COMMAND_ONLY(serve)

#define COMMAND_DECLARE(name, ...) extern const struct command name##_command;
COMMANDS(COMMAND_DECLARE, COMMAND_DECLARE)
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
