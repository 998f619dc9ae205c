/* SPDX-License-Identifier: MIT */
/* The table of TCP connections; see ways.h. */
#include "net/ways.h"

#include <string.h>

#include "objects/calls.h"

#define ACCEPT_LOOK_BACK 128 /* connections met last, for one that accept returns */

/* Made for each packet: four bytes at a time. */
static uint64_t mixed(uint64_t key, uint32_t word)
{
	key = (key ^ word) * UINT64_C(0x9E3779B97F4A7C15);
	return key ^ key >> 29;
}

static uint64_t with_address(uint64_t key, const struct event_bytes *address)
{
	uint32_t word, i;

	for (i = 0; i + 4 <= address->count; i += 4) {
		memcpy(&word, address->bytes + i, sizeof word);
		key = mixed(key, word);
	}
	for (; i < address->count; i++)
		key = mixed(key, address->bytes[i]);
	return key;
}

static uint64_t hash_of(const struct event_bytes *from, const struct event_bytes *to,
			uint32_t from_port, uint32_t to_port)
{
	return mixed(with_address(with_address(1, from), to), from_port << 16 ^ to_port);
}

uint64_t packet_flow(const struct event *event)
{
	if (!event->net.saddr.count)
		return 0;
	return hash_of(&event->net.saddr, &event->net.daddr, event->net.source_port,
		       event->net.dest_port);
}

static void way_init(struct tcp_way *way, uint64_t key)
{
	*way = (struct tcp_way) {.key = key,
				 .window = -1,
				 .round_trip = INT64_MAX,
				 .writer = NO_THREAD,
				 .reader = NO_THREAD};
}

static void name_way(struct flow *flow, struct tcp_way *way, const struct event_bytes *from,
		     const struct event_bytes *to, uint32_t from_port, uint32_t to_port)
{
	way->local = socket_key(flow, from, from_port);
	way->remote = socket_key(flow, to, to_port);
	way->local_port = (uint16_t) from_port;
	way->remote_port = (uint16_t) to_port;
}

/* A place in the table: a new one, or the one that was given longest ago. */
static uint32_t place_new(struct host *host)
{
	uint32_t place = host->tcp->len;

	if (place < TCP_CONNECTIONS_MAX) {
		g_array_set_size(host->tcp, place + 1);
		return place;
	}
	place = host->tcp_next++ % TCP_CONNECTIONS_MAX;
	for (uint32_t i = 0; i < 2; i++)
		if (way_find(host, way_at(host, 2 * place + i)->key) == 2 * place + i)
			idmap_remove(&host->tcp_ways, way_at(host, 2 * place + i)->key);
	return place;
}

/* The number of a connection begins anew: another one, between the same ports. */
static bool begins_anew(const struct tcp_way *way, const struct event *event)
{
	return (event->net.flags & (TCP_SYN | TCP_ACK)) == TCP_SYN && way->known &&
	       way->segment_next && !(way->syns && way->sent_end == event->net.seq + 1);
}

uint32_t way_find(const struct host *host, uint64_t key)
{
	return key ? idmap_get(&host->tcp_ways, key) : NO_WAY;
}

uint32_t way_of(struct flow *flow, struct host *host, const struct event *event, uint64_t key)
{
	const struct event_bytes *from = &event->net.saddr, *to = &event->net.daddr;
	uint32_t ports[2] = {event->net.source_port, event->net.dest_port};
	uint64_t back;
	uint32_t number = way_find(host, key);

	if (number != NO_WAY && !begins_anew(way_at(host, number), event))
		return number;
	back = key ? hash_of(to, from, ports[1], ports[0]) : 0;
	if (!key || key == back)
		return NO_WAY;
	if (number == NO_WAY)
		number = 2 * place_new(host);
	g_array_index(host->tcp, struct tcp_connection, number / 2).begin = flow->time;
	way_init(way_at(host, number), key);
	way_init(way_back(host, number), back);
	name_way(flow, way_at(host, number), from, to, ports[0], ports[1]);
	name_way(flow, way_back(host, number), to, from, ports[1], ports[0]);
	idmap_set(&host->tcp_ways, key, number);
	idmap_set(&host->tcp_ways, back, number ^ 1);
	return number;
}

