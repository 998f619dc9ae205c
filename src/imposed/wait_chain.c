/* SPDX-License-Identifier: MIT */
/* The account, and the way down; see wait_chain.h.
 *
 *   waiter ──┤ the wait at hand [b, e)                  ├──
 *   thread ──work──┤ waits for another ├──work──            owe_thread(), and one level
 *   other  ────────────work────────────                     deeper for its own waits
 */
#include "imposed/wait_chain.h"

/* What the wait at hand owes an imposer so far. */
struct part {
	uint32_t imposer;
	int64_t ns;
};

/* Where that is in `parts`, counted from 1; and who waited for the imposer last. */
struct mark {
	uint32_t part, waiter;
};

/* The thread; or the resource, if there is one, of the thread's host. */
static uint32_t imposer_of(struct charger *charger, uint32_t thread, uint32_t resource)
{
	uint16_t host = model_thread(&charger->session->trace.model, thread)->host;
	struct idmap *map = resource ? &charger->resources : &charger->threads;
	uint64_t key = resource ? (uint64_t) host << 32 | resource : thread;
	uint32_t index = idmap_get(map, key);
	struct imposer fresh = {.thread = resource ? NO_THREAD : thread,
				.resource = resource,
				.host = host,
				.waiter = NO_THREAD};
	struct mark mark = {0, NO_THREAD};

	if (index != IDMAP_NONE)
		return index;
	index = charger->waiting->imposers->len;
	idmap_set(map, key, index);
	g_array_append_val(charger->waiting->imposers, fresh);
	g_array_append_val(charger->marks, mark);
	return index;
}

static struct imposer *owe(struct charger *charger, uint32_t index, int64_t ns)
{
	struct imposer *imposer = &g_array_index(charger->waiting->imposers, struct imposer, index);
	struct mark *mark = &g_array_index(charger->marks, struct mark, index);
	struct part fresh = {index, 0};

	imposer->ns += ns;
	if (!mark->part) {
		g_array_append_val(charger->parts, fresh);
		mark->part = charger->parts->len;
	}
	g_array_index(charger->parts, struct part, mark->part - 1).ns += ns;
	return imposer;
}

void owe_thread(struct charger *charger, uint32_t thread, enum imposed kind, int64_t ns)
{
	if (ns <= 0)
		return;
	owe(charger, imposer_of(charger, thread, 0), ns)->by[kind] += ns;
	charger->waiting->by_threads += ns;
}

void owe_resource(struct charger *charger, uint32_t thread, uint32_t resource, int64_t ns)
{
	if (resource && ns > 0)
		owe(charger, imposer_of(charger, thread, resource), ns);
}

static bool on_path(const struct charger *charger, uint32_t thread)
{
	for (guint i = 0; i < charger->depth; i++)
		if (charger->path[i] == thread)
			return true;
	return false;
}

/* A wait of `thread` meanwhile that nobody ended, or none that can be followed. */
static void chain_ends(struct charger *charger, const struct wait *wait)
{
	static const enum imposed kinds[] = {[TAKER_UNKNOWN] = IMPOSED_OTHER,
					     [TAKER_TIMER] = IMPOSED_SLEEP,
					     [TAKER_HARDWARE] = IMPOSED_DEVICE};
	enum wait_taker taker = wait_taker(charger->session, wait);
	int64_t ns = wait->end - wait->begin;

	owe_thread(charger, wait->thread, kinds[taker], ns);
	if (taker == TAKER_HARDWARE)
		owe_resource(charger, wait->thread, wait_hardware(charger->session, wait), ns);
}

int64_t lead_follow(struct charger *charger, const struct wait *wait, const struct lead *lead)
{
	int64_t rest = (wait->end - lead->until) + (lead->from - wait->begin);

	lead_down(charger, lead->thread, lead->from, lead->until);
	if (!is_thread(lead->first) || on_path(charger, lead->first) || charger->depth == DEPTH_MAX)
		return rest;
	lead_down(charger, lead->first, wait->begin, lead->first_until);
	return rest - (lead->first_until - wait->begin);
}

