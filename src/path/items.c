/* SPDX-License-Identifier: MIT */
/* Shares put together to what a sentence is about; see items.h.
 *
 * Part of path/.
 */
#include "path/items.h"

#include <string.h>

#include "path/tried.h"
#include "ready/host_span.h"

#define OF_WEIGHT 20 /* an imposed item of 1/20 of the time goes before what is larger and own */
#define WEIGHTY 10   /* … and one of 1/10 also where the thread's own is over half of it */

static void item_free(gpointer data)
{
	struct item *item = data;

	g_ptr_array_unref(item->shares);
	g_array_free(item->waiters, TRUE);
	g_free(item);
}

/* A call's own work that is somebody else's doing. */
static bool is_forced_work(const struct share *share)
{
	return share->reclaim || share->ending || share->spun * 2 >= share->times.ns ||
	       share_copies_up(share);
}

static enum item_kind kind_of(const struct session *session, const struct share *share)
{
	if (share->waiters->len)
		return ITEM_FOR;
	if (share_is_ready(share))
		return ITEM_READY;
	if (span_is_hosts(share->leaf))
		return ITEM_READY;
	if (leaf_is_blocked(share->leaf))
		return share_is_sleep(session, share) ? ITEM_SLEEP : ITEM_WAIT;
	if (is_forced_work(share))
		return ITEM_WAIT;
	return leaf_wib(share->leaf) == WIB_INTERRUPTED ? ITEM_INTERRUPTED : ITEM_WORK;
}

static bool is_tracer(const char *name)
{
	return g_str_has_prefix(name, "lttng-") || strcmp(name, "lttng") == 0;
}

/* Who had the CPU meanwhile was for the most part the tracer. */
static bool tracer_had_cpu(const struct share *share)
{
	int64_t tracers = 0;
	GHashTableIter iter;
	gpointer name, ns;

	g_hash_table_iter_init(&iter, share->runners.by);
	while (g_hash_table_iter_next(&iter, &name, &ns))
		tracers += is_tracer(name) ? *(int64_t *) ns : 0;
	return tracers * 2 > share->runners.ns;
}

static bool is_idle(const struct item *item)
{
	int64_t idle = 0;

	for (guint i = 0; i < item->shares->len; i++)
		idle += ((const struct share *) item->shares->pdata[i])->idle;
	return idle * 2 > item->ns;
}

static bool is_imposed(const struct item *item, const bool *tracers)
{
	const struct share *share = item->shares->len ? item->shares->pdata[0] : NULL;

	switch (item->kind) {
	case ITEM_FOR:
		return !item->idle && !tracers[item->thread];
	case ITEM_WAIT:
		return share->cause != CAUSE_TIMER && share->cause != CAUSE_UNKNOWN &&
		       share->cause != CAUSE_STILL_BLOCKED;
	case ITEM_READY:
		return span_is_hosts(share->leaf) || share->cause == CAUSE_THROTTLED ||
		       (share->cause != CAUSE_TIMER && !tracer_had_cpu(share));
	case ITEM_TRIED:
		return true;
	default:
		return false;
	}
}

static struct item *item_add(GPtrArray *items, enum item_kind kind, uint32_t thread)
{
	struct item *fresh = g_new0(struct item, 1);

	fresh->kind = kind;
	fresh->thread = thread;
	fresh->shares = g_ptr_array_new();
	fresh->waiters = g_array_new(FALSE, FALSE, sizeof(struct waiter));
	g_ptr_array_add(items, fresh);
	return fresh;
}

/* The item that a share goes to, made if there is none. */
static struct item *item_for(GPtrArray *items, enum item_kind kind, const struct share *share)
{
	for (guint i = 0; i < items->len && kind != ITEM_WAIT; i++) {
		struct item *at = g_ptr_array_index(items, i);
		const struct share *first = at->shares->len ? at->shares->pdata[0] : NULL;

		if (at->kind == kind && at->thread == share->thread &&
		    (kind != ITEM_READY ||
		     (first->cause == share->cause && first->leaf == share->leaf)))
			return at;
	}
	return item_add(items, kind, share->thread);
}

static int longest_waiter(gconstpointer a, gconstpointer b)
{
	const struct waiter *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->behalf < y->behalf ? -1 : x->behalf > y->behalf;
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct item *x = *(struct item *const *) a, *y = *(struct item *const *) b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->tried != y->tried)
		return x->tried < y->tried ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* The imposed ones that are of weight to the front, if they are the story: items.h. */
static void put_in_order(GPtrArray *items, int64_t window)
{
	int64_t own = 0, most = 0;
	GPtrArray *rest;
	guint kept = 0;

	g_ptr_array_sort(items, longest_first);
	for (guint i = 0; i < items->len; i++) {
		const struct item *item = g_ptr_array_index(items, i);

		own += item->imposed ? 0 : item->ns;
		most = MAX(most, item->imposed ? item->ns : 0);
	}
	if (own * 2 > window && most * WEIGHTY < window)
		return;
	rest = g_ptr_array_new();
	for (guint i = 0; i < items->len; i++) {
		struct item *item = g_ptr_array_index(items, i);

		if (item->imposed && item->ns * OF_WEIGHT >= window)
			items->pdata[kept++] = item;
		else
			g_ptr_array_add(rest, item);
	}
	for (guint i = 0; i < rest->len; i++)
		items->pdata[kept++] = rest->pdata[i];
	g_ptr_array_unref(rest);
}

static void add_share(GPtrArray *items, const struct session *session, struct share *share)
{
	struct item *item = item_for(items, kind_of(session, share), share);

	g_ptr_array_add(item->shares, share);
	item->ns += share->times.ns;
	for (guint k = 0; k < share->waiters->len; k++)
		waiters_add(item->waiters, &g_array_index(share->waiters, struct waiter, k));
	g_array_sort(item->waiters, longest_waiter);
}

static void add_tried(GPtrArray *items, const GPtrArray *shares, const struct tried *tried,
		      uint32_t place)
{
	struct item *item = item_add(items, ITEM_TRIED, tried->waiter);

	item->tried = place;
	item->ns = tried->ns;
	for (guint k = 0; k < shares->len; k++) {
		struct share *share = g_ptr_array_index(shares, k);

		if (share->tried == place)
			g_ptr_array_add(item->shares, share);
	}
}

GPtrArray *items_new(const struct telling *telling, const GPtrArray *shares, const GArray *tries)
{
	GPtrArray *items = g_ptr_array_new_with_free_func(item_free);
	g_autofree bool *tracers = session_tracers(telling->session);

	for (guint i = 0; i < shares->len; i++) {
		struct share *share = g_ptr_array_index(shares, i);

		if (!share->tried)
			add_share(items, telling->session, share);
	}
	for (guint i = 0; i < tries->len; i++)
		add_tried(items, shares, &g_array_index(tries, struct tried, i), i + 1);
	for (guint i = 0; i < items->len; i++) {
		struct item *item = g_ptr_array_index(items, i);

		item->idle = is_idle(item);
		item->imposed = is_imposed(item, tracers);
	}
	put_in_order(items, telling->ns);
	return items;
}
