/* SPDX-License-Identifier: MIT */
/* See tcp.h. */
#include "event/tcp.h"

#include <glib.h>

/* IPv4's length counts its own header, IPv6's does not; both count TCP's. A length of 0 (larger
 * than 16 bits can say) leaves the packet without. */
void event_take_tcp(struct event *event, const struct packet_headers *headers)
{
	int64_t total = MAX(headers->total, 0);
	int64_t own = 4 * (MAX(headers->ihl, 0) + headers->data_offset);

	if (headers->seq < 0 || headers->ack_seq < 0 || headers->data_offset < 0 || total < own)
		return;
	event->net.tcp = true;
	event->net.seq = (uint32_t) headers->seq;
	event->net.ack_seq = (uint32_t) headers->ack_seq;
	event->net.flags = (uint16_t) MAX(headers->flags, 0);
	event->net.id = (uint16_t) MAX(headers->id, 0);
	event->net.length = (uint32_t) (total - own);
	event->net.window = headers->window >= 0 ? (int32_t) MIN(headers->window, UINT16_MAX) : -1;
	event->net.options = (uint8_t) CLAMP(headers->data_offset - 5, 0, 10);
}
