/* What a system call waits for, and what it does to descriptors.
 *
 * Part of flow/. A table says of each call by its name how its waits are
 * explained and what its success changes; calls not in the table that have a
 * descriptor or a file name wait for that. Resources are interned keys as
 * interface.md lists them (third elements of a path).
 */
#include "flow/flow.h"

#include <arpa/inet.h>
#include <string.h>

#include "model/files.h"

#define O_CLOEXEC_BIT 02000000u
#define FD_CLOEXEC_BIT 1
#define EFD_CLOEXEC_BIT 02000000u
#define CLOSE_RANGE_CLOEXEC_BIT 4u
#define F_DUPFD_OP 0
#define F_SETFD_OP 2
#define F_DUPFD_CLOEXEC_OP 1030
#define FUTEX_COMMAND_MASK 0x7f
#define FAMILY_UNIX 1
#define FAMILY_INET 2
#define FAMILY_NETLINK 16
#define FAMILY_PACKET 17
#define FAMILY_INET6 10
#define EPOLL_DEL 2

enum call_wait {
	WAIT_DEFAULT, /* the descriptor or file name it has */
	WAIT_NOTHING,
	WAIT_FD,
	WAIT_POLL,
	WAIT_SELECT,
	WAIT_EPOLL,
	WAIT_FUTEX,
	WAIT_SLEEP,
	WAIT_CHILD,   /* wait4, waitid */
	WAIT_FORK,    /* the child made */
	WAIT_ACCEPT,
	WAIT_CONNECT,
	WAIT_SIGNAL,
};

enum call_effect {
	DOES_NOTHING,
	DOES_OPEN,
	DOES_DUP,
	DOES_DUP2,
	DOES_FCNTL,
	DOES_PIPE,
	DOES_SOCKET,
	DOES_SOCKETPAIR,
	DOES_ACCEPT,
	DOES_CONNECT,
	DOES_CLOSE,
	DOES_CLOSE_RANGE,
	DOES_EVENTFD,
	DOES_TIMERFD,
	DOES_EPOLL,
	DOES_EPOLL_CTL,
	DOES_SIGNALFD,
	DOES_INOTIFY,
	DOES_MEMFD,
};

