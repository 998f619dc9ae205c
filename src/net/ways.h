/* SPDX-License-Identifier: MIT */
/* The table of TCP connections (model/connections.h): finding and making them, and ranges of bytes.
 *
 * Place: net/, under transport.c.
 */
#ifndef WHYLATE_NET_WAYS_H
#define WHYLATE_NET_WAYS_H

#include "state/state.h"

#define TCP_FIN 1u
#define TCP_SYN 2u
#define TCP_RST 4u
#define TCP_ACK 16u
#define NO_WAY IDMAP_NONE

/* Sequence numbers begin anew after 2^32: `a` is later than `b`. */
static inline bool seq_after(uint32_t a, uint32_t b)
{
	return (int32_t) (a - b) > 0;
}

/* Behind the packet's last byte; SYN and FIN count as one. */
static inline uint32_t packet_end(const struct event *event)
{
	return event->net.seq + event->net.length + ((event->net.flags & TCP_SYN) != 0) +
	       ((event->net.flags & TCP_FIN) != 0);
}

/* Hash of addresses and ports, in the packet's direction; 0: not recorded. */
uint64_t packet_flow(const struct event *event);
/* The way that the packet goes (`key`: its packet_flow()), made if it is met first; NO_WAY: its
 * headers do not tell. */
uint32_t way_of(struct flow *flow, struct host *host, const struct event *event, uint64_t key);
static inline struct tcp_way *way_at(const struct host *host, uint32_t number)
{
	return &g_array_index(host->tcp, struct tcp_connection, number / 2).ways[number & 1];
}
/* The other way of the same connection. */
static inline struct tcp_way *way_back(const struct host *host, uint32_t number)
{
	return way_at(host, number ^ 1);
}
/* By its key; NO_WAY: it is not known any more. */
uint32_t way_find(const struct host *host, uint64_t key);
/* The way to `remote` ("socket:ADDR:PORT", interned) of a connection met lately, NO_WAY. */
uint32_t way_to(const struct host *host, uint32_t remote);

/* The newest segment that has this byte, NULL. */
struct tcp_segment *segment_with(struct tcp_way *way, uint32_t byte);
struct tcp_segment *segment_add(struct tcp_way *way);
/* So many are known, and the nth newest of them. */
static inline uint32_t segments_known(const struct tcp_way *way)
{
	return MIN(way->segment_next, TCP_SEGMENTS);
}
static inline struct tcp_segment *segment_nth(struct tcp_way *way, uint32_t n)
{
	return &way->segments[(way->segment_next - 1 - n) % TCP_SEGMENTS];
}

/* The call that wrote the byte before `end`, NULL. */
const struct tcp_write *write_with(const struct tcp_way *way, uint32_t end);
void write_add(struct tcp_way *way, const struct tcp_write *write);

/* [seq, end) has come. When bytes behind it had come, if it is what was missing; else 0. */
int64_t way_received(struct tcp_way *way, uint32_t seq, uint32_t end, int64_t time);
/* The receiver's kernel has told that all before `seq` has come. */
void way_has_received(struct tcp_way *way, uint32_t seq);

/* Who takes connections on that port; NULL: `make` not, and not known. */
struct tcp_listener *listener_of(struct host *host, uint16_t port, bool make);

#endif
