/* SPDX-License-Identifier: MIT */
/* Hardware counters of stretches of a thread: what it executed, and how fast.
 *
 *   ├──── run ────┤ off the CPU ├─── run ───┤        2 runs, 3.2 M instructions, 0.80 a cycle
 *
 * Place: samples/, over timeline/counts.h. Only whole runs count: what part of one fell into a
 * stretch no counter tells. `ns` is how long the runs that count were: what is said is of those.
 * Where the processor has no counters there is no run.
 */
#ifndef WHYLATE_SAMPLES_COUNTER_SUMS_H
#define WHYLATE_SAMPLES_COUNTER_SUMS_H

#include "run/session.h"
#include "timeline/counts.h"

struct counters {
	uint64_t values[COUNTERS];
	uint64_t known; /* bits: enum counter; 0: nothing was counted */
	int64_t ns;
	uint32_t runs;
};

bool counters_known(const struct counters *counters, enum counter which);
/* The runs of the thread that lie in [begin, end). */
struct counters counters_in(const struct session *session, uint32_t thread, int64_t begin,
			    int64_t end);
/* One by one: the first run that begins at `from` or later, thread->counts.used if there is none;
 * a run, and when it began. */
uint32_t counters_first(const struct session *session, uint32_t thread, int64_t from);
struct counters counters_of(const struct session *session, uint32_t thread, uint32_t number,
			    int64_t *begin);
void counters_add(struct counters *to, const struct counters *more);

/* "3.21 M instructions, 0.80 a cycle; 5.1 cache misses per 1000 instructions"; nothing if nothing
 * is known. */
void append_counters(GString *text, const struct counters *counters);

/* "cache_misses" */
const char *counter_name(enum counter which);
/* "1.62 G" */
char *counter_text(char to[32], uint64_t count);

#endif
