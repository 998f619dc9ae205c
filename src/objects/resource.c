/* SPDX-License-Identifier: MIT */
/* What a system call waits for.
 *
 * Part of objects/. Known at its entry, when it blocks, or only at its exit (the
 * descriptor found ready, the peer, the child): see syscall.c, holdback.
 */
#include "objects/resource.h"

#include <string.h>

#include "model/container.h"
#include "model/files.h"
#include "objects/calls.h"

#define FUTEX_COMMAND_MASK 0x7f
#define FUTEX_PRIVATE 0x80
#define TRY_AGAIN 11  /* EAGAIN and ETIMEDOUT of the traced kernel: x86, ARM */
#define TIMED_OUT 110
#define TIME_OVER 62 /* ETIME */
#define SECCOMP_RECEIVE UINT32_C(0xc0502100) /* SECCOMP_IOCTL_NOTIF_RECV (linux/seccomp.h) */
#define ABSOLUTE_BIT 1 /* TIMER_ABSTIME, TFD_TIMER_ABSTIME */

/* The thread that wait4 names. Whoever waits is the parent: a number that leads to another's
 * child, or to the kernel's, is of a PID namespace that is not known. */
static uint32_t child_waited_for(struct flow *flow, const struct thread *thread)
{
	int64_t number = thread->flow.call.argument;
	uint32_t index = number > 0 && number <= INT32_MAX
				 ? thread_by_number(flow->model, thread, (int32_t) number)
				 : NO_THREAD;
	const struct thread *child, *parent;

	if (!is_thread(index))
		return NO_THREAD;
	child = flow_thread(flow, index);
	if (child->kernel || child->of_kthreadd)
		return NO_THREAD;
	if (!is_thread(child->parent))
		return index;
	parent = flow_thread(flow, child->parent);
	/* a child whose parent has ended is another's since */
	return parent->state == THREAD_DEAD || parent == thread || parent->pid < 0 ||
			       thread->pid < 0 || parent->pid == thread->pid
		       ? index
		       : NO_THREAD;
}

/* The thread that wait4 names, or that this call has made; NO_THREAD. A child
 * gets its final name only when it calls exec, perhaps after the wait. */
uint32_t call_child(struct flow *flow, const struct thread *thread)
{
	const struct call *call = &thread->flow.call;

	switch (flow_call_info(flow, call->name)->wait) {
	case WAIT_CHILD:
		return child_waited_for(flow, thread);
	case WAIT_FORK:
		return call->child;
	default:
		return NO_THREAD;
	}
}

/* FUTEX_WAIT, FUTEX_LOCK_PI …: the command of a futex call without its flags. */
uint8_t call_operation(struct flow *flow, const struct thread *thread)
{
	const struct call *call = &thread->flow.call;

	if (flow_call_info(flow, call->name)->wait != WAIT_FUTEX || !call->flags)
		return NO_OPERATION;
	return (uint8_t) (call->op & FUTEX_COMMAND_MASK);
}

/* Private ones, and the word in which the kernel says that a thread has ended: glibc's
 * pthread_join() waits there for the thread's TID to go. */
bool call_is_on_own_futex(struct flow *flow, const struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	uint32_t other;

	if (flow_call_info(flow, call->name)->wait != WAIT_FUTEX || !call->flags)
		return false;
	if (call->op & FUTEX_PRIVATE)
		return true;
	if (call->argument <= 0 || call->argument > INT32_MAX)
		return false;
	other = thread_by_number(flow->model, thread, (int32_t) call->argument);
	return is_thread(other) && thread->pid >= 0 && flow_thread(flow, other)->pid == thread->pid;
}

/* poll and select without a descriptor are sleeps. */
static bool watches_nothing(const struct call *call)
{
	return call->op == 0 && !call->inherited;
}

/* Of the descriptor that its call has. One that notifications are taken from is a listener of
 * seccomp's, whoever made it: it is handed on by sendmsg, which no event tells of. */
static uint32_t key_of_call(struct flow *flow, struct thread *thread)
{
	const struct call *call = &thread->flow.call;

	if (flow_call_info(flow, call->name)->effect == DOES_CONTROL &&
	    (uint32_t) call->op == SECCOMP_RECEIVE)
		return intern_id(flow->names, "file:anon_inode:seccomp notify");
	return key_of_fd(flow, thread, call->fd);
}

uint32_t path_key(struct flow *flow, const struct thread *thread, uint32_t path)
{
	uint32_t fifo = idmap_get(&model_host(flow->model, thread->host)->fifos, path);

	return fifo && fifo != IDMAP_NONE
		       ? fifo
		       : key_format(flow, "file:%s", intern_text(flow->names, path));
}

