/* Adding up the waits of each lock; see contention.h. */
#include "analysis/contention.h"

#define CONVOY_QUEUE 2     /* threads waiting, at least, all the time */
#define CONVOY_HANDOVERS 5 /* fewer are no convoy yet */

static void contention_clear(gpointer data)
{
	struct contention *contention = data;

	g_array_free(contention->holders, TRUE);
}

/* One more or one less in the queue. */
struct change {
	int64_t time;
	int step;
	bool handed_over; /* got it, rather than being cut off by the window's end */
};

static int in_time(gconstpointer a, gconstpointer b)
{
	const struct change *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->step - y->step; /* who leaves goes first */
}

static void convoy_ends(struct contention *contention, struct convoy *convoy, int64_t time)
{
	convoy->end = time;
	if (convoy->handovers >= CONVOY_HANDOVERS &&
	    convoy->handovers > contention->convoy.handovers)
		contention->convoy = *convoy;
	*convoy = (struct convoy) {0};
}

/* The queue's length over time: its peak, and the longest convoy. */
static void find_convoy(struct contention *contention, GArray *changes)
{
	struct convoy convoy = {0};
	uint32_t queue = 0;

	g_array_sort(changes, in_time);
	for (guint i = 0; i < changes->len; i++) {
		const struct change *at = &g_array_index(changes, struct change, i);

		convoy.handovers += at->handed_over && convoy.longest;
		queue = (uint32_t) ((int) queue + at->step);
		contention->queue = MAX(contention->queue, queue);
		if (convoy.longest)
			convoy.longest = MAX(convoy.longest, queue);
		if (!convoy.longest && queue >= CONVOY_QUEUE)
			convoy = (struct convoy) {.begin = at->time, .longest = queue};
		/* one less for a moment: who gave the lock up comes back for more */
		else if (convoy.longest && queue + 1 < CONVOY_QUEUE)
			convoy_ends(contention, &convoy, at->time);
	}
	if (changes->len)
		convoy_ends(contention, &convoy,
			    g_array_index(changes, struct change, changes->len - 1).time);
}

static void add_holders(struct contention *contention, const struct lock_wait *wait)
{
	contention->between += wait->between;
	contention->inferred |= wait->inferred;
	for (guint i = 0; i < wait->holders->len; i++) {
		const struct holder *from = &g_array_index(wait->holders, struct holder, i);
		struct holder *into = NULL;

		for (guint k = 0; k < contention->holders->len && !into; k++)
			if (g_array_index(contention->holders, struct holder, k).thread ==
			    from->thread)
				into = &g_array_index(contention->holders, struct holder, k);
		if (!into) {
			g_array_append_vals(contention->holders, from, 1);
			continue;
		}
		into->count += from->count;
		into->ns += from->ns;
		into->proved &= from->proved;
	}
}

static void add_wait(const struct session *session, struct contention *contention,
		     const struct hold *wait, int64_t begin, int64_t end, GHashTable *waiters)
{
	struct block block = {.lock = contention->lock};
	struct lock_wait *held;

	contention->waits++;
	contention->ns += end - begin;
	g_hash_table_add(waiters, GUINT_TO_POINTER(wait->thread));
	held = lock_wait_new(session, &block, wait->thread, begin, end);
	if (held)
		add_holders(contention, held);
	else
		contention->between += end - begin;
	if (end - begin > contention->longest) {
		contention->longest = end - begin;
		contention->longest_begin = begin;
		contention->longest_end = end;
		contention->longest_thread = wait->thread;
		contention->inverted =
			held && lock_wait_inversion(session, held, wait->thread, begin, end,
						    &contention->inversion);
	}
	lock_wait_free(held);
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct holder *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* Those who wait for it still: their calls have no end yet. */
static void add_open_waits(const struct session *session, GArray *waits, uint32_t lock)
{
	for (uint32_t i = 0; i < session->model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->model, i);
		struct hold wait = {.end = thread->end, .thread = i};

		if (thread->state != THREAD_BLOCKED ||
		    block_at(&session->timeline, thread->flow.block)->lock != lock)
			continue;
		wait.begin = thread->flow.call.open ? thread->flow.call.begin : thread->flow.since;
		g_array_append_val(waits, wait);
	}
}

static void add_lock(const struct session *session, GArray *list, uint32_t number,
		     GHashTable *threads, int64_t from, int64_t to, bool anybody_waits)
{
	const struct lock *lock = lock_at(&session->flow, number);
	const struct pages *store = &session->timeline.holds;
	struct contention contention = {.lock = number};
	g_autoptr(GHashTable) waiters = g_hash_table_new(NULL, NULL);
	g_autoptr(GArray) waits = g_array_new(FALSE, FALSE, sizeof(struct hold));
	g_autoptr(GArray) changes = g_array_new(FALSE, FALSE, sizeof(struct change));

	guint ended;

	if (!lock->certain && !lock->turns)
		return;
	for (uint32_t i = hold_find(store, &lock->waits, from); i < lock->waits.used; i++)
		g_array_append_vals(waits, hold_at(store, &lock->waits, i), 1);
	ended = waits->len;
	if (anybody_waits)
		add_open_waits(session, waits, number);
	contention.holders = g_array_new(FALSE, FALSE, sizeof(struct holder));
	for (guint i = 0; i < waits->len; i++) {
		const struct hold *wait = &g_array_index(waits, struct hold, i);
		int64_t begin = MAX(wait->begin, from), end = MIN(wait->end, to);
		struct change comes = {begin, 1, false}, goes = {end, -1, i < ended && wait->end < to};

		if (begin >= end)
			continue;
		g_array_append_val(changes, comes);
		g_array_append_val(changes, goes);
		if (!threads || g_hash_table_contains(threads, GUINT_TO_POINTER(wait->thread)))
			add_wait(session, &contention, wait, begin, end, waiters);
	}
	if (!contention.waits) {
		contention_clear(&contention);
		return;
	}
	contention.waiters = g_hash_table_size(waiters);
	find_convoy(&contention, changes);
	g_array_sort(contention.holders, longest_first);
	g_array_append_val(list, contention);
}

static int largest_first(gconstpointer a, gconstpointer b)
{
	const struct contention *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->lock < y->lock ? -1 : x->lock > y->lock;
}

GArray *contention_new(const struct session *session, GHashTable *threads, int64_t from, int64_t to)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct contention));
	g_autofree bool *open = g_new0(bool, session->flow.locks->len + 1);

	g_array_set_clear_func(list, contention_clear);
	for (uint32_t i = 0; i < session->model.thread_count; i++) {
		const struct thread *at = model_thread(&session->model, i);

		if (at->state == THREAD_BLOCKED)
			open[block_at(&session->timeline, at->flow.block)->lock] = true;
	}
	for (uint32_t i = 1; i <= session->flow.locks->len; i++)
		add_lock(session, list, i, threads, from, to, open[i]);
	g_array_sort(list, largest_first);
	return list;
}
