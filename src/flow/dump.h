/* SPDX-License-Identifier: MIT */
/* The statedump.
 *
 * Place: flow/.
 */
#ifndef WHYLATE_FLOW_DUMP_H
#define WHYLATE_FLOW_DUMP_H

#include "state/state.h"

void flow_dump_process(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_dump_namespaces(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_dump_file(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_dump_interrupt(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_dump_block_device(struct flow *flow, struct cpu *cpu, const struct event *event);

#endif
