/* SPDX-License-Identifier: MIT */
/* Packets that are sent and received.
 *
 * Place: net/.
 */
#ifndef WHYLATE_OBJECTS_NETWORK_H
#define WHYLATE_OBJECTS_NETWORK_H

#include "state/state.h"

void flow_packet_sent(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_packet_left(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_packet_received(struct flow *flow, struct cpu *cpu, const struct event *event);

#endif