static const struct {
	const char *name;
	uint8_t wait, effect;
} calls[] = {
	{"open", WAIT_DEFAULT, DOES_OPEN},
	{"openat", WAIT_DEFAULT, DOES_OPEN},
	{"openat2", WAIT_DEFAULT, DOES_OPEN},
	{"open_by_handle_at", WAIT_NOTHING, DOES_OPEN},
	{"creat", WAIT_DEFAULT, DOES_OPEN},
	{"memfd_create", WAIT_NOTHING, DOES_MEMFD},
	{"dup", WAIT_NOTHING, DOES_DUP},
	{"dup2", WAIT_NOTHING, DOES_DUP2},
	{"dup3", WAIT_NOTHING, DOES_DUP2},
	{"fcntl", WAIT_FD, DOES_FCNTL},
	{"fcntl64", WAIT_FD, DOES_FCNTL},
	{"pipe", WAIT_NOTHING, DOES_PIPE},
	{"pipe2", WAIT_NOTHING, DOES_PIPE},
	{"socket", WAIT_NOTHING, DOES_SOCKET},
	{"socketpair", WAIT_NOTHING, DOES_SOCKETPAIR},
	{"accept", WAIT_ACCEPT, DOES_ACCEPT},
	{"accept4", WAIT_ACCEPT, DOES_ACCEPT},
	{"connect", WAIT_CONNECT, DOES_CONNECT},
	{"close", WAIT_FD, DOES_CLOSE},
	{"close_range", WAIT_NOTHING, DOES_CLOSE_RANGE},
	{"eventfd", WAIT_NOTHING, DOES_EVENTFD},
	{"eventfd2", WAIT_NOTHING, DOES_EVENTFD},
	{"timerfd_create", WAIT_NOTHING, DOES_TIMERFD},
	{"epoll_create", WAIT_NOTHING, DOES_EPOLL},
	{"epoll_create1", WAIT_NOTHING, DOES_EPOLL},
	{"epoll_ctl", WAIT_NOTHING, DOES_EPOLL_CTL},
	{"signalfd", WAIT_NOTHING, DOES_SIGNALFD},
	{"signalfd4", WAIT_NOTHING, DOES_SIGNALFD},
	{"inotify_init", WAIT_NOTHING, DOES_INOTIFY},
	{"inotify_init1", WAIT_NOTHING, DOES_INOTIFY},
	{"poll", WAIT_POLL, DOES_NOTHING},
	{"ppoll", WAIT_POLL, DOES_NOTHING},
	{"select", WAIT_SELECT, DOES_NOTHING},
	{"newselect", WAIT_SELECT, DOES_NOTHING},
	{"pselect6", WAIT_SELECT, DOES_NOTHING},
	{"epoll_wait", WAIT_EPOLL, DOES_NOTHING},
	{"epoll_pwait", WAIT_EPOLL, DOES_NOTHING},
	{"epoll_pwait2", WAIT_EPOLL, DOES_NOTHING},
	{"futex", WAIT_FUTEX, DOES_NOTHING},
	{"nanosleep", WAIT_SLEEP, DOES_NOTHING},
	{"clock_nanosleep", WAIT_SLEEP, DOES_NOTHING},
	{"restart_syscall", WAIT_NOTHING, DOES_NOTHING},
	{"wait4", WAIT_CHILD, DOES_NOTHING},
	{"waitid", WAIT_CHILD, DOES_NOTHING},
	{"waitpid", WAIT_CHILD, DOES_NOTHING},
	{"clone", WAIT_FORK, DOES_NOTHING},
	{"clone3", WAIT_FORK, DOES_NOTHING},
	{"fork", WAIT_FORK, DOES_NOTHING},
	{"vfork", WAIT_FORK, DOES_NOTHING},
	{"pause", WAIT_SIGNAL, DOES_NOTHING},
	{"rt_sigsuspend", WAIT_SIGNAL, DOES_NOTHING},
	{"sigsuspend", WAIT_SIGNAL, DOES_NOTHING},
	{"rt_sigtimedwait", WAIT_SIGNAL, DOES_NOTHING},
	{"read", WAIT_FD, DOES_NOTHING},
	{"write", WAIT_FD, DOES_NOTHING},
	{"readv", WAIT_FD, DOES_NOTHING},
	{"writev", WAIT_FD, DOES_NOTHING},
	{"pread64", WAIT_FD, DOES_NOTHING},
	{"pwrite64", WAIT_FD, DOES_NOTHING},
	{"recvfrom", WAIT_FD, DOES_NOTHING},
	{"recvmsg", WAIT_FD, DOES_NOTHING},
	{"recvmmsg", WAIT_FD, DOES_NOTHING},
	{"sendto", WAIT_FD, DOES_NOTHING},
	{"sendmsg", WAIT_FD, DOES_NOTHING},
	{"fsync", WAIT_FD, DOES_NOTHING},
	{"fdatasync", WAIT_FD, DOES_NOTHING},
	{"flock", WAIT_FD, DOES_NOTHING},
	{"ioctl", WAIT_FD, DOES_NOTHING},
};

/* nanosleep_time32, pselect6_time64 … are their plain names in other clothes */
static char *plain_name(const char *name)
{
	size_t length = strlen(name);

	if (length > 7 && (g_str_has_suffix(name, "_time32") || g_str_has_suffix(name, "_time64")))
		length -= 7;
	return g_strndup(name, length);
}

const struct call_info *flow_call_info(struct flow *flow, uint32_t name)
{
	struct call_info *info;

	if (name >= flow->call_info->len)
		g_array_set_size(flow->call_info, name + 1);
	info = &g_array_index(flow->call_info, struct call_info, name);
	if (!info->known) {
		g_autofree char *plain = plain_name(intern_text(flow->names, name));

		info->known = true;
		for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
			if (strcmp(calls[i].name, plain) == 0) {
				info->wait = calls[i].wait;
				info->effect = calls[i].effect;
			}
		info->sigreturn = strcmp(plain, "rt_sigreturn") == 0 ||
				  strcmp(plain, "sigreturn") == 0;
	}
	return info;
}

static uint32_t key_format(struct flow *flow, const char *format, ...) G_GNUC_PRINTF(2, 3);
static uint32_t key_format(struct flow *flow, const char *format, ...)
{
	char text[300];
	va_list list;

	va_start(list, format);
	g_vsnprintf(text, sizeof text, format, list);
	va_end(list);
	return intern_id(flow->names, text);
}

/* "socket:ADDR:PORT" of a peer, 0 if the event has no address. */
static uint32_t address_key(struct flow *flow, const struct event_syscall *args)
{
	char text[INET6_ADDRSTRLEN];

	if (args->v4.count == 4 && inet_ntop(AF_INET, args->v4.bytes, text, sizeof text))
		return key_format(flow, "socket:%s:%u", text, args->port);
	if (args->v6.count == 16 && inet_ntop(AF_INET6, args->v6.bytes, text, sizeof text))
		return key_format(flow, "socket:[%s]:%u", text, args->port);
	return 0;
}

