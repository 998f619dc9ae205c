/* SPDX-License-Identifier: MIT */
/* The account, and the way down; see wait_chain.h.
 *
 *   waiter ──┤ the wait at hand [b, e)                  ├──
 *   thread ──work──┤ waits for another ├──work──            impose_by_thread(), and one level
 *   other  ────────────work────────────                     deeper for its own waits
 */
#include "imposed/wait_chain.h"

#include "path/several.h"

/* What the wait at hand owes an imposer so far. */
struct led_share {
	uint32_t imposer;
	int64_t ns;
};

/* Where that is in `shares`, counted from 1; and who waited for the imposer last. */
struct mark {
	uint32_t share, waiter;
};

/* The thread; or the resource, if there is one, of the thread's host. */
static uint32_t imposer_of(struct account *account, uint32_t thread, uint32_t resource)
{
	uint16_t host = model_thread(&account->session->trace.model, thread)->host;
	struct idmap *map = resource ? &account->resources : &account->threads;
	uint64_t key = resource ? (uint64_t) host << 32 | resource : thread;
	uint32_t index = idmap_get(map, key);
	struct imposer fresh = {.thread = resource ? NO_THREAD : thread,
				.resource = resource,
				.host = host,
				.waiter = NO_THREAD};
	struct mark mark = {0, NO_THREAD};

	if (index != IDMAP_NONE)
		return index;
	index = account->waiting->imposers->len;
	idmap_set(map, key, index);
	g_array_append_val(account->waiting->imposers, fresh);
	g_array_append_val(account->marks, mark);
	return index;
}

static struct imposer *impose(struct account *account, uint32_t index, int64_t ns)
{
	struct imposer *imposer = &g_array_index(account->waiting->imposers, struct imposer, index);
	struct mark *mark = &g_array_index(account->marks, struct mark, index);
	struct led_share fresh = {index, 0};

	imposer->ns += ns;
	if (!mark->share) {
		g_array_append_val(account->shares, fresh);
		mark->share = account->shares->len;
	}
	g_array_index(account->shares, struct led_share, mark->share - 1).ns += ns;
	return imposer;
}

void impose_by_thread(struct account *account, uint32_t thread, enum imposed kind, int64_t ns)
{
	if (ns <= 0)
		return;
	impose(account, imposer_of(account, thread, 0), ns)->by[kind] += ns;
	account->waiting->by_threads += ns;
}

void impose_by_resource(struct account *account, uint32_t thread, uint32_t resource, int64_t ns)
{
	if (resource && ns > 0)
		impose(account, imposer_of(account, thread, resource), ns);
}

void impose_by_wait(struct account *account, const struct wait *wait, int64_t ns)
{
	uint32_t resource = wait_hardware(account->session, wait);
	struct imposer *imposer;

	if (!resource || ns <= 0)
		return;
	imposer = impose(account, imposer_of(account, wait->thread, resource), ns);
	if (wait->block->reason && (!imposer->told.block || ns > imposer->told_ns)) {
		imposer->told = *wait;
		imposer->told_ns = ns;
	}
}

static bool on_path(const struct account *account, uint32_t thread)
{
	for (guint i = 0; i < account->depth; i++)
		if (account->path[i] == thread)
			return true;
	return false;
}

bool impose_by_named(struct account *account, const struct wait *wait)
{
	const struct reason *reason = block_reason(account->session, wait->block);
	uint32_t named = wait_names(account->session, wait);

	if (!is_thread(named) || on_path(account, named))
		return false;
	impose_by_thread(account, named,
			 reason->kind == REASON_FLUSH || reason->kind == REASON_DIRTY
				 ? IMPOSED_IN_WAY
				 : IMPOSED_SILENCE,
			 wait->end - wait->begin);
	return true;
}

/* What a wait that was led to nobody is to those who wait for its thread. */
static enum imposed kind_of(const struct session *session, const struct wait *wait)
{
	static const enum imposed kinds[] = {[TAKER_UNKNOWN] = IMPOSED_OTHER,
					     [TAKER_TIMER] = IMPOSED_SLEEP,
					     [TAKER_HARDWARE] = IMPOSED_DEVICE};
	enum wait_taker taker = wait_taker(session, wait);
	const struct reason *reason = block_reason(session, wait->block);

	if (reason && (reason->kind == REASON_IO_LIMIT || reason->kind == REASON_MEMORY_HIGH ||
		       reason->kind == REASON_RECLAIM || reason->kind == REASON_DIRTY))
		return IMPOSED_LIMIT;
	if (reason && reason_is_try(reason))
		return IMPOSED_SLEEP; /* between two tries */
	return taker == TAKER_HARDWARE && wait_is_networks(session, wait)
		       ? IMPOSED_NETWORK
		       : kinds[taker];
}

/* A wait of `thread` meanwhile that nobody ended, or none that can be followed. */
static void chain_ends(struct account *account, const struct wait *wait)
{
	enum wait_taker taker = wait_taker(account->session, wait);
	int64_t ns = wait->end - wait->begin;

	if (!impose_by_named(account, wait) &&
	    !wait_is_transports(account->session, wait)) /* it did nothing of it */
		impose_by_thread(account, wait->thread, kind_of(account->session, wait), ns);
	if (taker == TAKER_HARDWARE)
		impose_by_wait(account, wait, ns);
}

