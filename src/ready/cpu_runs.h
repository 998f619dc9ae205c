/* SPDX-License-Identifier: MIT */
/* Who ran on a CPU, over a stretch of time.
 *
 * Place: ready/. How much may be looked up in one report is limited: RUNS_READ_MAX.
 */
#ifndef WHYLATE_WAITS_CPU_RUNS_H
#define WHYLATE_WAITS_CPU_RUNS_H

#include "run/session.h"

/* Who ran on `cpu` over [begin, end), piece by piece. */
void each_run(const struct session *session, uint16_t host, uint32_t cpu, int64_t begin,
	      int64_t end, void (*visit)(int64_t begin, int64_t end, uint32_t thread, void *data),
	      void *data);

/* … on that CPU while `thread` was ready to run there, in `span`; of a re-timed run, who did when
 * it was recorded. */
void each_run_beside(const struct session *session, uint32_t thread, const struct span *span,
		     void (*visit)(int64_t begin, int64_t end, uint32_t thread, void *data),
		     void *data);
/* Of `was`, which is `span` now, a part of so many ns: how many these are. */
int64_t of_length(int64_t ns, const struct span *was, const struct span *span);
/* Since when who runs on `cpu` at `time` has been running; `time`: not known. */
int64_t run_began(const struct session *session, uint16_t host, uint32_t cpu, int64_t time);

/* How long, of [begin, end), nobody ran on `cpu`, or somebody of an ordinary priority: ns. */
int64_t ran_ordinary(const struct session *session, uint16_t host, uint32_t cpu, int64_t begin,
		     int64_t end);

/* The priority with which `thread` ran last before `time`; NO_PRIORITY: not known. */
int32_t priority_before(const struct session *session, uint32_t thread, int64_t time);
/* The thread was made to give way to others: it ran last with nice 10 or more, or asked for
 * SCHED_IDLE. Or it is sleep(1), which pauses: who waits for its end may be late by that. */
bool thread_gives_way(const struct session *session, uint32_t thread);

#endif
