/* SPDX-License-Identifier: MIT */
/* Cutting threads' lives into turns; see busy.h. */
#include "latencies/busy.h"

#include "objects/calls.h"
#include "waits/idle.h"

/* Its own timer ended it, as it had asked for nothing else. */
static bool is_own_sleep(const struct session *session, const struct wait *wait)
{
	const char *key;

	if (!wait->woken || PACK_KIND(wait->leaf) != LEAF_BLOCK_SYSCALL ||
	    wait_is_explained(session, wait))
		return false;
	if (flow_call_info(&session->trace.flow, PACK_NUMBER(wait->leaf))->wait == WAIT_SLEEP)
		return true;
	key = session_text(session, block_waits_for(session, wait->block));
	return g_str_has_prefix(key, "timerfd") && wait_taker(session, wait) == TAKER_TIMER;
}

static bool is_between_turns(const struct session *session, const struct wait *wait)
{
	return wait_is_at_leisure(session, wait) || is_own_sleep(session, wait);
}

static void add_turn(struct session *session, uint32_t thread, const struct span *before,
		     int64_t end)
{
	struct operation operation = {.begin = before->end,
				      .what = PACK(OPERATION_BUSY, 0),
				      .thread = thread,
				      .duration = (uint64_t) (end - before->end),
				      .cpu = OPERATION_CPU_UNKNOWN,
				      .off_cpu = true,
				      .ref = before->ref};
	uint32_t none = 0;

	if (end - before->end <= OPERATION_DURATION_MAX)
		operation_append(&session->trace.timeline.operations, &none, &operation);
}

static void cut_thread(struct session *session, uint32_t thread)
{
	struct span before = {0}, span;
	struct spans spans;
	bool seen = false;

	spans_begin(&spans, session, thread, INT64_MIN, INT64_MAX);
	while (spans_next_off_cpu(&spans, &span)) {
		struct wait wait;

		if (!leaf_is_blocked(span.leaf))
			continue;
		wait = wait_of(session, thread, &span);
		if (!is_between_turns(session, &wait))
			continue;
		if (seen)
			add_turn(session, thread, &before, span.begin);
		before = span;
		seen = wait.woken;
	}
}

void busy_add(struct session *session)
{
	const struct model *model = &session->trace.model;

	for (uint32_t i = 0; i < model->thread_count; i++)
		if (!thread_is_kernel(model, model_thread(model, i)))
			cut_thread(session, i);
}
