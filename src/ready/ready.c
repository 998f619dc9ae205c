/* SPDX-License-Identifier: MIT */
/* Judging stretches in which a thread was ready; see ready.h. */
#include "ready/ready.h"

#include <string.h>

#include "ready/affinity.h"
#include "ready/cpu_runs.h"
#include "ready/host_span.h"
#include "ready/idling.h"
#include "ready/quota.h"

#define THROTTLED_MIN INT64_C(1000000)    /* ns; a move to another CPU takes some µs */
#define LOST_MIN INT64_C(20000000) /* ns; by then balancing has moved who waits */
#define THROTTLED_WOKEN INT64_C(5000000)  /* ns; no wake-up from idle takes as long */
#define HELD_SHARE 0.9 /* of a time: by threads that could not have kept it off */
#define PRIORITY_REALTIME_MIN (-100) /* as sched_switch has them; below are those of deadlines */
#define SIBLINGS_MAX 2000 /* looked at, of one process, newest first */
#define WOKEN_PART 8 /* of a period: a wake-up that took less is a slow one, not throttled */

/* The thread was so for most of the span. */
static bool most_of(const struct session *session, uint32_t thread, const struct span *of,
		    bool (*is)(uint32_t leaf))
{
	struct spans spans;
	struct span span;
	int64_t ns = 0;

	spans_begin(&spans, session, thread, of->begin, of->end);
	while (spans_next(&spans, &span))
		if (is(span.leaf))
			ns += span.end - span.begin;
	return 2 * ns > of->end - of->begin;
}

static bool is_working(uint32_t leaf)
{
	return leaf_wib(leaf) == WIB_WORKING;
}

static bool is_ready(uint32_t leaf)
{
	return leaf_is_ready(leaf);
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
	return most_of(session, thread, span, is_working);
}

static bool is_off_meanwhile(const struct session *session, uint32_t thread,
			     const struct span *span)
{
	return most_of(session, thread, span, is_ready);
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

/* A quota was used up: kept off, and let go when one was filled; or, woken or preempted by others
 * before, a good part of a period went by up to when the quota of its process was filled. No other
 * thread of the process worked meanwhile. */
static bool is_throttled(const struct session *session, uint32_t thread, const struct span *span,
			 int64_t *period)
{
	uint16_t host = model_thread(&session->trace.model, thread)->host;
	bool so = kept_off(session, thread, span) &&
		  quota_filled_at(session, host, span->end, period);

	if (span->end - span->begin < THROTTLED_MIN)
		return false;
	if (!so)
		so = quota_let_go(session, thread, span->end, period) &&
		     WOKEN_PART * (span->end - span->begin) > *period;
	return so && !sibling(session, thread, span, works_meanwhile, true);
}

/* Others ran there as well, but nobody did for half of the time or more, or for a third up to when
 * the quota of its process was filled, or while another thread of it was off as well: whatever they
 * took of it, the thread would have gone on between. Its process is known to have a quota. */
static bool is_throttled_beside(const struct session *session, uint32_t thread,
				const struct span *span, struct ready *ready)
{
	int64_t length = span->end - span->begin;

	if (length < THROTTLED_WOKEN || 3 * ready->idle < length)
		return false;
	return (quota_let_go(session, thread, span->end, &ready->period) ||
		(quota_shown(session, thread, &ready->period) &&
		 (2 * ready->idle >= length ||
		  sibling(session, thread, span, is_off_meanwhile, false)))) &&
	       WOKEN_PART * length > ready->period &&
	       !sibling(session, thread, span, works_meanwhile, true);
}

static bool sets_priority(const char *call)
{
	return strcmp(call, "sched_setscheduler") == 0 || strcmp(call, "sched_setparam") == 0 ||
	       strcmp(call, "sched_setattr") == 0;
}

/* The thread called for another policy or priority since it had the CPU, up to `time`. */
static bool changed_priority(const struct session *session, uint32_t thread, int64_t time)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	const struct interval *at;
	struct track_pos pos;
	int64_t begin;

	if (!track_find(&session->trace.timeline, &life->track, time, &pos))
		return false;
	while ((at = track_step_back(&session->trace.timeline, &life->track, &pos, &begin)) &&
	       !leaf_is_blocked(at->leaf) && !leaf_is_ready(at->leaf))
		if (PACK_KIND(at->leaf) == LEAF_WORK_SYSCALL &&
		    sets_priority(session_text(session, PACK_NUMBER(at->leaf))))
			return true;
	return false;
}

