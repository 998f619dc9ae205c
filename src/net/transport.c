/* SPDX-License-Identifier: MIT */
/* Following bytes through TCP; see transport.h.
 *
 *   writer  ─┤write├──┤write├─
 *                      ▲ written        ▲ first: queued            ▲ queued again
 *   socket             ├── held ────────┤                          │
 *   device's queue                      ├────── (lost) ──── again ─┤── queue ──┤
 *   driver, receiver                                                           ▲ left ▲ arrival
 *
 * A segment is of the write that made its last byte, whoever's context queues it: TCP sends what
 * it kept when an acknowledgement arrives (softIRQ NET_RX) or a timer expires (TIMER). Ranges of
 * bytes are compared, not packets, as devices cut and join them. Where the end of what was
 * written is not known exactly (calls that were not seen) it is never before what was sent.
 *
 * Passing on is not sending: what is queued while the same bytes are being received is forwarded;
 * the same buffer queued again at once goes through a second device (a tunnel, a bond).
 *
 * Source: RFC 9293 (TCP), 896 (Nagle), 1122 4.2.3.2 (delayed acknowledgements), 6298 (time-outs),
 * 8985 (loss probes); Linux' net/ipv4/tcp_output.c and tcp_timer.c for who sends in which context.
 */
#include "net/transport.h"

#include <string.h>

#include "event/softirqs.h"
#include "model/files.h"
#include "net/ways.h"
#include "objects/calls.h"

#define TIMEOUT_MIN (190 * INT64_C(1000000)) /* ns: Linux' shortest is 200 ms, in ticks */
#define DELAYED_MIN (35 * INT64_C(1000000))  /* ns: Linux delays acknowledgements by 40 ms */
#define STACKED_MAX INT64_C(1000000) /* ns: the same buffer in the queue of a second device */
#define QUEUE_MIN INT64_C(1000000)   /* ns: shorter ones need no device's name */
#define IDLE_MIN (300 * INT64_C(1000000)) /* ns: nothing stays unsent that long with all acked */
#define CLOSED_MIN INT64_C(1000000) /* ns: a window closed that long is remembered */
#define DUPLICATES_MIN 3 /* RFC 5681 */

/* The softIRQ that is being run, -1: none. */
static int32_t softirq_of(const struct cpu *cpu)
{
	for (uint32_t i = cpu->depth; i-- > 0;)
		if (PACK_KIND(cpu->frames[i].what) == FRAME_SOFTIRQ)
			return (int32_t) PACK_NUMBER(cpu->frames[i].what);
	return -1;
}

/* The packet that the CPU's innermost context is handing on belongs to the way with that key. */
static bool is_arriving(struct cpu *cpu, uint64_t key)
{
	return cpu->depth && cpu_pending(cpu)->kind == DETAIL_PACKET && cpu->arrival.flow == key;
}

/* --- calls ------------------------------------------------------------------------- */

static int32_t socket_of(const struct call *call, uint8_t moves)
{
	return moves == MOVES_BOTH ? call->newfd : call->fd;
}

static bool writes(uint8_t moves)
{
	return moves == MOVES_OUT || moves == MOVES_SEND || moves == MOVES_BOTH;
}

void transport_call(struct flow *flow, struct thread *thread, uint32_t index)
{
	struct call *call = &thread->flow.call;
	const struct call_info *info = flow_call_info(flow, call->name);
	const struct host *host = model_host(flow->model, thread->host);
	const struct open_file *file;
	struct tcp_way *way;
	uint32_t number;

	call->flow = 0;
	call->came = 0;
	if (!info->moves || !host->tcp->len)
		return;
	file = fd_file(thread_files(flow, thread), socket_of(call, info->moves));
	number = file ? way_find(host, file->flow) : NO_WAY;
	if (number == NO_WAY)
		return;
	call->flow = file->flow;
	if (!writes(info->moves))
		return;
	way = way_at(host, number);
	if (way->acked == way->sent_end && seq_after(way->written_end, way->sent_end) &&
	    way->write_next &&
	    flow->time - way->writes[(way->write_next - 1) % TCP_WRITES].time > IDLE_MIN)
		way->written_end = way->sent_end; /* it counted what was not TCP's */
	way->writing = true;
	way->writer = index;
	way->call = call->name;
	way->write_begin = flow->time;
}

