/* SPDX-License-Identifier: MIT */
/* See hinge.h. */
#include "whatif/hinge.h"

#include <string.h>

#include "locks/locks.h"

#define LOOKED_BACK 64 /* intervals, for what a thread had sent */

#define OF_NOBODY .thread = NO_THREAD, .since = INT64_MIN

static const struct hinge keeps_length = {.kind = KEEPS_LENGTH, OF_NOBODY};
static const struct hinge keeps_time = {.kind = KEEPS_TIME, OF_NOBODY};
static const struct hinge anchored = {.kind = KEEPS_TIME, .doubt = HINGE_ANCHORED, OF_NOBODY};
static const struct hinge over_gap = {.kind = KEEPS_LENGTH, .doubt = HINGE_GAP, OF_NOBODY};

static struct hinge follows(uint32_t thread, int64_t time)
{
	return (struct hinge) {.kind = FOLLOWS, .thread = thread, .time = time, .since = INT64_MIN};
}

/* `thread` did at `time` what the wait hangs on: it is known, and was before the wait's end. */
static bool is_done(uint32_t thread, int64_t time, const struct wait *wait)
{
	return is_thread(thread) && time > 0 && time < wait->end;
}

/* --- deadlines ------------------------------------------------------------------------------ */

#define ALIKE 5 /* sleeps that are looked at */
#define SLACK 100000 /* ns that timers are late by, more or less */

struct sleeps {
	int64_t lengths[ALIKE], ends[ALIKE];
	guint count;
};

static bool is_like(const struct timeline *timeline, const struct wait *wait, uint32_t leaf,
		    uint32_t ref)
{
	const struct block *block = leaf == wait->leaf ? block_at(timeline, ref) : NULL;

	return block && block->deadline && block->kind != WAKER_NONE;
}

/* When the second sleep until a deadline before the wait began, in the same call; if there are
 * fewer, the first one. */
static int64_t earlier_sleep(const struct session *session, const struct wait *wait)
{
	const struct timeline *timeline = &session->trace.timeline;
	const struct track *track = &model_thread(&session->trace.model, wait->thread)->track;
	int64_t begin = wait->begin, found = wait->begin;
	struct track_pos pos;
	int sleeps = 0;

	if (!track_find(timeline, track, wait->begin, &pos))
		return found;
	for (int i = 0; i < LOOKED_BACK && sleeps < 2; i++) {
		const struct interval *interval = track_step_back(timeline, track, &pos, &begin);

		if (!interval)
			break;
		if (!is_like(timeline, wait, interval->leaf, interval->ref))
			continue;
		found = begin;
		sleeps++;
	}
	return found;
}

static struct sleeps sleeps_around(const struct session *session, const struct wait *wait)
{
	struct sleeps sleeps = {.count = 0};
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, wait->thread, earlier_sleep(session, wait),
		    session->trace.end + 1);
	for (int i = 0; i < 2 * LOOKED_BACK && sleeps.count < ALIKE; i++) {
		if (!spans_next_off_cpu(&spans, &span))
			break;
		if (!is_like(&session->trace.timeline, wait, span.leaf, span.ref))
			continue;
		sleeps.lengths[sleeps.count] = span.end - span.begin;
		sleeps.ends[sleeps.count++] = span.end;
	}
	return sleeps;
}

struct spread {
	int64_t least, most, ns; /* from one to the other */
};

static struct spread spread_of(const int64_t *values, guint count)
{
	struct spread spread = {values[0], values[0], 0};

	for (guint i = 1; i < count; i++) {
		spread.least = MIN(spread.least, values[i]);
		spread.most = MAX(spread.most, values[i]);
	}
	spread.ns = spread.most - spread.least;
	return spread;
}

/* The deadline was made from "now", as Python's time.sleep() does: such sleeps are as long as each
 * other, and end at no regular distance. Those of a period end at a regular distance. */
static struct hinge of_deadline(const struct session *session, const struct wait *wait)
{
	struct sleeps sleeps = sleeps_around(session, wait);
	struct spread length, distance;
	int64_t distances[ALIKE];

	if (sleeps.count < 3)
		return anchored;
	for (guint i = 1; i < sleeps.count; i++)
		distances[i - 1] = sleeps.ends[i] - sleeps.ends[i - 1];
	length = spread_of(sleeps.lengths, sleeps.count);
	distance = spread_of(distances, sleeps.count - 1);
	if (4 * length.ns + SLACK < distance.ns)
		return keeps_length;
	return sleeps.count == ALIKE && 4 * distance.ns + SLACK < length.ns &&
			       4 * distance.ns < distance.least && length.most < distance.most
		       ? keeps_time
		       : anchored;
}

/* A sleep keeps its length; a timer that was armed before the wait, its distance from the arming;
 * a deadline its time of day. */
static struct hinge of_timer(const struct session *session, const struct wait *wait,
			     const struct wake_detail *detail)
{
	bool armed = detail && detail->kind == DETAIL_TIMER;

	if (wait->block->deadline)
		return of_deadline(session, wait);
	if (armed && detail->flags & DETAIL_DEADLINE)
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
		return of_timer(session, wait, detail);
	if (detail && (detail->kind == DETAIL_PACKET || detail->kind == DETAIL_RAISE)) {
		struct hinge hinge = of_messenger(wait, detail);

		if (hinge.kind == FOLLOWS)
			return hinge;
	}
	return sent_before(session, wait, &sent) ? follows(wait->thread, sent) : anchored;
}

/* The holder had the lock when the waiter came; INT64_MIN: not known. */
static int64_t held_since(const struct session *session, const struct wait *wait, uint32_t holder)
{
	const struct pages *store = &session->trace.timeline.holds;
	const struct lock *lock;

	if (!wait->block->lock)
		return INT64_MIN;
	lock = lock_at(&session->trace.flow, wait->block->lock);
	for (uint32_t i = hold_find(store, &lock->holds, wait->begin); i < lock->holds.used; i++) {
		const struct hold *hold = hold_at(store, &lock->holds, i);

		if (hold->thread == holder)
			return hold->begin <= wait->begin ? hold->begin : INT64_MIN;
		if (hold->end > wait->end)
			break;
	}
	return INT64_MIN;
}

/* What a guest asked its machine for, or slept: begun earlier it ends as much earlier. What the
 * host did at that time would have been done at another. */
static struct hinge of_guest(const struct session *session, const struct wait *wait,
			     const struct reason *reason)
{
	const struct wake_detail *request = block_request(session, wait->block);
	struct hinge hinge = keeps_length;

	if (reason->kind == REASON_LATE_TIMER)
		hinge = of_timer(session, wait, block_detail(session, wait->block));
	else if (request)
		hinge = of_messenger(wait, request);
	hinge.doubt = MAX(hinge.doubt, HINGE_INFERRED);
	return hinge;
}

struct hinge hinge_of(const struct session *session, const struct wait *wait,
		      const struct span *span)
{
	const struct reason *reason = block_reason(session, wait->block);
	struct hinge hinge;
	struct lead lead;

	if (session_spans_gap(session, wait->thread, span))
		return over_gap;
	if (wait->woken && reason && reason_is_of_guest(reason))
		return of_guest(session, wait, reason);
	if (!wait_lead(session, wait, &lead))
		return unled(session, wait);
	hinge = follows(lead.thread, lead.until);
	hinge.since = held_since(session, wait, lead.thread);
	hinge.lock = wait->block->lock;
	hinge.whichever = wait_is_for_whichever(session, wait->leaf);
	if (reason && reason->flags & REASON_INFERRED)
		hinge.doubt = HINGE_INFERRED;
	return hinge;
}
