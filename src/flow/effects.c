/* SPDX-License-Identifier: MIT */
/* What a system call that succeeded does to descriptors.
 *
 * Part of flow/; the tables themselves are model/files.
 */
#include "flow/effects.h"

#include <string.h>

#include "locks/file_locks.h"
#include "locks/futex_tries.h"
#include "locks/lock_tries.h"
#include "model/container.h"
#include "model/files.h"
#include "objects/calls.h"
#include "objects/exchanges.h"
#include "objects/mappings.h"
#include "objects/resource.h"
#include "threads/namespaces.h"
#include "threads/pressure.h"
#include "tries/call_tries.h"
#include "tries/path_tries.h"
#include "tries/peer_tries.h"
#include "tries/process_tries.h"

#define O_CLOEXEC_BIT 02000000u
#define FD_CLOEXEC_BIT 1
#define CLOSE_RANGE_CLOEXEC_BIT 4u
#define F_DUPFD_OP 0
#define F_SETFD_OP 2
#define F_DUPFD_CLOEXEC_OP 1030
#define EPOLL_DEL 2
#define OPEN_TERMINAL UINT32_C(0x5441) /* TIOCGPTPEER (asm-generic/ioctls.h) */
#define SCHED_IDLE 5 /* linux/sched.h; with it a flag: */
#define RESET_ON_FORK 0x40000000

static void effect_fcntl(struct fd_table *files, const struct call *call, int32_t ret)
{
	if (call->op == F_DUPFD_OP || call->op == F_DUPFD_CLOEXEC_OP)
		fd_dup(files, call->fd, ret, call->op == F_DUPFD_CLOEXEC_OP);
	else if (call->op == F_SETFD_OP)
		fd_set_cloexec(files, call->fd, call->argument & FD_CLOEXEC_BIT);
}

static void effect_pair(struct flow *flow, struct thread *thread, const struct event_syscall *args,
			bool pipe)
{
	struct host *host = model_host(flow->model, thread->host);
	bool cloexec = thread->flow.call.flags & O_CLOEXEC_BIT;
	uint32_t key;

	if (args->pair[0] < 0)
		return;
	key = pipe ? key_format(flow, "pipe:#%u", ++host->pipes)
		   : key_format(flow, "socket:pair#%u", ++host->pairs);
	fd_open(thread_files(flow, thread), args->pair[0], key, cloexec);
	fd_open(thread_files(flow, thread), args->pair[1], key, cloexec);
}

static void effect_open(struct flow *flow, struct thread *thread, int32_t fd)
{
	const struct call *call = &thread->flow.call;
	uint32_t key = call->works_on && call->path ? path_key(flow, thread, call->path)
		       : call->works_on             ? call->works_on & ~REF_FOR_WRITING
						    : key_format(flow, "fd:%d", fd);

	fd_open(thread_files(flow, thread), fd, key, call->flags & O_CLOEXEC_BIT);
	pressure_opens(flow, thread);
}

/* "Not known" too is news: what was known is not so any more. */
static void effect_chdir(struct flow *flow, struct thread *thread)
{
	struct fd_table *files = thread_files(flow, thread);
	uint32_t path = thread->flow.call.path;
	const char *text;

	if (!path)
		path = fd_key(files, thread->flow.call.fd);
	text = path ? intern_text(flow->names, path) : "";
	if (g_str_has_prefix(text, "file:"))
		path = intern_id(flow->names, text + strlen("file:"));
	text = path ? intern_text(flow->names, path) : "";
	fd_set_cwd(files, *text == '/' ? path : 0);
}

static void effect_close_range(struct fd_table *files, const struct call *call)
{
	/* CLOSE_RANGE_UNSHARE (2) with shared tables is rare enough to leave */
	if (call->fd >= 0 && !(call->flags & CLOSE_RANGE_CLOEXEC_BIT))
		fd_close_range(files, (uint32_t) call->fd, (uint32_t) call->newfd);
}

