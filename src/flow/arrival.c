/* How a wake-up reaches an idle CPU: between sched_waking and the switch in.
 *
 *   waker's CPU   ── waking(T) ─┐ inter-processor interrupt
 *   T's CPU       idle, asleep  └───► exit from the idle state, vector, wakeup(T), switch to T
 *                               │◄── arrival ──►│
 *
 * Part of flow/. What is found is written into the struct block that the
 * wake-up ended: `arrival`, ns from the wake-up until the other CPU took note of
 * it, and `idle_state`, the depth of sleep that this CPU was in then. The
 * analysis (analysis/ready.h) decides what it means.
 *
 * Source: semantics.md, "Woken up"; the kernel's ttwu_queue_wakelist() (an idle
 * CPU of another cache is asked by an interrupt to take the thread: sched_wakeup
 * then comes from there), ttwu_queue() (the waker puts it there itself and sends
 * an interrupt only to end the idling), cpuidle_enter_state() (power_cpu_idle
 * brackets the idle state, before the interrupt is served).
 */
#include "flow/flow.h"

void flow_cpu_idle(struct flow *flow, struct host *host, const struct event *event)
{
	struct cpu *cpu = host_cpu(host, event->idle.cpu >= 0 ? (uint32_t) event->idle.cpu
							       : event->cpu);

	if (event->idle.state == IDLE_LEFT) {
		if (cpu->idle_end == INT64_MAX)
			cpu->idle_end = flow->time;
		return;
	}
	cpu->idle_state = (uint8_t) CLAMP(event->idle.state, 0, NO_IDLE_STATE - 1);
	cpu->idle_begin = flow->time;
	cpu->idle_end = INT64_MAX;
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

void flow_wakeup_arrives(struct flow *flow, const struct cpu *cpu, const struct thread *thread)
{
	struct block *block = woken_from(flow, thread);

	/* where the waker's CPU did it itself, the interrupt is what arrives */
	if (block && block->cpu != NO_CPU && block->cpu != cpu->id)
		set_arrival(block, flow->time - thread->flow.woken);
}

void flow_thread_arrives(struct flow *flow, const struct cpu *cpu, const struct thread *thread)
{
	struct block *block = woken_from(flow, thread);

	if (!block || cpu->current != IDLE_THREAD)
		return;
	if (block->cpu != NO_CPU && block->cpu != cpu->id && cpu->last_ipi >= thread->flow.woken)
		set_arrival(block, cpu->last_ipi - thread->flow.woken);
	if (cpu->idle_state != NO_IDLE_STATE && cpu->idle_begin <= thread->flow.woken &&
	    cpu->idle_end > thread->flow.woken)
		block->idle_state = cpu->idle_state;
}
