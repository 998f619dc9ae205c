/* SPDX-License-Identifier: MIT */
/* Priority inversion: an urgent thread waits for a less urgent one, and worse,
 * for those that keep that one off its CPU. See locks.h.
 *
 *   T (urgent)   ──┤ waits for L                  ├──
 *   P (owner)      │ runs │ ready, but M runs │ runs, gives L up
 *   M (in between)        └ "kept off"
 *
 * Priorities are those that sched_switch gives when a thread is switched in.
 */
#include "contention/holders.h"

#include "ready/cpu_runs.h"

char *priority_text(int32_t priority)
{
	if (priority < 0)
		return priority < -100 ? g_strdup("deadline")
				       : g_strdup_printf("real-time %d", -1 - priority);
	return g_strdup_printf("nice %d", priority - 20);
}

struct instead {
	const struct session *session;
	struct inversion *inversion;
	GHashTable *by; /* thread -> int64_t ns */
	int64_t most;
};

static void ran_instead(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct instead *instead = data;
	int32_t priority;
	int64_t *ns;

	if (!is_thread(thread) || thread == instead->inversion->thread)
		return;
	priority = priority_before(instead->session, thread, begin + 1);
	if (priority == NO_PRIORITY || priority < instead->inversion->waiter)
		return;
	instead->inversion->kept_off += end - begin;
	ns = g_hash_table_lookup(instead->by, GUINT_TO_POINTER(thread));
	if (!ns) {
		ns = g_new0(int64_t, 1);
		g_hash_table_insert(instead->by, GUINT_TO_POINTER(thread), ns);
	}
	*ns += end - begin;
	if (*ns > instead->most) {
		instead->most = *ns;
		instead->inversion->instead = thread;
	}
}

static void find_kept_off(const struct session *session, const struct lock_wait *wait,
			  struct inversion *inversion)
{
	g_autoptr(GHashTable) by = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	struct instead instead = {session, inversion, by, 0};

	for (guint i = 0; i < wait->holdings->len; i++) {
		const struct holding *at = &g_array_index(wait->holdings, struct holding, i);
		struct spans spans;
		struct span span;

		if (at->thread != inversion->thread)
			continue;
		spans_begin(&spans, session, at->thread, at->begin, at->end);
		while (spans_next(&spans, &span))
			if (PACK_KIND(span.leaf) == LEAF_PREEMPTED ||
			    PACK_KIND(span.leaf) == LEAF_WAIT_CPU)
				each_run(session,
					 model_thread(&session->trace.model, at->thread)->host,
					 span.ref, span.begin, span.end, ran_instead, &instead);
	}
}

/* A waiter raises the owner in its call, just before it sleeps: the lock was not
 * given up between that and the wait's begin. */
static bool in_same_hold(const struct session *session, const struct lock *lock, int64_t boosted,
			 int64_t begin, int64_t end)
{
	const struct pages *store = &session->trace.timeline.holds;
	uint32_t index = hold_find(store, &lock->holds, boosted);

	if (boosted >= end)
		return false;
	return index == lock->holds.used || hold_at(store, &lock->holds, index)->end > begin;
}

bool lock_wait_inversion(const struct session *session, const struct lock_wait *wait,
			 uint32_t thread, int64_t begin, int64_t end, struct inversion *inversion)
{
	const struct holding *first = &g_array_index(wait->holdings, struct holding, 0);
	const struct lock *lock = wait->lock;

	*inversion = (struct inversion) {.waiter = priority_before(session, thread, begin),
					 .owner = priority_before(session, first->thread, begin),
					 .thread = first->thread,
					 .boosted = NO_PRIORITY,
					 .instead = NO_THREAD};
	for (guint i = 0; lock->boosts && i < lock->boosts->len; i++) {
		const struct boost *boost = &g_array_index(lock->boosts, struct boost, i);

		if (boost->thread != first->thread || boost->to >= boost->from ||
		    !in_same_hold(session, lock, boost->time, begin, end))
			continue;
		inversion->owner =
			inversion->boosted == NO_PRIORITY ? boost->from : inversion->owner;
		inversion->boosted = boost->to;
	}
	if (inversion->waiter == NO_PRIORITY || inversion->owner == NO_PRIORITY ||
	    inversion->waiter >= inversion->owner)
		return false;
	find_kept_off(session, wait, inversion);
	return true;
}
