/* SPDX-License-Identifier: MIT */
/* Judging stretches in which a thread was ready; see ready.h. */
#include "ready/ready.h"

#include "ready/cpu_runs.h"

#define IDLE_SHARE 0.9
#define THROTTLED_MIN INT64_C(1000000)    /* ns; a move to another CPU takes some µs */
#define TOGETHER INT64_C(1000000)         /* ns: threads let go together, at most apart */
#define SIBLINGS_MAX 2000 /* looked at, of one process, newest first */
#define PERIOD_MAX INT64_C(1000000000)    /* ns: the longest period of a quota */

struct idling {
	int64_t idle;
	bool any, began_idle;
};

static void idled(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct idling *idling = data;

	if (!idling->any)
		idling->began_idle = thread == IDLE_THREAD;
	idling->any = true;
	if (thread == IDLE_THREAD)
		idling->idle += end - begin;
}

static struct idling idling_of(const struct session *session, uint32_t thread,
			       const struct span *span)
{
	struct idling idling = {0};

	each_run(session, model_thread(&session->trace.model, thread)->host, span->ref, span->begin,
		 span->end, idled, &idling);
	return idling;
}

static bool is_idle(const struct idling *idling, const struct span *span)
{
	return (double) idling->idle >= IDLE_SHARE * (double) (span->end - span->begin);
}

/* The thread worked most of [begin, end). */
static bool worked(const struct session *session, uint32_t thread, int64_t begin, int64_t end)
{
	struct spans spans;
	struct span span;
	int64_t ns = 0;

	spans_begin(&spans, session, thread, begin, end);
	while (spans_next(&spans, &span))
		if (leaf_wib(span.leaf) == WIB_WORKING)
			ns += span.end - span.begin;
	return 2 * ns > end - begin;
}

/* Preempted and kept off an idle CPU: the mark of a throttled queue by itself. */
static bool kept_off(const struct session *session, uint32_t thread, const struct span *span)
{
	struct idling idling;

	if (PACK_KIND(span->leaf) != LEAF_PREEMPTED || span->end - span->begin < THROTTLED_MIN)
		return false;
	idling = idling_of(session, thread, span);
	return idling.began_idle && is_idle(&idling, span);
}

/* The thread was kept off an idle CPU up to about `end`. */
static bool let_go_at(const struct session *session, uint32_t thread, int64_t end)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, end - TOGETHER, end + TOGETHER);
	while (spans_next(&spans, &span)) {
		struct track_pos pos;
		struct span whole;
		const struct thread *life = model_thread(&session->trace.model, thread);

		if (PACK_KIND(span.leaf) != LEAF_PREEMPTED || span.end == end + TOGETHER)
			continue;
		if (track_find(&session->trace.timeline, &life->track, span.begin, &pos) &&
		    track_read(&session->trace.timeline, &life->track, &pos, life->end, &whole) &&
		    kept_off(session, thread, &whole))
			return true;
	}
	return false;
}

/* Another thread of the same process for which `is` holds over the span. `many`: the
 * answer where the process has had more threads than can be looked at. */
static bool
sibling(const struct session *session, uint32_t thread, const struct span *span,
	bool (*is)(const struct session *session, uint32_t thread, const struct span *span),
	bool many)
{
	uint32_t count;
	const uint32_t *threads = process_before(&session->trace.processes, &session->trace.model,
						 thread, span->end, &count);

	for (uint32_t i = count; i-- > 0;) {
		if (count - i > SIBLINGS_MAX)
			return many;
		if (threads[i] != thread &&
		    model_thread(&session->trace.model, threads[i])->end > span->begin &&
		    is(session, threads[i], span))
			return true;
	}
	return false;
}

static bool works_meanwhile(const struct session *session, uint32_t thread, const struct span *span)
{
	return worked(session, thread, span->begin, span->end);
}

static bool let_go_with(const struct session *session, uint32_t thread, const struct span *span)
{
	return let_go_at(session, thread, span->end);
}

