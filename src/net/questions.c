/* SPDX-License-Identifier: MIT */
/* What is asked and answered, and the waits that time out between; see questions.h. */
#include "net/questions.h"

#include <poll.h>
#include <string.h>

#include "event/results.h"
#include "model/files.h"
#include "net/asked_again.h"
#include "net/given_up.h"
#include "net/idle_peer.h"
#include "net/talks.h"
#include "objects/calls.h"
#include "objects/resource.h"

#define WATCHED_MAX 256 /* descriptors of one wait that are looked at */
/* Errors of the traced kernel: x86, ARM. */
#define TRY_AGAIN 11
#define IN_PROGRESS 115

static struct host *host_of(const struct flow *flow, const struct thread *thread)
{
	return model_host(flow->model, thread->host);
}

/* --- what becomes of a time-out ----------------------------------------------------- */

/* Nobody answers what goes to a group of hosts, not as a peer does. */
static bool is_for_many(const struct flow *flow, const struct talk *talk)
{
	const char *address = talk->remote ? intern_text(flow->names, talk->remote) : "";

	return g_str_has_prefix(address, "socket:224.") ||
	       g_str_has_prefix(address, "socket:239.") ||
	       g_str_has_prefix(address, "socket:255.255.255.255:") ||
	       g_str_has_prefix(address, "socket:[ff");
}

/* Its question never left this host's queue of a device that takes others. */
static bool is_unsent(const struct flow *flow, const struct host *host, const struct talk *talk)
{
	if (talk->queued == INT64_MIN || talk->queued < talk->asked || talk->left ||
	    host_unseen(host, talk->queued, flow->time))
		return false;
	for (guint i = 0; talk->device && i < G_N_ELEMENTS(host->takers); i++)
		if (host->takers[i] == talk->device)
			return true;
	return false;
}

/* The waits with this reason were for the talk's peer: named, or followed in [from, until). */
static void confirm(struct flow *flow, struct host *host, struct talk *talk, uint32_t peer,
		    uint8_t flags)
{
	struct reason *reason = pages_at(&flow->timeline->reasons, talk->reason);
	bool unsent = !(flags & REASON_LATE) && is_unsent(flow, host, talk);

	*reason = (struct reason) {
		.kind = talk->connecting ? REASON_UNCONNECTED : REASON_UNANSWERED,
		.flags = flags | (talk->accepted ? REASON_ACCEPTED : 0) |
			 (unsent ? REASON_UNSENT : 0),
		.text = unsent ? talk->device : 0,
		.count = talk->attempts,
		.thread = is_thread(peer) ? peer : talk_listener(host, talk->remote),
		.other = talk->asker,
		.object = talk->remote,
		.call = reason->thread == peer || !reason->kind ? reason->call : 0,
		.begin = talk->asked,
		.from = flow->time,
		.until = flow->time,
		.ns = talk->read == INT64_MIN ? -1 : talk->read - talk->asked};
	if (reason->thread == talk->asker) {
		reason->thread = NO_THREAD;
		reason->flags |= is_thread(peer) ? 0 : REASON_OWN;
	}
	if (talk->connecting || !is_thread(reason->thread))
		return;
	if (flags & REASON_LATE || !peer_idles(flow, reason->thread, talk->asked))
		reason->from = talk->asked; /* it had other things to do, or worked on it */
}

/* The thread gives up what it has asked, right after its time limit ended a wait. */
static void give_up(struct flow *flow, struct thread *thread, struct talk *talk)
{
	struct block *block;

	if (!thread->flow.timed_out || !thread->flow.timed_out_asking || !talk ||
	    !talk->outstanding || talk->asked >= thread->flow.timed_out_at ||
	    is_for_many(flow, talk) || host_unseen(host_of(flow, thread), talk->asked, flow->time))
		return;
	block = block_at(flow->timeline, thread->flow.timed_out);
	if (!talk->reason || block->reason != talk->reason) {
		if (block->reason && reason_at(flow->timeline, block->reason)->kind)
			return; /* it was for something else */
		if (!talk->reason) {
			struct reason reason = reason_of_kind(REASON_NONE);

			talk->reason = reason_new(flow->timeline, &reason);
		}
		block->reason = talk->reason;
	}
	confirm(flow, host_of(flow, thread), talk, talk->peer, 0);
}

