/* SPDX-License-Identifier: MIT */
/* See taken.h. */
#include "traits/taken.h"

#include "ready/cpu_runs.h"
#include "ready/ready.h"

#define TAKERS 8 /* that are told apart: further ones do not count */

struct takers {
	guint count;
	uint32_t thread[TAKERS];
	int64_t ns[TAKERS];
};

static void add_run(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct takers *takers = data;
	guint at = 0;

	if (!is_thread(thread))
		return;
	while (at < takers->count && takers->thread[at] != thread)
		at++;
	if (at == TAKERS)
		return;
	if (at == takers->count) {
		takers->thread[at] = thread;
		takers->ns[at] = 0;
		takers->count++;
	}
	takers->ns[at] += end - begin;
}

static bool is_ready(const struct span *span)
{
	return PACK_KIND(span->leaf) == LEAF_PREEMPTED || PACK_KIND(span->leaf) == LEAF_WAIT_CPU;
}

uint32_t cpu_taker(const struct session *session, const struct operation *operation)
{
	struct takers takers = {0};
	uint32_t taker = NO_THREAD;
	int64_t most = 0;
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, operation->thread, operation->begin, operation_end(operation));
	while (spans_next_off_cpu(&spans, &span))
		if (is_ready(&span))
			each_run_beside(session, operation->thread, &span, add_run, &takers);
	for (guint i = 0; i < takers.count; i++)
		if (takers.ns[i] > most && takers.thread[i] != operation->thread) {
			most = takers.ns[i];
			taker = takers.thread[i];
		}
	return taker;
}

int idle_state_before(const struct session *session, const struct operation *operation)
{
	struct spans spans;
	struct span span;
	int state = -1;

	spans_begin(&spans, session, operation->thread, operation->begin, operation_end(operation));
	while (spans_next_off_cpu(&spans, &span))
		if (PACK_KIND(span.leaf) == LEAF_WAIT_CPU)
			state = ready_of(session, operation->thread, &span).idle_state;
	return state;
}
