/* SPDX-License-Identifier: MIT */
/* Interrupt frames of a CPU, timers and signals.
 *
 * Place: flow/.
 */
#ifndef WHYLATE_FLOW_INTERRUPT_H
#define WHYLATE_FLOW_INTERRUPT_H

#include "state/state.h"

void flow_interrupt_entry(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_interrupt_exit(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_softirq_raise(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_timer(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_signal(struct flow *flow, struct cpu *cpu, const struct event *event);

#endif