static void blocked_meanwhile(struct charger *charger, uint32_t thread, const struct span *span)
{
	struct wait wait = wait_of(charger->session, thread, span);
	struct lead lead;
	int64_t rest;

	if (!wait_lead(charger->session, &wait, &lead) || on_path(charger, lead.thread) ||
	    charger->depth == DEPTH_MAX) {
		chain_ends(charger, &wait);
		return;
	}
	rest = lead_follow(charger, &wait, &lead);
	if (rest) { /* the messenger's, the device's */
		owe_thread(charger, thread, IMPOSED_DEVICE, rest);
		owe_resource(charger, thread, wait_hardware(charger->session, &wait), rest);
	}
}

/* Before the thread's birth its parent, unless that is who waits. */
static void before_birth(struct charger *charger, uint32_t thread, int64_t from, int64_t to)
{
	uint32_t parent = model_thread(&charger->session->trace.model, thread)->parent;

	if (is_thread(parent) && !on_path(charger, parent) && charger->depth < DEPTH_MAX)
		lead_down(charger, parent, from, to);
	else
		owe_thread(charger, thread, IMPOSED_OTHER, to - from);
}

void lead_down(struct charger *charger, uint32_t thread, int64_t from, int64_t to)
{
	struct spans spans;
	struct span span;
	int64_t at = from;
	uint32_t index;

	if (from >= to)
		return;
	charger->path[charger->depth++] = thread;
	index = imposer_of(charger, thread, 0);
	g_array_index(charger->waiting->imposers, struct imposer, index).through += to - from;
	spans_begin(&spans, charger->session, thread, from, to);
	while (spans_next(&spans, &span)) {
		int64_t ns = span.end - span.begin;

		charger->steps++;
		if (span.begin > at)
			before_birth(charger, thread, at, span.begin);
		at = span.end;
		if (leaf_is_blocked(span.leaf))
			blocked_meanwhile(charger, thread, &span);
		else if (leaf_is_off_cpu(span.leaf))
			owe_thread(charger, thread, IMPOSED_CPU, ns);
		else if (leaf_wib(span.leaf) == WIB_UNKNOWN)
			owe_thread(charger, thread, IMPOSED_OTHER, ns);
		else
			owe_thread(charger, thread, IMPOSED_WORK, ns);
	}
	if (at < to && at == from &&
	    model_thread(&charger->session->trace.model, thread)->begin >= to)
		before_birth(charger, thread, at, to);
	else
		owe_thread(charger, thread, IMPOSED_OTHER, to - at); /* it was over */
	charger->depth--;
}

void charge_settle(struct charger *charger)
{
	for (guint i = 0; i < charger->parts->len; i++) {
		const struct part *part = &g_array_index(charger->parts, struct part, i);
		struct imposer *imposer =
			&g_array_index(charger->waiting->imposers, struct imposer, part->imposer);
		struct mark *mark = &g_array_index(charger->marks, struct mark, part->imposer);

		mark->part = 0;
		if (part->ns > imposer->worst) {
			imposer->worst = part->ns;
			imposer->waiter = charger->charge.waiter;
			imposer->begin = charger->charge.begin;
			imposer->end = charger->charge.end;
		}
		imposer->spans_gap |= charger->charge.spans_gap;
		imposer->waiters += mark->waiter != charger->charge.waiter;
		mark->waiter = charger->charge.waiter;
	}
	g_array_set_size(charger->parts, 0);
}

void charger_init(struct charger *charger, const struct session *session, struct waiting *waiting)
{
	*charger = (struct charger) {.session = session, .waiting = waiting};
	charger->parts = g_array_new(FALSE, FALSE, sizeof(struct part));
	charger->marks = g_array_new(FALSE, FALSE, sizeof(struct mark));
	charger->directs = g_array_new(FALSE, FALSE, sizeof(struct direct));
	idmap_init(&charger->threads);
	idmap_init(&charger->resources);
	contacts_init(&charger->contacts, session);
}

void charger_clear(struct charger *charger)
{
	contacts_clear(&charger->contacts);
	idmap_clear(&charger->threads);
	idmap_clear(&charger->resources);
	g_array_free(charger->parts, TRUE);
	g_array_free(charger->marks, TRUE);
	g_array_free(charger->directs, TRUE);
}
