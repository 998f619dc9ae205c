/* SPDX-License-Identifier: MIT */
/* Whether a trace can bear an answer: what is refused, and what is given with a caution that
 * stands first.
 *
 * Place: coverage/. What a command cannot do without is in its struct command_needs. A caution
 * is for what may make the first answer wrong, not for every gap: those are in the coverage.
 */
#ifndef WHYLATE_COVERAGE_BEARING_H
#define WHYLATE_COVERAGE_BEARING_H

#include "run/session.h"

/* False, with an error (WHYLATE_ERROR_DAMAGE) that says what is missing and how it is recorded:
 * the command has no answer from this trace, and --force was not given. */
bool trace_bears_answer(const struct session *session, GError **error);
/* The same of any command, without --force. */
bool trace_bears_command(const struct session *session, const struct command *command);
/* What may make the first answer wrong, a sentence; NULL: nothing. Free with g_free(). */
char *answer_caution(const struct session *session);

#endif