static void effect_accept(struct flow *flow, struct thread *thread,
			  const struct event_syscall *args)
{
	struct fd_table *files = thread_files(flow, thread);
	const struct call *call = &thread->flow.call;
	uint32_t key = address_key(flow, args);

	if (!key)
		key = fd_key(files, call->fd);
	fd_open(files, (int32_t) args->ret, key ? key : family_key(flow, args->family),
		call->flags & O_CLOEXEC_BIT);
}

static void effect_close(struct flow *flow, uint32_t index, struct thread *thread)
{
	lock_file_closed(flow, thread);
	if (flow->exchanges_wanted)
		exchange_closing(flow, index, thread);
	if (tries_any(flow, TRY_FAILS)) {
		const struct open_file *last =
			fd_last(thread_files(flow, thread), thread->flow.call.fd);

		if (last)
			call_releases(flow, index, last);
	}
	fd_close(thread_files(flow, thread), thread->flow.call.fd);
}

/* What makes a descriptor of one kind: its key. Their flags for close-on-exec are O_CLOEXEC. */
static const char *const made_keys[] = {
	[DOES_EVENTFD] = "eventfd",      [DOES_TIMERFD] = "timerfd",
	[DOES_EPOLL] = "epoll",          [DOES_SIGNALFD] = "file:signalfd",
	[DOES_INOTIFY] = "file:inotify", [DOES_MEMFD] = "file:memfd",
};

/* Who may run where: the mask itself is not recorded. */
static void effect_affinity(struct flow *flow, uint32_t index, struct thread *thread)
{
	int32_t number = (int32_t) thread->flow.call.argument;
	uint32_t whom = number ? thread_by_number(flow->model, thread, number) : index;

	if (whom == NO_THREAD)
		return;
	flow_thread(flow, whom)->pinned_by = index;
	flow_thread(flow, whom)->pinned_at = flow->time;
}

static void effect_policy(struct flow *flow, uint32_t index, const struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	int32_t number = (int32_t) call->argument;
	uint32_t whom = number ? thread_by_number(flow->model, thread, number) : index;

	if (whom != NO_THREAD)
		flow_thread(flow, whom)->only_if_idle = (call->op & ~RESET_ON_FORK) == SCHED_IDLE;
}

static void effect_set_clock(struct flow *flow, uint32_t index, const struct thread *thread)
{
	struct host *host = model_host(flow->model, thread->host);

	host->clock_set_by = index;
	host->clock_set_at = flow->time;
	host->clock_shift = CLOCK_UNKNOWN;
}

