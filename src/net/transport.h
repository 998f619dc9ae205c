/* SPDX-License-Identifier: MIT */
/* What TCP did with the bytes between the call that wrote them and the wait that they ended.
 *
 * Place: net/, called by network.c for each packet, by flow/ for each call, by threads/ for each
 * wake-up; does nothing where packets' headers are not recorded whole.
 */
#ifndef WHYLATE_NET_TRANSPORT_H
#define WHYLATE_NET_TRANSPORT_H

#include "state/state.h"

/* A TCP packet that is handed to its device: `sent` gets who wrote what it carries, when, in
 * which call; NO_THREAD: nobody did, as of an acknowledgement that the kernel sends. */
void transport_queued(struct flow *flow, struct cpu *cpu, const struct event *event,
		      struct sent *sent);
/* The driver has taken the packet `sent`, NULL: not known which one it is. */
void transport_left(struct flow *flow, struct host *host, const struct event *event,
		    const struct sent *sent);
/* A TCP packet that is handed to the protocols. `key`: its packet_flow(); `sent`: the same one when
 * it was queued on this host, NULL; `left`: when the driver took it, 0. False: its bytes were not
 * written on this host, as far as is known; else `detail` gets by whom and when. */
bool transport_received(struct flow *flow, struct cpu *cpu, const struct event *event, uint64_t key,
			const struct sent *sent, int64_t left, struct wake_detail *detail);

/* A call on a descriptor, with its arguments; its exit. */
void transport_call(struct flow *flow, struct thread *thread, uint32_t index);
void transport_exit(struct flow *flow, struct thread *thread, uint32_t index,
		    const struct event_syscall *args);

#endif
