/* SPDX-License-Identifier: MIT */
/* Exchanges as they are made: who read and wrote what connection, and its ends'
 * addresses; see timeline/exchange.h.
 *
 * Part of objects/; does nothing unless `flow->exchanges_wanted`. An end is an open socket,
 * or a pipe. It gets its number when it is first used; descriptors that mean the same
 * open file share it, as do those that the statedump gives one inode. Files have none.
 * Who an end speaks with is told by accept(2), or by the packets that its own calls
 * queue.
 */
#include "objects/exchanges.h"

#include <string.h>

#include "model/files.h"
#include "objects/calls.h"
#include "objects/datagrams.h"
#include "objects/mappings.h"

#define MSG_PEEK_BIT 2u

static struct channel_end *end_at(const struct flow *flow, uint32_t number)
{
	return pages_at(&flow->timeline->ends, number);
}

/* What is written to it by one thread may be read by any other. */
static bool is_pipe(const char *key)
{
	return g_str_has_prefix(key, "pipe:") || g_str_has_prefix(key, "socket:pair#");
}

static uint32_t end_new(struct flow *flow, const struct thread *thread, uint32_t key, int32_t fd)
{
	uint32_t number = pages_reserve(&flow->timeline->ends, 1);

	*end_at(flow, number) = (struct channel_end) {
		.opened = INT64_MIN,
		.key = key,
		.host = thread->host,
		.fd = fd,
		.unnamed = g_str_has_prefix(intern_text(flow->names, key), "fd:"),
		.kind = is_pipe(intern_text(flow->names, key)) ? CHANNEL_PIPE : CHANNEL_SOCKET};
	return number;
}

/* Named by an inode, or a number of ours: one object however many descriptors. What follows
 * "socket:[" may also be an address. */
static bool is_named_object(const char *key)
{
	if (g_str_has_prefix(key, "pipe:") || g_str_has_prefix(key, "socket:pair#"))
		return true;
	if (!g_str_has_prefix(key, "socket:["))
		return false;
	key += strlen("socket:[");
	return strcmp(key + strspn(key, "0123456789"), "]") == 0;
}

static uint32_t end_of_object(struct flow *flow, const struct thread *thread, uint32_t key,
			      int32_t fd)
{
	uint64_t id = (uint64_t) thread->host << 32 | key;
	uint32_t number = idmap_get(&flow->end_index, id);

	if (number == IDMAP_NONE) {
		number = end_new(flow, thread, key, fd);
		idmap_set(&flow->end_index, id, number);
	}
	return number;
}

/* A descriptor that was used before the statedump came to it. */
static uint32_t name_end(struct flow *flow, const struct thread *thread, uint32_t number,
			 uint32_t key)
{
	uint64_t id = (uint64_t) thread->host << 32 | key;

	end_at(flow, number)->key = key;
	end_at(flow, number)->unnamed = false;
	if (is_named_object(intern_text(flow->names, key)))
		idmap_set(&flow->end_index, id, number);
	return number;
}

/* The number of what `fd` is, 0: no connection, or not known. `is_socket`: the call
 * works on sockets only. */
static uint32_t end_of(struct flow *flow, struct thread *thread, int32_t fd, bool is_socket)
{
	struct fd_table *files = thread_files(flow, thread);
	struct open_file *file = fd_file(files, fd);
	const char *text;
	uint32_t key;

	if (fd < 0 || (!file && !is_socket))
		return 0;
	if (!file) /* not described: it is known only to be one */
		file = fd_open(files, fd, 0, false);
	if (file->channel == FD_NO_CHANNEL)
		return 0;
	if (file->channel && !end_at(flow, file->channel)->unnamed)
		return file->channel;
	key = file->key;
	text = key ? intern_text(flow->names, key) : "";
	if (file->channel)
		return key ? name_end(flow, thread, file->channel, key) : file->channel;
	if (is_named_object(text))
		file->channel = end_of_object(flow, thread, key, fd);
	else if (is_socket || g_str_has_prefix(text, "socket:"))
		file->channel =
			end_new(flow, thread, key ? key : key_format(flow, "fd:%d", fd), fd);
	else
		file->channel = FD_NO_CHANNEL;
	return file->channel == FD_NO_CHANNEL ? 0 : file->channel;
}

