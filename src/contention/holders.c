/* SPDX-License-Identifier: MIT */
/* The holdings of a lock in one wait; see locks.h. */
#include "contention/holders.h"

#include <string.h>

#define NAMED_MAX 3 /* holders named in one line */

const struct lock *block_lock(const struct session *session, const struct block *block)
{
	const struct lock *lock = block->lock ? lock_at(&session->trace.flow, block->lock) : NULL;

	return lock && lock_is_one(lock) ? lock : NULL;
}

bool lock_is_one(const struct lock *lock)
{
	return (lock->certain && !lock->counts) || lock->turns;
}

int64_t lock_known_until(const struct session *session, const struct lock *lock)
{
	const struct host *host = model_host(&session->trace.model, lock->host);
	const struct gap *gap = host_gap_over(host, lock->touched, INT64_MAX);
	int64_t until = gap ? MAX(gap->begin, lock->touched) : INT64_MAX;

	if (lock->touched < host->passed_until)
		return lock->touched;
	return MIN(until, MAX(host->passed_from, lock->touched));
}

const char *lock_kind_text(const struct lock *lock)
{
	static const char *const texts[] = {"mutex", "pi-mutex", "flock", "record-lock", "file"};

	return texts[lock->kind];
}

/* A lock of a file is given up when its process is gone. */
static int64_t hold_end(const struct session *session, const struct lock *lock,
			const struct hold *hold)
{
	int64_t gone = model_thread(&session->trace.model, hold->thread)->end;
	int64_t end = hold->end == INT64_MAX ? lock_known_until(session, lock) : hold->end;

	return hold->fd >= 0 && lock->kind >= LOCK_FLOCK ? MIN(end, gone) : end;
}

/* A futex is taken in user mode: who was asleep when it became free had it no
 * sooner than it ran there again. */
static int64_t earliest(const struct session *session, const struct hold *hold)
{
	struct spans spans;
	struct span span;

	if (hold->begin == INT64_MIN)
		return hold->begin;
	spans_begin(&spans, session, hold->thread, hold->begin, hold->end);
	while (spans_next(&spans, &span))
		if (PACK_KIND(span.leaf) == LEAF_WORK_USER)
			return span.begin;
	return hold->begin;
}

struct holding hold_clipped(const struct session *session, const struct lock *lock,
			    const struct hold *hold)
{
	struct holding holding = {.thread = hold->thread,
				  .begin = hold->begin,
				  .end = hold_end(session, lock, hold),
				  .proved = hold->proved,
				  .taken = hold->taken};

	if (!hold->taken && lock->kind <= LOCK_PI)
		holding.begin = earliest(session, hold);
	return holding;
}

static void add_holding(struct lock_wait *wait, const struct session *session, uint32_t waiter,
			const struct hold *hold, int64_t begin, int64_t end)
{
	struct holding holding = hold_clipped(session, wait->lock, hold);

	holding.taken |= hold->begin < begin;
	holding.begin = MAX(holding.begin, begin);
	holding.end = MIN(holding.end, end);
	if (holding.begin >= holding.end || hold->thread == waiter)
		return;
	g_array_append_val(wait->holdings, holding);
	wait->inferred |= !hold->proved;
}