/* It left the CPU in that call, at `time` or before. */
static bool left_in(const struct session *session, uint32_t thread, int64_t time, const char *call)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	const struct interval *at;
	struct track_pos pos;
	int64_t begin;

	if (!track_find(&session->trace.timeline, &life->track, time, &pos))
		return false;
	do
		at = track_step_back(&session->trace.timeline, &life->track, &pos, &begin);
	while (at && leaf_is_ready(at->leaf));
	return at && PACK_KIND(at->leaf) == LEAF_WORK_SYSCALL &&
	       strcmp(session_text(session, PACK_NUMBER(at->leaf)), call) == 0;
}

/* Preempted, and nobody ran whom it would have had to wait for: of real-time priority, or with a
 * deadline, it would have gone on but for a limit. Woken, it may take a moment, too. */
static bool is_held(const struct session *session, uint32_t thread, const struct span *span,
		    enum ready_limit *limit)
{
	uint16_t host = model_thread(&session->trace.model, thread)->host;
	int64_t length = span->end - span->begin;
	bool preempted = PACK_KIND(span->leaf) == LEAF_PREEMPTED;
	int32_t priority;

	if (length < (preempted ? THROTTLED_MIN : THROTTLED_WOKEN))
		return false;
	priority = priority_before(session, thread, span->begin);
	if (priority >= 0) { /* or NO_PRIORITY: perhaps it got another one as it ran */
		priority = priority_before(session, thread, span->end + 1);
		if (priority >= 0 || !changed_priority(session, thread, span->begin))
			return false;
	}
	*limit = priority < PRIORITY_REALTIME_MIN ? LIMIT_DEADLINE : LIMIT_REALTIME;
	return (preempted || *limit == LIMIT_DEADLINE) &&
	       (double) ran_ordinary(session, host, span->ref, span->begin, span->end) >=
		       HELD_SHARE * (double) length;
}

static void judge_affinity(const struct session *session, uint32_t thread, const struct span *span,
			   struct ready *ready)
{
	uint16_t host = model_thread(&session->trace.model, thread)->host;
	struct affinity affinity;

	if (span->ref == NO_CPU)
		return;
	affinity = affinity_of(session, thread);
	if (!affinity.cpus || span->begin < affinity.since)
		return;
	ready->free_cpu = free_cpu(session, host, affinity.cpus, span, &ready->free);
	if (2 * ready->free >= span->end - span->begin)
		ready->kind = READY_PINNED;
}

/* Where the thread was is not known: it was moved to the CPU whose events were lost, and back. */
static bool is_lost(const struct host *host, const struct span *span, const struct idling *idling)
{
	int64_t length = span->end - span->begin;

	return (length >= LOST_MIN || 2 * (idling->idle + idling->unknown) >= length) &&
	       2 * host_lost_in(host, span->begin, span->end) >= length;
}

/* Of a re-timed run: as recorded, but as long as it is now. */
static struct ready recorded_ready(const struct session *session, uint32_t thread,
				   const struct span *span)
{
	struct span was = session->recorded->span(session->recorded->data, thread, span);
	struct ready ready = ready_of(session->recorded->session, thread, &was);

	ready.idle = of_length(ready.idle, &was, span);
	ready.free = of_length(ready.free, &was, span);
	return ready;
}

/* Of a guest: why the host did not run its virtual CPU. */
static struct ready hosts_ready(const struct session *session, uint32_t thread,
				const struct span *span, const struct ready *unknown)
{
	struct span outside;
	uint32_t vcpu = host_span(session, thread, span, &outside);
	const struct session *recorded = session->recorded ? session->recorded->session : session;
	struct ready throttled = *unknown;

	if (PACK_NUMBER(span->leaf) == HOST_THROTTLED) {
		throttled.kind = READY_THROTTLED;
		throttled.idle = span->end - span->begin;
		return throttled;
	}
	return is_thread(vcpu) && leaf_is_ready(outside.leaf)
		       ? ready_of(recorded, vcpu, &outside)
		       : *unknown;
}

