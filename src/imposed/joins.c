/* SPDX-License-Identifier: MIT */
/* See joins.h. */
#include "imposed/joins.h"

#include "objects/calls.h"

#define LAUNCHED 2 /* at least: who starts one and waits for it does its work that way */
#define LAST_STEPS INT64_C(20000000) /* ns: from waking who joins it to a thread's end */

#define EXIT_MAX                                                                                   \
	INT64_C(200000000) /* ns: from its last wait to a thread's end, on a busy machine */

/* Of each thread. */
struct starts {
	int64_t *last;  /* owned; when it last started another; INT64_MIN: never */
	uint32_t *count; /* owned; how many it started */
	int64_t *wrote; /* owned; up to when it had last written; INT64_MAX: not looked for yet */
	int64_t *ended; /* owned; then: when its first wait for a child ended */
};

static void starts_free(gpointer data)
{
	struct starts *starts = data;

	g_free(starts->last);
	g_free(starts->count);
	g_free(starts->wrote);
	g_free(starts->ended);
	g_free(starts);
}

static void *starts_new(const struct session *session)
{
	uint32_t count = session->trace.model.thread_count;
	struct starts *starts = g_new(struct starts, 1);

	starts->last = g_new(int64_t, count + 1);
	starts->count = g_new0(uint32_t, count + 1);
	starts->wrote = g_new(int64_t, count + 1);
	starts->ended = g_new(int64_t, count + 1);
	for (uint32_t i = 0; i < count; i++) {
		starts->last[i] = INT64_MIN;
		starts->wrote[i] = INT64_MAX;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);

		if (!thread->born || !is_thread(thread->parent))
			continue;
		starts->count[thread->parent]++;
		starts->last[thread->parent] = MAX(starts->last[thread->parent], thread->begin);
	}
	return starts;
}

static bool is_for_child(const struct session *session, uint32_t leaf)
{
	return PACK_KIND(leaf) == LEAF_BLOCK_SYSCALL &&
	       flow_call_info(&session->trace.flow, PACK_NUMBER(leaf))->wait == WAIT_CHILD;
}

/* A wait before which it had written begins then. */
static void look_through(const struct starts *starts, const struct session *session,
			 uint32_t thread)
{
	struct spans spans;
	struct span span;

	starts->wrote[thread] = INT64_MIN;
	starts->ended[thread] = INT64_MAX;
	spans_begin(&spans, session, thread, session->trace.begin, session->trace.end + 1);
	while (spans_next_off_cpu(&spans, &span)) {
		if (!leaf_is_blocked(span.leaf))
			continue;
		if (block_at(&session->trace.timeline, span.ref)->sent)
			starts->wrote[thread] = span.begin;
		if (is_for_child(session, span.leaf))
			starts->ended[thread] = MIN(starts->ended[thread], span.end);
	}
}

/* It is for the end of a thread that it made. */
static bool is_for_thread(const struct session *session, const struct wait *wait,
			  const struct lead *lead)
{
	const struct thread *other = model_thread(&session->trace.model, lead->thread);

	return PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL &&
	       flow_call_info(&session->trace.flow, PACK_NUMBER(wait->leaf))->wait == WAIT_FUTEX &&
	       other->born && other->parent == wait->thread && other->state == THREAD_DEAD &&
	       other->end - wait->end < LAST_STEPS;
}

/* Nothing is left to do but to exit. */
static bool is_its_last(const struct session *session, const struct wait *wait)
{
	const struct thread *thread = model_thread(&session->trace.model, wait->thread);
	struct spans spans;
	struct span span;

	if (thread->state != THREAD_DEAD || thread->end - wait->end > EXIT_MAX)
		return false;
	spans_begin(&spans, session, wait->thread, wait->end, thread->end);
	while (spans_next_off_cpu(&spans, &span))
		if (leaf_is_blocked(span.leaf))
			return false;
	return true;
}

bool wait_is_join(const struct session *session, const struct wait *wait, const struct lead *lead)
{
	const struct starts *starts;
	uint32_t thread = wait->thread;
	bool child = is_for_child(session, wait->leaf);

	if (!child && !is_for_thread(session, wait, lead))
		return false;
	starts = session_make_once(session, starts_new, starts_free);
	if (starts->last[thread] > wait->end ||
	    (starts->count[thread] < LAUNCHED && (child || !is_its_last(session, wait))))
		return false;
	if (starts->wrote[thread] == INT64_MAX)
		look_through(starts, session, thread);
	return starts->wrote[thread] <= wait->end &&
	       (!child || starts->last[thread] <= starts->ended[thread]);
}
