/* SPDX-License-Identifier: MIT */
/* Recording in rounds, each of which records more of what the last one could not explain.
 *
 *   round 1: samples ─► largest time not explained ─► round 2: also the functions sampled there ─►
 *   … ─► all of it is explained, or nothing finer can be recorded ─► report
 *
 * Place: drill/, over record/ (one session a round, cleaned up as any other) and choose.h (what
 * next). Reports are made by the program itself, in processes of their own, so that a trace that
 * cannot be read ends nothing. A program is run anew in each round; on a running system each round
 * lasts as long as --duration says; a flight recorder goes on recording, and has more events from
 * each snapshot on.
 */
#ifndef WHYLATE_DRILL_DRILL_H
#define WHYLATE_DRILL_DRILL_H

#include "record/record.h"

/* What --drill is asked besides what is recorded. */
struct drilling {
	int64_t limit; /* ns; 0: no drill */
	int64_t every; /* ns from the begin of one round to the next; 0: at once */
	char *after;   /* owned; a recording, or a directory of rounds, to go on from; NULL */
};

/* Drills. `recording` is what round 1 records; its output is where the rounds' directories go.
 * Status as of record_run(). */
int drill_run(struct recording *recording, const struct drilling *asked, const char *self,
	      GError **error);
/* Shows the lines of each round, as far as they can be told (`after`); false: an error. */
bool drill_show(struct recording *recording, const struct drilling *asked, const char *self,
		GError **error);

#endif