/* Pipes to whom their readers and writers come by a name. Terminals are named so, too, and what
 * the kernel writes. */
static uint32_t fifo_path(struct flow *flow, uint32_t key)
{
	static const char *const others[] = {"/dev/", "/proc/", "/sys/"};
	const char *text = intern_text(flow->names, key);

	if (!g_str_has_prefix(text, "file:/"))
		return 0;
	text += strlen("file:");
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		if (g_str_has_prefix(text, others[i]))
			return 0;
	return intern_id(flow->names, text);
}

uint32_t fifo_found(struct flow *flow, struct host *host, uint32_t key, bool opens)
{
	struct idmap *fifos = &host->fifos;
	uint32_t path = fifo_path(flow, key), fifo = path ? idmap_get(fifos, path) : IDMAP_NONE;

	if (!path)
		return key;
	if (opens && fifo == IDMAP_NONE) { /* it may have been the directory's lock */
		idmap_set(fifos, path, 0);
		return key;
	}
	fifo = key_format(flow, "pipe:%s", intern_text(flow->names, path));
	idmap_set(fifos, path, fifo);
	return fifo;
}

/* What the thread, in the call it is in, would wait for now. */
uint32_t call_resource(struct flow *flow, struct thread *thread, int32_t *fd)
{
	const struct call *call = &thread->flow.call;

	*fd = -1;
	switch (flow_call_info(flow, call->name)->wait) {
	case WAIT_NOTHING:
		return 0;
	case WAIT_POLL:
	case WAIT_SELECT:
		return intern_id(flow->names, watches_nothing(call) ? "sleep" : "poll");
	case WAIT_EPOLL: /* until the exit tells */
		return intern_id(flow->names, "poll");
	case WAIT_FUTEX:
		return call->flags ? key_format(flow, "futex:0x%" G_GINT64_MODIFIER "x",
						(guint64) call->flags)
				   : 0;
	case WAIT_SLEEP:
		return intern_id(flow->names, "sleep");
	case WAIT_CHILD:
		return intern_id(flow->names, "child:any");
	case WAIT_FORK:
		return call->child == NO_THREAD ? 0 : intern_id(flow->names, "child:any");
	case WAIT_SIGNAL:
		return intern_id(flow->names, "signal");
	case WAIT_CONNECT:
		if (call->address) {
			*fd = call->fd;
			return call->address;
		}
		break;
	default:
		break;
	}
	if (call->fd >= 0) {
		*fd = call->fd;
		return key_of_call(flow, thread);
	}
	return call->path ? path_key(flow, thread, call->path) : 0;
}

/* The descriptor found ready: one; "several"; "timeout" for none. */
struct ready {
	uint32_t count;
	int32_t fd;
};

static void ready_add(struct ready *ready, int32_t fd)
{
	if (ready->count == 0 || ready->fd != fd)
		ready->count++;
	ready->fd = fd;
}

static void ready_in_bitmap(struct ready *ready, const struct event_bytes *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		for (int bit = 0; bit < 8; bit++)
			if (set->bytes[i] & (1 << bit))
				ready_add(ready, (int32_t) (i * 8) + bit);
}

/* epoll: the caller's cookie need not be a descriptor. -1: not known. */
static int32_t fd_of_cookie(struct flow *flow, struct thread *thread, uint64_t cookie)
{
	struct fd_table *files = thread_files(flow, thread);
	int32_t fd = fd_epoll_get(files, thread->flow.call.fd, cookie);

	if (fd < 0 && cookie <= INT32_MAX && fd_key(files, (int32_t) cookie))
		fd = (int32_t) cookie; /* registered before the trace, by its number */
	return fd;
}

static void ready_in_list(struct flow *flow, struct thread *thread, struct ready *ready,
			  const struct event_syscall *args, bool epoll)
{
	for (uint32_t i = 0; i < args->fd_count; i++) {
		int32_t fd = args->fds[i].fd;

		if (epoll)
			fd = fd_of_cookie(flow, thread, args->fds[i].data);
		ready_add(ready, fd);
	}
}

