/* SPDX-License-Identifier: MIT */
/* Datagrams: with whom an end that has many peers speaks, one datagram after the other.
 *
 *   packets to port 53   from :37630   from :34119
 *   server                   recvfrom      sendto (packet to :37630)   recvfrom
 *                            of :37630     to :37630                   of :34119
 *
 * What comes for a port waits in the socket and is read in that order, so the nth read is of
 * the nth packet. Each peer has an end of its own (struct channel_end), as a connection would.
 * The last ARRIVALS_MAX of a host that nobody has read yet are kept.
 *
 * Place: objects/, for exchanges.c; only while flow->exchanges_wanted.
 */
#ifndef WHYLATE_OBJECTS_DATAGRAMS_H
#define WHYLATE_OBJECTS_DATAGRAMS_H

#include "state/state.h"

#define ARRIVALS_MAX 4096

/* A packet was handed to the protocols; one of TCP is left out. */
void datagram_arrives(struct flow *flow, const struct event *event);
/* What a read on the end `number` by `thread` has got: the end of who sent it; `number` itself
 * where that is not known, or it is no datagram. */
uint32_t datagram_read(struct flow *flow, const struct thread *thread, uint32_t number);
/* A read of `thread` has got one, and on which end is not known. */
void datagram_passed(struct flow *flow, const struct thread *thread);
/* The end for what is sent on `number` in this packet. */
uint32_t datagram_sent(struct flow *flow, uint32_t number, const struct event *event);

#endif