/* What accept returned: the connection whose other end it names. */
static void accepted(struct flow *flow, struct host *host, struct thread *thread, uint32_t index,
		     const struct event_syscall *args)
{
	struct open_file *file = fd_file(thread_files(flow, thread), (int32_t) args->ret);
	uint32_t number = way_to(host, address_key(flow, args));
	struct tcp_listener *listener;

	if (number == NO_WAY)
		return;
	if (file)
		file->flow = way_at(host, number)->key;
	listener = listener_of(host, way_at(host, number)->local_port, true);
	if (listener) {
		listener->thread = index;
		listener->accepted = flow->time;
		listener->waited_from = thread->flow.call.begin;
		listener->waited_until = flow->time;
	}
	if (!is_thread(way_back(host, number)->reader))
		way_back(host, number)->reader = index;
}

static void written(struct flow *flow, struct tcp_way *way, const struct call *call, uint32_t index,
		    int64_t ret)
{
	struct tcp_write write = {.time = flow->time, .thread = index, .call = call->name};

	way->writing = false;
	if (!way->synced || ret <= 0)
		return;
	way->written_end += (uint32_t) ret;
	if (seq_after(way->sent_end, way->written_end))
		way->written_end = way->sent_end;
	write.end = way->written_end;
	write_add(way, &write);
}

void transport_exit(struct flow *flow, struct thread *thread, uint32_t index,
		    const struct event_syscall *args)
{
	const struct call *call = &thread->flow.call;
	const struct call_info *info = flow_call_info(flow, call->name);
	struct host *host = model_host(flow->model, thread->host);
	uint32_t number;

	if (!host->tcp->len)
		return;
	if (info->effect == DOES_ACCEPT && args->ret >= 0)
		accepted(flow, host, thread, index, args);
	number = call->inherited ? NO_WAY : way_find(host, call->flow);
	if (number == NO_WAY)
		return;
	if (writes(info->moves)) {
		written(flow, way_at(host, number), call, index, args->ret);
	} else if (args->ret > 0) {
		if (!way_back(host, number)->read_time)
			thread->flow.call.came = way_back(host, number)->first_came;
		way_back(host, number)->reader = index;
		way_back(host, number)->read_time = flow->time;
	}
}

/* The descriptor of the thread's call is that end of the connection. */
static void bind_descriptor(struct flow *flow, struct thread *thread, const struct tcp_way *way)
{
	struct call *call = &thread->flow.call;
	const struct call_info *info = flow_call_info(flow, call->name);
	struct fd_table *files = thread_files(flow, thread);
	int32_t fd = socket_of(call, info->moves);
	struct open_file *file;

	if (!call->open || call->flow == way->key || fd < 0 ||
	    (!info->moves && info->effect != DOES_CONNECT))
		return;
	file = fd_file(files, fd);
	if (!file) /* not described: it is known only to be one */
		file = fd_open(files, fd, 0, false);
	file->flow = call->flow = way->key;
}

/* A packet of that way is queued by the thread itself, not in an interrupt. */
static void sends_itself(struct flow *flow, struct host *host, uint32_t index, uint32_t number)
{
	struct thread *thread = flow_thread(flow, index);
	uint8_t moves;

	bind_descriptor(flow, thread, way_at(host, number));
	if (!thread->flow.call.open)
		return;
	moves = flow_call_info(flow, thread->flow.call.name)->moves;
	if (moves == MOVES_IN || moves == MOVES_RECEIVE) { /* it makes room, and tells the peer */
		way_back(host, number)->reader = index;
	} else if (writes(moves) && !way_at(host, number)->writing) {
		way_at(host, number)->writing = true; /* its call began before it was known */
		way_at(host, number)->writer = index;
		way_at(host, number)->call = thread->flow.call.name;
		way_at(host, number)->write_begin = thread->flow.call.begin;
	}
}

