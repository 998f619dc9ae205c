/* SPDX-License-Identifier: MIT */
/* The table of system calls, and the arguments that are kept of one.
 *
 * Part of objects/. Calls not in the table that have a descriptor or a file name
 * wait for that. Keys are written as interface.md lists them (third elements
 * of a path).
 */
#include "objects/calls.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <string.h>

#include "model/files.h"

#define FAMILY_NONE 0
#define FAMILY_UNIX 1
#define AT_EMPTY_PATH_BIT 0x1000u
#define FAMILY_INET 2
#define FAMILY_INET6 10
#define FAMILY_NETLINK 16
#define FAMILY_PACKET 17

static const struct {
	const char *name;
	uint8_t wait, effect;
} calls[] = {
	{"open", WAIT_DEFAULT, DOES_OPEN},
	{"openat", WAIT_DEFAULT, DOES_OPEN},
	{"openat2", WAIT_DEFAULT, DOES_OPEN},
	{"chdir", WAIT_DEFAULT, DOES_CHDIR},
	{"fchdir", WAIT_FD, DOES_CHDIR},
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
	{"shutdown", WAIT_FD, DOES_SHUTDOWN},
	{"exit", WAIT_NOTHING, DOES_EXIT},
	{"exit_group", WAIT_NOTHING, DOES_EXIT},
	{"close_range", WAIT_NOTHING, DOES_CLOSE_RANGE},
	{"eventfd", WAIT_NOTHING, DOES_EVENTFD},
	{"eventfd2", WAIT_NOTHING, DOES_EVENTFD},
	{"timerfd_create", WAIT_NOTHING, DOES_TIMERFD},
	{"timerfd_settime", WAIT_NOTHING, DOES_ARM},
	{"timer_settime", WAIT_NOTHING, DOES_ARM},
	{"epoll_create", WAIT_NOTHING, DOES_EPOLL},
	{"epoll_create1", WAIT_NOTHING, DOES_EPOLL},
	{"epoll_ctl", WAIT_NOTHING, DOES_EPOLL_CTL},
	{"signalfd", WAIT_NOTHING, DOES_SIGNALFD},
	{"signalfd4", WAIT_NOTHING, DOES_SIGNALFD},
	{"unshare", WAIT_NOTHING, DOES_NAMESPACES},
	{"setns", WAIT_NOTHING, DOES_NAMESPACES},
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
	{"io_uring_enter", WAIT_RING, DOES_NOTHING},
	{"futex", WAIT_FUTEX, DOES_NOTHING},
	{"nanosleep", WAIT_SLEEP, DOES_NOTHING},
	{"clock_nanosleep", WAIT_SLEEP, DOES_NOTHING},
	{"restart_syscall", WAIT_NOTHING, DOES_NOTHING},
	{"wait4", WAIT_CHILD, DOES_NOTHING},
	{"waitid", WAIT_CHILD, DOES_NOTHING},
	{"waitpid", WAIT_CHILD, DOES_NOTHING},
	{"clone", WAIT_FORK, DOES_FORK},
	{"clone3", WAIT_FORK, DOES_FORK},
	{"fork", WAIT_FORK, DOES_FORK},
	{"vfork", WAIT_FORK, DOES_FORK},
	{"execve", WAIT_DEFAULT, DOES_EXEC},
	{"execveat", WAIT_DEFAULT, DOES_EXEC},
	{"finit_module", WAIT_FD, DOES_LOAD},
	{"pause", WAIT_SIGNAL, DOES_NOTHING},
	{"rt_sigsuspend", WAIT_SIGNAL, DOES_NOTHING},
	{"sigsuspend", WAIT_SIGNAL, DOES_NOTHING},
	{"rt_sigtimedwait", WAIT_SIGNAL, DOES_NOTHING},
	{"read", WAIT_FD, DOES_NOTHING},
	{"write", WAIT_FD, DOES_WRITE},
	{"readv", WAIT_FD, DOES_NOTHING},
	{"writev", WAIT_FD, DOES_WRITE},
	{"pread64", WAIT_FD, DOES_NOTHING},
	{"pwrite64", WAIT_FD, DOES_WRITE},
	{"pwritev", WAIT_FD, DOES_WRITE},
	{"pwritev2", WAIT_FD, DOES_WRITE},
	{"fallocate", WAIT_FD, DOES_WRITE},
	{"ftruncate", WAIT_FD, DOES_WRITE},
	{"recvfrom", WAIT_FD, DOES_NOTHING},
	{"recvmsg", WAIT_FD, DOES_NOTHING},
	{"recvmmsg", WAIT_FD, DOES_NOTHING},
	{"sendto", WAIT_FD, DOES_NOTHING},
	{"sendmsg", WAIT_FD, DOES_NOTHING},
	{"fsync", WAIT_FD, DOES_NOTHING},
	{"fdatasync", WAIT_FD, DOES_NOTHING},
	{"flock", WAIT_FD, DOES_FLOCK},
	{"ioctl", WAIT_FD, DOES_CONTROL},
	{"sched_setaffinity", WAIT_DEFAULT, DOES_AFFINITY},
	{"sched_setscheduler", WAIT_DEFAULT, DOES_POLICY},
	{"clock_settime", WAIT_DEFAULT, DOES_SET_CLOCK},
	{"settimeofday", WAIT_DEFAULT, DOES_SET_CLOCK},
	{"mmap", WAIT_DEFAULT, DOES_MAP},
	{"mmap_pgoff", WAIT_DEFAULT, DOES_MAP},
	{"munmap", WAIT_DEFAULT, DOES_UNMAP},
	{"mremap", WAIT_DEFAULT, DOES_REMAP},
	{"brk", WAIT_DEFAULT, DOES_BREAK},
};

