/* SPDX-License-Identifier: MIT */
/* Whom an answer hangs on: the threads, each up to a time, whose new times it takes to tell when
 * some get where they got. Everybody else may be left out.
 *
 *   T ───────┤ waits for W      ├──● asked       T up to ●, W up to what T waited for,
 *   W ──┤ waits for V ├───────┬──────            V up to what W waited for before that;
 *   V ────────────────┬──────────────            nobody who waits for T, and not what W did later
 *
 * Place: whatif/, below retime.h. Read backward, from what is asked; the hinges that are found on
 * the way are kept, as re-timing asks for the same ones. Source: semantics.md, "What if".
 */
#ifndef WHYLATE_WHATIF_REACH_H
#define WHYLATE_WHATIF_REACH_H

#include "whatif/hinge.h"

/* From what `first` did at `from` to what `thread` did at `to`. */
struct way {
	uint32_t first, thread;
	int64_t from, to;
};

struct reach;

/* Of ways (struct way), as far as what is in [from, to) matters for them; of none NULL: nothing may
 * be left out. */
struct reach *reach_new(const struct session *session, const GArray *ways, int64_t from,
			int64_t to);
void reach_free(struct reach *reach);

/* Up to when the thread matters; INT64_MIN: it does not. */
int64_t reach_until(const struct reach *reach, uint32_t thread);
/* Of the thread's wait number `index` of those in [from, to), from 0; one that does not matter
 * keeps its length. */
struct hinge reach_hinge(const struct reach *reach, uint32_t thread, uint32_t index);
/* Waits that matter, of all threads. */
uint64_t reach_waits(const struct reach *reach);

/* Who is born in the window begins when his parent starts him: the parent; NO_THREAD: nobody. */
uint32_t reach_parent(const struct session *session, uint32_t thread, int64_t from);

#endif
