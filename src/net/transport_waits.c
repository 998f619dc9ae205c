/* SPDX-License-Identifier: MIT */
/* What of a wait was the transport's; see transport_waits.h.
 *
 *   reader ──┤ waits for bytes                                              ├──
 *            ├─ writer's ──┤ held ├── queued, lost, queued again ─┤ queue ├──┤
 *                          ▲ written                                     ▲ they come
 *
 * The wait is the writer's up to when the bytes were written; of the rest the longest stage is
 * the reason, if it is long enough to be worth a word. Where nobody wrote for the waiter (an
 * acknowledgement came, or bytes from a host that is not traced), what became of its own bytes is
 * looked at: they had to arrive first.
 *
 * Part of net/. Source: transport.c.
 */
#include "net/transport_waits.h"

#include <string.h>

#include "model/files.h"
#include "net/ways.h"
#include "objects/calls.h"

#define STAGE_MIN INT64_C(1000000) /* ns: shorter ones are no reason */
#define STAGE_PART 5 /* … nor is less than that part of the wait */

enum stage {
	STAGE_AGAIN,
	STAGE_DELAYED_ACK,
	STAGE_NAGLE,
	STAGE_WINDOW,
	STAGE_CORK,
	STAGE_ACKS,
	STAGE_DEVICE,
	STAGES
};

struct looking {
	struct flow *flow;
	struct host *host;
	const struct tcp_arrival *arrival;
	const struct thread *thread; /* who waited */
	uint32_t index;              /* the same */
	int64_t begin, end;          /* the wait */
	uint32_t number;             /* way of the packet that ended it */
	int64_t ns[STAGES];
	struct tcp_segment *segments[STAGES]; /* of which these are; NULL */
	struct tcp_way *ways[STAGES];         /* … and on which way */
};

static void add(struct looking *looking, enum stage stage, int64_t from, int64_t until,
		struct tcp_way *way, struct tcp_segment *segment)
{
	from = MAX(from, looking->begin);
	until = MIN(until, looking->end);
	if (from >= until)
		return;
	looking->ns[stage] += until - from;
	looking->ways[stage] = way;
	looking->segments[stage] = segment;
}

static enum stage stage_of_held(enum tcp_held held)
{
	static const uint8_t stages[HELD_KINDS] = {
		[HELD_NAGLE] = STAGE_NAGLE,   [HELD_DELAYED_ACK] = STAGE_DELAYED_ACK,
		[HELD_WINDOW] = STAGE_WINDOW, [HELD_QUEUE] = STAGE_DEVICE,
		[HELD_LOSS] = STAGE_AGAIN,    [HELD_CORK] = STAGE_CORK,
		[HELD_ACKS] = STAGE_ACKS};

	return stages[held];
}

/* Who is to read has no room left: an acknowledgement is put off for that. */
static bool is_closed(const struct tcp_way *way)
{
	return way->closed_since && way->closed_until == INT64_MAX;
}

/* What became of a segment until it left, at `left`; 0: that was not seen. `needed`: its last
 * sending was what ended the wait, else it may have been in vain. */
static void add_segment(struct looking *looking, struct tcp_way *way, struct tcp_segment *segment,
			int64_t left, bool needed)
{
	if (segment->held)
		add(looking, stage_of_held(segment->held), segment->written, segment->first, way,
		    segment);
	if (segment->again && (needed || !segment->came || segment->syn))
		add(looking, STAGE_AGAIN, segment->first, segment->last, way, segment);
	if (left)
		add(looking, STAGE_DEVICE, segment->last, left, way, segment);
}

/* Of the waiter's own bytes: the segment that took longest in the wait. */
static void add_own(struct looking *looking, struct tcp_way *own)
{
	struct tcp_segment *longest = NULL;
	int64_t most = 0;

	for (uint32_t i = 0; i < segments_known(own); i++) {
		struct tcp_segment *segment = segment_nth(own, i);
		int64_t from = MAX(segment->written, looking->begin);
		int64_t until = MIN(MAX(segment->last, segment->left), looking->end);

		if (until - from > most) {
			most = until - from;
			longest = segment;
		}
	}
	if (longest)
		add_segment(looking, own, longest, longest->left, false);
}

