/* SPDX-License-Identifier: MIT */
/* Connections that were there before the trace: no call tells which two ends are one, or who asks.
 *
 *   P  silence ────────────────┤write├ waits ─────────────┤read├┤write├ waits …
 *   Q  waits in read or poll ───┴▲woken┤read├──┤write├ waits ───────┴▲woken┤read├ …
 *
 * Two ends are one connection where a write on the one woke who then read from the other, twice at
 * least, and never after a write on a third one.
 *
 * From the middle of a dialogue nobody can tell whose turn a question is: a server that takes a
 * second for each answer, and a client that asks once a second, write and wait alike. What tells is
 * that nothing was under way when the trace began. So P asks if
 *   - P wrote first, nothing was read before that had been written before the trace, and its
 *     silence until then is at least twice as long as P ever took later to write after it had read:
 *     had P served, it would have worked on one answer that long;
 *   - both wrote in turn: each only when it had read all that the other wrote, and all that it
 *     wrote in its turn in one go, without a wait for others in between;
 *   - Q has answered twice at least, and no events were lost.
 * Else nobody does. All of it is inferred. Rejected: who pauses longer asks (slow servers do, too).
 *
 * Part of tracking/ (exchange_lists.h), under request_bounds.h.
 */
#include "objects/calls.h"
#include "tracking/exchange_lists.h"
#include "tracking/requests.h"

#define TIMES_LEAST 2 /* of what is inferred from */
#define LONGER 2

/* What is known of one end. */
struct old_end {
	uint32_t peer; /* number of the end whose writes woke its reader, 0: none yet */
	uint32_t seen; /* so many times */
	bool contradicted;
	uint64_t unread; /* bytes that the other one wrote */
	int64_t read;    /* it read last; INT64_MIN */
	int64_t longest; /* time that it took to write after it had read */
};

/* What is known of two ends, at the lower one's number. */
struct dialogue {
	uint32_t first, turn; /* ends: that wrote first, that writes now */
	int64_t begin, written; /* the first write; the end of the last one */
	uint32_t answers;
	bool disorder;
	bool of_tracer;
};

struct finder {
	struct user_requests *requests;
	const struct session *session;
	struct old_end *ends; /* owned */
	struct dialogue *dialogues; /* owned */
	struct exchange_lists *writes; /* owned; of each thread */
	bool *tracers; /* owned; threads of the tracer */
	int64_t *moved; /* owned; when each thread had moved bytes last */
};

static bool is_old(const struct channel_end *end)
{
	return end->kind == CHANNEL_SOCKET && end->role == ROLE_UNKNOWN &&
	       end->opened == INT64_MIN && !end->datagrams &&
	       !(end->local_port && end->remote_port);
}

static bool is_poll(uint8_t wait)
{
	return wait == WAIT_POLL || wait == WAIT_SELECT || wait == WAIT_EPOLL;
}

/* --- which two ends are one --------------------------------------------------------- */

/* The write of another thread that ended the reader's last wait before it read, 0. */
static uint32_t woken_by(const struct finder *finder, const struct exchange *read)
{
	const struct session *session = finder->session;
	const struct block *block = NULL;
	const struct exchange *write;
	struct spans spans;
	struct span span;
	int64_t woken = 0;
	uint32_t number;

	spans_begin(&spans, session, read->thread, finder->moved[read->thread], read->end_time);
	while (spans_next_off_cpu(&spans, &span)) {
		const struct call_info *info;

		if (!leaf_is_blocked(span.leaf))
			continue;
		block = NULL;
		if (PACK_KIND(span.leaf) != LEAF_BLOCK_SYSCALL)
			continue;
		info = flow_call_info(&session->trace.flow, PACK_NUMBER(span.leaf));
		if (!is_poll(info->wait) && span.begin < read->begin)
			continue;
		block = block_at(&session->trace.timeline, span.ref);
		woken = span.end;
	}
	/* a packet to this host is delivered in a softIRQ, in its sender's call */
	if (!block || !is_thread(block->waker) ||
	    (block->kind != WAKER_THREAD && block->kind != WAKER_SOFTIRQ))
		return 0;
	number = exchange_before(session, finder->writes, block->waker, woken);
	write = number ? exchange_at(session, number) : NULL;
	return write && write->end_time >= woken && write->end != read->end ? number : 0;
}

static void met(struct old_end *end, uint32_t other)
{
	if (end->peer && end->peer != other)
		end->contradicted = true;
	end->peer = other;
	end->seen++;
}

static void pass_for_pair(struct finder *finder, const struct exchange *exchange)
{
	uint32_t write;

	if (exchange->kind == EXCHANGE_READ && is_old(end_at(finder->session, exchange->end))) {
		write = woken_by(finder, exchange);
		if (write &&
		    is_old(end_at(finder->session, exchange_at(finder->session, write)->end))) {
			uint32_t other = exchange_at(finder->session, write)->end;

			met(&finder->ends[exchange->end], other);
			met(&finder->ends[other], exchange->end);
		}
	}
	if (exchange->end_time != INT64_MAX)
		finder->moved[exchange->thread] = exchange->end_time;
}

static void take_pairs(struct finder *finder)
{
	struct user_requests *requests = finder->requests;

	for (uint32_t i = 1; i < finder->session->trace.timeline.ends.used; i++) {
		const struct old_end *end = &finder->ends[i];
		const struct old_end *other = &finder->ends[end->peer];

		if (end->seen >= TIMES_LEAST && !end->contradicted && !other->contradicted &&
		    other->peer == i && !requests->peers[i] &&
		    end_at(finder->session, i)->host == end_at(finder->session, end->peer)->host)
			requests->peers[i] = end->peer;
	}
}

