/* SPDX-License-Identifier: MIT */
/* How a wake-up reaches an idle CPU.
 *
 * Place: threads/.
 */
#ifndef WHYLATE_THREADS_ARRIVAL_H
#define WHYLATE_THREADS_ARRIVAL_H

#include "state/state.h"

void flow_cpu_idle(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_vector_arrives(struct flow *flow, struct cpu *cpu, uint32_t vector);
/* sched_wakeup of `thread` came from `cpu`, to run it on CPU `target` (-1: not said). */
void flow_wakeup_arrives(struct flow *flow, struct host *host, const struct cpu *cpu,
			 const struct thread *thread, int32_t target);
/* `cpu` is about to switch to `thread`, which waited for a CPU. */
void flow_thread_arrives(struct flow *flow, const struct cpu *cpu, const struct thread *thread);

#endif