/* The peer's window was closed. */
static void add_window(struct looking *looking, struct tcp_way *own)
{
	if (own->closed_since)
		add(looking, STAGE_WINDOW, own->closed_since, own->closed_until, own, NULL);
	if (own->was_closed_since)
		add(looking, STAGE_WINDOW, own->was_closed_since, own->was_closed_until, own, NULL);
}

static void look(struct looking *looking, bool from_outside)
{
	const struct tcp_arrival *arrival = looking->arrival;
	struct tcp_way *way = way_at(looking->host, looking->number);
	struct tcp_way *own = way_back(looking->host, looking->number);
	struct tcp_segment *segment =
		arrival->end != arrival->seq ? segment_with(way, arrival->end - 1) : NULL;

	if (segment)
		add_segment(looking, way, segment, arrival->left, true);
	else if (arrival->left)
		add(looking, STAGE_DEVICE, arrival->queued, arrival->left, way, NULL);
	if (arrival->missed_since && !segment)
		add(looking, STAGE_AGAIN, arrival->missed_since, looking->end, way, NULL);
	if (arrival->end == arrival->seq) {
		add_window(looking, own);
		if (own->ack_by_timer && own->ack_sent == own->acked)
			add(looking, is_closed(own) ? STAGE_WINDOW : STAGE_DELAYED_ACK,
			    own->ack_time - own->ack_delay, own->ack_time, own, NULL);
	}
	if (arrival->end == arrival->seq || arrival->flags & TCP_SYN || (!segment && from_outside))
		add_own(looking, own);
}

/* "retransmission:10.0.0.2:80": by the end that serves, the one with the lower port. */
static uint32_t service_key(struct flow *flow, const char *kind, const struct tcp_way *way)
{
	uint32_t name = way->local_port < way->remote_port ? way->local : way->remote;
	const char *text = name ? intern_text(flow->names, name) : "socket:network";

	return key_format(flow, "%s:%s", kind, text + strlen("socket:"));
}

void transport_sent_again(struct flow *flow, const struct event *event, struct packet *packet)
{
	struct host *host = flow_host(flow, event);
	uint32_t number = way_find(host, packet->flow);
	struct tcp_way *way = number == NO_WAY ? NULL : way_at(host, number);
	const struct tcp_segment *segment =
		way && packet_end(event) != event->net.seq
			? segment_with(way, packet_end(event) - 1)
			: NULL;

	if (!segment || (!segment->again && segment->held != HELD_LOSS))
		return;
	packet->again = MAX(segment->again, 1);
	packet->how = segment->again   ? segment->how
		      : way->timed_out ? TRANSPORT_TIMEOUT
				       : TRANSPORT_FAST;
	packet->first = segment->held == HELD_LOSS ? segment->written : segment->first;
	packet->gap = segment->again ? segment->gap : segment->first - segment->written;
	packet->service = service_key(flow, "retransmission", way);
	packet->dropped_by = segment->unsent && way->leaves_seen ? way->device : 0;
}

static struct reason again_reason(const struct looking *looking)
{
	struct tcp_segment *segment = looking->segments[STAGE_AGAIN];
	struct tcp_way *way = looking->ways[STAGE_AGAIN];
	struct reason reason = reason_of_kind(REASON_RETRANSMISSION);
	const struct tcp_listener *listener;

