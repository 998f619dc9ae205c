/* SPDX-License-Identifier: MIT */
/* Time in which a CPU did nothing and was not idle: what a guest's trace alone tells of its host.
 *
 *   app   ├ user │tick│ user │tick│ user                          │tick│ user
 *                ├─ 4 ms ────┤    ├───── nothing for 31 ms ───────┤
 *
 * While a thread runs, its CPU's timer interrupts it each few ms. Where these were due, and neither
 * they nor anything else came for two and a half of their periods, the CPU itself did not run: its
 * host ran others (steal), or interrupts were off.
 *
 * Place: coverage/. Only runs that are long enough are looked at, so it costs little.
 */
#ifndef WHYLATE_COVERAGE_STALLS_H
#define WHYLATE_COVERAGE_STALLS_H

#include "run/session.h"

struct stalls {
	int64_t ns; /* in all … */
	int64_t busy; /* … of so long that threads ran for long enough to tell */
	int64_t longest, begin; /* … and when that was */
	guint count;
	int64_t missed; /* so long (ns) without an event of a busy CPU tells of one; 0: not known */
};

/* Of a host, over all its CPUs. */
struct stalls stalls_of(const struct session *session, guint host);

/* Those of all hosts that have many. */
struct stalled {
	int64_t ns;
	guint hosts; /* how many these are */
	guint host; /* one of them */
};

/* A sentence for each host with many; strings to free. */
struct stalled stalls_troubles(const struct session *session, GPtrArray *list);

#endif