/* Who ended the thread's last wait, if that was after `since`. */
static uint32_t answerer(const struct flow *flow, const struct thread *thread, int64_t since)
{
	const struct block *block = block_at(flow->timeline, thread->flow.block);

	if (!thread->flow.block || thread->flow.since < since)
		return NO_THREAD;
	if (block->kind == WAKER_THREAD)
		return block->waker;
	return block->detail && detail_at(flow->timeline, block->detail)->kind == DETAIL_PACKET
		       ? detail_at(flow->timeline, block->detail)->thread
		       : NO_THREAD;
}

static void answered(struct flow *flow, struct thread *thread, struct talk *talk)
{
	uint32_t by = answerer(flow, thread, talk->asked);

	if (talk->outstanding && talk->reason && !talk->connecting)
		confirm(flow, host_of(flow, thread), talk, is_thread(by) ? by : talk->peer,
			REASON_LATE);
	talk->connecting = talk->outstanding = false;
	talk->attempts = 0;
	talk->reason = 0;
}

/* What a thread asks is answered on another pipe: by who was woken by it, or his process. */
static void answered_by_pipe(struct flow *flow, struct thread *thread)
{
	struct talk *talk = talk_at(host_of(flow, thread), thread->flow.asked);
	uint32_t by;

	if (!talk || talk->kind != TALK_PIPE || !talk->outstanding)
		return;
	by = answerer(flow, thread, talk->asked);
	if (is_thread(by) && is_thread(talk->peer) &&
	    (by == talk->peer ||
	     (flow_thread(flow, by)->pid >= 0 &&
	      flow_thread(flow, by)->pid == flow_thread(flow, talk->peer)->pid)))
		answered(flow, thread, talk);
	talk->outstanding = false;
}

/* --- entries ------------------------------------------------------------------------ */

static const char *port_of(const struct flow *flow, uint32_t address)
{
	const char *port = address ? strrchr(intern_text(flow->names, address), ':') : NULL;

	return port ? port : "";
}

/* The same question goes to another host, as to the next name server. */
static void turn_to_another(struct flow *flow, struct thread *thread, const struct talk *next,
			    uint32_t remote)
{
	struct talk *talk = talk_at(host_of(flow, thread), thread->flow.asked);

	if (talk && talk != next && talk->kind == TALK_DATAGRAM && talk->outstanding &&
	    talk->reason && next->kind == TALK_DATAGRAM && remote != talk->remote &&
	    *port_of(flow, remote) &&
	    strcmp(port_of(flow, remote), port_of(flow, talk->remote)) == 0)
		give_up(flow, thread, talk);
}

/* A read that its own time limit ended was for the answer: who asks on, anybody, has none. */
static void read_in_vain(struct flow *flow, struct thread *thread)
{
	struct talk *talk = talk_at(host_of(flow, thread), thread->flow.asked);

	if (talk && talk->reason && thread->flow.timed_out_reading)
		give_up(flow, thread, talk);
}

/* Before the call, as its bytes may be read before it returns. */
static void ask(struct flow *flow, uint32_t index, struct thread *thread, struct talk *talk)
{
	if (talk->outstanding && talk->reason && talk->kind == TALK_DATAGRAM)
		give_up(flow, thread, talk);
	read_in_vain(flow, thread);
	turn_to_another(flow, thread, talk, talk->remote);
	talk->reason = 0;
	talk->connecting = false;
	if (talk->role == ROLE_UNKNOWN)
		talk->role = ROLE_CLIENT;
	talk->outstanding = talk->role == ROLE_CLIENT;
	talk->asked = flow->time;
	talk->read = INT64_MIN;
	talk->asker = index;
	if (talk->outstanding)
		thread->flow.asked = talk->number;
}

