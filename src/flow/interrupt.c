/* SPDX-License-Identifier: MIT */
/* Interrupt frames of a CPU, and what is done in them before somebody is
 * woken: the timer that expires, the request that completes, the packet that
 * arrives.
 *
 *   thread's frames │ softIRQ ⊃ irq or vector ⊃ hrtimer
 *
 * cpu_pending() is what the innermost context has just done; a wake-up there
 * takes a copy, and the context's end drops it.
 *
 * Part of flow/. Source: semantics.md, "The control-flow stack of a thread"
 * (interrupt frames belong to the CPU and count for its current thread) and
 * rule 3 of "Blocking causality".
 */
#include "flow/interrupt.h"

#include <string.h>

#include "objects/operation_log.h"
#include "objects/resource.h"
#include "state/holdback.h"
#include "threads/arrival.h"
#include "threads/deaths.h"
#include "threads/endings.h"
#include "threads/stop.h"

#define SOFTIRQ_SCHED 7
#define SOFTIRQ_RCU 9

static uint32_t frame_of(const struct event *event)
{
	switch (event->kind) {
	case EV_IRQ_ENTRY:
	case EV_IRQ_EXIT:
		return PACK(FRAME_IRQ, event->irq.irq);
	case EV_SOFTIRQ_ENTRY:
	case EV_SOFTIRQ_EXIT:
		return PACK(FRAME_SOFTIRQ, event->softirq.vec);
	case EV_VECTOR_ENTRY:
	case EV_VECTOR_EXIT:
		return PACK(FRAME_VECTOR, event->vector.name);
	default:
		return PACK(FRAME_HRTIMER, 0);
	}
}

#define CLOCK_STEP INT64_C(5000000) /* ns: less is told of no timer; it may be late */

/* By the time of day it is when it says now: so that is known again, and who set it while the timer
 * ran, if that shows in when it expires. */
static void judge_clock(const struct flow *flow, struct host *host, struct wake_detail *timer)
{
	int64_t late = flow->time - timer->begin - MAX(timer->requested, 0);

	if (!(timer->flags & DETAIL_BY_DAY))
		return;
	if (host->clock_set_at > timer->begin)
		timer->behalf = host->clock_set_by;
	if (timer->requested < 0 || ABS(late) < CLOCK_STEP)
		timer->behalf = NO_THREAD;
	if (host->clock_shift == CLOCK_UNKNOWN)
		host->clock_shift = timer->asked - flow->time;
}

/* The timer as it was armed, if that was seen. */
static void timer_expires(struct flow *flow, struct host *host, struct cpu *cpu,
			  const struct event *event)
{
	uint32_t index = idmap_get(&host->timers, event->timer.timer);

	*cpu_pending(cpu) = (struct wake_detail) {
		.kind = DETAIL_TIMER,
		.thread = NO_THREAD,
		.behalf = NO_THREAD,
		.requested = -1,
		.queued = -1,
		.served = -1,
		.number = event->timer.timer};
	if (index != IDMAP_NONE && g_array_index(host->armed, struct wake_detail, index).kind) {
		*cpu_pending(cpu) = g_array_index(host->armed, struct wake_detail, index);
		judge_clock(flow, host, cpu_pending(cpu));
	}
	if (event->kind == EV_TIMER_EXPIRE_ENTRY && event->timer.function)
		cpu_pending(cpu)->origin =
			flow_function(flow, &flow->callbacks, event->timer.function);
}

/* Whose doing the next run of this softIRQ is: "if the raise came in thread
 * context, blame that thread; if inside an IRQ, blame the IRQ" (lttng-events.md
 * 4). RCU and the scheduler's balancing are raised by whoever happens to run. */
void flow_softirq_raise(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	uint32_t vec = event->softirq.vec;

	cpu->last_raise = (int32_t) vec;
	if (vec >= SOFTIRQS_MAX || vec == SOFTIRQ_RCU || vec == SOFTIRQ_SCHED)
		return;
	cpu->raised[vec].thread =
		!cpu_interrupted(cpu) && flow_current(flow, cpu) ? cpu->current : NO_THREAD;
	cpu->raised[vec].time = flow->time;
}

static void softirq_raised(struct cpu *cpu, uint32_t vec)
{
	cpu->raiser.thread = NO_THREAD;
	if (vec >= SOFTIRQS_MAX || cpu->raised[vec].thread == NO_THREAD)
		return;
	cpu->raiser = cpu->raised[vec];
	*cpu_pending(cpu) = cpu_raise_detail(cpu);
	cpu->raised[vec].thread = NO_THREAD;
}

