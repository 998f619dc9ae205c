/* SPDX-License-Identifier: MIT */
/* Wake-ups: what ended a wait.
 *
 * Place: threads/.
 */
#ifndef WHYLATE_THREADS_WAKE_H
#define WHYLATE_THREADS_WAKE_H

#include "state/state.h"

void flow_waking(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_wakeup(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_migrate(struct flow *flow, struct cpu *cpu, const struct event *event);
/* It was off the CPU, as is known now, when the remembered sched_waking came. */
void thread_was_woken(struct flow *flow, struct thread *thread);

#endif
