/* SPDX-License-Identifier: MIT */
/* Stacks of frames, outermost first, each stored once and known by a number: what a thread, or
 * what a CPU with its interrupts on top, is in at the moment. Number 0 is the empty stack.
 *
 * Place: state/.
 */
#ifndef WHYLATE_STATE_STACKS_H
#define WHYLATE_STATE_STACKS_H

#include "state/state.h"

void stacks_init(struct flow *flow);
void stacks_clear(struct flow *flow);

uint32_t flow_thread_stack(struct flow *flow, const struct thread *thread);
uint32_t flow_cpu_stack(struct flow *flow, const struct cpu *cpu);
const GArray *flow_stack(const struct flow *flow, uint32_t number);

#endif