int64_t lead_follow(struct account *account, const struct wait *wait, const struct lead *lead)
{
	int64_t rest = (wait->end - lead->until) + (lead->from - wait->begin);

	lead_down(account, lead->thread, lead->from, lead->until);
	if (!is_thread(lead->first) || on_path(account, lead->first) || account->depth == DEPTH_MAX)
		return rest;
	lead_down(account, lead->first, wait->begin, lead->first_until);
	return rest - (lead->first_until - wait->begin);
}

static void blocked_meanwhile(struct account *account, uint32_t thread, const struct span *span)
{
	struct wait wait = wait_of(account->session, thread, span);
	struct lead lead;
	int64_t rest;

	if (!wait_lead(account->session, &wait, &lead) || on_path(account, lead.thread) ||
	    account->depth == DEPTH_MAX) {
		chain_ends(account, &wait);
		return;
	}
	rest = lead_follow(account, &wait, &lead);
	if (rest) { /* the messenger's, the device's */
		if (!wait_is_transports(account->session, &wait))
			impose_by_thread(account, thread,
					 wait_is_networks(account->session, &wait) ? IMPOSED_NETWORK
										   : IMPOSED_DEVICE,
					 rest);
		impose_by_wait(account, &wait, rest);
	}
}

/* Before the thread's birth its parent, unless that is who waits. */
static void before_birth(struct account *account, uint32_t thread, int64_t from, int64_t to)
{
	uint32_t parent = model_thread(&account->session->trace.model, thread)->parent;

	if (is_thread(parent) && !on_path(account, parent) && account->depth < DEPTH_MAX)
		lead_down(account, parent, from, to);
	else
		impose_by_thread(account, thread, IMPOSED_OTHER, to - from);
}

/* One stretch of who is led over; up to where all is accounted for. */
static void led_over(struct account *account, uint32_t thread, const struct span *span, int64_t *at)
{
	int64_t ns = span->end - span->begin;

	if (span->begin > *at)
		before_birth(account, thread, *at, span->begin);
	*at = span->end;
	if (leaf_is_blocked(span->leaf))
		blocked_meanwhile(account, thread, span);
	else if (leaf_is_off_cpu(span->leaf))
		impose_by_thread(account, thread, IMPOSED_CPU, ns);
	else if (leaf_wib(span->leaf) == WIB_UNKNOWN)
		impose_by_thread(account, thread, IMPOSED_OTHER, ns);
	else
		impose_by_thread(account, thread, IMPOSED_WORK, ns);
}

/* It has waits of which one may have led to nothing but the other. */
static bool waits_twice(struct account *account, uint32_t thread, int64_t from, int64_t to)
{
	struct spans spans;
	struct span span;
	guint waits = 0;

	spans_begin(&spans, account->session, thread, from, to);
	while (waits < 2 && spans_next_off_cpu(&spans, &span))
		waits += waits_for_several(account->session, &span);
	return waits == 2;
}

void lead_down(struct account *account, uint32_t thread, int64_t from, int64_t to)
{
	const struct session *session = account->session;
	g_autoptr(GArray) list = NULL; /* where waits may be parts of one */
	struct spans spans;
	struct span span;
	int64_t at = from;
	uint32_t index;

	if (from >= to)
		return;
	account->path[account->depth++] = thread;
	index = imposer_of(account, thread, 0);
	g_array_index(account->waiting->imposers, struct imposer, index).through += to - from;
	if (waits_twice(account, thread, from, to))
		list = g_array_new(FALSE, FALSE, sizeof(struct span));
	spans_begin(&spans, session, thread, from, to);
	while (spans_next(&spans, &span)) {
		account->steps++;
		if (list)
			g_array_append_val(list, span);
		else
			led_over(account, thread, &span, &at);
	}
	if (list)
		several_join(session, thread, list, true);
	for (guint i = 0; list && i < list->len; i++)
		led_over(account, thread, &g_array_index(list, struct span, i), &at);
	if (at < to && at == from && model_thread(&session->trace.model, thread)->begin >= to)
		before_birth(account, thread, at, to);
	else
		impose_by_thread(account, thread, IMPOSED_OTHER, to - at); /* it was over */
	account->depth--;
}

void account_wait_ends(struct account *account)
{
	for (guint i = 0; i < account->shares->len; i++) {
		const struct led_share *share =
			&g_array_index(account->shares, struct led_share, i);
		struct imposer *imposer =
			&g_array_index(account->waiting->imposers, struct imposer, share->imposer);
		struct mark *mark = &g_array_index(account->marks, struct mark, share->imposer);

		mark->share = 0;
		if (share->ns > imposer->worst) {
			imposer->worst = share->ns;
			imposer->waiter = account->wait.waiter;
			imposer->begin = account->wait.begin;
			imposer->end = account->wait.end;
		}
		imposer->spans_gap |= account->wait.spans_gap;
		imposer->waiters += mark->waiter != account->wait.waiter;
		mark->waiter = account->wait.waiter;
	}
	g_array_set_size(account->shares, 0);
}

void account_init(struct account *account, const struct session *session, struct waiting *waiting)
{
	*account = (struct account) {.session = session, .waiting = waiting};
	account->shares = g_array_new(FALSE, FALSE, sizeof(struct led_share));
	account->marks = g_array_new(FALSE, FALSE, sizeof(struct mark));
	account->directs = g_array_new(FALSE, FALSE, sizeof(struct direct));
	idmap_init(&account->threads);
	idmap_init(&account->resources);
}

void account_clear(struct account *account)
{
	idmap_clear(&account->threads);
	idmap_clear(&account->resources);
	g_array_free(account->shares, TRUE);
	g_array_free(account->marks, TRUE);
	g_array_free(account->directs, TRUE);
}