static uint32_t append(struct flow *flow, const struct exchange *exchange)
{
	uint32_t number = pages_reserve(&flow->timeline->exchanges, 1);

	*(struct exchange *) pages_at(&flow->timeline->exchanges, number) = *exchange;
	return number;
}

static uint32_t append_by_call(struct flow *flow, uint32_t index, const struct thread *thread,
			       enum exchange_kind kind, uint32_t end, int64_t end_time)
{
	struct exchange exchange = {.begin = thread->flow.call.begin,
				    .end_time = end_time,
				    .thread = index,
				    .end = end,
				    .call = thread->flow.call.name,
				    .through = NO_THREAD,
				    .kind = (uint8_t) kind};

	if (kind == EXCHANGE_READ)
		exchange.came = thread->flow.call.came;

	return append(flow, &exchange);
}

/* Which descriptor a call writes to: splice and sendfile have two. */
static int32_t written_fd(const struct call *call, uint8_t moves)
{
	return moves == MOVES_BOTH ? call->newfd : call->fd;
}

void exchange_entry(struct flow *flow, uint32_t index, struct thread *thread)
{
	struct call *call = &thread->flow.call;
	const struct call_info *info = flow_call_info(flow, call->name);
	uint32_t end = 0;

	call->exchange = 0;
	call->end = 0;
	if (info->moves == MOVES_OUT || info->moves == MOVES_SEND || info->moves == MOVES_BOTH)
		end = end_of(flow, thread, written_fd(call, info->moves),
			     info->moves == MOVES_SEND);
	else if (info->effect == DOES_CONNECT)
		end = end_of(flow, thread, call->fd, true);
	if (!end)
		return;
	call->end = end;
	call->exchange =
		append_by_call(flow, index, thread,
			       info->effect == DOES_CONNECT ? EXCHANGE_CONNECT : EXCHANGE_WRITE,
			       end, INT64_MAX);
	if (info->effect == DOES_CONNECT && end_at(flow, end)->role == ROLE_UNKNOWN) {
		end_at(flow, end)->role = ROLE_CLIENT;
		end_at(flow, end)->opened = flow->time;
		end_at(flow, end)->remote = call->address;
		if (call->address)
			end_at(flow, end)->key = call->address;
	}
}

static uint32_t clamp_bytes(int64_t ret)
{
	return ret <= 0 ? 0 : (uint32_t) MIN(ret, (int64_t) UINT32_MAX);
}

static void append_read(struct flow *flow, uint32_t index, struct thread *thread, uint32_t end,
			const struct event_syscall *args)
{
	struct exchange *exchange;

	if (!end)
		return;
	exchange = pages_at(&flow->timeline->exchanges,
			    append_by_call(flow, index, thread, EXCHANGE_READ, end, flow->time));
	exchange->bytes = clamp_bytes(args->ret);
	exchange->failed = args->ret < 0;
}

/* Files have no ends; what a process read when is told once. */
static void append_file_read(struct flow *flow, uint32_t index, struct thread *thread)
{
	uint32_t key = fd_key(thread_files(flow, thread), thread->flow.call.fd);
	uint64_t id = (uint64_t) thread->host << 57 ^ (uint64_t) (uint32_t) thread->pid << 32 ^ key;

	if (!key || !g_str_has_prefix(intern_text(flow->names, key), "file:") ||
	    idmap_get(&flow->first_reads, id) != IDMAP_NONE)
		return;
	idmap_set(&flow->first_reads, id, 1);
	append_by_call(flow, index, thread, EXCHANGE_FILE, key, flow->time);
}

/* After call_effects(): what accept returned is open. */
static void accepted(struct flow *flow, uint32_t index, struct thread *thread,
		     const struct event_syscall *args)
{
	int32_t fd = (int32_t) args->ret;
	struct open_file *file = fd_file(thread_files(flow, thread), fd);
	struct channel_end *end;
	uint32_t number;

	if (!file)
		return;
	/* one of its own, though without an address it has the listening socket's name */
	file->channel = number = end_new(flow, thread, file->key, fd);
	end = end_at(flow, number);
	end->role = ROLE_SERVER;
	end->opened = flow->time;
	end->remote = address_key(flow, args);
	end->remote_port = (uint16_t) args->port;
	append_by_call(flow, index, thread, EXCHANGE_ACCEPT, number, flow->time);
}

