/* SPDX-License-Identifier: MIT */
/* Recording from beginning to end, and a flight recorder's snapshot.
 *
 *   ready? ─► session made, started ─► program, Ctrl-C or time ─► stopped, destroyed ─► told
 *     └──────────── failed or interrupted: nothing of ours is left ────────────┘
 *
 * Place: record/, on top of plan.h (what) and lttng.h (with what). Uses no trace.
 */
#ifndef WHYLATE_RECORD_RECORD_H
#define WHYLATE_RECORD_RECORD_H

#include "record/plan.h"

/* Shows the lines that would be run, on standard output. */
void record_show(const struct recording *recording);

/* Records. Returns the program's status (128 + its signal), 0 without one; -1 and `error`
 * (WHYLATE_ERROR_RECORD) if recording failed. Ends the process by the signal if it was
 * interrupted before it recorded. `self`: this program, for --analyse. */
int record_run(const struct recording *recording, const char *self, GError **error);

/* Writes the rings of `session` out (NULL: of the newest one that record --snapshot made);
 * `written`: the directory, free with g_free(). */
/* … `settings`: of the system, beside it. */
bool record_snapshot(const char *session, bool settings, bool dry_run, char **written,
		     GError **error);

#endif