static void change_files(struct flow *flow, uint32_t index, struct thread *thread,
			 const struct event_syscall *args, enum call_effect effect)
{
	const struct call *call = &thread->flow.call;
	struct fd_table *files = thread_files(flow, thread);
	int32_t ret = (int32_t) args->ret;
	bool cloexec = call->flags & O_CLOEXEC_BIT;

	if (effect < G_N_ELEMENTS(made_keys) && made_keys[effect]) {
		fd_open(files, ret, intern_id(flow->names, made_keys[effect]), cloexec);
		return;
	}
	switch (effect) {
	case DOES_OPEN:
		effect_open(flow, thread, ret);
		break;
	case DOES_CHDIR:
		effect_chdir(flow, thread);
		break;
	case DOES_SET_CLOCK:
		effect_set_clock(flow, index, thread);
		break;
	case DOES_CONTROL: /* the other end of the pseudo-terminal, as forkpty() has it */
		if ((uint32_t) call->op == OPEN_TERMINAL)
			fd_open(files, ret, intern_id(flow->names, "file:/dev/pts/?"), false);
		break;
	case DOES_DUP:
		fd_dup(files, call->fd, ret, false);
		break;
	case DOES_DUP2:
		fd_dup(files, call->fd, ret, cloexec);
		break;
	case DOES_FCNTL:
		effect_fcntl(files, call, ret);
		lock_fcntl(flow, index, thread);
		break;
	case DOES_PIPE:
	case DOES_SOCKETPAIR:
		effect_pair(flow, thread, args, effect == DOES_PIPE);
		break;
	case DOES_SOCKET:
		fd_open(files, ret, family_key(flow, call->op), cloexec);
		break;
	case DOES_ACCEPT:
		effect_accept(flow, thread, args);
		break;
	case DOES_CONNECT:
		if (call->address)
			fd_rename(files, call->fd, call->address);
		break;
	case DOES_WRITE:
		lock_file_written(flow, index, thread);
		break;
	case DOES_FLOCK:
		lock_flock(flow, index, thread);
		break;
	case DOES_CLOSE:
		effect_close(flow, index, thread);
		break;
	case DOES_CLOSE_RANGE:
		effect_close_range(files, call);
		break;
	case DOES_EPOLL_CTL:
		/* a removed cookie is never reported again, so it may stay */
		if (call->op != EPOLL_DEL)
			fd_epoll_set(files, call->fd, (uint64_t) call->argument, call->newfd);
		break;
	case DOES_FORK:
		if (ret > 0 && is_thread(call->child))
			thread_numbered(flow->model, thread, ret, call->child);
		break;
	case DOES_MAP:
	case DOES_UNMAP:
	case DOES_REMAP:
	case DOES_BREAK:
		mapping_changed(flow, thread, args->ret);
		break;
	case DOES_NAMESPACES:
		namespaces_changed(flow, thread);
		break;
	case DOES_AFFINITY:
		effect_affinity(flow, index, thread);
		break;
	case DOES_POLICY:
		effect_policy(flow, index, thread);
		break;
	default:
		break;
	}
}

/* What was tried failed, or succeeded; or it made a difference to who tries something. */
static void kind_tried(struct flow *flow, uint32_t index, enum call_tries tries, int64_t ret)
{
	switch (tries) {
	case TRIES_LOCK:
		lock_call_ended(flow, index, ret);
		break;
	case TRIES_READ:
		peer_read(flow, index, ret);
		break;
	case TRIES_WRITE:
		peer_written(flow, index, ret);
		break;
	case TRIES_CONNECT:
		peer_connected(flow, index, ret);
		break;
	case TRIES_BIND:
		if (ret == 0 && socket_is_unix(flow, index))
			path_socket_bound(flow, index);
		break;
	case TRIES_LISTEN:
		peer_listens(flow, index, ret);
		break;
	case TRIES_SIGNAL:
		process_signalled(flow, index, ret);
		break;
	case TRIES_CHILD:
		process_asked_after(flow, index, ret);
		break;
	case TRIES_FUTEX:
		futex_call_ended(flow, index, ret);
		break;
	default:
		path_call_ended(flow, index, ret);
		break;
	}
}

void call_exits(struct flow *flow, uint32_t index)
{
	const struct call *call = &flow_thread(flow, index)->flow.call;

	futex_thread_ends(flow, index);
	if (call->op && strcmp(intern_text(flow->names, call->name), "exit_group") == 0)
		tries_inherited(flow, index);
}

void call_effects(struct flow *flow, uint32_t index, struct thread *thread,
		  const struct event_syscall *args)
{
	const struct call_info *info = flow_call_info(flow, thread->flow.call.name);
	enum call_effect effect = info->effect;

	if (info->tries)
		kind_tried(flow, index, info->tries, args->ret);
	/* a connect under way (-EINPROGRESS) and a close that was interrupted count */
	if (effect == DOES_NOTHING ||
	    (args->ret < 0 && effect != DOES_CONNECT && effect != DOES_CLOSE))
		return;
	if (effect == DOES_WRITE && !flow->inode_locks)
		return;
	change_files(flow, index, thread, args, effect);
}