static uint32_t family_key(struct flow *flow, int32_t family)
{
	switch (family) {
	case FAMILY_UNIX:
		return intern_id(flow->names, "socket:unix");
	case FAMILY_INET:
		return intern_id(flow->names, "socket:inet");
	case FAMILY_INET6:
		return intern_id(flow->names, "socket:inet6");
	case FAMILY_NETLINK:
		return intern_id(flow->names, "socket:netlink");
	case FAMILY_PACKET:
		return intern_id(flow->names, "socket:packet");
	default:
		return key_format(flow, "socket:family-%d", family);
	}
}

/* The threads of one process share a table unless known otherwise. */
struct fd_table *thread_files(struct flow *flow, struct thread *thread)
{
	uint32_t leader;

	if (thread->files)
		return thread->files;
	leader = thread->pid > 0 && thread->pid != thread->tid
			 ? thread_find(flow, thread->host, thread->pid)
			 : IDMAP_NONE;
	if (leader != IDMAP_NONE && flow_thread(flow, leader)->state != THREAD_DEAD &&
	    flow_thread(flow, leader)->pid == thread->pid)
		thread->files = fd_table_join(thread_files(flow, flow_thread(flow, leader)));
	else
		thread->files = fd_table_new();
	return thread->files;
}

static uint32_t key_of_fd(struct flow *flow, struct thread *thread, int32_t fd)
{
	uint32_t key = fd_key(thread_files(flow, thread), fd);

	return key ? key : key_format(flow, "fd:%d", fd);
}

/* The path as given, or behind that of a known directory descriptor. */
static uint32_t path_of(struct flow *flow, struct thread *thread,
			const struct event_syscall *args)
{
	uint32_t directory = 0;
	const char *base;
	g_autofree char *joined = NULL;

	if (!args->filename || !*args->filename)
		return 0;
	if (*args->filename != '/' && args->dfd >= 0)
		directory = fd_key(thread_files(flow, thread), args->dfd);
	base = directory ? intern_text(flow->names, directory) : "";
	if (!g_str_has_prefix(base, "file:"))
		return intern_id(flow->names, args->filename);
	joined = g_strconcat(base + strlen("file:"), "/", args->filename, NULL);
	return intern_id(flow->names, joined);
}

void call_arguments(struct flow *flow, struct thread *thread, const struct event_syscall *args)
{
	struct call *call = &thread->flow.call;
	const struct call_info *info = flow_call_info(flow, call->name);

	call->fd = args->epfd >= 0 ? args->epfd : args->fd;
	call->newfd = args->newfd;
	call->dfd = args->dfd;
	call->flags = args->flags;
	call->op = args->op;
	call->argument = args->timeout;
	call->path = args->filename ? path_of(flow, thread, args) : 0;
	call->address = 0;
	call->timer = -1;
	switch (info->wait) {
	case WAIT_FUTEX:
		call->flags = args->uaddr;
		break;
	case WAIT_CHILD:
		call->argument = args->upid;
		break;
	case WAIT_CONNECT:
		call->address = address_key(flow, args);
		break;
	default:
		break;
	}
	switch (info->effect) {
	case DOES_FCNTL:
		call->op = args->cmd;
		call->argument = args->arg;
		break;
	case DOES_SOCKET:
	case DOES_SOCKETPAIR:
		call->op = args->family;
		call->flags = (uint64_t) (int64_t) args->type;
		break;
	case DOES_EPOLL_CTL:
		call->newfd = args->fd;
		call->argument = (int64_t) args->data;
		break;
	default:
		break;
	}
}

/* The thread that wait4 names, or that this call has made; NO_THREAD. A child
 * gets its final name only when it calls exec, perhaps after the wait. */