void flow_interrupt_entry(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct host *host = flow_host(flow, event);
	struct thread *thread;
	struct frame *frame;

	if (flow_in_gap(flow, cpu))
		return;
	if (cpu->depth == FRAMES_MAX) {
		flow->odd[ODD_FRAMES_DEEP]++;
		return;
	}
	frame = &cpu->frames[cpu->depth++];
	frame->what = frame_of(event);
	frame->label = 0;
	frame->votes = 0;
	frame->number = ++cpu->frames_made;
	frame->begin = flow->time;
	cpu_pending(cpu)->kind = DETAIL_NONE;
	cpu->by_raiser = false;
	if (event->kind == EV_IRQ_ENTRY && event->irq.name && *event->irq.name) {
		frame->label = intern_id(flow->names, event->irq.name);
		idmap_set(&host->irq_names, (uint32_t) event->irq.irq, frame->label);
	}
	if (event->kind == EV_HRTIMER_EXPIRE_ENTRY)
		timer_expires(flow, host, cpu, event);
	if (event->kind == EV_VECTOR_ENTRY)
		flow_vector_arrives(flow, cpu, event->vector.name);
	if (event->kind == EV_SOFTIRQ_ENTRY)
		softirq_raised(cpu, event->softirq.vec);
	operation_interrupt_entry(flow, cpu, event);
	thread = flow_current(flow, cpu);
	if (thread)
		flow_refresh(flow, thread, cpu);
}

struct unseen {
	uint32_t leaf;
	bool around_hrtimer; /* irq, vector, softirq: takes a bare hrtimer's time too */
};

static void make_interrupted(struct flow *flow, struct span *span, void *data)
{
	const struct unseen *unseen = data;

	(void) flow;
	if (leaf_wib(span->leaf) == WIB_WORKING ||
	    (unseen->around_hrtimer && PACK_KIND(span->leaf) == LEAF_INT_HRTIMER)) {
		span->leaf = unseen->leaf;
		span->ref = 0;
	}
}

/* "An interrupt's exit without entry: from the last switch on that CPU, if
 * within the known history." */
static void entry_unseen(struct flow *flow, struct cpu *cpu, uint32_t frame)
{
	struct thread *thread = flow_current(flow, cpu);
	struct unseen unseen = {.around_hrtimer = true};

	flow->odd[ODD_ENTRY_UNSEEN]++;
	if (!thread)
		return;
	switch (PACK_KIND(frame)) {
	case FRAME_IRQ:
		unseen.leaf = PACK(LEAF_INT_IRQ, PACK_NUMBER(frame));
		break;
	case FRAME_VECTOR:
		unseen.leaf = PACK(LEAF_INT_VECTOR, PACK_NUMBER(frame));
		break;
	case FRAME_SOFTIRQ:
		unseen.leaf = PACK(LEAF_INT_SOFTIRQ, PACK_NUMBER(frame));
		break;
	default:
		unseen.leaf = PACK(LEAF_INT_HRTIMER, 0);
		unseen.around_hrtimer = false;
		break;
	}
	track_rewrite(flow, thread, MAX(thread->flow.history, cpu->last_switch), make_interrupted,
		      &unseen);
}

void flow_interrupt_exit(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	uint32_t frame = frame_of(event), depth = cpu->depth;
	struct thread *thread;

	if (flow_in_gap(flow, cpu))
		return;
	operation_interrupt_exit(flow, cpu, event);
	while (depth > 0 && cpu->frames[depth - 1].what != frame)
		depth--;
	if (depth == 0) {
		entry_unseen(flow, cpu, frame);
	} else {
		flow->odd[ODD_EXIT_UNSEEN] += cpu->depth - depth;
		cpu->depth = depth - 1;
	}
	thread = flow_current(flow, cpu);
	if (thread)
		flow_refresh(flow, thread, cpu);
}

/* When it is to expire, ns of the raw clock. */
static int64_t expiry(const struct event *event)
{
	return event->timer.expires ? event->timer.expires : event->timer.latest;
}

#define TIMER_MAX (INT64_C(1000000000) * 86400 * 366) /* ns */
#define DAY_MAX (INT64_C(1) << 62) /* as times of traces: two can be subtracted */

/* From what its clock says now to when it expires, -1: none that can be. */
static int64_t length_from(int64_t expires, int64_t now)
{
	int64_t length;

	return !__builtin_sub_overflow(expires, now, &length) && length >= 0 && length < TIMER_MAX
		       ? length
		       : -1;
}

/* Until a time of day. Who waits on until the same one, for what may come before, asks for what was
 * left of it, whoever has set the clock since. */
static void arm_by_day(struct flow *flow, struct host *host, struct thread *thread, int64_t expires,
		       struct wake_detail *armed)
{
	int64_t now;

