/* SPDX-License-Identifier: MIT */
/* See doings.h. */
#include "settings/doings.h"

#include "waits/causes.h"
#include "waits/state_names.h"

#define PEER (UINT32_C(1) << 31) /* a packet's sender */
#define ASKED 16 /* texts that were asked for last, by their numbers */

/* Which texts fit a list of patterns: a thread waits for the same few again and again. */
struct fits {
	char *const *patterns;
	uint32_t text[ASKED]; /* interned, and PEER; 0: not asked for yet */
	bool fit[ASKED];
};

/* A known setting while a thread's life is read. */
struct sought {
	const struct known_setting *known;
	struct fits calls, objects, between;
	bool asked; /* it waited for what is `between`, … */
	bool since; /* … and has not done it since */
};

static bool fits(const struct session *session, struct fits *fits, uint32_t text)
{
	uint32_t at = text % ASKED;
	g_autofree char *peer = NULL;

	if (!text || fits->text[at] != text) {
		if (text & PEER)
			peer = g_strconcat("socket:", session_text(session, text & ~PEER), NULL);
		fits->text[at] = text;
		fits->fit[at] =
			known_fits(fits->patterns, peer ? peer : session_text(session, text));
	}
	return fits->fit[at];
}

static bool is_of_program(const struct session *session, uint32_t thread, uint32_t leader,
			  const struct known_setting *known)
{
	return known_fits(known->programs, session_thread_name(session, thread)) ||
	       (is_thread(leader) &&
		known_fits(known->programs, session_thread_name(session, leader)));
}

/* Its thread ended it, or the kernel's function that did it as queued work. */
static bool ended_by(const struct session *session, const struct block *block,
		     char *const *patterns)
{
	const struct wake_detail *detail = block_detail(session, block);

	if (!patterns)
		return true;
	if (is_thread(block->waker) &&
	    known_fits(patterns, session_thread_name(session, block->waker)))
		return true;
	return detail && detail->kind == DETAIL_WORK &&
	       known_fits(patterns, session_function(session, detail->text));
}

static bool is_others(const struct session *session, uint32_t thread, uint32_t number,
		      char *const *patterns)
{
	const struct reason *reason = number ? reason_at(&session->trace.timeline, number) : NULL;
	const struct model *model = &session->trace.model;

	return reason && is_thread(reason->thread) &&
	       (model_thread(model, reason->thread)->pid != model_thread(model, thread)->pid ||
		model_thread(model, reason->thread)->host != model_thread(model, thread)->host) &&
	       known_fits(patterns, session_thread_name(session, reason->thread));
}

/* The disk had others' data to write first: for the wait, or the request that it was for. */
static bool block_was_behind(const struct session *session, uint32_t thread,
			     const struct block *block, char *const *patterns)
{
	const struct wake_detail *request = block_request(session, block);

	return is_others(session, thread, block->reason, patterns) ||
	       (request && is_others(session, thread, request->reason, patterns));
}

/* … or for what the thread that ended it waited for meanwhile. */
static bool was_behind(const struct session *session, const struct wait *wait,
		       char *const *patterns)
{
	bool behind = !patterns || block_was_behind(session, wait->thread, wait->block, patterns);
	struct spans spans;
	struct span span;

	if (behind || !is_thread(wait->block->waker))
		return behind;
	spans_begin(&spans, session, wait->block->waker, wait->begin, wait->end);
	while (!behind && spans_next_off_cpu(&spans, &span))
		behind = leaf_is_blocked(span.leaf) &&
			 block_was_behind(session, wait->thread,
					  block_at(&session->trace.timeline, span.ref), patterns);
	return behind;
}

/* A packet ended it, of a sender that fits: an event loop waits for many at once, and sockets that
 * are not connected have no peer. */
static bool is_packet_of(const struct session *session, const struct block *block,
			 struct fits *wanted)
{
	const struct wake_detail *detail = block_detail(session, block);

	return detail && detail->kind == DETAIL_PACKET && detail->text &&
	       fits(session, wanted, detail->text | PEER);
}

/* What the wait was on, in any of the ways that a report names it, fits; it becomes `object`, 0
 * where it has no name of its own. */
static bool object_fits(const struct session *session, const struct block *block,
			struct fits *wanted, uint32_t *object)
{
	const struct reason *reason = block_reason(session, block);
	uint32_t ways[] = {reason ? reason->object : 0, session_resource(session, block),
			   block->resource};