static uint32_t ready_resource(struct flow *flow, struct thread *thread, uint8_t wait,
			       const struct event_syscall *args, int32_t *fd)
{
	struct ready ready = {0, -1};

	if (args->ret == 0)
		return intern_id(flow->names, "timeout");
	if (args->ret < 0)
		return intern_id(flow->names, "signal"); /* interrupted */
	if (wait == WAIT_SELECT) {
		ready_in_bitmap(&ready, &args->readfds);
		ready_in_bitmap(&ready, &args->writefds);
		ready_in_bitmap(&ready, &args->exceptfds);
	} else {
		ready_in_list(flow, thread, &ready, args, wait == WAIT_EPOLL);
	}
	if (ready.count == 1 && !args->fds_cut) {
		*fd = ready.fd < 0 ? thread->flow.call.fd : ready.fd;
		return *fd < 0 ? 0 : key_of_fd(flow, thread, *fd);
	}
	/* without the lists (before 2.9) only the number is known */
	return ready.count || args->ret > 1 ? intern_id(flow->names, "several") : 0;
}

bool call_timed_out(struct flow *flow, const struct thread *thread,
		    const struct event_syscall *args)
{
	switch (flow_call_info(flow, thread->flow.call.name)->wait) {
	case WAIT_POLL:
	case WAIT_SELECT:
	case WAIT_EPOLL:
	case WAIT_SLEEP:
		return args->ret == 0;
	case WAIT_RING:
		return args->ret == -TIME_OVER;
	case WAIT_FUTEX:
		return args->ret == -TIMED_OUT;
	case WAIT_SIGNAL: /* rt_sigtimedwait */
		return args->ret == -TRY_AGAIN;
	default:
		return false;
	}
}

bool call_ended_by_alarm(struct flow *flow, const struct thread *thread, int64_t ret)
{
	const struct block *block = block_at(flow->timeline, thread->flow.block);

	/* EINTR, or one of the kernel's codes to begin again */
	return thread->flow.call.waits && (ret == -4 || (ret <= -512 && ret >= -516)) &&
	       (block->kind == WAKER_HRTIMER ||
		(block->detail && detail_at(flow->timeline, block->detail)->kind == DETAIL_TIMER));
}

uint32_t call_resource_at_exit(struct flow *flow, struct thread *thread,
			       const struct event_syscall *args, int32_t *fd)
{
	uint8_t wait = flow_call_info(flow, thread->flow.call.name)->wait;
	uint32_t key;

	switch (wait) {
	case WAIT_POLL:
	case WAIT_SELECT:
		if (watches_nothing(&thread->flow.call))
			return intern_id(flow->names, "sleep");
		return ready_resource(flow, thread, wait, args, fd);
	case WAIT_EPOLL:
		return ready_resource(flow, thread, wait, args, fd);
	case WAIT_CHILD:
		if (args->ret > 0) /* the one that wait4 returned */
			thread->flow.call.argument = args->ret;
		return intern_id(flow->names, "child:any");
	case WAIT_ACCEPT:
		key = args->ret >= 0 ? address_key(flow, args) : 0;
		*fd = thread->flow.call.fd;
		return key;
	case WAIT_DEFAULT:
	case WAIT_FD: /* a statedump may have named it meanwhile */
		*fd = thread->flow.call.fd;
		return *fd < 0 ? 0 : key_of_call(flow, thread);
	default:
		return 0;
	}
}

bool call_keeps_time(struct flow *flow, struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	const struct call_info *info = flow_call_info(flow, call->name);
	uint32_t key;

	if (info->wait == WAIT_SLEEP || info->effect == DOES_ARM)
		return call->flags & ABSOLUTE_BIT;
	if (info->moves != MOVES_IN)
		return false;
	key = fd_key(thread_files(flow, thread), call->fd);
	return key && strcmp(intern_text(flow->names, key), "timerfd") == 0;
}

/* A file's reader does not wait for it to be written, but at a pipe or a socket somebody may. */
void call_note_sent(struct flow *flow, struct thread *thread, const struct event_syscall *args)
{
	const struct call *call = &thread->flow.call;
	uint8_t moves = flow_call_info(flow, call->name)->moves;
	const char *text;
	uint32_t key;
	int32_t fd;

	if ((moves != MOVES_OUT && moves != MOVES_SEND && moves != MOVES_BOTH) || args->ret <= 0)
		return;
	fd = moves == MOVES_BOTH ? call->newfd : call->fd;
	key = fd_key(thread_files(flow, thread), fd);
	text = key ? intern_text(flow->names, key) : "";
	if (g_str_has_prefix(text, "file:") && strcmp(text, "file:anon_inode:[eventfd]") != 0)
		return;
	if (!key || (thread->flow.sent && thread->flow.sent != key))
		key = intern_id(flow->names, "several");
	thread->flow.sent_fd = !thread->flow.sent || thread->flow.sent_fd == fd ? fd : -1;
	thread->flow.sent = key;
	thread->flow.sent_at = call->begin;
}
