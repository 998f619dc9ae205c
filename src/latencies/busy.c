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

static void add_turn(void *data, uint32_t thread, int64_t begin, int64_t end, uint32_t ref)
{
	struct session *session = data;
	struct operation operation = {.begin = begin,
				      .what = PACK(OPERATION_BUSY, 0),
				      .thread = thread,
				      .duration = (uint64_t) (end - begin),
				      .cpu = OPERATION_CPU_UNKNOWN,
				      .off_cpu = true,
				      .ref = ref};
	uint32_t none = 0;

	if (end - begin <= OPERATION_DURATION_MAX)
		operation_append(&session->trace.timeline.operations, &none, &operation);
}

void busy_each(const struct session *session, uint32_t thread,
	       void (*take)(void *data, uint32_t thread, int64_t begin, int64_t end, uint32_t ref),
	       void *data)
{
	struct span before = {0}, span;
	struct spans spans;
	bool seen = false;

	if (thread_is_kernel(&session->trace.model, model_thread(&session->trace.model, thread)))
		return;
	spans_begin(&spans, session, thread, INT64_MIN, INT64_MAX);
	while (spans_next_off_cpu(&spans, &span)) {
		struct wait wait;

		if (!leaf_is_blocked(span.leaf))
			continue;
		wait = wait_of(session, thread, &span);
		if (!is_between_turns(session, &wait))
			continue;
		if (seen)
			take(data, thread, before.end, span.begin, before.ref);
		before = span;
		seen = wait.woken;
	}
}

void busy_add(struct session *session)
{
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		busy_each(session, i, add_turn, session);
}