static int earlier(gconstpointer a, gconstpointer b)
{
	const struct holding *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int longer(gconstpointer a, gconstpointer b)
{
	const struct holder *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* `index`: thread -> place in `holders`, from 1. */
static struct holder *holder_of(GArray *holders, GHashTable *index, uint32_t thread)
{
	struct holder fresh = {.thread = thread, .proved = true};
	guint at = GPOINTER_TO_UINT(g_hash_table_lookup(index, GUINT_TO_POINTER(thread)));

	if (!at) {
		g_array_append_val(holders, fresh);
		at = holders->len;
		g_hash_table_insert(index, GUINT_TO_POINTER(thread), GUINT_TO_POINTER(at));
	}
	return &g_array_index(holders, struct holder, at - 1);
}

/* Adds up per thread; `between` is what no holding covers. */
static void add_up(struct lock_wait *wait, int64_t begin, int64_t end)
{
	g_autoptr(GHashTable) index = g_hash_table_new(NULL, NULL);
	int64_t covered = begin;

	for (guint i = 0; i < wait->holdings->len; i++) {
		const struct holding *at = &g_array_index(wait->holdings, struct holding, i);
		struct holder *holder = holder_of(wait->holders, index, at->thread);

		holder->count++;
		holder->ns += at->end - at->begin;
		holder->proved &= at->proved;
		if (at->begin > covered)
			wait->between += at->begin - covered;
		covered = MAX(covered, at->end);
	}
	wait->between += MAX(0, end - covered);
	g_array_sort(wait->holders, longer);
}

/* The waker gave the lock up just before it woke the waiter: that somebody else had
 * it already in the instant between is possible, but nothing was seen of it. */
static void cut_after_waker(struct lock_wait *wait, const struct block *block)
{
	guint last = wait->holdings->len;

	if (block->kind != WAKER_THREAD)
		return;
	while (last > 0 &&
	       g_array_index(wait->holdings, struct holding, last - 1).thread != block->waker)
		last--;
	for (guint i = wait->holdings->len; last > 0 && i-- > last;)
		if (!g_array_index(wait->holdings, struct holding, i).taken)
			g_array_remove_index(wait->holdings, i);
}

struct lock_wait *lock_wait_new(const struct session *session, const struct block *block,
				uint32_t thread, int64_t begin, int64_t end)
{
	const struct lock *lock = block_lock(session, block);
	const struct pages *store = &session->trace.timeline.holds;
	struct lock_wait *wait;

	if (!lock)
		return NULL;
	wait = g_new0(struct lock_wait, 1);
	wait->lock = lock;
	wait->holdings = g_array_new(FALSE, FALSE, sizeof(struct holding));
	wait->holders = g_array_new(FALSE, FALSE, sizeof(struct holder));
	for (uint32_t i = hold_find(store, &lock->holds, begin); i < lock->holds.used; i++) {
		const struct hold *hold = hold_at(store, &lock->holds, i);

		add_holding(wait, session, thread, hold, begin, end);
		/* one at a time: later ones are after the wait; so are shared ones, at last */
		if (hold->end >= end && (!hold->shared || hold->end - end >= lock->longest_shared))
			break;
	}
	for (guint i = 0; lock->open && i < lock->open->len; i++) {
		const struct hold *hold = &g_array_index(lock->open, struct hold, i);

		if (!hold->again) /* fcntl: it may have unlocked */
			add_holding(wait, session, thread, hold, begin, end);
	}
	g_array_sort(wait->holdings, earlier);
	cut_after_waker(wait, block);
	if (!wait->holdings->len) {
		lock_wait_free(wait);
		return NULL;
	}
	add_up(wait, begin, end);
	return wait;
}

void lock_wait_free(struct lock_wait *wait)
{
	if (!wait)
		return;
	g_array_free(wait->holdings, TRUE);
	g_array_free(wait->holders, TRUE);
	g_free(wait);
}

/* Time of one holder by leaf and resource. */
struct doing {
	uint32_t leaf, resource;
	int64_t ns;
};

static void add_doing(GArray *list, uint32_t leaf, uint32_t resource, int64_t ns)
{
	struct doing fresh = {leaf, resource, ns};

	for (guint i = 0; i < list->len; i++) {
		struct doing *at = &g_array_index(list, struct doing, i);

		if (at->leaf == leaf && at->resource == resource) {
			at->ns += ns;
			return;
		}
	}
	g_array_append_val(list, fresh);
}

static void look_at(const struct session *session, const struct lock_wait *wait,
		    struct holder *holder)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct doing));

	for (guint i = 0; i < wait->holdings->len; i++) {
		const struct holding *at = &g_array_index(wait->holdings, struct holding, i);
		struct spans spans;
		struct span span;

		if (at->thread != holder->thread)
			continue;
		spans_begin(&spans, session, at->thread, at->begin, at->end);
		while (spans_next(&spans, &span)) {
			const struct block *block =
				leaf_is_blocked(span.leaf)
					? block_at(&session->trace.timeline, span.ref)
					: NULL;

			holder->wib[leaf_wib(span.leaf)] += span.end - span.begin;
			add_doing(list, span.leaf, block ? session_resource(session, block) : 0,
				  span.end - span.begin);
		}
	}
	for (guint i = 0; i < list->len; i++) {
		const struct doing *at = &g_array_index(list, struct doing, i);

		if (at->ns <= holder->leaf_ns)
			continue;
		holder->leaf = at->leaf;
		holder->resource = at->resource;
		holder->leaf_ns = at->ns;
	}
	g_array_free(list, TRUE);
}

void lock_wait_look(const struct session *session, struct lock_wait *wait, guint count)
{
	for (guint i = 0; i < MIN(count, wait->holders->len); i++)
		look_at(session, wait, &g_array_index(wait->holders, struct holder, i));
}

/* A call on lock `number` by `thread` that was under way at `time`. */
static bool calls_for(const struct session *session, uint32_t number, uint32_t thread, int64_t time)
{
	const struct lock *lock = lock_at(&session->trace.flow, number);
	const struct pages *store = &session->trace.timeline.holds;

	for (uint32_t i = hold_find(store, &lock->waits, time); i < lock->waits.used; i++) {
		const struct hold *wait = hold_at(store, &lock->waits, i);

		if (wait->thread == thread)
			return wait->begin <= time;
		if (wait->begin > time + INT64_C(1000000000))
			break;
	}
	return false;
}

int64_t lock_spin(const struct session *session, uint32_t thread, uint32_t lock, int64_t begin,
		  int64_t end, uint32_t *owner)
{
	struct block block = {0};
	struct lock_wait *wait;
	int64_t ns;

	for (uint32_t i = 1;
	     session->trace.flow.pi_locks && !lock && i <= session->trace.flow.locks->len; i++)
		if (lock_at(&session->trace.flow, i)->kind == LOCK_PI &&
		    calls_for(session, i, thread, begin))
			lock = i;
	block.lock = lock;
	wait = lock_wait_new(session, &block, thread, begin, end);
	if (!wait)
		return 0;
	ns = end - begin - wait->between;
	*owner = g_array_index(wait->holders, struct holder, 0).thread;
	lock_wait_free(wait);
	return ns;
}

char *lock_holder_name(const struct session *session, uint32_t thread)
{
	return g_strdup_printf("%s (%d)%s", session_thread_name(session, thread),
			       model_thread(&session->trace.model, thread)->tid,
			       session_on(session, thread));
}

char *lock_wait_words(const struct session *session, const struct lock_wait *wait)
{
	GString *text = g_string_new(wait->holders->len > 1 ? "held in turn by " : "held by ");
	char length[32];

	for (guint i = 0; i < wait->holders->len && i < NAMED_MAX; i++) {
		const struct holder *holder = &g_array_index(wait->holders, struct holder, i);
		g_autofree char *name = lock_holder_name(session, holder->thread);

		g_string_append_printf(text, "%s%s for %s", i ? ", " : "", name,
				       when_duration(length, holder->ns));
	}
	if (wait->holders->len > NAMED_MAX)
		g_string_append_printf(text, " and %u more", wait->holders->len - NAMED_MAX);
	return g_string_free(text, FALSE);
}
