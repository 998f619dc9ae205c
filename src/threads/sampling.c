/* SPDX-License-Identifier: MIT */
/* See sample.h. */
#include "threads/sampling.h"

#include <string.h>

#include "timeline/counts.h"
#include "timeline/sample.h"

/* softIRQs that a clock's tick raises (linux/interrupt.h). */
#define SOFTIRQ_TIMER 1
#define SOFTIRQ_SCHED 7
#define SOFTIRQ_HRTIMER 8
#define SOFTIRQ_RCU 9

#define RUNNING (1u << COUNTER_INSTRUCTIONS | 1u << COUNTER_CYCLES) /* any run has some of these */

static bool is_clock_name(const struct flow *flow, uint32_t name)
{
	return name && strstr(intern_text(flow->names, name), "timer") != NULL;
}

static bool is_clock(const struct flow *flow, const struct frame *frame)
{
	if (PACK_KIND(frame->what) == FRAME_HRTIMER)
		return true;
	if (PACK_KIND(frame->what) == FRAME_VECTOR)
		return is_clock_name(flow, PACK_NUMBER(frame->what));
	return PACK_KIND(frame->what) == FRAME_IRQ && is_clock_name(flow, frame->label);
}

/* The interrupt that the CPU is in at the top: a timer's expiry is part of the one around it.
 * NULL: none, or a softIRQ. */
static const struct frame *interrupt_of(const struct cpu *cpu)
{
	const struct frame *found = NULL;

	for (uint32_t i = cpu->depth; i-- > 0;) {
		uint32_t kind = PACK_KIND(cpu->frames[i].what);

		if (kind != FRAME_HRTIMER && kind != FRAME_IRQ && kind != FRAME_VECTOR)
			break;
		found = &cpu->frames[i];
		if (kind != FRAME_HRTIMER)
			break;
	}
	return found;
}

/* A softIRQ, below the interrupts at the top. */
static bool in_softirq(const struct cpu *cpu)
{
	for (uint32_t i = cpu->depth; i-- > 0;)
		if (PACK_KIND(cpu->frames[i].what) == FRAME_SOFTIRQ)
			return true;
	return false;
}

/* The event begins an interrupt of whatever the CPU did. */
static bool begins(const struct flow *flow, const struct cpu *cpu, const struct event *event,
		   bool *clock)
{
	switch (event->kind) {
	case EV_VECTOR_ENTRY:
		*clock = is_clock_name(flow, event->vector.name);
		return true;
	case EV_IRQ_ENTRY:
		*clock = event->irq.name && strstr(event->irq.name, "timer");
		return true;
	case EV_HRTIMER_EXPIRE_ENTRY:
		*clock = true;
		return !cpu->depth;
	case EV_SOFTIRQ_RAISE: /* where ticks themselves are not recorded */
		*clock = true;
		return !cpu->depth &&
		       (event->softirq.vec == SOFTIRQ_TIMER ||
			event->softirq.vec == SOFTIRQ_SCHED ||
			event->softirq.vec == SOFTIRQ_HRTIMER || event->softirq.vec == SOFTIRQ_RCU);
	default:
		return false;
	}
}

void flow_sample(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = flow_current(flow, cpu);
	const struct frame *interrupt = interrupt_of(cpu);
	struct sample sample = {.time = flow->time, .source = SAMPLE_OWN};
	uint32_t frame = 0;
	bool clock = false;

	flow->has_user_stacks |= event->user_callstack.bytes != NULL;
	if (!thread || event->kind == EV_SCHED_SWITCH || cpu->frames_lost ||
	    !(event->callstack.count || event->user_callstack.count))
		return;
	if (event->kind == EV_SAMPLE) {
		sample.source = SAMPLE_CLOCK; /* it came at its own time, whatever ran */
	} else if (!interrupt && begins(flow, cpu, event, &clock)) {
		frame = cpu->frames_made + 1;
		sample.source = clock ? SAMPLE_CLOCK : SAMPLE_INTERRUPT;
	} else if (interrupt) {
		frame = interrupt->number;
		sample.time = interrupt->begin;
		sample.source = is_clock(flow, interrupt) ? SAMPLE_CLOCK : SAMPLE_INTERRUPT;
	} else if (cpu->depth) {
		sample.source = SAMPLE_SOFTIRQ;
	} else if (event->kind == EV_SOFTIRQ_ENTRY || event->kind == EV_SOFTIRQ_EXIT) {
		return; /* on the way out of an interrupt that is over */
	}
	if (frame && frame == cpu->sampled)
		return;
	cpu->sampled = frame;
	sample.in_softirq = in_softirq(cpu);
	sample.kernel = callstack_id(&flow->callstacks, &event->callstack);
	sample.user = callstack_id(&flow->callstacks, &event->user_callstack);
	if (sample.kernel || sample.user)
		sample_append(&flow->timeline->samples, &thread->samples, &sample);
}

