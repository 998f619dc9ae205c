/* SPDX-License-Identifier: MIT */
/* One report after the other while the trace goes on (--every; stretches.h).
 *
 * A report ends all lives, moves clocks and adds waits to the operations: it is made
 * in a child process, from the state as fork() copies it, by the same code that
 * reports a whole trace. The parent waits for it and reads on. So a report is that
 * of a recording which ended there, and no analysis has to leave anything as it was.
 *
 * All reports go to the same output, each whole before the next event is read:
 *   text   a line that says from when to when, then the report
 *   JSON   one object a line (JSON Lines)
 *   CSV    one head, then the rows of all
 * A file begins empty and grows; it cannot appear whole, as other reports do.
 *
 * Place: commands/; called by the command and by the component classes.
 */
#ifndef WHYLATE_COMMANDS_PERIODIC_H
#define WHYLATE_COMMANDS_PERIODIC_H

#include <glib.h>
#include <stdbool.h>

struct session;

/* To be called before the first event. Opens the output if the options want reports
 * while the trace goes on, else does nothing. Errors are WHYLATE_ERROR_OUTPUT. */
bool periodic_begin(struct session *session, GError **error);
/* Closes it. To be called before session_free(). */
void periodic_end(struct session *session);

#endif
