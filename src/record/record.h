/* SPDX-License-Identifier: MIT */
/* Recording from beginning to end, and a flight recorder's snapshot.
 *
 *   ready? ─► session made, started ─► program, Ctrl-C or time ─► stopped, destroyed ─► told
 *     └──────────── failed or interrupted: nothing of ours is left ────────────┘
 *
 * Place: record/, on top of tracer.h (with what) and plan.h (what). Uses no trace.
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

/* Removes what recordings left that were killed, and tells what; false: some of it is stuck. */
bool record_cleanup(void);

/* What a recording came to. */
struct record_end {
	pid_t program; /* 0: none */
	bool ended;    /* the program did, while it was recorded */
	int status;    /* … the program's, as record_run() has it */
	int signal;    /* that somebody sent meanwhile; 0: none */
	int late;      /* … while the recording ended */
};

/* Records, and says nothing of what to do next. SIGINT and the like must be blocked: they are taken
 * here. False and `error`: nothing was recorded; of an interruption (`signal`) there is none. */
bool record_once(const struct recording *recording, struct record_end *recorded, GError **error);
/* Blocks them; unblocks them. */
void record_take_signals(void);
void record_leave_signals(void);
/* One that came since: 0, or which. Waits up to so many ns for one. */
int record_interrupted(int64_t ns);
/* In a child of ours: signals as anybody has them. */
void record_as_anybody(gpointer data);

/* Writes the rings of `session` out (NULL: of the newest one that record --snapshot made);
 * `written`: the directory, free with g_free(). */
/* … `settings`: of the system, beside it. */
bool record_snapshot(const char *session, bool settings, bool dry_run, char **written,
		     GError **error);

#endif
