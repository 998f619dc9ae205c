/* SPDX-License-Identifier: MIT */
/* What a packet's network and transport headers say beyond addresses: what tells one TCP segment
 * from others.
 *
 * Place: event/. Readers collect the numbers, each in its own way.
 */
#ifndef WHYLATE_EVENT_TCP_H
#define WHYLATE_EVENT_TCP_H

#include "event/event.h"

/* -1: not said. */
struct packet_headers {
	int64_t total, ihl, id;                   /* IP */
	int64_t seq, ack_seq, data_offset, flags, window; /* TCP */
};
#define NO_HEADERS ((struct packet_headers) {-1, -1, -1, -1, -1, -1, -1, -1})

/* Fills event->net, if they are TCP's. */
void event_take_tcp(struct event *event, const struct packet_headers *headers);

#endif
