/* SPDX-License-Identifier: MIT */
/* Lost events: what a hole in one CPU's stream makes unknown.
 *
 *   CPU 0   … A runs ──switch A→B──┤b  (hole)   e├── …
 *   A       off CPU: its stretch stands (thread_contradicted())
 *   B       current at b: unknown from b to its next evidence
 *
 * Part of flow/. Source: semantics.md, "Gaps". Cases C, D and E are steps of
 * a switch: threads/sched.c.
 */
#include "flow/gaps.h"

#include "guests/guest_irqs.h"
#include "objects/operation_log.h"
#include "threads/states.h"

void gap_begin(struct flow *flow, struct host *host, struct cpu *cpu, const struct gap *gap)
{
	struct thread *thread = is_thread(cpu->current) ? flow_thread(flow, cpu->current) : NULL;

	flow->time = MAX(flow->time, gap->begin);
	host_add_gap(host->gaps, gap);
	if (thread && thread->state == THREAD_RUNNING)
		thread_lost(flow, thread);
	operations_drop_cpu(cpu);
	guest_irqs_drop(flow);
	cpu->depth = 0; /* "its interrupt frames are dropped" */
	cpu->frames_lost = true;
	cpu->pending.kind = DETAIL_NONE;
	cpu->raiser.thread = NO_THREAD;
	for (int i = 0; i < SOFTIRQS_MAX; i++)
		cpu->raised[i].thread = NO_THREAD;
	cpu->gap_end = MAX(cpu->gap_end, gap->end);
	cpu_runs(flow, host, cpu, NO_THREAD);
}
