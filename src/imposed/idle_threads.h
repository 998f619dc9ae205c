/* SPDX-License-Identifier: MIT */
/* What each thread did in the window, and which of them were idle: waiting that delayed nobody.
 *
 * Place: imposed/. A thread counts as idle when it was there before and after the trace, hardly
 * worked, and no wait of a thread that is not idle ended by it.
 */
#ifndef WHYLATE_IMPOSED_IDLE_THREADS_H
#define WHYLATE_IMPOSED_IDLE_THREADS_H

#include "run/session.h"

struct thread_total {
	uint32_t thread;
	int64_t begin, end;  /* life in the window */
	int64_t wib[4];      /* by enum wib */
	int64_t ready;       /* of what is interrupted: without a CPU */
	bool kernel, idle;
	bool rescued;        /* seemed idle, but somebody waited for it */
};

/* Times in which somebody waited for a thread, [begin, end). */
struct needed {
	int64_t begin, end;
};

/* Of the threads that are asked for and lived in the window: struct thread_total. */
GArray *thread_totals_new(const struct session *session);
/* Marks idle threads: those that seem so, but for the ones found by following waits to their
 * wakers; for these, when they were needed: thread -> GArray of struct needed. */
void idle_threads_find(const struct session *session, GArray *totals, GHashTable *needed);

#endif