static void ask_to_connect(struct flow *flow, uint32_t index, struct thread *thread,
			   struct talk *talk)
{
	if (talk->connecting)
		return; /* it looks whether it is there */
	talk->role = ROLE_CLIENT;
	talk->asker = index;
	if (thread->flow.call.address)
		talk->remote = thread->flow.call.address;
	if (talk->kind != TALK_STREAM) {
		turn_to_another(flow, thread, talk, talk->remote);
		return;
	}
	talk->connecting = talk->outstanding = true;
	talk->attempts = 0;
	talk->asked = flow->time;
	talk->read = INT64_MIN;
	talk->reason = 0;
	thread->flow.asked = talk->number;
}

struct watched {
	struct flow *flow;
	struct thread *thread;
	uint32_t best; /* what was asked last of all, and is not answered */
	int64_t asked;
	bool pipe; /* there is a pipe among them */
	bool last; /* … and what the thread asked last */
};

static void watch(int32_t fd, void *data)
{
	struct watched *watched = data;
	const struct talk *talk = talk_found(watched->flow, watched->thread, fd);
	uint32_t key;

	watched->last |= talk && talk->number == watched->thread->flow.asked;
	if (talk && talk->outstanding && (!watched->best || talk->asked > watched->asked)) {
		watched->best = talk->number;
		watched->asked = talk->asked;
	}
	if (watched->best || watched->pipe)
		return;
	key = fd_key(thread_files(watched->flow, watched->thread), fd);
	watched->pipe = key && g_str_has_prefix(intern_text(watched->flow->names, key), "pipe:");
}

static void watch_bitmap(struct watched *watched, const struct event_bytes *set)
{
	for (uint32_t i = 0; i < MIN(set->count, WATCHED_MAX / 8); i++)
		for (int bit = 0; set->bytes[i] >> bit; bit++)
			if (set->bytes[i] & (1 << bit))
				watch((int32_t) (i * 8) + bit, watched);
}

/* What is asked on one pipe may be answered on another. */
static uint32_t watched_talk(const struct watched *watched)
{
	const struct thread *thread = watched->thread;
	const struct talk *talk = talk_at(host_of(watched->flow, thread), thread->flow.asked);

	if (watched->best)
		return watched->best;
	return watched->pipe && talk && talk->kind == TALK_PIPE ? talk->number : 0;
}

/* Its time limit for an answer was over, and now it waits for others. */
static void turn_away(struct flow *flow, struct thread *thread)
{
	struct talk *talk = talk_at(host_of(flow, thread), thread->flow.asked);

	if (talk && talk->reason && talk->kind != TALK_PIPE &&
	    thread->flow.timed_out == thread->flow.block)
		give_up(flow, thread, talk);
}

/* Of what poll and select watch, the question that was asked last. */
static uint32_t watched_at_entry(struct flow *flow, struct thread *thread, uint8_t wait,
				 const struct event_syscall *args)
{
	struct watched watched = {.flow = flow, .thread = thread};

	if (!thread->flow.asked || args->watched == 0) /* most often */
		return 0;
	if (wait == WAIT_POLL && !args->fds)
		return thread->flow.asked; /* tracers before 2.9 do not say */
	for (uint32_t i = 0; wait == WAIT_POLL && i < MIN(args->fd_count, WATCHED_MAX); i++)
		watch(args->fds[i].fd, &watched);
	watch_bitmap(&watched, &args->readfds);
	watch_bitmap(&watched, &args->writefds);
	if (!watched.last)
		turn_away(flow, thread);
	return watched_talk(&watched);
}

