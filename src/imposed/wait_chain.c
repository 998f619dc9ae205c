/* SPDX-License-Identifier: MIT */
/* The account, and the way down; see wait_chain.h.
 *
 *   waiter ──┤ the wait at hand [b, e)                  ├──
 *   thread ──work──┤ waits for another ├──work──            owe_thread(), and one level
 *   other  ────────────work────────────                     deeper for its own waits
 */
#include "imposed/wait_chain.h"

#include "waits/deliveries.h"
#include "waits/summary.h"

#include <string.h>

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

static uint32_t intern_key(const struct session *session, const char *prefix, const char *name)
{
	g_autofree char *key = g_strconcat(prefix, name, NULL);

	return intern_id(session->trace.model.names, key);
}

uint32_t block_hardware(const struct session *session, const struct block *block)
{
	const struct wake_detail *detail =
		block->detail ? detail_at(&session->trace.timeline, block->detail) : NULL;
	const struct wake_detail *request = block_request(session, block);
	g_autofree char *frame = NULL;

	if (request)
		return intern_key(session, "device:", session_text(session, request->text));
	if (detail && detail->kind == DETAIL_WORK) /* before its item was queued */
		return intern_key(session, "work:", "queued in an interrupt");
	if (detail && detail->kind == DETAIL_PACKET)
		return intern_key(session, "socket:",
				  detail->text ? session_text(session, detail->text) : "network");
	if (block->kind == WAKER_IRQ && block->label)
		return intern_key(session, "device:", session_text(session, block->label));
	if (block->kind == WAKER_SOFTIRQ && softirq_name(PACK_NUMBER(block->context)))
		return intern_key(session, "work:softIRQ ",
				  softirq_name(PACK_NUMBER(block->context)));
	frame = frame_text(session, block->context, false);
	return intern_key(session, "work:", frame);
}

bool block_is_timer(const struct session *session, const struct block *block)
{
	const struct wake_detail *detail =
		block->detail ? detail_at(&session->trace.timeline, block->detail) : NULL;

	/* a sleep that is not over is one as well, and one that an interrupt or softIRQ
	 * ended whose timer was not recorded */
	if (block->kind != WAKER_THREAD && block->kind != WAKER_UNKNOWN &&
	    strcmp(session_text(session, block->resource), "sleep") == 0)
		return true;
	if (block->why == WHY_TIME_LIMIT)
		return true;
	if (block->kind == WAKER_SOFTIRQ && (!detail || detail->kind == DETAIL_RAISE))
		return softirq_is_timer(PACK_NUMBER(block->context));
	if (block->kind == WAKER_VECTOR && !detail)
		return strcmp(session_text(session, PACK_NUMBER(block->context)), "local_timer") ==
		       0;
	return block->kind == WAKER_HRTIMER || (detail && detail->kind == DETAIL_TIMER);
}

static bool on_path(const struct charger *charger, uint32_t thread)
{
	for (guint i = 0; i < charger->depth; i++)
		if (charger->path[i] == thread)
			return true;
	return false;
}

/* A wait of `thread` meanwhile that nobody ended, or none that can be followed. */
static void chain_ends(struct charger *charger, uint32_t thread, const struct block *block,
		       int64_t ns)
{
	if (block_is_timer(charger->session, block)) {
		owe_thread(charger, thread, IMPOSED_SLEEP, ns);
	} else if (block->kind == WAKER_UNKNOWN || block->kind == WAKER_NONE ||
		   (block->kind == WAKER_THREAD && !block_request(charger->session, block))) {
		owe_thread(charger, thread, IMPOSED_OTHER, ns);
	} else {
		owe_thread(charger, thread, IMPOSED_DEVICE, ns);
		owe_resource(charger, thread, block_hardware(charger->session, block), ns);
	}
}

int64_t lead_follow(struct charger *charger, const struct span *span, const struct lead *lead)
{
	int64_t rest = (span->end - lead->until) + (lead->from - span->begin);

	lead_down(charger, lead->thread, lead->from, lead->until);
	if (!is_thread(lead->first) || on_path(charger, lead->first) || charger->depth == DEPTH_MAX)
		return rest;
	lead_down(charger, lead->first, span->begin, lead->first_until);
	return rest - (lead->first_until - span->begin);
}

static void blocked_meanwhile(struct charger *charger, uint32_t thread, const struct span *span)
{
	const struct block *block = block_at(&charger->session->trace.timeline, span->ref);
	struct lead lead;
	int64_t rest;

	if (!block_lead(charger->session, block, thread, span->begin, span->end, &lead) ||
	    on_path(charger, lead.thread) || charger->depth == DEPTH_MAX) {
		chain_ends(charger, thread, block, span->end - span->begin);
		return;
	}
	rest = lead_follow(charger, span, &lead);
	if (rest) { /* the messenger's, the device's */
		owe_thread(charger, thread, IMPOSED_DEVICE, rest);
		owe_resource(charger, thread, block_hardware(charger->session, block), rest);
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