	for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
		*object = ways[i];
		if (ways[i] && fits(session, wanted, ways[i]))
			return true;
	}
	*object = 0;
	return is_packet_of(session, block, wanted);
}

static bool wait_fits(const struct session *session, const struct wait *wait, struct sought *sought,
		      uint32_t *object)
{
	const struct known_setting *known = sought->known;

	if (known->works || !fits(session, &sought->calls, PACK_NUMBER(wait->leaf)))
		return false;
	return (object_fits(session, wait->block, &sought->objects, object) || !known->objects) &&
	       ended_by(session, wait->block, known->enders) &&
	       was_behind(session, wait, known->behind) &&
	       (!known->causes ||
		known_fits(known->causes, cause_kind_text(wait_cause_kind(session, wait))));
}

static void add(GArray *doings, const struct span *span, struct sought *sought, uint32_t object)
{
	bool needs = sought->known->between != NULL;
	struct doing doing = {span->begin,   span->end,
			      sought->known, PACK_NUMBER(span->leaf),
			      object,        !needs || sought->since};

	if (!needs || sought->asked)
		g_array_append_val(doings, doing);
	sought->since = false;
}

/* The first that fits has it; all see whether it is what must be between. */
static void take_wait(const struct session *session, uint32_t thread, const struct span *span,
		      GArray *all, GArray *doings)
{
	struct wait wait = wait_of(session, thread, span);
	bool taken = false;

	if (PACK_KIND(span->leaf) != LEAF_BLOCK_SYSCALL)
		return;
	for (guint i = 0; i < all->len; i++) {
		struct sought *at = &g_array_index(all, struct sought, i);
		uint32_t object;

		if (!taken && wait.woken && wait_fits(session, &wait, at, &object)) {
			add(doings, span, at, object);
			taken = true;
		} else if (at->known->between &&
			   object_fits(session, wait.block, &at->between, &object)) {
			at->asked = at->since = true;
		}
	}
}

static void take_work(const struct session *session, const struct span *span, GArray *all,
		      GArray *doings)
{
	uint32_t object = span->ref & ~REF_FOR_WRITING;

	if (PACK_KIND(span->leaf) != LEAF_WORK_SYSCALL || !object)
		return;
	for (guint i = 0; i < all->len; i++) {
		struct sought *at = &g_array_index(all, struct sought, i);

		if (at->known->works && fits(session, &at->calls, PACK_NUMBER(span->leaf)) &&
		    fits(session, &at->objects, object)) {
			add(doings, span, at, object);
			return;
		}
	}
}

/* Those of the thread's program. True in `works`: some are seen in what it did on the CPU. */
static GArray *sought_of(const struct session *session, uint32_t thread, bool *works)
{
	const GPtrArray *known = known_settings(session);
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct sought));
	const struct thread *life = model_thread(&session->trace.model, thread);
	uint32_t leader = session_thread_at(session, life->host, life->pid,
					    MAX(life->begin, session->trace.begin));

	*works = false;
	for (guint i = 0; i < known->len; i++) {
		const struct known_setting *at = g_ptr_array_index(known, i);
		struct sought sought = {.known = at,
					.calls.patterns = at->calls,
					.objects.patterns = at->objects,
					.between.patterns = at->between};

		if (!is_of_program(session, thread, leader, at))
			continue;
		g_array_append_val(list, sought);
		*works |= sought.known->works;
	}
	return list;
}

GArray *doings_new(const struct session *session, uint32_t thread, int64_t from, int64_t to)
{
	GArray *doings = g_array_new(FALSE, FALSE, sizeof(struct doing));
	g_autoptr(GArray) sought = NULL;
	struct spans spans;
	struct span span;
	bool works;

	if (session->asked.options->anonymiser)
		return doings;
	sought = sought_of(session, thread, &works);
	if (!sought->len)
		return doings;
	spans_begin(&spans, session, thread, from, to);
	while (works ? spans_next(&spans, &span) : spans_next_off_cpu(&spans, &span))
		if (leaf_is_blocked(span.leaf))
			take_wait(session, thread, &span, sought, doings);
		else if (works)
			take_work(session, &span, sought, doings);
	return doings;
}