void exchange_closing(struct flow *flow, uint32_t index, struct thread *thread)
{
	struct fd_table *files = thread_files(flow, thread);
	const struct open_file *file = fd_file(files, thread->flow.call.fd);

	if (file && file->channel && file->channel != FD_NO_CHANNEL &&
	    fd_is_last(files, thread->flow.call.fd))
		append_by_call(flow, index, thread, EXCHANGE_CLOSE, file->channel, flow->time);
}

void exchange_exit(struct flow *flow, uint32_t index, struct thread *thread,
		   const struct event_syscall *args)
{
	struct call *call = &thread->flow.call;
	const struct call_info *info = flow_call_info(flow, call->name);
	struct exchange *exchange;
	uint32_t end;

	if (call->exchange) {
		exchange = pages_at(&flow->timeline->exchanges, call->exchange);
		exchange->end_time = flow->time;
		exchange->bytes = clamp_bytes(args->ret);
		exchange->failed = args->ret < 0;
	}
	switch (info->moves) {
	case MOVES_RECEIVE:
		if (call->flags & MSG_PEEK_BIT)
			break;
		/* fall through */
	case MOVES_IN:
	case MOVES_BOTH:
		if (call->inherited && args->ret > 0)
			datagram_passed(flow, thread);
		if (call->inherited || call->fd < 0)
			break;
		end = end_of(flow, thread, call->fd, info->moves == MOVES_RECEIVE);
		if (end && args->ret > 0)
			end = datagram_read(flow, thread, end);
		append_read(flow, index, thread, end, args);
		if (!end && args->ret > 0)
			append_file_read(flow, index, thread);
		break;
	}
	if (info->effect == DOES_ACCEPT && args->ret >= 0)
		accepted(flow, index, thread, args);
	call->exchange = 0;
	call->end = 0;
}

void exchange_packet(struct flow *flow, const struct thread *thread, const struct event *event)
{
	const struct call *call = &thread->flow.call;
	struct exchange *exchange;
	struct channel_end *end;
	uint32_t number;

	if (!call->open || !call->end || !event->net.source_port)
		return;
	end = end_at(flow, call->end);
	if (!end->local) {
		end->local = socket_key(flow, &event->net.saddr, event->net.source_port);
		end->local_port = (uint16_t) event->net.source_port;
	}
	number = datagram_sent(flow, call->end, event);
	if (number != call->end) {
		exchange = pages_at(&flow->timeline->exchanges, call->exchange);
		exchange->end = number;
		return;
	}
	end = end_at(flow, call->end);
	if (!end->remote_port) {
		end->remote = socket_key(flow, &event->net.daddr, event->net.dest_port);
		end->remote_port = (uint16_t) event->net.dest_port;
	}
}

uint32_t exchange_file(struct flow *flow, struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	uint32_t key = 0;

	if (thread->flow.fault)
		key = mapping_key(flow, thread, thread->flow.fault_address);
	if (key && mapping_is_anonymous(flow, key)) /* only swap has that on a disk */
		return intern_id(flow->names, "swap");
	if (!thread->flow.fault && call->open && call->works_on)
		return call->works_on & ~REF_FOR_WRITING;
	if (!thread->flow.fault && call->open && call->fd >= 0)
		key = fd_key(thread_files(flow, thread), call->fd);
	return key && g_str_has_prefix(intern_text(flow->names, key), "file:") ? key : 0;
}

void exchange_disk(struct flow *flow, const struct request *request, uint32_t written_back)
{
	char text[32];
	const struct requester *by = &request->by[0];
	struct exchange exchange = {.begin = request->issue,
				    .end_time = request->end,
				    .thread = by->thread,
				    .call = by->asked_in ? by->asked_in : by->call,
				    .file = written_back ? written_back : by->file,
				    .through = NO_THREAD,
				    .kind = EXCHANGE_DISK};
	uint64_t bytes = (uint64_t) request->sectors * 512;

	if (is_thread(by->behalf)) {
		exchange.through = by->thread;
		exchange.thread = by->behalf;
	}
	if (!is_thread(exchange.thread) || request->issue == INT64_MIN)
		return;
	g_snprintf(text, sizeof text, "%u:%u", request->dev >> 20, request->dev & 0xfffff);
	exchange.end = intern_id(flow->names, text);
	exchange.bytes = (uint32_t) MIN(bytes, UINT32_MAX);
	append(flow, &exchange);
}
