/* SPDX-License-Identifier: MIT */
/* Waits that the transport made longer: their reasons.
 *
 * Place: net/, over transport.h.
 */
#ifndef WHYLATE_NET_TRANSPORT_WAITS_H
#define WHYLATE_NET_TRANSPORT_WAITS_H

#include "state/state.h"

/* The packet that has just come on `cpu` has woken `thread`, blocked since `begin`: a reason for
 * its wait, if what took it was the transport. */
void transport_woke(struct flow *flow, struct cpu *cpu, struct thread *thread, int64_t begin);

/* What is known of the packet that is queued, if it was sent before or is late for one that was. */
void transport_sent_again(struct flow *flow, const struct event *event, struct packet *packet);

#endif
