/* SPDX-License-Identifier: MIT */
/* Hardware counters of threads, and of the functions that runs were all in.
 *
 *   ├──── run ────┤ off the CPU ├─── run ───┤      counters are read at the runs' ends only
 *     ▲ spin ▲ spin               ▲ spin ▲ read    the first's are spin's, the second's nobody's
 *
 * Place: samples/. A run that has samples, two at least and of a clock or other interrupts, all of
 * one innermost function, is put down to that. What a run with several functions has is not shared
 * out among them: each would get the mean, and the one that waits for memory look like the others.
 */
#ifndef WHYLATE_SAMPLES_COUNTED_FUNCTIONS_H
#define WHYLATE_SAMPLES_COUNTED_FUNCTIONS_H

#include "samples/counter_sums.h"
#include "samples/sample_stacks.h"

struct counted_function {
	const struct code_function *function; /* borrowed */
	struct counters counters; /* of runs whose samples are all in it */
};

/* Threads of one name. */
struct counted_threads {
	uint32_t thread;          /* the first of them */
	struct counters counters; /* of all their runs */
	GArray *functions;        /* owned; struct counted_function, most time first */
};

struct counted_threads *counted_threads_new(uint32_t thread);
void counted_threads_free(void *counted);
/* The runs of `thread` that lie in [begin, end). */
void counted_threads_add(struct counted_threads *counted, const struct session *session,
			 uint32_t thread, int64_t begin, int64_t end);
/* Once all are in it. */
void counted_threads_sort(struct counted_threads *counted);

#endif