static uint32_t watched_by_epoll(struct flow *flow, struct thread *thread)
{
	struct watched watched = {.flow = flow, .thread = thread};
	uint32_t found;

	fd_epoll_each(thread_files(flow, thread), thread->flow.call.fd, WATCHED_MAX, watch,
		      &watched);
	found = watched_talk(&watched);
	return found ? found : thread->flow.asked; /* registered before the trace */
}

/* A copy of the descriptor that another process has keeps nothing open for this one. */
static void close_begins(struct flow *flow, uint32_t index, struct thread *thread)
{
	struct talk *talk = talk_found(flow, thread, thread->flow.call.fd);

	if (!talk)
		return;
	give_up(flow, thread, talk);
	if (!fd_is_last(thread_files(flow, thread), thread->flow.call.fd))
		return;
	asked_again(flow, index, talk);
	talk->connecting = talk->outstanding = false;
}

static void exit_begins(struct flow *flow, uint32_t index, struct thread *thread)
{
	struct talk *talk = talk_at(host_of(flow, thread), thread->flow.asked);

	give_up(flow, thread, talk);
	if (talk && talk->asker == index)
		asked_again(flow, index, talk);
}

void question_entry(struct flow *flow, uint32_t index, struct thread *thread,
		    const struct event_syscall *args)
{
	struct call *call = &thread->flow.call;
	const struct call_info *info = flow_call_info(flow, call->name);
	struct talk *talk = NULL;

	call->talk = 0;
	if (info->moves) {
		bool out = info->moves == MOVES_OUT || info->moves == MOVES_SEND ||
			   info->moves == MOVES_BOTH;

		talk = talk_of(flow, thread, info->moves == MOVES_BOTH ? call->newfd : call->fd,
			       info->moves == MOVES_SEND || info->moves == MOVES_RECEIVE);
		if (talk && out)
			ask(flow, index, thread, talk);
	} else if (info->effect == DOES_CONNECT) {
		talk = talk_of(flow, thread, call->fd, true);
		if (talk)
			ask_to_connect(flow, index, thread, talk);
	} else if (info->effect == DOES_CLOSE || info->effect == DOES_SHUTDOWN) {
		close_begins(flow, index, thread);
		return;
	} else if (info->effect == DOES_EXIT) {
		exit_begins(flow, index, thread);
	} else if (info->wait == WAIT_POLL || info->wait == WAIT_SELECT) {
		call->talk = watched_at_entry(flow, thread, info->wait, args);
		return;
	}
	if (talk)
		call->talk = talk->number;
}

/* --- exits -------------------------------------------------------------------------- */

/* Gives the waits inside the call a reason, unless they have one. */
static void mark_waits(struct flow *flow, struct thread *thread, uint32_t reason)
{
	struct track_pos pos = track_end_pos(flow->timeline, &thread->track);
	struct interval *interval;
	int64_t at;

	while ((interval = track_step_back(flow->timeline, &thread->track, &pos, &at)) &&
	       at >= thread->flow.call.begin) {
		struct block *block;

		if (PACK_KIND(interval->leaf) != LEAF_BLOCK_SYSCALL)
			continue;
		block = block_at(flow->timeline, interval->ref);
		if (!block->reason || !reason_at(flow->timeline, block->reason)->kind)
			block->reason = reason;
	}
}

/* The call's time was over, with nothing done. */
static bool ends_by_limit(struct flow *flow, struct thread *thread,
			  const struct event_syscall *args)
{
	const struct call_info *info = flow_call_info(flow, thread->flow.call.name);
	int64_t ret = args->ret;

	if (call_timed_out(flow, thread, args))
		return true;
	if (info->moves == MOVES_IN || info->moves == MOVES_RECEIVE)
		if (ret == -TRY_AGAIN)
			return true; /* SO_RCVTIMEO: it had waited */
	if (info->effect == DOES_CONNECT && ret == -IN_PROGRESS)
		return true;
	return call_ended_by_alarm(flow, thread, ret);
}

