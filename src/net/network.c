/* SPDX-License-Identifier: MIT */
/* Packets: who sent what a softIRQ delivers.
 *
 *   P ── sendto ── net_dev_queue(skb) ──┐ the same buffer, of the same flow
 *   softIRQ NET_RX ── net_if_receive_skb(skb) ── waking(T)
 *
 * On one host (loopback, virtual links) the buffer's address names the packet
 * from queue to receipt. Addresses are used again, so both ends must be of one
 * flow (addresses and ports, as the headers say), and a packet is received once.
 *
 * What is queued in a softIRQ (the rest of a long message, when an acknowledgement has made
 * room) is of who wrote it: TCP's by its bytes (transport.h), others' of the thread that sent
 * last on that flow.
 *
 * From one host to another the buffers have nothing in common. There TCP's
 * packets are kept, sent and received ones, and brought together when all have
 * been read (trace/pairs.h), as the hosts' clocks are known only then.
 *
 * Part of net/. Source: semantics.md, "Blocking causality", rule 1.
 */
#include "net/network.h"

#include <string.h>

#include "net/packet_time.h"
#include "net/talks.h"
#include "net/transport.h"
#include "net/transport_waits.h"
#include "net/ways.h"
#include "objects/datagrams.h"
#include "objects/exchanges.h"

#define NETDEV_BUSY 0x10 /* the driver did not take it: it is tried again */

static struct sent *slot_of(struct host *host, struct idmap *map, uint64_t key)
{
	uint32_t index = idmap_get(map, key);

	if (index == IDMAP_NONE) {
		index = host->sent->len;
		g_array_set_size(host->sent, index + 1);
		idmap_set(map, key, index);
	}
	return &g_array_index(host->sent, struct sent, index);
}

/* It stays on its host, whatever the device. */
static bool is_local(const struct event *event)
{
	const struct event_bytes *from = &event->net.saddr, *to = &event->net.daddr;

	return from->count == to->count && (memcmp(from->bytes, to->bytes, from->count) == 0 ||
					    (from->count == 4 && from->bytes[0] == 127));
}

/* Keeps a packet for which another traced host may have the other end; 0: it
 * is none. */
static uint32_t keep_packet(struct flow *flow, const struct event *event, const struct sent *sent)
{
	struct pages *packets = &flow->timeline->packets;
	struct packet *packet;
	uint32_t index;

	if (flow->model->hosts->len < 2 || !event->net.tcp || !event->net.saddr.count ||
	    is_local(event))
		return 0;
	index = pages_reserve(packets, 1);
	packet = pages_at(packets, index);
	*packet = (struct packet) {
		.time = flow->time,
		.handed = flow->time,
		.flow = packet_flow(event),
		.seq = event->net.seq,
		.ack_seq = event->net.ack_seq,
		.length = event->net.length,
		.thread = NO_THREAD,
		.host = event->host,
		.flags = event->net.flags,
		.id = event->net.id,
		.received = !sent};
	if (sent && is_thread(sent->thread)) {
		packet->thread = sent->thread;
		packet->handed = sent->time;
		packet->call = sent->call;
	}
	if (sent)
		transport_sent_again(flow, event, packet);
	return index;
}

/* Of whom a packet is that a softIRQ queues: without TCP's headers, of who sent last on the
 * flow. */
static void sent_in_softirq(struct host *host, struct sent *sent)
{
	uint32_t known = sent->flow ? idmap_get(&host->flows, sent->flow) : IDMAP_NONE;

	if (known == IDMAP_NONE)
		return;
	*sent = g_array_index(host->sent, struct sent, known);
	sent->waiting = true;
}

void flow_packet_sent(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct host *host = flow_host(flow, event);
	struct sent sent = {.flow = packet_flow(event),
			    .time = flow->time,
			    .thread = NO_THREAD,
			    .waiting = true};
	bool by_thread = !cpu_interrupted(cpu) && is_thread(cpu->current);

	if (flow_in_gap(flow, cpu) || !event->net.skb)
		return;
	sent.talk = talk_packet(flow, by_thread ? flow_thread(flow, cpu->current) : NULL, event,
				sent.flow);
	if (by_thread) {
		const struct call *call = &flow_thread(flow, cpu->current)->flow.call;

		sent.thread = cpu->current;
		sent.call = call->open ? call->name : 0;
		if (flow->exchanges_wanted)
			exchange_packet(flow, flow_thread(flow, cpu->current), event);
		if (sent.flow && !event->net.tcp)
			*slot_of(host, &host->flows, sent.flow) = sent;
	} else if (!event->net.tcp) {
		sent_in_softirq(host, &sent);
	}
	sent.context = cpu_context(cpu, flow_current(flow, cpu));
	if (event->net.tcp)
		transport_queued(flow, cpu, event, &sent);
	*slot_of(host, &host->packets, event->net.skb) = sent;
	keep_packet(flow, event, &sent);
}