/* --- sending ----------------------------------------------------------------------- */

/* The acknowledgement that a packet carries, as its sender sends it: of the way back. */
static void acknowledges(const struct flow *flow, const struct cpu *cpu, struct tcp_way *of,
			 const struct event *event)
{
	uint32_t ack = event->net.ack_seq;

	if (!(event->net.flags & TCP_ACK))
		return;
	if (of->received && !seq_after(ack, of->ack_sent) && of->ack_seen)
		return;
	of->ack_sent = ack;
	of->ack_seen = true;
	of->ack_time = flow->time;
	of->ack_by_timer = softirq_of(cpu) == SOFTIRQ_TIMER && !event->net.length;
	of->ack_delay = of->unacked_since ? flow->time - of->unacked_since : 0;
	of->unacked_since = 0;
	way_has_received(of, ack);
}

/* Acknowledgements were late because they, or what they acknowledge, were in a device's queue. */
static bool queue_held_back(struct cpu *cpu, const struct tcp_way *way, const struct tcp_way *back,
			    int64_t held)
{
	int64_t hold = way->queue_hold;

	if (is_arriving(cpu, back->key) && cpu->arrival.left)
		hold += cpu->arrival.left - cpu->arrival.queued;
	return 2 * hold >= held;
}

/* … because the peer's kernel put them off; where its packets were not recorded, by how late
 * they came compared with others. */
static bool ack_was_delayed(const struct tcp_way *way, struct tcp_segment *segment, int64_t late)
{
	if (way->ack_seen) {
		segment->ack_delay = way->ack_delay;
		return way->ack_by_timer && way->ack_delay >= DELAYED_MIN;
	}
	segment->ack_delay = late;
	segment->inferred = true;
	return late >= DELAYED_MIN && way->round_trip < late / 4;
}

/* Why what was written at segment->written is sent only now. */
static uint8_t why_held(struct cpu *cpu, struct tcp_way *way, const struct tcp_way *back,
			struct tcp_segment *segment)
{
	int64_t held = segment->first - segment->written;
	struct tcp_segment *before = segment_with(way, segment->seq - 1);
	int32_t softirq = softirq_of(cpu);
	bool all_acked = way->acked == segment->seq;

	if (way->closed_since && way->closed_until > segment->written)
		return HELD_WINDOW;
	if (way->loss_time > segment->written)
		return HELD_LOSS;
	if (softirq == SOFTIRQ_TIMER)
		return all_acked ? HELD_CORK : HELD_ACKS;
	if (softirq == SOFTIRQ_TASKLET || softirq == SOFTIRQ_NET_TX ||
	    queue_held_back(cpu, way, back, held))
		return HELD_QUEUE;
	if (!all_acked || seq_after(way->written_end, segment->end) || !before)
		return HELD_ACKS;
	if (ack_was_delayed(way, segment, segment->first - before->last))
		return HELD_DELAYED_ACK;
	segment->ack_delay = 0;
	segment->inferred = false;
	return HELD_NAGLE;
}

/* Whose the segment is, and when its last byte was written. `own`: a thread queues it. Of a
 * write that was not seen: who sent last, when it did. False: then. */
static bool find_writer(const struct flow *flow, const struct cpu *cpu, struct tcp_way *way,
			struct tcp_segment *segment, bool own, bool fin)
{
	uint32_t end = segment->end - (fin && segment->end - segment->seq > 1);
	const struct tcp_write *write = way->synced ? write_with(way, end) : NULL;
	const struct thread *thread = own ? flow_thread(flow, cpu->current) : NULL;

