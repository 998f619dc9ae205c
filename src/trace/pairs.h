/* SPDX-License-Identifier: MIT */
/* Packets of several hosts, brought together: which sent one is which
 * received one.
 *
 * Place: trace/, once after reading, over the store that flow/ filled
 * (timeline/packet.h). Nothing is assumed of the hosts' clocks: on one host
 * packets have an order, between two hosts none.
 *
 * A packet is known by addresses, ports, sequence and acknowledgement number,
 * flags and length. Different ones share all of these: a repeated
 * acknowledgement, a retransmission. They are told apart by the IPv4 header's
 * number where it arrives as it was sent (it mostly does); else they are
 * matched in order if there are enough sent ones, as then each was sent no
 * later than the one it is taken for; else left out.
 *
 * A network card may cut one sent packet into several received ones, or join
 * them: what is received is of the packet that has its last byte.
 */
#ifndef WHYLATE_TRACE_PAIRS_H
#define WHYLATE_TRACE_PAIRS_H

#include "timeline/timeline.h"

struct pair {
	uint32_t sent, received; /* struct packet */
};

struct pairs {
	GArray *list;        /* owned; struct pair, by `received` */
	uint32_t unmatched;  /* received packets whose sending was not found */
};

void pairs_init(struct pairs *pairs, const struct timeline *timeline);
void pairs_clear(struct pairs *pairs);
/* The packet that `received` was sent as; 0: not known. */
uint32_t pairs_sent(const struct pairs *pairs, uint32_t received);

static inline struct packet *packet_at(const struct timeline *timeline, uint32_t index)
{
	return pages_at(&timeline->packets, index);
}

#endif
