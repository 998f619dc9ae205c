/* SPDX-License-Identifier: MIT */
/* See tried.h. */
#include "path/tried.h"

#include "waits/wait.h"

/* The reason of a wait that was a try, NULL. */
static const struct reason *try_of(const struct session *session, const struct block *block)
{
	const struct reason *reason = block ? block_reason(session, block) : NULL;

	return reason && reason_is_try(reason) ? reason : NULL;
}

/* Two that were started one after the other, to do the same. */
static bool like(const struct session *session, uint32_t a, uint32_t b)
{
	const struct thread *one, *other;

	if (!is_thread(a) || !is_thread(b))
		return false;
	one = model_thread(&session->trace.model, a);
	other = model_thread(&session->trace.model, b);
	return one->host == other->host && one->name == other->name && one->parent == other->parent;
}

/* Siblings are told of as one. */
static bool same_thread(const struct telling *telling, uint32_t a, uint32_t b)
{
	return a == b || (is_thread(a) && is_thread(b) &&
			  siblings_first(&telling->siblings, telling->session, a) ==
				  siblings_first(&telling->siblings, telling->session, b));
}

static bool same(const struct telling *telling, const struct tried *tried, uint32_t waiter,
		 const struct reason *reason)
{
	return tried->waiter == waiter && tried->reason->kind == reason->kind &&
	       tried->reason->object == reason->object &&
	       (same_thread(telling, tried->reason->thread, reason->thread) ||
		reason->kind == REASON_READ_LOCKED ||
		(reason->kind == REASON_LISTENS &&
		 like(telling->session, tried->reason->thread, reason->thread)));
}

static uint32_t place_of(const struct telling *telling, GArray *list, const struct tried *fresh)
{
	for (guint i = 0; i < list->len; i++) {
		struct tried *at = &g_array_index(list, struct tried, i);

		if (!same(telling, at, fresh->waiter, fresh->reason))
			continue;
		at->more += fresh->reason->thread != at->last;
		at->last = fresh->reason->thread;
		return i + 1;
	}
	g_array_append_vals(list, fresh, 1);
	return list->len;
}

uint32_t tried_add(GArray *list, const struct telling *telling, const struct piece *piece)
{
	const struct session *session = telling->session;
	int64_t ns = piece->end - piece->begin;
	struct tried fresh = {.above = piece->behalf};
	bool own = piece->woken && try_of(session, piece->block);
	uint32_t place;

	if (own) {
		fresh.reason = try_of(session, piece->block);
		fresh.waiter = piece->thread;
		fresh.leaf = piece->leaf;
		fresh.resource = session_resource(session, piece->block);
	}
	for (int32_t at = piece->behalf; at >= 0;) {
		const struct through *wait =
			&g_array_index(telling->path->waits, struct through, at);

		if (try_of(session, wait->block)) {
			fresh = (struct tried) {.reason = try_of(session, wait->block),
						.waiter = wait->thread,
						.leaf = wait->leaf,
						.resource = session_resource(session, wait->block),
						.above = wait->behalf};
			own = false;
		}
		at = wait->behalf;
	}
	if (!fresh.reason)
		return 0;
	fresh.last = fresh.reason->thread;
	fresh.waiter = siblings_first(&telling->siblings, session, fresh.waiter);
	place = place_of(telling, list, &fresh);
	if (fresh.reason->kind == REASON_READ_LOCKED &&
	    fresh.reason->count > g_array_index(list, struct tried, place - 1).reason->count)
		g_array_index(list, struct tried, place - 1).reason = fresh.reason;
	g_array_index(list, struct tried, place - 1).ns += ns;
	if (own)
		g_array_index(list, struct tried, place - 1).rest += ns;
	return place;
}