	segment->thread = way->writer;
	segment->call = way->call;
	segment->written = segment->first;
	/* nothing is kept while nothing is under way, but for a closed window or a cork: what was
	 * counted as written before was not */
	if (own && way->writing && way->writer == cpu->current && way->acked == segment->seq &&
	    way->closed_until != INT64_MAX) {
		way->written_end = segment->seq;
		write = NULL;
	}
	if (write && !seq_after(end, way->written_end)) {
		segment->thread = write->thread;
		segment->call = write->call;
		segment->written = MIN(write->time, segment->first);
		return true;
	}
	if (own) {
		way->writer = segment->thread = cpu->current;
		way->call = segment->call = thread->flow.call.open ? thread->flow.call.name : 0;
		way->write_begin = segment->first;
	} else if (!way->writing && way->write_begin) {
		segment->written = way->write_begin;
	}
	return false;
}

static uint8_t how_again(const struct cpu *cpu, const struct tcp_way *way,
			 const struct tcp_segment *segment, int64_t gap)
{
	bool timer = softirq_of(cpu) == SOFTIRQ_TIMER;

	if (segment->syn)
		return TRANSPORT_SYN;
	if (gap >= TIMEOUT_MIN && way->duplicates < DUPLICATES_MIN && (timer || way->timed_out))
		return TRANSPORT_TIMEOUT;
	if (way->timed_out && !timer)
		return TRANSPORT_TIMEOUT; /* what is lost beside it goes as acknowledgements come */
	return timer && way->duplicates < DUPLICATES_MIN ? TRANSPORT_PROBE : TRANSPORT_FAST;
}

static bool lost_events_since(const struct flow *flow, const struct host *host, int64_t time)
{
	return host_unseen(host, time, flow->time);
}

/* Since before that time who listens there waits for whoever comes: nobody is in its queue. In poll
 * and select it may wait for something else, as an answer that it needs itself. */
static bool is_awaited(struct flow *flow, struct host *host, uint16_t port, int64_t since)
{
	const struct tcp_listener *listener = listener_of(host, port, false);
	const struct call *call;
	uint8_t wait;

	if (!listener || !is_thread(listener->thread))
		return false;
	call = &flow_thread(flow, listener->thread)->flow.call;
	if (!call->open || call->begin >= since)
		return false;
	wait = flow_call_info(flow, call->name)->wait;
	return wait == WAIT_ACCEPT || wait == WAIT_EPOLL;
}

/* Bytes that were sent before. */
static void sent_again(struct flow *flow, struct host *host, const struct cpu *cpu,
		       struct tcp_way *way, const struct event *event)
{
	uint32_t seq = event->net.seq, end = packet_end(event);
	bool lost = true;

	for (uint32_t i = 0; i < segments_known(way); i++) {
		struct tcp_segment *segment = segment_nth(way, i);
		int64_t gap = flow->time - segment->last;
		bool came = way->received && !seq_after(segment->end, way->rcv_next);
		uint8_t how;

		if (!seq_after(end, segment->seq) || !seq_after(segment->end, seq))
			continue;
		how = how_again(cpu, way, segment, gap);
		if (came && how == TRANSPORT_PROBE) {
			lost = false; /* the acknowledgement is put off */
			continue;
		}
		if (how == TRANSPORT_TIMEOUT) {
			way->timed_out = true;
			way->recover = way->sent_end;
		}
		if (gap >= segment->gap) {
			segment->gap = gap;
			segment->how = how;
		}
		segment->came = came;
		segment->needless = way->ack_seen && !seq_after(segment->end, way->ack_sent);
		segment->awaited =
			segment->syn && is_awaited(flow, host, way->remote_port, segment->first);
		segment->unsent = !segment->left && !segment->came &&
				  !lost_events_since(flow, host, segment->first);
		segment->again += segment->again < UINT16_MAX;
		segment->last = flow->time;
		segment->left = 0;
		segment->skb = event->net.skb;
	}
	if (lost)
		way->loss_time = flow->time;
}

/* The device through which the packet goes. */
static void note_device(struct flow *flow, struct tcp_way *way, const struct event *event)
{
	const char *device = event->net.device;

	if (device && *device &&
	    (!way->device || strcmp(intern_text(flow->names, way->device), device) != 0))
		way->device = intern_id(flow->names, device);
}