/* … and what moves through their descriptors. */
static const struct {
	const char *name;
	uint8_t moves;
} movers[] = {
	{"read", MOVES_IN},          {"readv", MOVES_IN},        {"preadv2", MOVES_IN},
	{"pread64", MOVES_IN},       {"preadv", MOVES_IN},       {"write", MOVES_OUT},
	{"writev", MOVES_OUT},       {"pwritev2", MOVES_OUT},    {"vmsplice", MOVES_OUT},
	{"recvfrom", MOVES_RECEIVE}, {"recvmsg", MOVES_RECEIVE}, {"recvmmsg", MOVES_RECEIVE},
	{"recv", MOVES_RECEIVE},     {"sendto", MOVES_SEND},     {"sendmsg", MOVES_SEND},
	{"sendmmsg", MOVES_SEND},    {"send", MOVES_SEND},       {"sendfile", MOVES_BOTH},
	{"sendfile64", MOVES_BOTH},  {"splice", MOVES_BOTH},     {"tee", MOVES_BOTH},
};

/* … and what they may be tried again for. */
static const struct {
	const char *name;
	uint8_t tries;
} tried[] = {
	{"newstat", TRIES_LOOK},    {"newlstat", TRIES_LOOK},  {"stat", TRIES_LOOK},
	{"lstat", TRIES_LOOK},      {"stat64", TRIES_LOOK},    {"lstat64", TRIES_LOOK},
	{"newfstatat", TRIES_LOOK}, {"fstatat64", TRIES_LOOK}, {"statx", TRIES_LOOK},
	{"access", TRIES_LOOK},     {"faccessat", TRIES_LOOK}, {"faccessat2", TRIES_LOOK},
	{"open", TRIES_OPEN},       {"openat", TRIES_OPEN},    {"mkdir", TRIES_MAKE},
	{"mkdirat", TRIES_MAKE},    {"link", TRIES_MAKE},      {"linkat", TRIES_MAKE},
	{"symlink", TRIES_MAKE},    {"symlinkat", TRIES_MAKE}, {"mknod", TRIES_MAKE},
	{"mknodat", TRIES_MAKE},    {"unlink", TRIES_REMOVE},  {"unlinkat", TRIES_REMOVE},
	{"rmdir", TRIES_REMOVE},    {"rename", TRIES_MOVE},    {"renameat", TRIES_MOVE},
	{"renameat2", TRIES_MOVE},  {"flock", TRIES_LOCK},     {"fcntl", TRIES_LOCK},
	{"fcntl64", TRIES_LOCK},    {"read", TRIES_READ},      {"readv", TRIES_READ},
	{"recvfrom", TRIES_READ},   {"recvmsg", TRIES_READ},   {"accept", TRIES_READ},
	{"accept4", TRIES_READ},    {"write", TRIES_WRITE},    {"writev", TRIES_WRITE},
	{"sendto", TRIES_WRITE},    {"sendmsg", TRIES_WRITE},  {"connect", TRIES_CONNECT},
	{"bind", TRIES_BIND},       {"listen", TRIES_LISTEN},  {"kill", TRIES_SIGNAL},
	{"wait4", TRIES_CHILD},     {"waitpid", TRIES_CHILD},  {"futex", TRIES_FUTEX},
	{"exit_group", TRIES_EXIT}, {"exit", TRIES_EXIT},
};

