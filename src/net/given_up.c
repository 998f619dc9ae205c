/* SPDX-License-Identifier: MIT */
/* See given_up.h. */
#include "net/given_up.h"

#include <string.h>

#include "net/talks.h"
#include "net/ways.h"

#define HOST_UNREACHABLE (-113) /* EHOSTUNREACH of the traced kernel */

static struct reason reason_of(struct flow *flow, const struct thread *thread,
			       const struct talk *talk, int64_t result)
{
	const struct host *host = model_host(flow->model, thread->host);
	uint32_t number = way_find(host, thread->flow.call.flow);
	struct reason reason =
		reason_of_kind(talk->connecting ? REASON_UNCONNECTED : REASON_GIVEN_UP);

	reason.thread = is_thread(talk->peer) ? talk->peer : talk_listener(host, talk->remote);
	reason.other = talk->asker;
	reason.object = talk->remote;
	reason.begin = talk->asked;
	reason.from = reason.until = flow->time; /* named, not followed */
	reason.ns = -1;
	if (talk->connecting) {
		reason.count = talk->attempts;
		reason.result = (int32_t) result;
	} else if (number != NO_WAY) {
		const struct tcp_way *way = way_at(host, number), *back = way_back(host, number);

		reason.count = way->probes;
		reason.number = way->acked != way->sent_end;
		/* the peer is on this host, and its last packet is newer than what it got */
		reason.result = way->probes && way->came && back->came >= way->came;
		if (back->came)
			reason.ns = flow->time - back->came;
	} else {
		reason.number = talk->outstanding;
	}
	return reason;
}

/* What woke the thread was a packet that is none of TCP: that would name a port. */
static bool is_woken_by_icmp(const struct flow *flow, const struct block *block)
{
	const struct wake_detail *detail =
		block->detail ? detail_at(flow->timeline, block->detail) : NULL;
	const char *sender;

	if (!detail || detail->kind != DETAIL_PACKET || !detail->text)
		return false;
	sender = intern_text(flow->names, detail->text);
	return strchr(sender, '.') ? !strchr(sender, ':') : !strchr(sender, ']');
}

void connection_fails(struct flow *flow, struct thread *thread, const struct talk *talk)
{
	if (thread->flow.block &&
	    is_woken_by_icmp(flow, block_at(flow->timeline, thread->flow.block)))
		connection_given_up(flow, thread, talk, HOST_UNREACHABLE);
}

/* The waits in the call; without one, the last wait, if it was to see that this descriptor is
 * ready. */
void connection_given_up(struct flow *flow, struct thread *thread, const struct talk *talk,
			 int64_t result)
{
	const struct call *call = &thread->flow.call;
	struct block *block = block_at(flow->timeline, thread->flow.block);
	struct reason reason;

	if (!talk || !talk->remote || !thread->flow.block ||
	    (!call->waits && block->fd != call->fd) || block->kind == WAKER_THREAD ||
	    (block->reason && reason_at(flow->timeline, block->reason)->kind) ||
	    host_unseen(model_host(flow->model, thread->host), thread->flow.since, flow->time))
		return;
	reason = reason_of(flow, thread, talk, result);
	block->reason = reason_new(flow->timeline, &reason);
}