/* --- who asks ------------------------------------------------------------------------ */

/* It waited for others, or slept, in [from, to). */
static bool waited(const struct session *session, uint32_t thread, int64_t from, int64_t to)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, from, to);
	while (from < to && spans_next_off_cpu(&spans, &span)) {
		const struct call_info *info;

		if (!leaf_is_blocked(span.leaf) || PACK_KIND(span.leaf) != LEAF_BLOCK_SYSCALL)
			continue;
		info = flow_call_info(&session->trace.flow, PACK_NUMBER(span.leaf));
		if (is_poll(info->wait) || info->wait == WAIT_SLEEP || info->moves == MOVES_IN ||
		    info->moves == MOVES_RECEIVE)
			return true;
	}
	return false;
}

static void pass_write(struct finder *finder, struct dialogue *dialogue,
		       const struct exchange *write)
{
	struct old_end *end = &finder->ends[write->end];

	if (!dialogue->first) {
		dialogue->first = write->end;
		dialogue->begin = write->begin;
	}
	if (end->unread) /* it spoke while the other did */
		dialogue->disorder = true;
	if (dialogue->turn == write->end) {
		dialogue->disorder |=
			waited(finder->session, write->thread, dialogue->written, write->begin);
	} else {
		dialogue->answers += write->end != dialogue->first;
		if (end->read != INT64_MIN)
			end->longest = MAX(end->longest, write->begin - end->read);
	}
	dialogue->turn = write->end;
	dialogue->written = write->end_time;
	finder->ends[end->peer].unread += write->bytes;
}

static void pass_for_role(struct finder *finder, const struct exchange *exchange)
{
	uint32_t peer = finder->requests->peers[exchange->end];
	struct old_end *end = &finder->ends[exchange->end];
	struct dialogue *dialogue;

	if (!peer || !is_old(end_at(finder->session, exchange->end)))
		return;
	dialogue = &finder->dialogues[MIN(exchange->end, peer)];
	dialogue->of_tracer |= finder->tracers[exchange->thread];
	if (exchange->kind == EXCHANGE_WRITE) {
		pass_write(finder, dialogue, exchange);
		return;
	}
	if (end->unread < exchange->bytes) /* what was written before the trace, or not seen */
		dialogue->disorder = true;
	end->unread -= MIN(end->unread, exchange->bytes);
	end->read = exchange->end_time;
}

static void take_roles(struct finder *finder)
{
	struct user_requests *requests = finder->requests;
	const struct session *session = finder->session;

	for (uint32_t i = 1; i < session->trace.timeline.ends.used; i++) {
		const struct dialogue *dialogue = &finder->dialogues[i];
		const struct host *host;
		int64_t silence;

		if (!dialogue->answers) /* one way: nobody is asked */
			continue;
		host = model_host(&session->trace.model, end_at(session, i)->host);
		silence = dialogue->begin - host->known_from;
		if (dialogue->disorder || dialogue->answers < TIMES_LEAST ||
		    silence < LONGER * finder->ends[dialogue->first].longest ||
		    host_gap_over(host, host->known_from, session->trace.end)) {
			requests->undecided += !dialogue->of_tracer;
			continue;
		}
		requests->inferred++;
		requests->roles[dialogue->first] = ROLE_CLIENT;
		requests->roles[requests->peers[dialogue->first]] = ROLE_SERVER;
	}
}

/* Those that moved bytes, in order of time. */
static void pass_all(struct finder *finder,
		     void (*pass)(struct finder *finder, const struct exchange *exchange))
{
	const struct pages *store = &finder->session->trace.timeline.exchanges;
	const guint32 *order = finder->requests->order;

	for (uint32_t i = 1; i < store->used; i++) {
		const struct exchange *exchange =
			exchange_at(finder->session, order ? order[i] : i);

		if (!order)
			pages_pass(store, i);
		if (exchange->bytes &&
		    (exchange->kind == EXCHANGE_READ || exchange->kind == EXCHANGE_WRITE))
			pass(finder, exchange);
	}
}

void old_connections_find(struct user_requests *requests)
{
	const struct session *session = requests->session;
	uint32_t used = session->trace.timeline.ends.used, old = 0;
	struct finder finder = {.requests = requests, .session = session};

	requests->roles = g_new0(guint8, used);
	for (uint32_t i = 1; i < used; i++)
		old += is_old(end_at(session, i));
	if (old < 2)
		return;
	finder.ends = g_new0(struct old_end, used);
	finder.dialogues = g_new0(struct dialogue, used);
	finder.moved = g_new0(int64_t, session->trace.model.thread_count + 1);
	for (uint32_t i = 0; i < used; i++)
		finder.ends[i].read = INT64_MIN;
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		finder.moved[i] = INT64_MIN;
	finder.writes = exchange_lists_new(session, requests->order, EXCHANGE_WRITE, false);
	finder.tracers = session_tracers(session);
	pass_all(&finder, pass_for_pair);
	take_pairs(&finder);
	pass_all(&finder, pass_for_role);
	take_roles(&finder);
	exchange_lists_free(finder.writes);
	g_free(finder.ends);
	g_free(finder.dialogues);
	g_free(finder.moved);
	g_free(finder.tracers);
}