/* nanosleep_time32, pselect6_time64 … are their plain names in other clothes */
static char *plain_name(const char *name)
{
	size_t length = strlen(name);

	if (length > 7 && (g_str_has_suffix(name, "_time32") || g_str_has_suffix(name, "_time64")))
		length -= 7;
	return g_strndup(name, length);
}

const char *known_call(guint number)
{
	if (number < G_N_ELEMENTS(calls))
		return calls[number].name;
	number -= G_N_ELEMENTS(calls);
	return number < G_N_ELEMENTS(tried) ? tried[number].name : NULL;
}

/* Of the name of a call that is in no table. */
static const struct call_info not_known = {.known = true};

static struct call_info *table_entry(GHashTable *table, const char *name)
{
	struct call_info *info = g_hash_table_lookup(table, name);

	if (!info) {
		info = g_new0(struct call_info, 1);
		info->known = true;
		info->sigreturn =
			strcmp(name, "rt_sigreturn") == 0 || strcmp(name, "sigreturn") == 0;
		g_hash_table_insert(table, (gpointer) name, info);
	}
	return info;
}

static const char *const passing[] = {"futex", "sched_yield", "clock_gettime", "gettimeofday"};

static GHashTable *table_new(void)
{
	GHashTable *table = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);

	for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
		struct call_info *info = table_entry(table, calls[i].name);

		info->wait = calls[i].wait;
		info->effect = calls[i].effect;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(movers); i++)
		table_entry(table, movers[i].name)->moves = movers[i].moves;
	for (size_t i = 0; i < G_N_ELEMENTS(tried); i++)
		table_entry(table, tried[i].name)->tries = tried[i].tries;
	table_entry(table, "rt_sigreturn");
	table_entry(table, "sigreturn");
	for (size_t i = 0; i < G_N_ELEMENTS(passing); i++)
		table_entry(table, passing[i])->passes = true;
	return table;
}

bool call_signals(const char *name)
{
	return strstr(name, "kill") || strstr(name, "sigqueueinfo") || strstr(name, "send_signal");
}

bool call_awaits_signal(const char *name)
{
	return strcmp(name, "pause") == 0 || strstr(name, "sigsuspend") ||
	       strstr(name, "sigtimedwait");
}

void calls_init(struct flow *flow)
{
	flow->call_info = g_array_new(FALSE, TRUE, sizeof(struct call_info));
	flow->call_table = table_new();
}

void calls_clear(struct flow *flow)
{
	g_array_free(flow->call_info, TRUE);
	g_hash_table_destroy(flow->call_table);
}

static const struct call_info *look_up(const struct flow *flow, const char *name)
{
	g_autofree char *plain = plain_name(name);
	const struct call_info *info = g_hash_table_lookup(flow->call_table, plain);

	return info ? info : &not_known;
}

const struct call_info *call_info_of_name(const struct flow *flow, uint32_t name)
{
	const struct call_info *info = look_up(flow, intern_text(flow->names, name));

	if (intern_is_shared(flow->names)) /* others read what is kept */
		return info;
	if (name >= flow->call_info->len)
		g_array_set_size(flow->call_info, name + 1);
	g_array_index(flow->call_info, struct call_info, name) = *info;
	return info;
}

void calls_know(struct flow *flow)
{
	for (guint i = 0; i < flow->call_stats->len; i++)
		if (g_array_index(flow->call_stats, struct call_stat, i).count)
			call_info_of_name(flow, i);
}