/* ns from the span's end to that of the next stretch that is as it is; 0. */
static int64_t period_of(const struct session *session, uint32_t thread, const struct span *span)
{
	struct spans spans;
	struct span next;

	spans_begin(&spans, session, thread, span->end, span->end + PERIOD_MAX);
	while (spans_next(&spans, &next))
		if (next.end < span->end + PERIOD_MAX && kept_off(session, thread, &next))
			return next.end - span->end;
	return 0;
}

/* The wait that the wait for a CPU from `time` on came right after; NULL: a birth, or a
 * move from another CPU's queue, to which what the wait tells of its end belongs. */
static const struct block *
block_before(const struct session *session, uint32_t thread, int64_t time)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	const struct interval *at;
	struct track_pos pos;
	int64_t begin;

	if (!track_find(&session->trace.timeline, &life->track, time, &pos))
		return NULL;
	at = track_step_back(&session->trace.timeline, &life->track, &pos, &begin);
	return at && leaf_is_blocked(at->leaf) ? block_at(&session->trace.timeline, at->ref) : NULL;
}

static void judge_wake_up(const struct session *session, uint32_t thread, const struct span *span,
			  struct ready *ready)
{
	const struct block *block = block_before(session, thread, span->begin);

	ready->kind = READY_SLOW;
	if (!block || ready->cpu == NO_CPU)
		return;
	if (block->idle_state != NO_IDLE_STATE)
		ready->idle_state = block->idle_state;
	if (block->cpu == NO_CPU || block->cpu == ready->cpu)
		return;
	if (2 * (int64_t) block->arrival < span->end - span->begin)
		return;
	ready->kind = READY_REMOTE;
	ready->waker_cpu = block->cpu;
	ready->arrival = block->arrival;
}

struct ready ready_of(const struct session *session, uint32_t thread, const struct span *span)
{
	struct ready ready = {
		.kind = READY_BUSY, .cpu = span->ref, .waker_cpu = NO_CPU, .idle_state = -1};
	bool preempted = PACK_KIND(span->leaf) == LEAF_PREEMPTED, lasting;
	struct idling idling;

	if (!preempted && PACK_KIND(span->leaf) != LEAF_WAIT_CPU)
		return ready;
	idling = idling_of(session, thread, span);
	ready.idle = idling.idle;
	if (!is_idle(&idling, span))
		return ready;
	lasting = idling.began_idle && span->end - span->begin >= THROTTLED_MIN;
	if (lasting && (preempted ? !sibling(session, thread, span, works_meanwhile, true)
				  : sibling(session, thread, span, let_go_with, false))) {
		ready.kind = READY_THROTTLED;
		ready.period = period_of(session, thread, span);
	} else if (preempted) {
		ready.kind = READY_IDLE;
	} else {
		judge_wake_up(session, thread, span, &ready);
	}
	return ready;
}

const char *ready_text(enum ready_kind kind)
{
	static const char *const texts[READY_KINDS] = {[READY_BUSY] = "between others",
						       [READY_THROTTLED] = "throttled",
						       [READY_REMOTE] = "remote wake-up",
						       [READY_SLOW] = "slow wake-up from idle",
						       [READY_IDLE] = "why is not known"};

	return texts[kind];
}

char *ready_label(const struct ready *ready)
{
	GString *text;
	char length[32];

	if (ready->kind == READY_BUSY)
		return NULL;
	text = g_string_new(NULL);
	g_string_append_printf(text, "CPU %u was idle: ", ready->cpu);
	switch (ready->kind) {
	case READY_THROTTLED:
		g_string_append(text, "throttled, as when a cgroup's quota is used up");
		if (ready->period)
			g_string_append_printf(text, "; the next time ends %s later",
					       when_duration(length, ready->period));
		break;
	case READY_REMOTE:
		g_string_append_printf(text, "remote wake-up from CPU %u, which took %s to arrive",
				       ready->waker_cpu, when_duration(length, ready->arrival));
		break;
	case READY_SLOW:
		g_string_append(text, "slow wake-up");
		break;
	default:
		g_string_append(text, "why the thread was not put there is not known");
		break;
	}
	if (ready->idle_state >= 0)
		g_string_append_printf(text, " (C-state %d)", ready->idle_state);
	return g_string_free(text, FALSE);
}
