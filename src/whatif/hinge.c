/* SPDX-License-Identifier: MIT */
/* See hinge.h. */
#include "whatif/hinge.h"

static struct hinge follows(uint32_t thread, int64_t time)
{
	return (struct hinge) {FOLLOWS, HINGE_SURE, thread, time};
}

static const struct hinge keeps_length = {KEEPS_LENGTH, HINGE_SURE, NO_THREAD, 0};

/* `thread` did at `time` what the wait hangs on, if that is known and was not later. */
static struct hinge follows_if(uint32_t thread, int64_t time, const struct wait *wait)
{
	return is_thread(thread) && time > 0 && time < wait->end
		       ? follows(thread, time)
		       : keeps_length;
}

/* Of a wait that is led to nobody. */
static struct hinge unled(const struct session *session, const struct wait *wait)
{
	const struct wake_detail *detail = block_detail(session, wait->block);
	const struct wake_detail *request = block_request(session, wait->block);

	if (!wait->woken || block_reason(session, wait->block))
		return keeps_length;
	if (request)
		return follows_if(request->thread,
				  request->asked ? request->asked
						 : request->begin - MAX(request->queued, 0),
				  wait);
	if (detail && detail->kind == DETAIL_TIMER) /* armed before the wait, or in it: a sleep */
		return detail->begin < wait->begin ? follows_if(detail->thread, detail->begin, wait)
						   : keeps_length;
	if (!(detail && detail->kind == DETAIL_PACKET) && wait->block->kind != WAKER_IRQ)
		return keeps_length;
	return (struct hinge) {KEEPS_TIME, HINGE_ANCHORED, NO_THREAD, 0};
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