uint32_t key_format(struct flow *flow, const char *format, ...)
{
	char text[300];
	va_list list;

	va_start(list, format);
	g_vsnprintf(text, sizeof text, format, list);
	va_end(list);
	return intern_id(flow->names, text);
}

/* IPv4 in IPv6's clothes is IPv4: "::ffff:10.0.0.1". */
static bool is_mapped(const struct event_bytes *address)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return address->count == 16 && memcmp(address->bytes, prefix, sizeof prefix) == 0;
}

uint32_t socket_key(struct flow *flow, const struct event_bytes *address, uint32_t port)
{
	char text[INET6_ADDRSTRLEN];

	if ((address->count == 4 && inet_ntop(AF_INET, address->bytes, text, sizeof text)) ||
	    (is_mapped(address) && inet_ntop(AF_INET, address->bytes + 12, text, sizeof text)))
		return key_format(flow, "socket:%s:%u", text, port);
	if (address->count == 16 && inet_ntop(AF_INET6, address->bytes, text, sizeof text))
		return key_format(flow, "socket:[%s]:%u", text, port);
	return 0;
}

uint32_t address_key(struct flow *flow, const struct event_syscall *args)
{
	return socket_key(flow, args->v4.count ? &args->v4 : &args->v6, args->port);
}

uint32_t family_key(struct flow *flow, int32_t family)
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
	case FAMILY_NONE: /* accept() was not asked for the address */
		return intern_id(flow->names, "socket:accepted");
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

uint32_t key_of_fd(struct flow *flow, struct thread *thread, int32_t fd)
{
	uint32_t key = fd_key(thread_files(flow, thread), fd);

	return key ? key : key_format(flow, "fd:%d", fd);
}

/* What one of its family has open, and only one file is called so; 0. */
static uint32_t named_in_family(const struct flow *flow, struct thread *thread, const char *name)
{
	uint32_t key = idmap_get(&model_host(flow->model, thread->host)->file_endings,
				 fd_ending_hash(fd_family(thread->files), name));

	return key == IDMAP_NONE || key == ENDING_OF_SEVERAL ? 0 : key;
}

/* What stands in `path` before the relative `name` that it ends with is the current directory of
 * who opened it so. */
static void learn_directory(struct flow *flow, struct fd_table *files, const char *path,
			    const char *name)
{
	size_t length = strlen(path), tail = strlen(name);
	g_autofree char *directory = NULL;

	if (length < tail + 2 || path[length - tail - 1] != '/' || !strchr(name, '/') ||
	    g_str_has_prefix(name, "."))
		return;
	directory = g_strndup(path, length - tail - 1);
	fd_set_cwd(files, intern_id(flow->names, directory));
}

/* The path from the root where that can be known: a relative one is below the directory `dfd`, or
 * the current one. Where that is not known, an open file of the process whose name ends with it is
 * taken for it, or one of the processes of its family (inferred), and with it what the current
 * directory is. Else as given. */
static uint32_t path_of(struct flow *flow, struct thread *thread, const char *name, int32_t dfd)
{
	struct fd_table *files;
	uint32_t directory;
	const char *base;
	g_autofree char *joined = NULL;

	if (!name || !*name)
		return 0;
	if (*name == '/')
		return intern_id(flow->names, name);
	files = thread_files(flow, thread);
	directory = dfd >= 0 ? fd_key(files, dfd) : fd_cwd(files);
	base = directory ? intern_text(flow->names, directory) : "";
	if (g_str_has_prefix(base, "file:"))
		base += strlen("file:");
	if (*base == '/') {
		joined = g_canonicalize_filename(name, base);
		return intern_id(flow->names, joined);
	}
	directory = dfd >= 0 ? 0 : fd_named_so(files, flow->names, name);
	if (!directory && dfd < 0 && fd_family(files) && strchr(name, '/'))
		directory = named_in_family(flow, thread, name);
	if (!directory)
		return intern_id(flow->names, name);
	base = intern_text(flow->names, directory) + strlen("file:");
	learn_directory(flow, files, base, name);
	return intern_id(flow->names, base);
}