/* Its driver takes packets, and events say so. */
static void note_taker(struct flow *flow, struct host *host, const char *device)
{
	for (guint i = 0; device && i < G_N_ELEMENTS(host->takers); i++) {
		if (!host->takers[i])
			host->takers[i] = intern_id(flow->names, device);
		if (strcmp(intern_text(flow->names, host->takers[i]), device) == 0)
			return;
	}
}

void flow_packet_left(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct host *host = flow_host(flow, event);
	struct sent *sent;

	host->has_xmit = true;
	if (flow_in_gap(flow, cpu) || !event->net.skb || event->net.rc == NETDEV_BUSY)
		return;
	sent = slot_of(host, &host->packets, event->net.skb);
	/* in the context that queued it, it was in no queue: only that was interrupted */
	sent->left = sent->waiting && sent->context == cpu_context(cpu, flow_current(flow, cpu))
			     ? sent->time
			     : flow->time;
	sent->given = flow->time;
	if (sent->waiting && sent->talk)
		talk_left(host, sent->talk, sent->time);
	note_taker(flow, host, event->net.device);
	packet_time_left(flow, cpu, event, sent->waiting ? sent->thread : NO_THREAD);
	transport_left(flow, host, event, sent->waiting ? sent : NULL);
}

static void packet_came(struct cpu *cpu, const struct event *event)
{
	bool chosen;

	cpu->arrival.flow = 0;
	cpu->sender_length = 0;
	if (event->net.saddr.count == 4 || event->net.saddr.count == 16) {
		cpu->sender_length = (uint8_t) event->net.saddr.count;
		memcpy(cpu->sender, event->net.saddr.bytes, cpu->sender_length);
	}
	cpu->sender_port = event->net.source_port;
	cpu->heard_port = (uint16_t) event->net.dest_port;
	chosen = event->net.source_port < PORT_GIVEN && event->net.dest_port &&
		 event->net.dest_port < PORT_GIVEN;
	*cpu_pending(cpu) =
		(struct wake_detail) {.kind = DETAIL_PACKET,
				      .flags = chosen ? DETAIL_CHOSEN_PORTS : 0,
				      .thread = NO_THREAD,
				      .requested = -1,
				      .clock_error = -1,
				      .way = -1};
}

/* A packet handed to the protocols: its sender, as far as it was recorded. */
void flow_packet_received(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct host *host = flow_host(flow, event);
	struct wake_detail *pending;
	struct sent *sent = NULL;
	uint64_t hash = packet_flow(event);
	uint32_t known;
	int64_t left = 0, given = 0;
	bool here; /* it was sent on this host */

	if (flow_in_gap(flow, cpu))
		return;
	host->has_received = true;
	packet_came(cpu, event);
	cpu->heard = talk_received(host, hash);
	packet_time_received(flow, cpu, event, hash);
	datagram_arrives(flow, event);
	pending = cpu_pending(cpu);
	known = idmap_get(&host->packets, event->net.skb);
	if (known != IDMAP_NONE) {
		sent = &g_array_index(host->sent, struct sent, known);
		left = sent->left;
		given = sent->given;
		sent->left = sent->given = 0;
	}
	here = sent && sent->waiting && sent->flow && sent->flow == hash;
	if (here) {
		sent->waiting = false;
		pending->thread = sent->thread;
		pending->call = sent->call;
		pending->begin = sent->time;
		pending->asked = given;
		pending->cpu = cpu->id;
	}
	if (event->net.tcp)
		here |= transport_received(flow, cpu, event, hash, here ? sent : NULL, left,
					   pending);
	if (!here) /* from outside, or another packet in the same buffer */
		pending->packet = keep_packet(flow, event, NULL);
}