/* Where two channels record different ones of a kind, these follow each other too. */
static bool is_of_another(const struct flow *flow, const struct cpu *cpu, const struct event *event)
{
	if (event->kind == EV_SCHED_SWITCH)
		return (cpu->current == IDLE_THREAD ? 0
			: is_thread(cpu->current)   ? flow_thread(flow, cpu->current)->tid
						    : -1) != event->sched_switch.next_tid;
	if (event->kind == EV_SCHED_WAKING || event->kind == EV_SCHED_WAKEUP ||
	    event->kind == EV_SCHED_WAKEUP_NEW)
		return event->wake.tid != cpu->copied_tid;
	return false;
}

bool flow_is_copy(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	bool copy = event->name == cpu->copied_name && event->channel != cpu->copied_channel &&
		    cpu->copied_name && !is_of_another(flow, cpu, event);

	if (event->kind == EV_PAGE_FAULT_KERNEL) /* the tracer's, as it reads a user's stack */
		return false;
	cpu->copied_name = copy ? 0 : event->name;
	cpu->copied_channel = event->channel;
	cpu->copied_tid = event->kind >= EV_SCHED_WAKING && event->kind <= EV_SCHED_WAKEUP_NEW
				  ? event->wake.tid
				  : 0;
	return copy;
}

/* --- hardware counters ------------------------------------------------------------------ */

static void take(struct counted_run *run, guint counter, uint64_t before, uint64_t now)
{
	if (now == NO_COUNTER || before == NO_COUNTER || now < before)
		return;
	run->values[counter] = now - before;
	run->known |= UINT64_C(1) << counter;
}

/* The processor did count. */
static bool is_told(const struct counted_run *run)
{
	if (!(run->known & RUNNING))
		return run->known;
	return run->values[COUNTER_INSTRUCTIONS] || run->values[COUNTER_CYCLES];
}

void flow_count(struct flow *flow, const struct host *host, struct cpu *cpu, struct thread *thread,
		bool followed, const struct event *event)
{
	struct counted_run run = {.begin = cpu->counted_at, .end = flow->time};
	const uint64_t *of_cpu = event->sched_switch.cpu_counters;
	const uint64_t *of_thread = event->sched_switch.thread_counters;
	bool any = false;

	for (guint i = 0; i < COUNTERS; i++)
		any |= of_cpu[i] != NO_COUNTER || of_thread[i] != NO_COUNTER;
	if (!any)
		return;
	if (thread && followed && run.begin != INT64_MIN && run.begin == cpu->last_switch &&
	    !host_gap_over(host, run.begin, run.end)) {
		for (guint i = 0; i < COUNTERS; i++)
			take(&run, i, cpu->counted[i], of_cpu[i]);
		if (!run.known && !host_gap_over(host, thread->flow.left, run.end))
			for (guint i = 0; i < COUNTERS; i++)
				take(&run, i, thread->flow.counters[i], of_thread[i]);
		if (is_told(&run))
			counted_run_append(&flow->timeline->counts, &thread->counts, &run);
	}
	cpu->counted_at = flow->time;
	memcpy(cpu->counted, of_cpu, sizeof cpu->counted);
	if (thread)
		memcpy(thread->flow.counters, of_thread, sizeof thread->flow.counters);
}