/* What the peer is in at the time-out: it is asked for again, and woken, before that counts. */
static void note_call(struct flow *flow, const struct talk *talk)
{
	struct reason *reason = pages_at(&flow->timeline->reasons, talk->reason);
	const struct call *call;

	if (!is_thread(talk->peer) || talk->connecting || reason->kind)
		return;
	call = &flow_thread(flow, talk->peer)->flow.call;
	reason->call = call->open ? call->name : 0;
}

static void timed_out(struct flow *flow, struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	struct host *host = host_of(flow, thread);
	const struct call_info *info = flow_call_info(flow, call->name);
	bool epoll = info->wait == WAIT_EPOLL;
	struct talk *talk = talk_at(host, epoll ? watched_by_epoll(flow, thread) : call->talk);

	thread->flow.timed_out = thread->flow.block;
	thread->flow.timed_out_asking =
		epoll || talk || info->moves || info->effect == DOES_CONNECT;
	thread->flow.timed_out_at = flow->time;
	thread->flow.timed_out_reading = info->moves == MOVES_IN || info->moves == MOVES_RECEIVE;
	/* it wants one more: what it has read since it asked was an older answer */
	if (talk && info->moves && thread->flow.asked == talk->number)
		talk->outstanding = talk->role == ROLE_CLIENT;
	if (!talk || !talk->outstanding || talk->asked > call->begin || is_for_many(flow, talk) ||
	    host_unseen(host, talk->asked, flow->time))
		return;
	if (!talk->reason) {
		struct reason reason = reason_of_kind(REASON_NONE);

		talk->reason = reason_new(flow->timeline, &reason);
	}
	note_call(flow, talk);
	mark_waits(flow, thread, talk->reason);
	if (talk->connecting)
		confirm(flow, host, talk, talk->peer, 0);
}

static void question_read(const struct flow *flow, uint32_t index, struct talk *asked)
{
	if (!asked || !asked->outstanding || asked->read != INT64_MIN || asked->connecting)
		return;
	asked->read = flow->time;
	asked->peer = index;
}

static void read_ends(struct flow *flow, uint32_t index, struct thread *thread, struct talk *talk)
{
	struct host *host = host_of(flow, thread);
	struct talk *asked;

	if (talk->role == ROLE_UNKNOWN)
		talk->role = ROLE_SERVER;
	if (talk->role == ROLE_CLIENT) {
		answered(flow, thread, talk);
		return;
	}
	thread->accepted |= talk->taken;
	if (talk->kind == TALK_PIPE)
		answered_by_pipe(flow, thread);
	asked = talk_at(host, talk->partner ? talk->partner : thread->flow.hears);
	thread->flow.hears = 0;
	question_read(flow, index, asked);
}

static void accept_ends(struct flow *flow, uint32_t index, struct thread *thread,
			const struct event_syscall *args)
{
	struct talk *talk = talk_open(flow, thread, (int32_t) args->ret, TALK_STREAM), *asked;
	struct host *host = host_of(flow, thread);
	uint32_t number;

	if (!talk)
		return;
	talk->role = ROLE_SERVER;
	talk->taken = true;
	number = talk->number;
	asked = talk_from(host, address_key(flow, args));
	if (!asked)
		asked = talk_at(host, thread->flow.hears);
	if (!asked)
		return;
	talk_at(host, number)->partner = asked->number;
	asked->accepted = true;
	asked->peer = index;
}

static void connect_ends(struct flow *flow, struct talk *talk)
{
	struct reason *reason = pages_at(&flow->timeline->reasons, talk->reason);

	if (talk->connecting && talk->reason)
		reason->flags |= REASON_LATE;
	talk->connecting = talk->outstanding = false;
	talk->reason = 0;
}

