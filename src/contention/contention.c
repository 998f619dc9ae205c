/* SPDX-License-Identifier: MIT */
/* Adding up the waits of each lock; see contention.h. */
#include "contention/contention.h"

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

/* How many waited at a time, and the sum of that over time: what a holder imposes
 * on all of them in a while is the difference of two sums. */
struct level {
	int64_t time;
	uint32_t queue;
	int64_t sum; /* ns of waiting until `time` */
};

struct adding {
	const struct session *session;
	struct contention *contention;
	const struct lock *lock;
	GArray *waits;       /* struct hold, clipped to the window, of `threads` only */
	GArray *levels;      /* struct level, by time */
	GHashTable *holders; /* thread -> index in contention.holders, from 1 */
};

static int by_time(gconstpointer a, gconstpointer b)
{
	const struct level *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

/* Until then `queue` is the step that is taken at `time`. */
static void find_levels(struct adding *adding)
{
	int64_t sum = 0, last = 0;
	uint32_t queue = 0;

	for (guint i = 0; i < adding->waits->len; i++) {
		const struct hold *wait = &g_array_index(adding->waits, struct hold, i);
		struct level ends[2] = {{wait->begin, 1, 0}, {wait->end, UINT32_MAX, 0}};

		g_array_append_vals(adding->levels, ends, 2);
	}
	g_array_sort(adding->levels, by_time);
	for (guint i = 0; i < adding->levels->len; i++) {
		struct level *at = &g_array_index(adding->levels, struct level, i);

		sum += queue * (at->time - last);
		last = at->time;
		at->sum = sum;
		queue += at->queue;
		at->queue = queue;
	}
}

/* ns of waiting until `time`. */
static int64_t waited_until(const struct adding *adding, int64_t time)
{
	const struct level *levels = (const struct level *) adding->levels->data;
	guint low = 0, high = adding->levels->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (levels[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? levels[low - 1].sum + levels[low - 1].queue * (time - levels[low - 1].time)
		   : 0;
}

static int by_waiter(gconstpointer a, gconstpointer b)
{
	const struct hold *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* What of its own waiting falls in [begin, end): nobody waits for itself. The waits are
 * by waiter. */
static int64_t own_waits(const struct adding *adding, uint32_t thread, int64_t begin, int64_t end)
{
	guint low = 0, high = adding->waits->len;
	int64_t own = 0;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		const struct hold *at = &g_array_index(adding->waits, struct hold, middle);

		if (at->thread < thread || (at->thread == thread && at->end <= begin))
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < adding->waits->len; low++) {
		const struct hold *at = &g_array_index(adding->waits, struct hold, low);

		if (at->thread != thread || at->begin >= end)
			break;
		own += MIN(at->end, end) - MAX(at->begin, begin);
	}
	return own;
}

static int64_t imposed(const struct adding *adding, uint32_t thread, int64_t begin, int64_t end)
{
	return begin >= end ? 0
			    : waited_until(adding, end) - waited_until(adding, begin) -
				      own_waits(adding, thread, begin, end);
}

static void add_holding(struct adding *adding, const struct holding *at)
{
	struct contention *contention = adding->contention;
	int64_t ns = imposed(adding, at->thread, at->begin, at->end);
	gpointer key = GUINT_TO_POINTER(at->thread);
	struct holder fresh = {.thread = at->thread, .proved = true}, *holder;
	guint index;

	if (!ns)
		return;
	index = GPOINTER_TO_UINT(g_hash_table_lookup(adding->holders, key));
	if (!index) {
		g_array_append_val(contention->holders, fresh);
		index = contention->holders->len;
		g_hash_table_insert(adding->holders, key, GUINT_TO_POINTER(index));
	}
	holder = &g_array_index(contention->holders, struct holder, index - 1);
	holder->ns += ns;
	holder->proved &= at->proved;
	contention->inferred |= !at->proved;
}

static int earlier(gconstpointer a, gconstpointer b)
{
	const struct holding *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Each hold once, not once for each that waited meanwhile: a thousand may. */
static void add_holders(struct adding *adding, int64_t from, int64_t to)
{
	const struct pages *store = &adding->session->trace.timeline.holds;
	const struct lock *lock = adding->lock;
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(struct holding));
	uint32_t ended = hold_find(store, &lock->holds, from);
	uint32_t open = lock->open ? lock->open->len : 0;
	int64_t until = from;

	for (uint32_t i = 0; i < lock->holds.used - ended + open; i++) {
		const struct hold *hold =
			i < lock->holds.used - ended
				? hold_at(store, &lock->holds, ended + i)
				: &g_array_index(lock->open, struct hold,
						 i - (lock->holds.used - ended));
		struct holding holding = hold_clipped(adding->session, lock, hold);

		if (hold->end == INT64_MAX && hold->again)
			continue; /* it may have unlocked */
		holding.begin = MAX(holding.begin, from);
		holding.end = MIN(holding.end, to);
		if (holding.begin < holding.end)
			g_array_append_val(list, holding);
	}
	g_array_sort(list, earlier);
	for (guint i = 0; i < list->len; i++) {
		const struct holding *at = &g_array_index(list, struct holding, i);

		add_holding(adding, at);
		adding->contention->between -=
			imposed(adding, at->thread, MAX(at->begin, until), at->end);
		until = MAX(until, at->end);
	}
}

static void add_wait(struct contention *contention, const struct hold *wait)
{
	contention->waits++;
	contention->ns += wait->end - wait->begin;
	contention->between += wait->end - wait->begin;
	if (wait->end - wait->begin <= contention->longest)
		return;
	contention->longest = wait->end - wait->begin;
	contention->longest_begin = wait->begin;
	contention->longest_end = wait->end;
	contention->longest_thread = wait->thread;
}

static void find_inversion(const struct session *session, struct contention *contention)
{
	struct block block = {.lock = contention->lock};
	struct lock_wait *held = lock_wait_new(session, &block, contention->longest_thread,
					       contention->longest_begin, contention->longest_end);

	contention->inverted =
		held && lock_wait_inversion(session, held, contention->longest_thread,
					    contention->longest_begin, contention->longest_end,
					    &contention->inversion);
	lock_wait_free(held);
}

static void add_up(const struct session *session, struct contention *contention, GArray *waits,
		   int64_t from, int64_t to)
{
	struct adding adding = {session,
				contention,
				lock_at(&session->trace.flow, contention->lock),
				waits,
				g_array_new(FALSE, FALSE, sizeof(struct level)),
				g_hash_table_new(NULL, NULL)};

	for (guint i = 0; i < waits->len; i++)
		add_wait(contention, &g_array_index(waits, struct hold, i));
	find_levels(&adding);
	g_array_sort(waits, by_waiter);
	for (guint i = 0; i < waits->len; i++)
		contention->waiters +=
			!i || g_array_index(waits, struct hold, i).thread !=
				      g_array_index(waits, struct hold, i - 1).thread;
	add_holders(&adding, from, to);
	find_inversion(session, contention);
	g_array_free(adding.levels, TRUE);
	g_hash_table_destroy(adding.holders);
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct holder *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* One that waits for it still: its call has no end yet. */
struct open_wait {
	uint32_t lock;
	struct hold wait;
};

static int by_lock(gconstpointer a, gconstpointer b)
{
	const struct open_wait *x = a, *y = b;

	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	return x->wait.thread < y->wait.thread ? -1 : x->wait.thread > y->wait.thread;
}

static GArray *find_open_waits(const struct session *session)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct open_wait));

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);
		struct open_wait open = {.wait = {.end = thread->end, .thread = i}};

		if (thread->state != THREAD_BLOCKED)
			continue;
		open.lock = block_at(&session->trace.timeline, thread->flow.block)->lock;
		open.wait.begin =
			thread->flow.call.open ? thread->flow.call.begin : thread->flow.since;
		if (open.lock)
			g_array_append_val(list, open);
	}
	g_array_sort(list, by_lock);
	return list;
}

