/* SPDX-License-Identifier: MIT */
/* How a wake-up reaches an idle CPU: between sched_waking and the switch in.
 *
 *   waker's CPU   ── waking(T) ─┐ inter-processor interrupt
 *   T's CPU       idle, asleep  └───► exit from the idle state, vector, wakeup(T), switch to T
 *                               │◄── arrival ──►│
 *
 * Part of threads/. What is found is written into the struct block that the
 * wake-up ended: `arrival`, ns from the wake-up until the other CPU took note of
 * it, and `idle_state`, the depth of sleep that this CPU was in then. The
 * analysis (ready/ready.h) decides what it means.
 *
 * Source: semantics.md, "Woken up"; the kernel's ttwu_queue_wakelist() (an idle
 * CPU of another cache is asked by an interrupt to take the thread: sched_wakeup
 * then comes from there), ttwu_queue() (the waker puts it there itself and sends
 * an interrupt only to end the idling), cpuidle_enter_state() (power_cpu_idle
 * brackets the idle state, before the interrupt is served).
 */
#include "threads/arrival.h"

#define IDLES G_N_ELEMENTS(((struct cpu *) 0)->idles)

void flow_cpu_idle(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	uint32_t last, next;

	if (event->idle.cpu >= 0)
		cpu = host_cpu(flow_host(flow, event), (uint32_t) event->idle.cpu);
	last = (cpu->idles_count + IDLES - 1) % IDLES;
	next = cpu->idles_count % IDLES;
	if (event->idle.state == IDLE_LEFT) {
		if (cpu->idles_count && cpu->idles[last].end == INT64_MAX)
			cpu->idles[last].end = flow->time;
		return;
	}
	cpu->idles[next].state = (uint8_t) CLAMP(event->idle.state, 0, NO_IDLE_STATE - 1);
	cpu->idles[next].begin = flow->time;
	cpu->idles[next].end = INT64_MAX;
	cpu->idles_count++;
}

/* How deep the CPU slept at `time`; it may have woken and slept again since. */
static uint8_t idle_state_at(const struct cpu *cpu, int64_t time)
{
	for (uint32_t i = 0; i < MIN(IDLES, cpu->idles_count); i++)
		if (cpu->idles[i].begin <= time && cpu->idles[i].end > time)
			return cpu->idles[i].state;
	return NO_IDLE_STATE;
}

void flow_vector_arrives(struct flow *flow, struct cpu *cpu, uint32_t vector)
{
	for (size_t i = 0; i < G_N_ELEMENTS(flow->ipis); i++)
		if (vector == flow->ipis[i])
			cpu->last_ipi = flow->time;
}

static void set_arrival(struct block *block, int64_t ns)
{
	if (!block->arrival && ns > 0)
		block->arrival = (uint32_t) MIN(ns, ARRIVAL_MAX);
}

/* The wait that `thread`, ready since flow.woken, was woken from; NULL: none. */
static struct block *woken_from(struct flow *flow, const struct thread *thread)
{
	if (thread->flow.woken == INT64_MIN || !thread->flow.block)
		return NULL;
	return block_at(flow->timeline, thread->flow.block);
}

void flow_wakeup_arrives(struct flow *flow, struct host *host, const struct cpu *cpu,
			 const struct thread *thread, int32_t target)
{
	struct block *block = woken_from(flow, thread);

	if (!block)
		return;
	/* where the waker's CPU did it itself, the interrupt is what arrives */
	if (block->cpu != NO_CPU && block->cpu != cpu->id)
		set_arrival(block, flow->time - thread->flow.woken);
	if (target >= 0)
		block->idle_state =
			idle_state_at(host_cpu(host, (uint32_t) target), thread->flow.woken) & 15;
}

void flow_thread_arrives(struct flow *flow, const struct cpu *cpu, const struct thread *thread)
{
	struct block *block = woken_from(flow, thread);

	/* moved to another CPU's queue meanwhile: that says nothing of the one it was woken for */
	if (!block || track_last_begin(flow->timeline, &thread->track) != thread->flow.woken)
		return;
	if (block->cpu != NO_CPU && block->cpu != cpu->id && cpu->last_ipi >= thread->flow.woken)
		set_arrival(block, cpu->last_ipi - thread->flow.woken);
	if (block->idle_state == NO_IDLE_STATE)
		block->idle_state = idle_state_at(cpu, thread->flow.woken) & 15;
}
