/* SPDX-License-Identifier: MIT */
/* Who was idle, found by following waits; see idle_threads.h. */
#include "imposed/idle_threads.h"

#include "run/choosing.h"
#include "waits/idle.h"

#include <string.h>

#include "run/containers.h"

#define IDLE_WORK 0.02 /* an idle thread works less than this share of the window */

GArray *thread_totals_new(const struct session *session)
{
	GArray *totals = g_array_new(FALSE, TRUE, sizeof(struct thread_total));

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);
		struct thread_total total = {.thread = i};
		struct spans spans;
		struct span span;

		total.begin = MAX(thread->begin, session->asked.from);
		total.end = MIN(thread->end, session->asked.to);
		if (!session_wants_host(session, model_host(&session->trace.model, thread->host)))
			continue;
		if (total.begin >= total.end || !container_has(session, i, NULL))
			continue;
		spans_begin(&spans, session, i, session->asked.from, session->asked.to);
		total.kernel = spans.kernel;
		while (spans_next(&spans, &span)) {
			total.wib[leaf_wib(span.leaf)] += span.end - span.begin;
			if (leaf_is_ready(span.leaf))
				total.ready += span.end - span.begin;
		}
		g_array_append_val(totals, total);
	}
	return totals;
}

struct idle_search {
	const struct session *session;
	GArray *totals;       /* borrowed */
	guint *place;         /* owned; of each thread in totals, UINT_MAX */
	GArray *queue;        /* owned; guint: totals to follow */
	GHashTable *needed;   /* borrowed; thread -> GArray of struct needed */
};

static bool seems_idle(const struct session *session, const struct thread_total *total)
{
	const struct thread *thread = model_thread(&session->trace.model, total->thread);
	const struct host *host = model_host(&session->trace.model, thread->host);
	int64_t from = MAX(session->asked.from, host->begin),
		to = MIN(session->asked.to, host->end);

	return total->kernel ||
	       (!thread->born && thread->state != THREAD_DEAD &&
		(double) total->wib[WIB_WORKING] < IDLE_WORK * (double) (to - from));
}

/* The waits of a thread that is not idle: who ended them is not either,
 * during them. */
static void follow_waits(struct idle_search *search, uint32_t thread)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, search->session, thread, search->session->asked.from,
		    search->session->asked.to);
	while (spans_next_off_cpu(&spans, &span)) {
		struct needed needed = {span.begin, span.end};
		struct wait wait;
		const struct block *block;
		struct thread_total *waker;
		GArray *list;

		if (!leaf_is_blocked(span.leaf))
			continue;
		wait = wait_of(search->session, thread, &span);
		block = wait.block;
		if (wait_is_idle(search->session, &wait))
			continue;
		if (block->kind != WAKER_THREAD || !is_thread(block->waker) ||
		    search->place[block->waker] == UINT_MAX)
			continue;
		waker = &g_array_index(search->totals, struct thread_total,
				       search->place[block->waker]);
		if (waker->idle && !waker->kernel) {
			waker->idle = false;
			waker->rescued = true;
			g_array_append_val(search->queue, search->place[block->waker]);
		}
		if (!waker->rescued)
			continue;
		list = g_hash_table_lookup(search->needed, GUINT_TO_POINTER(block->waker));
		if (!list) {
			list = g_array_new(FALSE, FALSE, sizeof needed);
			g_hash_table_insert(search->needed, GUINT_TO_POINTER(block->waker), list);
		}
		g_array_append_val(list, needed);
	}
}

void idle_threads_find(const struct session *session, GArray *totals, GHashTable *needed)
{
	struct idle_search search = {session, totals,
				     g_new(guint, session->trace.model.thread_count + 1),
				     g_array_new(FALSE, FALSE, sizeof(guint)), needed};

	memset(search.place, 0xff, sizeof(guint) * (session->trace.model.thread_count + 1));
	for (guint i = 0; i < totals->len; i++) {
		struct thread_total *total = &g_array_index(totals, struct thread_total, i);

		search.place[total->thread] = i;
		total->idle = seems_idle(session, total);
		if (!total->idle)
			g_array_append_val(search.queue, i);
	}
	while (search.queue->len) {
		guint i = g_array_index(search.queue, guint, search.queue->len - 1);

		g_array_set_size(search.queue, search.queue->len - 1);
		follow_waits(&search, g_array_index(totals, struct thread_total, i).thread);
	}
	g_array_free(search.queue, TRUE);
	g_free(search.place);
}
