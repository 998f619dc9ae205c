/* SPDX-License-Identifier: MIT */
/* Spinning: a thread that gives the CPU away again and again, as it waits for another without
 * sleeping.
 *
 *   T  yield┤·├yield┤·├yield┤·├yield    T's own code (·) takes less than twice as long as the calls
 *   P  ── runs ─────────────┤ sets a flag in memory: no event tells of it
 *
 * Who works, and yields now and then, waits for nobody. What is waited for is in memory, so who
 * made the difference is not known: said is which other thread of the process ran most meanwhile;
 * or which one could not, for half of the time: who has a lock and no CPU is most likely that one.
 *
 * Place: path/, for the verdict and for what stands out (stands/). Source: own; docs/semantics.md,
 * "Waiting by trying again".
 */
#ifndef WHYLATE_PATH_SPINS_H
#define WHYLATE_PATH_SPINS_H

#include "run/session.h"

struct spinning {
	int64_t ns;        /* of all stretches, … */
	uint64_t calls;    /* … with so many calls */
	guint times;       /* so many stretches; 0: it did not spin */
	int64_t longest, shortest, begin, end; /* … and the longest one */
	uint32_t most;     /* of its process who ran most meanwhile, NO_THREAD: nobody, … */
	int64_t ran;       /* … and how long (ns) */
	uint32_t kept;     /* … who had no CPU for half of it, and does not spin; NO_THREAD, … */
	int64_t off;       /* … and how long (ns) */
};

/* How the thread spun in the window. `leaf`: of its work in the call. */
struct spinning spinning_of(const struct session *session, uint32_t thread, uint32_t leaf);

/* ", 105,338 times with next to nothing between: …"; nothing if the thread did not. `leaf`: of
 * its work in the call. */
void append_spinning(GString *text, const struct session *session, uint32_t thread, uint32_t leaf);

/* "; of its process poster-2 (265) ran most meanwhile, 3.1 s". */
void append_who_spun_for(GString *text, const struct session *session,
			 const struct spinning *spinning);

/* ", asking without a pause: read found nothing 6,339 times (EAGAIN) in 1.962 s, …"; nothing if
 * it did so for less than `least` ns (tries/asks.h). */
void append_asking(GString *text, const struct session *session, uint32_t thread, int64_t least);

#endif
