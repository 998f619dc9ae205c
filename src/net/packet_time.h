/* SPDX-License-Identifier: MIT */
/* Whose packets take a softIRQ's time.
 *
 *   T         ─ computes ─┤ softIRQ NET_RX              ├─ computes ─
 *   packets                 │ │ │ from 10.0.0.2 to port 5001, which R reads
 *
 * A softIRQ interrupts whoever happens to run, for others' packets. What it has handed to the
 * protocols (NET_RX), or given to a driver (NET_TX), names its time: the frame's label, a key that
 * goes into the interrupted thread's interval, as an IRQ's device does.
 *
 *   "packets:10.0.0.2:5001"       from that service
 *   "packets:10.0.0.2:to-5001"    from that host, to the service at port 5001 here
 *   "packets:came-on-eth0"        through that device, what else they are was not recorded
 *   "packets:sent-on-eth0"        out of the queue of that device
 *
 * Of the two ports the lower one is the service's: the other is another one for each connection.
 * Of packets of several kinds in one run those that are most name it all (a majority vote, so
 * without a majority one of the frequent ones). Who takes them: host.receivers, the thread that
 * one of them woke, or who sent those that go out.
 *
 * Place: net/, under network.c. The words: packet_words(), waits/state_names.h.
 */
#ifndef WHYLATE_NET_PACKET_TIME_H
#define WHYLATE_NET_PACKET_TIME_H

#include "state/state.h"

void packet_time_init(struct flow *flow);
void packet_time_clear(struct flow *flow);

/* A packet of the flow with that hash (0: not known) is handed to the protocols. */
void packet_time_received(struct flow *flow, struct cpu *cpu, const struct event *event,
			  uint64_t hash);
/* A driver takes one that `sender` (NO_THREAD: not known) sent. */
void packet_time_left(struct flow *flow, struct cpu *cpu, const struct event *event,
		      uint32_t sender);
/* The packet that the CPU's context handed on last wakes who waits for it. */
void packet_time_wakes(struct flow *flow, struct cpu *cpu, uint32_t woken);

#endif