	armed->flags |= DETAIL_BY_DAY;
	armed->asked = expires;
	if (thread && thread->flow.day_expires == expires && thread->flow.day_requested >= 0 &&
	    (is_thread(thread->flow.day_set_by) || host->clock_set_at > thread->flow.day_begin)) {
		armed->requested =
			thread->flow.day_requested - (flow->time - thread->flow.day_begin);
		armed->requested = MAX(armed->requested, 0);
		armed->behalf = host->clock_set_by;
	} else if (host->clock_shift != CLOCK_UNKNOWN &&
		   !__builtin_add_overflow(flow->time, host->clock_shift, &now)) {
		armed->requested = length_from(expires, now);
	}
	if (!thread)
		return;
	thread->flow.day_expires = expires;
	thread->flow.day_begin = flow->time;
	thread->flow.day_requested = armed->requested;
	thread->flow.day_set_by = armed->behalf;
}

/* Remembers who armed a timer, in which call, for how long. In an interrupt
 * nobody in particular does. */
static void arm_timer(struct flow *flow, struct host *host, struct cpu *cpu,
		      const struct event *event)
{
	struct thread *thread = cpu_interrupted(cpu) ? NULL : flow_current(flow, cpu);
	uint32_t index = idmap_get(&host->timers, event->timer.timer);
	struct wake_detail armed = {.kind = DETAIL_TIMER,
				    .thread = NO_THREAD,
				    .behalf = NO_THREAD,
				    .queued = -1,
				    .served = -1,
				    .requested = -1,
				    .begin = flow->time,
				    .number = event->timer.timer};

	if (thread) {
		armed.thread = cpu->current;
		armed.text = thread->flow.call.open ? thread->flow.call.name : 0;
		if (armed.text && call_keeps_time(flow, thread))
			armed.flags = DETAIL_DEADLINE;
	}
	/* an hrtimer expires by the raw clock, or by the time of day; those of other clocks give
	 * lengths that cannot be, and are left out */
	if (event->kind == EV_HRTIMER_START && host->has_clock_offset) {
		armed.requested = length_from(expiry(event), flow->time - host->clock_offset);
		if (armed.requested < 0 && MIN(host->clock_offset, expiry(event)) > TIMER_MAX &&
		    expiry(event) < DAY_MAX)
			arm_by_day(flow, host, thread, expiry(event), &armed);
	}
	if (event->kind == EV_HRTIMER_START && event->timer.expires > 0 &&
	    event->timer.latest >= event->timer.expires)
		armed.slack = event->timer.latest - event->timer.expires;
	if (thread && thread->flow.call.open && armed.requested >= 0)
		thread->flow.call.timer = armed.requested;
	if (index == IDMAP_NONE) {
		idmap_set(&host->timers, event->timer.timer, host->armed->len);
		g_array_append_val(host->armed, armed);
	} else {
		g_array_index(host->armed, struct wake_detail, index) = armed;
	}
}

void flow_timer(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct host *host = flow_host(flow, event);
	uint32_t index;

	switch (event->kind) {
	case EV_HRTIMER_START:
	case EV_TIMER_START:
		arm_timer(flow, host, cpu, event);
		break;
	case EV_TIMER_EXPIRE_ENTRY: /* inside softIRQ 1, which is a frame of its own */
		if (!flow_in_gap(flow, cpu))
			timer_expires(flow, host, cpu, event);
		break;
	case EV_HRTIMER_CANCEL:
		index = idmap_get(&host->timers, event->timer.timer);
		if (index != IDMAP_NONE)
			g_array_index(host->armed, struct wake_detail, index).kind = DETAIL_NONE;
		break;
	default:
		cpu_pending(cpu)->kind = DETAIL_NONE;
		break;
	}
}

/* The kernel generates the signal's event after it has woken the receiver
 * (__send_signal_locked: complete_signal() before the tracepoint), so the wait
 * that this context has just ended was ended by the signal. */
void flow_signal(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct host *host = flow_host(flow, event);
	struct wake_detail detail = {.kind = DETAIL_SIGNAL,
				     .requested = -1,
				     .queued = -1,
				     .served = -1,
				     .thread = cpu->current,
				     .number = (uint64_t) event->signal.sig};
	uint32_t target = thread_find(flow, event->host, event->signal.tid);
	struct thread *woken;
	struct block *block;

	if (flow_in_gap(flow, cpu))
		return;
	stop_signal(flow, host, cpu, event);
	death_signal(flow, cpu, event);
	ending_signal(flow, host, cpu, event);
	if (!is_thread(cpu->last_woken) || target == IDMAP_NONE)
		return;
	woken = flow_thread(flow, cpu->last_woken);
	if (woken != flow_thread(flow, target) &&
	    (woken->pid < 0 || woken->pid != flow_thread(flow, target)->pid))
		return; /* a signal for the process may wake any of its threads */
	block = block_at(flow->timeline, woken->flow.block);
	if (woken->state == THREAD_WAIT_CPU && !block->detail)
		block->detail = detail_new(flow->timeline, NULL, &detail);
}