static struct tcp_segment *
sent_first(struct flow *flow, struct cpu *cpu, struct tcp_way *way, const struct tcp_way *back,
	   const struct event *event, uint32_t seq)
{
	struct tcp_segment *segment = segment_add(way);
	bool own = !cpu_interrupted(cpu) && is_thread(cpu->current);

	*segment = (struct tcp_segment) {.seq = seq,
					 .end = packet_end(event),
					 .first = flow->time,
					 .last = flow->time,
					 .skb = event->net.skb,
					 .syn = event->net.flags & TCP_SYN};
	if (event->net.flags & TCP_SYN)
		way->syns++;
	if (!way->synced) {
		way->synced = true;
		way->written_end = event->net.flags & TCP_SYN ? segment->end : seq;
	}
	if (find_writer(flow, cpu, way, segment, own, event->net.flags & TCP_FIN) &&
	    segment->written < segment->first)
		segment->held = why_held(cpu, way, back, segment);
	way->sent_end = segment->end;
	if (!way->writing && seq_after(way->sent_end, way->written_end))
		way->written_end = way->sent_end;
	return segment;
}

/* The packet is passed on: it is being received here, or it goes through a second device. */
static bool is_passed_on(const struct flow *flow, struct cpu *cpu, struct tcp_way *way,
			 const struct event *event)
{
	const struct tcp_segment *segment;

	if (is_arriving(cpu, way->key) && cpu->arrival.seq == event->net.seq &&
	    cpu->arrival.end == packet_end(event))
		return true;
	segment = segment_with(way, packet_end(event) - 1);
	return segment && segment->skb == event->net.skb && !segment->left &&
	       flow->time - segment->last < STACKED_MAX;
}

/* It asks whether the peer is still there, or has room: the byte before what it would send next,
 * or none, which is acknowledged (RFC 9293, 3.8.4 and 3.8.6.1). */
static bool is_probe(const struct cpu *cpu, const struct tcp_way *way, const struct event *event)
{
	return way->known && softirq_of(cpu) == SOFTIRQ_TIMER && way->acked == way->sent_end &&
	       event->net.seq == way->sent_end - 1 && event->net.length <= 1 &&
	       !(event->net.flags & (TCP_SYN | TCP_FIN | TCP_RST));
}

static void whose(struct sent *sent, const struct tcp_segment *segment)
{
	sent->thread = segment->thread;
	sent->call = segment->call;
	sent->time = segment->written;
}

void transport_queued(struct flow *flow, struct cpu *cpu, const struct event *event,
		      struct sent *sent)
{
	struct host *host = flow_host(flow, event);
	uint32_t number = way_of(flow, host, event, sent->flow), end = packet_end(event);
	bool own = !cpu_interrupted(cpu) && is_thread(cpu->current);
	struct tcp_segment *segment;
	struct tcp_way *way;

	if (number == NO_WAY)
		return;
	way = way_at(host, number);
	if (end != event->net.seq && is_passed_on(flow, cpu, way, event)) {
		if ((segment = segment_with(way, end - 1)))
			whose(sent, segment);
		return;
	}
	acknowledges(flow, cpu, way_back(host, number), event);
	if (own)
		sends_itself(flow, host, cpu->current, number);
	if (is_probe(cpu, way, event)) {
		way->probes += way->probes < UINT16_MAX;
		return;
	}
	if (end == event->net.seq)
		return; /* an acknowledgement, a reset: the kernel's, or of this call */
	if (!way->known) {
		way->known = true;
		way->sent_end = way->acked = event->net.seq;
	}
	note_device(flow, way, event);
	if (seq_after(way->sent_end, event->net.seq))
		sent_again(flow, host, cpu, way, event);
	if (seq_after(end, way->sent_end))
		sent_first(flow, cpu, way, way_back(host, number), event, way->sent_end);
	segment = segment_with(way, end - 1);
	if (segment)
		whose(sent, segment);
}

