/* SPDX-License-Identifier: MIT */
/* See datagrams.h. */
#include "objects/datagrams.h"

#include "objects/calls.h"

static struct channel_end *end_at(const struct flow *flow, uint32_t number)
{
	return pages_at(&flow->timeline->ends, number);
}

void datagram_arrives(struct flow *flow, const struct event *event)
{
	struct host *host = flow_host(flow, event);
	struct arrival arrival = {.to = (uint16_t) event->net.dest_port,
				  .port = (uint16_t) event->net.source_port};

	if (!flow->exchanges_wanted || event->net.tcp || !event->net.dest_port ||
	    !event->net.source_port)
		return;
	arrival.from = socket_key(flow, &event->net.saddr, event->net.source_port);
	if (host->arrivals->len < ARRIVALS_MAX)
		g_array_append_val(host->arrivals, arrival);
	else
		g_array_index(host->arrivals, struct arrival,
			      host->arrivals_next++ % ARRIVALS_MAX) = arrival;
}

/* The oldest one for that port that was not read yet, and is read now; NULL. */
static const struct arrival *take(struct host *host, uint16_t port)
{
	guint count = host->arrivals->len;

	for (guint i = 0; i < count && port; i++) {
		struct arrival *at = &g_array_index(host->arrivals, struct arrival,
						    (host->arrivals_next + i) % count);

		if (at->to == port) {
			at->to = 0;
			return at;
		}
	}
	return NULL;
}

/* The end that stands for one peer of the end `number`. */
static uint32_t end_of_peer(struct flow *flow, uint32_t number, uint32_t remote, uint16_t port,
			    enum channel_role role)
{
	uint64_t id = (uint64_t) number << 32 | remote;
	uint32_t peer = idmap_get(&flow->peer_ends, id);
	const struct channel_end *end;

	if (peer == IDMAP_NONE) {
		peer = pages_reserve(&flow->timeline->ends, 1);
		*end_at(flow, peer) = *end_at(flow, number);
		end_at(flow, peer)->remote = remote;
		end_at(flow, peer)->remote_port = port;
		end_at(flow, peer)->role = (uint8_t) role;
		end_at(flow, peer)->datagrams = true;
		idmap_set(&flow->peer_ends, id, peer);
	}
	end = end_at(flow, number);
	if (end->local) /* known since it has sent something itself */
		end_at(flow, peer)->local = end->local;
	end_at(flow, peer)->local_port = end->local_port;
	return peer;
}

/* It asked to be connected, or was accepted: it has one peer. */
static bool has_one_peer(const struct channel_end *end)
{
	return end->kind != CHANNEL_SOCKET || (end->role != ROLE_UNKNOWN && !end->datagrams);
}

uint32_t datagram_read(struct flow *flow, const struct thread *thread, uint32_t number)
{
	struct channel_end *end = end_at(flow, number);
	struct host *host = model_host(flow->model, thread->host);
	const struct arrival *arrival;

	if (end->kind != CHANNEL_SOCKET || !host->arrivals->len)
		return number;
	arrival = take(host, end->local_port ? end->local_port : thread->flow.heard_port);
	if (!arrival || has_one_peer(end))
		return number;
	end->datagrams = true;
	end->local_port = end->local_port ? end->local_port : thread->flow.heard_port;
	return end_of_peer(flow, number, arrival->from, arrival->port, ROLE_SERVER);
}

void datagram_passed(struct flow *flow, const struct thread *thread)
{
	take(model_host(flow->model, thread->host), thread->flow.heard_port);
}

uint32_t datagram_sent(struct flow *flow, uint32_t number, const struct event *event)
{
	const struct channel_end *end = end_at(flow, number);
	uint32_t remote;

	if (event->net.tcp || has_one_peer(end) || !event->net.dest_port)
		return number;
	remote = socket_key(flow, &event->net.daddr, event->net.dest_port);
	return remote ? end_of_peer(flow, number, remote, (uint16_t) event->net.dest_port,
				    ROLE_CLIENT)
		      : number;
}
