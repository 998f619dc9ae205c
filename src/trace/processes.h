/* SPDX-License-Identifier: MIT */
/* Which threads are of one process: for questions about a thread's siblings that
 * are asked for many of its stretches.
 *
 * Place: trace/, made once by session_finish(). A process is a PID of a host; a
 * PID that was used again is not told apart, times of lives do that. A thread whose
 * PID is not known is a process of its own.
 */
#ifndef WHYLATE_TRACE_PROCESSES_H
#define WHYLATE_TRACE_PROCESSES_H

#include "model/model.h"

struct processes {
	uint32_t *first;  /* owned; of each thread: the first seen of its process */
	uint32_t *place;  /* owned; of a first thread: where its process is in `threads`, … */
	uint32_t *count;  /* owned; … and of how many threads it is */
	uint32_t *threads; /* owned; all, by process and then by begin */
};

void processes_init(struct processes *processes, const struct model *model);
void processes_clear(struct processes *processes);

/* The threads of the process of `thread` that began before `time`, by begin;
 * borrowed. Their number goes to `count`. */
const uint32_t *process_before(const struct processes *processes, const struct model *model,
			       uint32_t thread, int64_t time, uint32_t *count);

#endif
