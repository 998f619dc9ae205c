/* SPDX-License-Identifier: MIT */
/* What hardware counters counted while a thread ran, from one switch to the next. A log per
 * thread, in order of time.
 *
 *   CPU 0     ├── idle ──┤ switch ├──── A runs ────┤ switch ├── B runs ── …
 *   counter             1000                     1800
 *                         └────── A: 800 ──────────┘
 *
 * Place: timeline/, written by threads/sampling.c, read by samples/counter_sums.c. Interrupts that
 * came meanwhile are counted too.
 */
#ifndef WHYLATE_TIMELINE_COUNTS_H
#define WHYLATE_TIMELINE_COUNTS_H

#include "event/event.h"
#include "timeline/log.h"

struct counted_run {
	int64_t begin, end; /* on the CPU */
	uint64_t values[COUNTERS];
	uint64_t known; /* bits: enum counter */
};

#define COUNTS_PER_CHUNK 16u

const struct counted_run *
counted_run_at(const struct pages *store, const struct log *log, uint32_t index);
void counted_run_append(struct pages *store, struct log *log, const struct counted_run *run);
/* The first one that begins at `time` or later; log->used if there is none. */
uint32_t counted_run_find(const struct pages *store, const struct log *log, int64_t time);

#endif