void transport_left(struct flow *flow, struct host *host, const struct event *event,
		    const struct sent *sent)
{
	uint32_t number = sent ? way_find(host, sent->flow) : NO_WAY;
	struct tcp_way *way;

	if (number == NO_WAY)
		return;
	way = way_at(host, number);
	for (uint32_t i = 0; i < segments_known(way); i++) {
		struct tcp_segment *segment = segment_nth(way, i);

		if (segment->skb != event->net.skb || segment->left)
			continue;
		segment->left = MAX(sent->left, segment->last);
		way->leaves_seen = true;
		way->queue_hold = segment->left - segment->last;
		if (way->queue_hold >= QUEUE_MIN)
			note_device(flow, way, event);
		return;
	}
}

/* --- receiving --------------------------------------------------------------------- */

static void window_told(const struct flow *flow, struct tcp_way *of, const struct event *event)
{
	bool closed;

	if (event->net.window < 0 || event->net.flags & (TCP_SYN | TCP_RST)) /* those: not scaled */
		return;
	of->window = event->net.window;
	of->window_max = MAX(of->window_max, of->window);
	closed = of->window <= of->window_max / 8;
	if (closed && of->closed_until != INT64_MAX) {
		if (of->closed_until - of->closed_since >= CLOSED_MIN) {
			of->was_closed_since = of->closed_since;
			of->was_closed_until = of->closed_until;
		}
		of->closed_since = flow->time;
		of->closed_until = INT64_MAX;
	} else if (!closed && of->closed_until == INT64_MAX) {
		of->closed_until = flow->time;
	}
}

/* The acknowledgement that has come: of what was sent on the way back. */
static void acknowledged(const struct flow *flow, struct tcp_way *of, const struct event *event)
{
	uint32_t ack = event->net.ack_seq;
	bool same_window = event->net.window == of->window;
	const struct tcp_segment *segment;

	window_told(flow, of, event);
	if (!(event->net.flags & TCP_ACK) || !of->known)
		return;
	if (seq_after(ack, of->acked)) {
		segment = segment_with(of, ack - 1);
		if (segment && !segment->again)
			of->round_trip = MIN(of->round_trip, flow->time - segment->last);
		of->acked = ack;
		of->duplicates = 0;
		if (of->timed_out && !seq_after(of->recover, ack))
			of->timed_out = false;
	} else if (ack == of->acked && packet_end(event) == event->net.seq && same_window &&
		   seq_after(of->sent_end, ack) && of->duplicates < UINT16_MAX) {
		of->duplicates++;
	}
}

bool transport_received(struct flow *flow, struct cpu *cpu, const struct event *event, uint64_t key,
			const struct sent *sent, int64_t left, struct wake_detail *detail)
{
	struct host *host = flow_host(flow, event);
	uint32_t number = way_of(flow, host, event, key), end = packet_end(event);
	struct tcp_arrival *arrival = &cpu->arrival;
	const struct tcp_segment *segment;
	struct tcp_way *way;

	*arrival =
		(struct tcp_arrival) {.seq = event->net.seq, .end = end, .flags = event->net.flags};
	if (number == NO_WAY)
		return false;
	way = way_at(host, number);
	arrival->flow = way->key;
	acknowledged(flow, way_back(host, number), event);
	way_back(host, number)->probes = 0;
	way->came = flow->time;
	segment = end != event->net.seq ? segment_with(way, end - 1) : NULL;
	arrival->queued = segment ? segment->last : sent ? sent->time : 0;
	if (arrival->queued && left >= arrival->queued)
		arrival->left = left;
	if (arrival->queued && !host->has_xmit)
		arrival->left = flow->time; /* in a queue or on its way: that is not told apart */
	if (end == event->net.seq)
		return false;
	if (arrival->left)
		way->queue_hold = arrival->left - arrival->queued;
	arrival->missed_since = way_received(way, event->net.seq, end, flow->time);
	if (event->net.length && !way->first_came)
		way->first_came = flow->time;
	if (event->net.length && !way->unacked_since)
		way->unacked_since = flow->time;
	if (!segment)
		return false;
	detail->thread = segment->thread;
	detail->call = segment->call;
	detail->begin = segment->written;
	return true;
}
