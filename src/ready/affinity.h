/* SPDX-License-Identifier: MIT */
/* Threads that may run on some CPUs only, and waited for these while others were idle.
 *
 *   CPU 0  │ dbproc     │ web │ dbproc     │        web, kept to CPU 0, waits for it
 *   CPU 1  │ idle ········································
 *
 * Which CPUs sched_setaffinity() allows is not recorded, only that it was called, by whom and for
 * whom. So a thread for which it was, by itself, its parent or another, is taken for pinned to
 * the CPUs that it used afterwards if it waited for these again and again while another was idle,
 * which the scheduler would have taken else. One of which no such call was seen (it may have been
 * before the trace, or be a cpuset's) is so, inferred, if it never left one CPU and lost much
 * that way.
 *
 * Place: ready/.
 */
#ifndef WHYLATE_READY_AFFINITY_H
#define WHYLATE_READY_AFFINITY_H

#include "run/session.h"

struct affinity {
	uint64_t cpus;      /* bit i: it used the i-th CPU of its host; 0: it is not pinned */
	uint32_t by;        /* who pinned it, NO_THREAD: not known */
	int64_t since;      /* INT64_MIN: before the trace, or not by a call */
	bool inferred;      /* no call was seen */
};

/* As what it did in all of its life shows. */
struct affinity affinity_of(const struct session *session, uint32_t thread);
/* The CPU other than those that was idle longest in the span, and how long: `free`. NO_CPU. */
uint32_t free_cpu(const struct session *session, uint16_t host, uint64_t but,
		  const struct span *span, int64_t *free);

/* "pinned to CPU 0 by itself (sched_setaffinity at [14:29:43.541109163])"; free with g_free(). */
char *affinity_words(const struct session *session, uint32_t thread,
		     const struct affinity *affinity);

#endif