/* A descriptor that is ready for its connection's first bytes is connected, or will never be. */
static void poll_ends(struct flow *flow, struct thread *thread, const struct event_syscall *args,
		      bool epoll)
{
	struct talk *talk = talk_at(host_of(flow, thread), thread->flow.asked);
	struct fd_table *files = thread_files(flow, thread);

	if (!talk || !talk->connecting)
		return;
	for (uint32_t i = 0; i < args->fd_count; i++) {
		int32_t fd = epoll ? fd_epoll_get(files, thread->flow.call.fd, args->fds[i].data)
				   : args->fds[i].fd;

		if (talk_found(flow, thread, fd) != talk)
			continue;
		if (args->fds[i].events & POLLERR)
			connection_fails(flow, thread, talk);
		connect_ends(flow, talk);
	}
}

static void made_socket(struct flow *flow, struct thread *thread, int32_t fd)
{
	const struct call *call = &thread->flow.call;
	const char *key = intern_text(flow->names, fd_key(thread_files(flow, thread), fd));

	if (strcmp(key, "socket:inet") == 0 || strcmp(key, "socket:inet6") == 0 ||
	    strcmp(key, "socket:unix") == 0)
		talk_open(flow, thread, fd, (call->flags & 0xf) == 2 ? TALK_DATAGRAM : TALK_STREAM);
}

static void move_ends(struct flow *flow, uint32_t index, struct thread *thread,
		      const struct event_syscall *args, uint8_t moves)
{
	struct talk *talk = talk_at(host_of(flow, thread), thread->flow.call.talk);

	if (!talk)
		return;
	thread->flow.answers = false;
	if (args->ret > 0)
		*(moves == MOVES_IN || moves == MOVES_RECEIVE ? &talk->in : &talk->out) +=
			(uint32_t) args->ret;
	thread->reads_pipe |= moves == MOVES_IN && args->ret > 0 && talk->kind == TALK_PIPE;
	if (moves != MOVES_IN && moves != MOVES_RECEIVE)
		talk->outstanding &= args->ret > 0;
	else if (args->ret >= 0)
		read_ends(flow, index, thread, talk);
	else if (args->ret != -TRY_AGAIN && args->ret > -512 && args->ret != -4 &&
		 talk->role == ROLE_CLIENT)
		answered(flow, thread, talk); /* by an error */
}

void question_exit(struct flow *flow, uint32_t index, struct thread *thread,
		   const struct event_syscall *args)
{
	struct call *call = &thread->flow.call;
	const struct call_info *info = flow_call_info(flow, call->name);
	struct talk *talk;

	if (call->inherited) { /* its entry was not seen */
		if (info->moves == MOVES_IN || info->moves == MOVES_RECEIVE)
			question_read(flow, index,
				      talk_at(host_of(flow, thread), thread->flow.hears));
		thread->flow.answers = info->moves == MOVES_RECEIVE && args->ret > 0;
		return;
	}
	if ((args->ret == GIVEN_UP && (info->moves || info->effect == DOES_CONNECT)) ||
	    (result_is_unreachable(args->ret) && info->effect == DOES_CONNECT))
		connection_given_up(flow, thread, talk_at(host_of(flow, thread), call->talk),
				    args->ret);
	if (call->waits && ends_by_limit(flow, thread, args))
		timed_out(flow, thread);
	else if (call->waits)
		thread->flow.timed_out = 0;
	if (info->moves) {
		move_ends(flow, index, thread, args, info->moves);
	} else if (info->effect == DOES_CONNECT) {
		talk = talk_at(host_of(flow, thread), call->talk);
		if (talk && args->ret != -IN_PROGRESS && args->ret > -512)
			connect_ends(flow, talk);
	} else if (info->effect == DOES_SOCKET && args->ret >= 0) {
		made_socket(flow, thread, (int32_t) args->ret);
	} else if (info->effect == DOES_ACCEPT && args->ret >= 0) {
		accept_ends(flow, index, thread, args);
	} else if (args->ret > 0 && (info->wait == WAIT_POLL || info->wait == WAIT_EPOLL)) {
		poll_ends(flow, thread, args, info->wait == WAIT_EPOLL);
	}
}