	reason.object = service_key(looking->flow, "retransmission", way);
	reason.result = segment ? segment->how : TRANSPORT_EARLY;
	reason.count = 1;
	if (!segment) {
		reason.flags = REASON_INFERRED;
		return reason;
	}
	reason.count = MAX(segment->again, 1);
	reason.number = (uint64_t) segment->gap;
	if (segment->held == HELD_LOSS && !segment->again)
		reason.result = way->timed_out ? TRANSPORT_TIMEOUT : TRANSPORT_FAST;
	if (segment->needless)
		reason.flags |= REASON_NEEDLESS;
	else if (segment->came)
		reason.flags |= REASON_CAME;
	if (segment->unsent && way->leaves_seen)
		reason.flags |= REASON_UNSENT;
	reason.text = way->device;
	if (reason.result == TRANSPORT_SYN) {
		listener = listener_of(looking->host, way->remote_port, false);
		reason.other = listener ? listener->thread : NO_THREAD;
		if (segment->awaited || (listener && listener->waited_from < segment->first &&
					 listener->waited_until > segment->first))
			reason.flags |= REASON_AWAITED;
	}
	return reason;
}

static struct reason queue_reason(const struct looking *looking, enum stage stage)
{
	static const uint8_t how[STAGES] = {
		[STAGE_NAGLE] = TRANSPORT_NAGLE,   [STAGE_WINDOW] = TRANSPORT_WINDOW,
		[STAGE_CORK] = TRANSPORT_CORK,     [STAGE_ACKS] = TRANSPORT_ACKS,
		[STAGE_DEVICE] = TRANSPORT_DEVICE, [STAGE_DELAYED_ACK] = TRANSPORT_NAGLE};
	const struct tcp_segment *segment = looking->segments[stage];
	const struct tcp_way *way = looking->ways[stage];
	struct reason reason =
		reason_of_kind(stage == STAGE_DELAYED_ACK ? REASON_DELAYED_ACK : REASON_SEND_QUEUE);

	reason.result = how[stage];
	reason.object = service_key(looking->flow,
				    stage == STAGE_DELAYED_ACK ? "delayed-ack" : "send-queue", way);
	if (segment && segment->inferred)
		reason.flags |= REASON_INFERRED;
	if (segment)
		reason.number = (uint64_t) segment->ack_delay;
	else if (stage == STAGE_DELAYED_ACK) { /* it made room */
		reason.result = TRANSPORT_BUFFER;
		reason.number = (uint64_t) way->ack_delay;
	}
	if (stage != STAGE_DEVICE)
		return reason;
	reason.text = way->device;
	reason.object = way->device ? key_format(looking->flow, "queue:%s",
						 intern_text(looking->flow->names, way->device))
				    : reason.object;
	if (!looking->host->has_xmit)
		reason.flags |= REASON_INFERRED;
	return reason;
}

/* Whose the wait was before the transport had the bytes. */
static void answerable(struct looking *looking, struct reason *reason, enum stage stage,
		       const struct wake_detail *detail)
{
	struct tcp_way *way = way_at(looking->host, looking->number);
	struct tcp_way *own = way_back(looking->host, looking->number);
	const struct tcp_segment *segment = looking->segments[stage];

	reason->from = looking->begin;
	reason->begin = segment ? segment->written : 0;
	reason->call = segment ? segment->call : 0;
	if (stage == STAGE_WINDOW && looking->ways[stage] == own) {
		reason->thread = own->reader;
		reason->until = is_thread(detail->thread) ? detail->begin
				: own->read_time          ? own->read_time
							  : looking->begin;
	} else if (is_thread(detail->thread) && detail->thread != looking->index) {
		reason->thread = detail->thread;
		reason->until = detail->begin;
	} else {
		reason->until = reason->from;
	}
	reason->until = CLAMP(reason->until, looking->begin, looking->end);
	if (!is_thread(reason->other))
		reason->other = looking->ways[stage] == way ? way->writer : own->reader;
}