struct ready ready_of(const struct session *session, uint32_t thread, const struct span *span)
{
	struct ready ready = {.kind = READY_BUSY,
			      .cpu = span->ref,
			      .waker_cpu = NO_CPU,
			      .idle_state = -1,
			      .free_cpu = NO_CPU};
	uint16_t number = model_thread(&session->trace.model, thread)->host;
	const struct host *host = model_host(&session->trace.model, number);
	struct idling idling;

	if (span_is_hosts_ready(span->leaf))
		return hosts_ready(session, thread, span, &ready);
	if (!leaf_is_ready(span->leaf))
		return ready;
	if (session->recorded)
		return recorded_ready(session, thread, span);
	idling = idling_of_cpu(session, number, span->ref, span->begin, span->end);
	ready.idle = idling.idle;
	if (is_lost(host, span, &idling)) {
		ready.kind = READY_LOST;
		return ready;
	}
	if (is_held(session, thread, span, &ready.limit)) {
		ready.kind = ready.limit == LIMIT_DEADLINE &&
					     left_in(session, thread, span->begin, "sched_yield")
				     ? READY_YIELDED
				     : READY_THROTTLED;
		ready.idle = span->end - span->begin;
		return ready;
	}
	ready.limit = LIMIT_QUOTA;
	if (!is_idle(&idling, span)) {
		if (is_throttled_beside(session, thread, span, &ready))
			ready.kind = READY_THROTTLED;
		else
			judge_affinity(session, thread, span, &ready);
		return ready;
	}
	if (is_throttled(session, thread, span, &ready.period))
		ready.kind = READY_THROTTLED;
	else if (PACK_KIND(span->leaf) == LEAF_PREEMPTED)
		ready.kind = READY_IDLE;
	else
		judge_wake_up(session, thread, span, &ready);
	return ready;
}

const char *ready_limit_key(const struct ready *ready)
{
	return ready->limit == LIMIT_REALTIME   ? "cpu:real-time"
	       : ready->limit == LIMIT_DEADLINE ? "cpu:deadline"
						: "cpu:quota";
}

const char *ready_text(enum ready_kind kind)
{
	static const char *const texts[READY_KINDS] = {
		[READY_BUSY] = "between others",
		[READY_PINNED] = "between others",
		[READY_THROTTLED] = "throttled",
		[READY_REMOTE] = "remote wake-up",
		[READY_SLOW] = "slow wake-up from idle",
		[READY_IDLE] = "why is not known",
		[READY_YIELDED] = "done until the next period (sched_yield)",
		[READY_LOST] = "events were lost"};

	return texts[kind];
}

char *ready_label(const struct ready *ready)
{
	GString *text;
	char length[32];

	if (ready_is_busy(ready))
		return NULL;
	if (ready->kind == READY_YIELDED)
		return g_strdup("done until its next period of SCHED_DEADLINE (sched_yield)");
	if (ready->kind == READY_LOST)
		return g_strdup("events were lost meanwhile: where it was is not known");
	text = g_string_new(NULL);
	if (ready->kind != READY_THROTTLED || ready->limit == LIMIT_QUOTA)
		g_string_append_printf(text, "CPU %u was idle: ", ready->cpu);
	switch (ready->kind) {
	case READY_THROTTLED:
		g_string_append_printf(text, "throttled, as when %s is used up",
				       ready->limit == LIMIT_REALTIME
					       ? "the limit for real-time threads "
						 "(sched_rt_runtime_us)"
				       : ready->limit == LIMIT_DEADLINE
					       ? "the runtime of SCHED_DEADLINE that it has in "
						 "each period"
					       : "a cgroup's quota");
		if (ready->period)
			g_string_append_printf(text, ", which is filled again every %s",
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