uint32_t call_child(struct flow *flow, const struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	uint32_t child;

	switch (flow_call_info(flow, call->name)->wait) {
	case WAIT_CHILD:
		child = call->argument > 0
				? thread_find(flow, thread->host, (int32_t) call->argument)
				: NO_THREAD;
		return child == IDMAP_NONE ? NO_THREAD : child;
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
		return key_of_fd(flow, thread, call->fd);
	}
	return call->path ? key_format(flow, "file:%s", intern_text(flow->names, call->path)) : 0;
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

uint32_t call_resource_at_exit(struct flow *flow, struct thread *thread,
			       const struct event_syscall *args, int32_t *fd)
{
	uint8_t wait = flow_call_info(flow, thread->flow.call.name)->wait;
	uint32_t key;

	switch (wait) {
	case WAIT_POLL:
	case WAIT_SELECT:
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
	default:
		return 0;
	}
}

static void effect_fcntl(struct fd_table *files, const struct call *call, int32_t ret)
{
	if (call->op == F_DUPFD_OP || call->op == F_DUPFD_CLOEXEC_OP)
		fd_dup(files, call->fd, ret, call->op == F_DUPFD_CLOEXEC_OP);
	else if (call->op == F_SETFD_OP)
		fd_set_cloexec(files, call->fd, call->argument & FD_CLOEXEC_BIT);
}

static void effect_pair(struct flow *flow, struct thread *thread,
			const struct event_syscall *args, bool pipe)
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
	uint32_t key = call->path ? key_format(flow, "file:%s",
					       intern_text(flow->names, call->path))
				  : key_format(flow, "fd:%d", fd);

	fd_open(thread_files(flow, thread), fd, key, call->flags & O_CLOEXEC_BIT);
}

static void effect_close_range(struct fd_table *files, const struct call *call)
{
	/* CLOSE_RANGE_UNSHARE (2) with shared tables is rare enough to leave */
	if (call->fd >= 0 && !(call->flags & CLOSE_RANGE_CLOEXEC_BIT))
		fd_close_range(files, (uint32_t) call->fd, (uint32_t) call->newfd);
}

/* What a call that succeeded changed. */
void call_effects(struct flow *flow, struct thread *thread, const struct event_syscall *args)
{
	const struct call *call = &thread->flow.call;
	uint8_t effect = flow_call_info(flow, call->name)->effect;
	int32_t ret = (int32_t) args->ret;
	bool cloexec = call->flags & O_CLOEXEC_BIT;
	struct fd_table *files;
	uint32_t key;

	/* a connect under way (-EINPROGRESS) and a close that was interrupted count */
	if (effect == DOES_NOTHING ||
	    (args->ret < 0 && effect != DOES_CONNECT && effect != DOES_CLOSE))
		return;
	files = thread_files(flow, thread);
	switch (effect) {
	case DOES_OPEN:
		effect_open(flow, thread, ret);
		break;
	case DOES_DUP:
		fd_dup(files, call->fd, ret, false);
		break;
	case DOES_DUP2:
		fd_dup(files, call->fd, ret, cloexec);
		break;
	case DOES_FCNTL:
		effect_fcntl(files, call, ret);
		break;
	case DOES_PIPE:
		effect_pair(flow, thread, args, true);
		break;
	case DOES_SOCKETPAIR:
		effect_pair(flow, thread, args, false);
		break;
	case DOES_SOCKET:
		fd_open(files, ret, family_key(flow, call->op), cloexec);
		break;
	case DOES_ACCEPT:
		key = address_key(flow, args);
		if (!key)
			key = fd_key(files, call->fd);
		fd_open(files, ret, key ? key : family_key(flow, args->family), cloexec);
		break;
	case DOES_CONNECT:
		if (call->address)
			fd_rename(files, call->fd, call->address);
		break;
	case DOES_CLOSE:
		fd_close(files, call->fd);
		break;
	case DOES_CLOSE_RANGE:
		effect_close_range(files, call);
		break;
	case DOES_EVENTFD:
		fd_open(files, ret, intern_id(flow->names, "eventfd"),
			call->flags & EFD_CLOEXEC_BIT);
		break;
	case DOES_TIMERFD:
		fd_open(files, ret, intern_id(flow->names, "timerfd"), cloexec);
		break;
	case DOES_EPOLL:
		fd_open(files, ret, intern_id(flow->names, "epoll"), cloexec);
		break;
	case DOES_EPOLL_CTL:
		/* a removed cookie is never reported again, so it may stay */
		if (call->op != EPOLL_DEL)
			fd_epoll_set(files, call->fd, (uint64_t) call->argument, call->newfd);
		break;
	case DOES_SIGNALFD:
		fd_open(files, ret, intern_id(flow->names, "file:signalfd"), cloexec);
		break;
	case DOES_INOTIFY:
		fd_open(files, ret, intern_id(flow->names, "file:inotify"), cloexec);
		break;
	case DOES_MEMFD:
		fd_open(files, ret, intern_id(flow->names, "file:memfd"), cloexec);
		break;
	}
}