struct window {
	GHashTable *threads;
	int64_t from, to;
};

/* A wait, or what of it is in the window: to `waits`, and to the queue. */
static void take_wait(const struct window *window, const struct hold *whole, bool ended,
		      GArray *waits, GArray *changes)
{
	struct hold wait = *whole;
	struct change comes = {.step = 1}, goes = {.step = -1};

	wait.begin = comes.time = MAX(whole->begin, window->from);
	wait.end = goes.time = MIN(whole->end, window->to);
	goes.handed_over = ended && whole->end < window->to;
	if (wait.begin >= wait.end)
		return;
	g_array_append_val(changes, comes);
	g_array_append_val(changes, goes);
	if (!window->threads ||
	    g_hash_table_contains(window->threads, GUINT_TO_POINTER(wait.thread)))
		g_array_append_val(waits, wait);
}

/* `open`: those who wait for it still. */
static void add_lock(const struct session *session, GArray *list, uint32_t number,
		     const struct window *window, const struct open_wait *open, guint open_count)
{
	const struct lock *lock = lock_at(&session->trace.flow, number);
	const struct pages *store = &session->trace.timeline.holds;
	struct contention contention = {.lock = number};
	g_autoptr(GArray) waits = g_array_new(FALSE, FALSE, sizeof(struct hold));
	g_autoptr(GArray) changes = g_array_new(FALSE, FALSE, sizeof(struct change));

	for (uint32_t i = hold_find(store, &lock->waits, window->from); i < lock->waits.used; i++)
		take_wait(window, hold_at(store, &lock->waits, i), true, waits, changes);
	for (guint i = 0; i < open_count; i++)
		take_wait(window, &open[i].wait, false, waits, changes);
	if (!waits->len)
		return;
	contention.holders = g_array_new(FALSE, FALSE, sizeof(struct holder));
	add_up(session, &contention, waits, window->from, window->to);
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
	g_autoptr(GArray) open = find_open_waits(session);
	struct window window = {threads, from, to};
	guint next = 0;

	g_array_set_clear_func(list, contention_clear);
	for (uint32_t i = 1; i <= session->trace.flow.locks->len; i++) {
		guint first = next;

		while (next < open->len && g_array_index(open, struct open_wait, next).lock == i)
			next++;
		if (lock_is_one(lock_at(&session->trace.flow, i)))
			add_lock(session, list, i, &window,
				 next > first ? &g_array_index(open, struct open_wait, first)
					      : NULL,
				 next - first);
	}
	g_array_sort(list, largest_first);
	return list;
}
