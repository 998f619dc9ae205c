/* SPDX-License-Identifier: MIT */
/* See hinge.h. */
#include "whatif/hinge.h"

#include <string.h>

#define LOOKED_BACK 64 /* intervals, for what a thread had sent */

static const struct hinge keeps_length = {KEEPS_LENGTH, HINGE_SURE, NO_THREAD, 0};
static const struct hinge keeps_time = {KEEPS_TIME, HINGE_SURE, NO_THREAD, 0};
static const struct hinge anchored = {KEEPS_TIME, HINGE_ANCHORED, NO_THREAD, 0};

static struct hinge follows(uint32_t thread, int64_t time)
{
	return (struct hinge) {FOLLOWS, HINGE_SURE, thread, time};
}

/* `thread` did at `time` what the wait hangs on: it is known, and was before the wait's end. */
static bool is_done(uint32_t thread, int64_t time, const struct wait *wait)
{
	return is_thread(thread) && time > 0 && time < wait->end;
}

/* A sleep keeps its length; a timer that was armed before the wait, its distance from the arming;
 * a deadline its time of day. */
static struct hinge of_timer(const struct wait *wait, const struct wake_detail *detail)
{
	bool armed = detail && detail->kind == DETAIL_TIMER;

	if (wait->block->deadline || (armed && detail->flags & DETAIL_DEADLINE))
		return keeps_time;
	return armed && detail->begin < wait->begin && is_done(detail->thread, detail->begin, wait)
		       ? follows(detail->thread, detail->begin)
		       : keeps_length;
}

/* What ended it was given on before the wait began: the packet was on its way, the request asked
 * for. */
static struct hinge of_messenger(const struct wait *wait, const struct wake_detail *detail)
{
	bool asks = detail->kind == DETAIL_REQUEST;
	int64_t given = asks && detail->asked ? detail->asked
					      : detail->begin - (asks ? MAX(detail->queued, 0) : 0);

	return is_done(detail->thread, given, wait) ? follows(detail->thread, given)
	       : asks                               ? keeps_length
						    : anchored;
}

/* Interned keys of descriptors are one, or one of them stands for several. */
static bool may_be_one(const struct session *session, uint32_t a, uint32_t b)
{
	return a && b &&
	       (a == b || strcmp(session_text(session, a), "several") == 0 ||
		strcmp(session_text(session, b), "several") == 0);
}

/* What came was an answer, as the waiter had sent something there since it last waited for it: when
 * it began to send. False: it had not, as far as can be seen. */
static bool sent_before(const struct session *session, const struct wait *wait, int64_t *time)
{
	const struct timeline *timeline = &session->trace.timeline;
	const struct track *track = &model_thread(&session->trace.model, wait->thread)->track;
	uint32_t on = block_waits_for(session, wait->block);
	const struct block *block = wait->block;
	struct track_pos pos;
	int64_t begin;

	if (!on || !track_find(timeline, track, wait->begin, &pos))
		return false;
	begin = wait->begin;
	for (int i = 0; i < LOOKED_BACK; i++) {
		const struct interval *interval;

		if (block && may_be_one(session, block->sent, on)) {
			*time = begin - block->sent_ago;
			return block->sent_ago < UINT32_MAX;
		}
		interval = track_step_back(timeline, track, &pos, &begin);
		if (!interval)
			return false;
		block = leaf_is_blocked(interval->leaf) ? block_at(timeline, interval->ref) : NULL;
		if (block && block_waits_for(session, block) == on)
			return false; /* it got something there already */
	}
	return false;
}

/* Of a wait that is led to nobody. */
static struct hinge unled(const struct session *session, const struct wait *wait)
{
	const struct wake_detail *detail = block_detail(session, wait->block);
	const struct wake_detail *request = block_request(session, wait->block);
	int64_t sent;

	if (!wait->woken || block_reason(session, wait->block))
		return keeps_length;
	if (request)
		return of_messenger(wait, request);
	if (wait_taker(session, wait) == TAKER_TIMER)
		return of_timer(wait, detail);
	if (detail && (detail->kind == DETAIL_PACKET || detail->kind == DETAIL_RAISE)) {
		struct hinge hinge = of_messenger(wait, detail);

		if (hinge.kind == FOLLOWS)
			return hinge;
	}
	return sent_before(session, wait, &sent) ? follows(wait->thread, sent) : anchored;
}

struct hinge hinge_of(const struct session *session, const struct wait *wait,
		      const struct span *span)
{
	const struct reason *reason = block_reason(session, wait->block);
	struct hinge hinge;
	struct lead lead;

	if (session_spans_gap(session, wait->thread, span))
		return (struct hinge) {KEEPS_LENGTH, HINGE_GAP, NO_THREAD, 0};
	if (!wait_lead(session, wait, &lead))
		return unled(session, wait);
	hinge = follows(lead.thread, lead.until);
	if (reason && reason->flags & REASON_INFERRED)
		hinge.doubt = HINGE_INFERRED;
	return hinge;
}
