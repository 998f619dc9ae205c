/* SPDX-License-Identifier: MIT */
/* Switches: who leaves a CPU and who comes.
 *
 * Place: threads/.
 */
#ifndef WHYLATE_THREADS_SCHED_H
#define WHYLATE_THREADS_SCHED_H

#include "state/state.h"

void flow_switch(struct flow *flow, struct cpu *cpu, const struct event *event);

#endif