/* The file that the call opens, executes or loads, as struct interval.ref says it. */
static uint32_t works_on(struct flow *flow, struct thread *thread, const struct call *call,
			 uint8_t effect)
{
	bool writes = effect == DOES_OPEN && (call->flags & O_ACCMODE) != O_RDONLY &&
		      !(call->flags & (O_TRUNC | O_CREAT));
	uint32_t key;

	if (effect != DOES_OPEN && effect != DOES_EXEC && effect != DOES_LOAD)
		return 0;
	if (!call->path)
		return effect == DOES_LOAD ? fd_key(thread_files(flow, thread), call->fd) : 0;
	key = key_format(flow, "file:%s", intern_text(flow->names, call->path));
	return writes ? key | REF_FOR_WRITING : key;
}

/* The descriptor is what is asked about, and its name is an empty one: what the tracer copied of
 * it may be anything (lttng-events.md: user strings). */
static bool has_empty_path(const struct call_info *info, const struct event_syscall *args)
{
	return info->tries == TRIES_LOOK && args->dfd >= 0 && args->flags & AT_EMPTY_PATH_BIT;
}

void call_arguments(struct flow *flow, struct thread *thread, const struct event_syscall *args)
{
	struct call *call = &thread->flow.call;
	const struct call_info *info = flow_call_info(flow, call->name);

	call->fd = args->epfd >= 0 ? args->epfd : args->fd;
	call->newfd = args->newfd;
	call->flags = args->flags;
	call->op = args->op;
	call->argument = args->timeout;
	call->path =
		has_empty_path(info, args) ? 0 : path_of(flow, thread, args->filename, args->dfd);
	call->newpath = path_of(flow, thread, args->newname, args->newfd);
	call->address = 0;
	call->timer = -1;
	call->to_disk = false;
	thread->flow.pause = 0;
	call->lock = 0;
	call->reads = false;
	call->works_on = works_on(flow, thread, call, info->effect);
	switch (info->wait) {
	case WAIT_FUTEX:
		call->flags = args->uaddr;
		call->argument = args->val;
		break;
	case WAIT_CHILD:
		call->argument = args->which == WAITID_PID ? args->upid : 0;
		break;
	case WAIT_POLL:
	case WAIT_SELECT:
		call->op = args->watched;
		break;
	case WAIT_CONNECT:
		call->address = address_key(flow, args);
		break;
	default:
		break;
	}
	if (info->tries == TRIES_SIGNAL)
		call->argument = args->upid;
	switch (info->effect) {
	case DOES_FLOCK:
	case DOES_CONTROL:
		call->op = args->cmd;
		break;
	case DOES_FCNTL:
		call->op = args->cmd;
		call->argument = args->arg;
		break;
	case DOES_SOCKET:
	case DOES_SOCKETPAIR:
		call->op = args->family;
		call->flags = (uint64_t) (int64_t) args->type;
		break;
	case DOES_MAP:
		call->start = args->start;
		call->length = args->length;
		call->argument = args->arg;
		break;
	case DOES_UNMAP:
	case DOES_REMAP:
		call->start = args->start;
		call->length = args->length;
		call->argument = (int64_t) args->new_length;
		break;
	case DOES_AFFINITY:
	case DOES_POLICY:
		call->argument = args->upid;
		break;
	case DOES_EPOLL_CTL:
		call->newfd = args->fd;
		call->argument = (int64_t) args->data;
		break;
	default:
		break;
	}
}

void call_told(struct flow *flow, struct thread *thread, const struct event_syscall *args)
{
	struct call *call = &thread->flow.call;
	const struct call_info *info = flow_call_info(flow, call->name);

	/* the first name is the call's: an exec goes on to open its interpreter */
	if (args->filename && !call->path &&
	    (info->effect == DOES_OPEN || info->effect == DOES_EXEC || info->tries == TRIES_OPEN)) {
		call->path = path_of(flow, thread, args->filename, args->dfd);
		call->works_on = works_on(flow, thread, call, info->effect);
	}
	if (info->wait == WAIT_CONNECT && !call->address)
		call->address = address_key(flow, args);
}

void call_close(struct thread *thread)
{
	thread->flow.call.open = thread->flow.in_guest = thread->flow.halted = false;
	thread->flow.call.waits = 0;
	thread->flow.call.lock = 0;
	thread->flow.call.child = NO_THREAD;
}