uint32_t way_to(const struct host *host, uint32_t remote)
{
	uint32_t count = host->tcp->len, newest;

	newest = count < TCP_CONNECTIONS_MAX ? count : host->tcp_next % count + count;
	for (uint32_t i = 1; remote && i <= MIN(count, ACCEPT_LOOK_BACK); i++)
		for (uint32_t side = 0; side < 2; side++) {
			uint32_t number = 2 * ((newest - i) % count) + side;

			if (way_at(host, number)->remote == remote)
				return number;
		}
	return NO_WAY;
}

struct tcp_segment *segment_with(struct tcp_way *way, uint32_t byte)
{
	if (!seq_after(way->sent_end, byte))
		return NULL; /* a new one's, as a rule */
	for (uint32_t i = 0; i < segments_known(way); i++) {
		struct tcp_segment *segment = segment_nth(way, i);

		if (byte - segment->seq < segment->end - segment->seq)
			return segment;
	}
	return NULL;
}

struct tcp_segment *segment_add(struct tcp_way *way)
{
	return &way->segments[way->segment_next++ % TCP_SEGMENTS];
}

const struct tcp_write *write_with(const struct tcp_way *way, uint32_t end)
{
	const struct tcp_write *found = NULL;

	for (uint32_t i = 0; i < MIN(way->write_next, TCP_WRITES); i++) {
		const struct tcp_write *write =
			&way->writes[(way->write_next - 1 - i) % TCP_WRITES];

		if (seq_after(end, write->end))
			break;
		found = write;
	}
	return found;
}

void write_add(struct tcp_way *way, const struct tcp_write *write)
{
	way->writes[way->write_next++ % TCP_WRITES] = *write;
}

static bool is_empty(const struct tcp_range *range)
{
	return range->seq == range->end;
}

/* What had come behind `rcv_next`, and joins it now, does. */
static void close_holes(struct tcp_way *way)
{
	bool any = false;

	if (!way->early_since)
		return;
	for (int pass = 0; pass < TCP_HOLES; pass++)
		for (int i = 0; i < TCP_HOLES; i++) {
			struct tcp_range *range = &way->holes[i];

			if (is_empty(range) || seq_after(range->seq, way->rcv_next))
				continue;
			if (seq_after(range->end, way->rcv_next))
				way->rcv_next = range->end;
			range->seq = range->end;
		}
	for (int i = 0; i < TCP_HOLES; i++)
		any |= !is_empty(&way->holes[i]);
	if (!any)
		way->early_since = 0;
}

static void came_early(struct tcp_way *way, uint32_t seq, uint32_t end, int64_t time)
{
	struct tcp_range *free = NULL;

	if (!way->early_since)
		way->early_since = time;
	for (int i = 0; i < TCP_HOLES; i++) {
		struct tcp_range *range = &way->holes[i];

		if (is_empty(range)) {
			free = range;
		} else if (!seq_after(seq, range->end) && !seq_after(range->seq, end)) {
			range->seq = seq_after(range->seq, seq) ? seq : range->seq;
			range->end = seq_after(end, range->end) ? end : range->end;
			return;
		}
	}
	if (free)
		*free = (struct tcp_range) {seq, end};
}

int64_t way_received(struct tcp_way *way, uint32_t seq, uint32_t end, int64_t time)
{
	int64_t since = way->early_since;

	if (!way->received) {
		way->received = true;
		way->rcv_next = seq;
	}
	if (seq_after(seq, way->rcv_next)) {
		came_early(way, seq, end, time);
		return 0;
	}
	if (!seq_after(end, way->rcv_next))
		return 0;
	way->rcv_next = end;
	close_holes(way);
	return since;
}

void way_has_received(struct tcp_way *way, uint32_t seq)
{
	if (way->received && !seq_after(seq, way->rcv_next))
		return;
	way->received = true;
	way->rcv_next = seq;
	close_holes(way);
}

struct tcp_listener *listener_of(struct host *host, uint16_t port, bool make)
{
	struct tcp_listener fresh = {.thread = NO_THREAD, .port = port};

	for (guint i = 0; i < host->tcp_listeners->len; i++) {
		struct tcp_listener *listener =
			&g_array_index(host->tcp_listeners, struct tcp_listener, i);

		if (listener->port == port)
			return listener;
	}
	if (!make || host->tcp_listeners->len >= TCP_LISTENERS_MAX)
		return NULL;
	g_array_append_val(host->tcp_listeners, fresh);
	return &g_array_index(host->tcp_listeners, struct tcp_listener,
			      host->tcp_listeners->len - 1);
}