/* The send buffer was full, and nothing else tells why. */
static bool is_buffer_full(const struct looking *looking, const struct wake_detail *detail)
{
	const struct call *call = &looking->thread->flow.call;
	uint8_t moves = flow_call_info(looking->flow, call->name)->moves;

	return looking->arrival->end == looking->arrival->seq && !is_thread(detail->thread) &&
	       call->open && (moves == MOVES_OUT || moves == MOVES_SEND || moves == MOVES_BOTH);
}

/* What was not acknowledged had been lost, in part; or it is not known why it was not. */
static struct reason full_buffer(const struct looking *looking, const struct tcp_way *own)
{
	bool lost = own->loss_time > looking->begin;
	struct reason reason = reason_of_kind(lost ? REASON_RETRANSMISSION : REASON_SEND_QUEUE);

	reason.object = service_key(looking->flow, lost ? "retransmission" : "send-queue", own);
	reason.result = TRANSPORT_BUFFER;
	if (lost)
		reason.flags = REASON_INFERRED;
	return reason;
}

static void explain(struct looking *looking, const struct wake_detail *detail)
{
	enum stage best = STAGE_AGAIN;
	int64_t wait = looking->end - looking->begin;
	struct reason reason;

	for (enum stage i = STAGE_AGAIN; i < STAGES; i++)
		if (looking->ns[i] > looking->ns[best])
			best = i;
	if (looking->ns[best] >= STAGE_MIN && looking->ns[best] * STAGE_PART >= wait) {
		reason = best == STAGE_AGAIN ? again_reason(looking) : queue_reason(looking, best);
		reason.ns = looking->ns[best];
		answerable(looking, &reason, best, detail);
	} else if (is_buffer_full(looking, detail)) {
		const struct tcp_way *own = way_back(looking->host, looking->number);

		reason = full_buffer(looking, own);
		reason.other = own->reader;
		reason.ns = wait;
		reason.from = reason.until = looking->begin;
	} else {
		return;
	}
	block_at(looking->flow->timeline, looking->thread->flow.block)->reason =
		reason_new(looking->flow->timeline, &reason);
}

/* The thread reads what came, or accepts whoever it came from. */
static void note_waiter(struct flow *flow, struct host *host, struct thread *thread, uint32_t index,
			uint32_t number)
{
	struct call *call = &thread->flow.call;
	const struct call_info *info = flow_call_info(flow, call->name);
	struct tcp_listener *listener;
	struct open_file *file;

	if (!call->open || call->fd < 0)
		return;
	if (info->effect == DOES_ACCEPT) {
		listener = listener_of(host, way_at(host, number)->remote_port, true);
		if (listener && !is_thread(listener->thread))
			listener->thread = index;
		if (listener) {
			listener->waited_from = call->begin;
			listener->waited_until = flow->time;
		}
	} else if ((info->moves == MOVES_IN || info->moves == MOVES_RECEIVE) && !call->flow) {
		file = fd_file(thread_files(flow, thread), call->fd);
		call->flow = way_back(host, number)->key;
		if (file)
			file->flow = call->flow;
	}
}

void transport_woke(struct flow *flow, struct cpu *cpu, struct thread *thread, int64_t begin)
{
	struct host *host = model_host(flow->model, thread->host);
	const struct wake_detail *detail = cpu_pending(cpu);
	uint32_t number, index;
	struct looking looking;

	if (detail->kind != DETAIL_PACKET || !cpu->arrival.flow)
		return;
	number = way_find(host, cpu->arrival.flow);
	index = thread_find(flow, thread->host, thread->tid);
	if (number == NO_WAY || index == IDMAP_NONE)
		return;
	note_waiter(flow, host, thread, index, number);
	looking = (struct looking) {.flow = flow,
				    .host = host,
				    .arrival = &cpu->arrival,
				    .thread = thread,
				    .index = index,
				    .begin = begin,
				    .end = flow->time,
				    .number = number};
	if (looking.end - looking.begin < STAGE_MIN)
		return;
	look(&looking, !is_thread(detail->thread));
	explain(&looking, detail);
}
