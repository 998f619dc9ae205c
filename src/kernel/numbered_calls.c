/* SPDX-License-Identifier: MIT */
/* Names and arguments of calls; see numbered_calls.h. */
#include "kernel/numbered_calls.h"

#include <string.h>

#include "kernel/call_numbers.h"

#define X32_BIT 0x40000000 /* of x86-64: the same calls, with short pointers */

static const struct {
	const char *name, *arguments;
} signatures[] = {
	{"read", "fd buf* count"},
	{"write", "fd buf* count"},
	{"open", "filename* flags mode"},
	{"openat", "dfd filename* flags mode"},
	{"openat2", "dfd filename* how* usize"},
	{"creat", "pathname* mode"},
	{"close", "fd"},
	{"close_range", "fd max_fd flags"},
	{"newstat", "filename* statbuf*"},
	{"newlstat", "filename* statbuf*"},
	{"newfstat", "fd statbuf*"},
	{"newfstatat", "dfd filename* statbuf* flag"},
	{"statx", "dfd filename* flags mask buffer*"},
	{"poll", "ufds* nfds timeout_msecs"},
	{"ppoll", "ufds* nfds tsp* sigmask* sigsetsize"},
	{"select", "n inp* outp* exp* tvp*"},
	{"pselect6", "n inp* outp* exp* tsp* sig*"},
	{"lseek", "fd offset whence"},
	{"mmap", "addr len prot flags fd offset"},
	{"mmap_pgoff", "addr len prot flags fd pgoff"},
	{"mprotect", "start len prot"},
	{"munmap", "addr len"},
	{"mremap", "addr old_len new_len flags new_addr"},
	{"madvise", "start len_in behavior"},
	{"msync", "start len flags"},
	{"brk", "brk"},
	{"ioctl", "fd cmd arg"},
	{"pread64", "fd buf* count pos"},
	{"pwrite64", "fd buf* count pos"},
	{"readv", "fd vec* vlen"},
	{"writev", "fd vec* vlen"},
	{"preadv", "fd vec* vlen pos_l pos_h"},
	{"pwritev", "fd vec* vlen pos_l pos_h"},
	{"preadv2", "fd vec* vlen pos_l pos_h flags"},
	{"pwritev2", "fd vec* vlen pos_l pos_h flags"},
	{"access", "filename* mode"},
	{"faccessat", "dfd filename* mode"},
	{"faccessat2", "dfd filename* mode flags"},
	{"pipe", "fildes*"},
	{"pipe2", "fildes* flags"},
	{"dup", "fildes"},
	{"dup2", "oldfd newfd"},
	{"dup3", "oldfd newfd flags"},
	{"nanosleep", "rqtp* rmtp*"},
	{"clock_nanosleep", "which_clock flags rqtp* rmtp*"},
	{"sendfile64", "out_fd in_fd offset* count"},
	{"splice", "fd_in off_in* fd_out off_out* len flags"},
	{"tee", "fdin fdout len flags"},
	{"vmsplice", "fd iov* nr_segs flags"},
	{"copy_file_range", "fd_in off_in* fd_out off_out* len flags"},
	{"socket", "family type protocol"},
	{"socketpair", "family type protocol usockvec*"},
	{"connect", "fd uservaddr* addrlen"},
	{"accept", "fd upeer_sockaddr* upeer_addrlen*"},
	{"accept4", "fd upeer_sockaddr* upeer_addrlen* flags"},
	{"bind", "fd umyaddr* addrlen"},
	{"listen", "fd backlog"},
	{"shutdown", "fd how"},
	{"sendto", "fd buff* len flags addr* addr_len"},
	{"recvfrom", "fd ubuf* size flags addr* addr_len*"},
	{"sendmsg", "fd msg* flags"},
	{"recvmsg", "fd msg* flags"},
	{"sendmmsg", "fd mmsg* vlen flags"},
	{"recvmmsg", "fd mmsg* vlen flags timeout*"},
	{"getsockname", "fd usockaddr* usockaddr_len*"},
	{"getpeername", "fd usockaddr* usockaddr_len*"},
	{"setsockopt", "fd level optname optval* optlen"},
	{"getsockopt", "fd level optname optval* optlen*"},
	{"wait4", "upid stat_addr* options ru*"},
	{"waitid", "which upid infop* options ru*"},
	{"kill", "pid sig"},
	{"tkill", "pid sig"},
	{"tgkill", "tgid pid sig"},
	{"exit", "error_code"},
	{"exit_group", "error_code"},
	{"execve", "filename* argv* envp*"},
	{"execveat", "fd filename* argv* envp* flags"},
	{"fcntl", "fd cmd arg"},
	{"fcntl64", "fd cmd arg"},
	{"flock", "fd cmd"},
	{"fsync", "fd"},
	{"fdatasync", "fd"},
	{"syncfs", "fd"},
	{"sync_file_range", "fd offset nbytes flags"},
	{"fallocate", "fd mode offset len"},
	{"fadvise64", "fd offset len advice"},
	{"readahead", "fd offset count"},
	{"truncate", "path* length"},
	{"ftruncate", "fd length"},
	{"getdents", "fd dirent* count"},
	{"getdents64", "fd dirent* count"},
	{"chdir", "filename*"},
	{"fchdir", "fd"},
	{"fchmod", "fd mode"},
	{"fchown", "fd user group"},
	{"fstatfs", "fd buf*"},
	{"rename", "oldname* newname*"},
	{"renameat", "olddfd oldname* newdfd newname*"},
	{"renameat2", "olddfd oldname* newdfd newname* flags"},
	{"mkdir", "pathname* mode"},
	{"mkdirat", "dfd pathname* mode"},
	{"rmdir", "pathname*"},
	{"link", "oldname* newname*"},
	{"linkat", "olddfd oldname* newdfd newname* flags"},
	{"symlink", "oldname* newname*"},
	{"symlinkat", "oldname* newdfd newname*"},
	{"unlink", "pathname*"},
	{"unlinkat", "dfd pathname* flag"},
	{"readlink", "path* buf* bufsiz"},
	{"readlinkat", "dfd pathname* buf* bufsiz"},
	{"futex", "uaddr op val utime* uaddr2 val3"},
	{"epoll_create", "size"},
	{"epoll_create1", "flags"},
	{"epoll_ctl", "epfd op fd ev*"},
	{"epoll_wait", "epfd events* maxevents timeout"},
	{"epoll_pwait", "epfd events* maxevents timeout sigmask* sigsetsize"},
	{"epoll_pwait2", "epfd events* maxevents ts* sigmask* sigsetsize"},
	{"eventfd", "count"},
	{"eventfd2", "count flags"},
	{"signalfd", "fd user_mask* sizemask"},
	{"signalfd4", "fd user_mask* sizemask flags"},
	{"timerfd_create", "clockid flags"},
	{"timerfd_settime", "ufd flags utmr* otmr*"},
	{"timerfd_gettime", "ufd otmr*"},
	{"inotify_init1", "flags"},
	{"inotify_add_watch", "fd pathname* mask"},
	{"inotify_rm_watch", "fd wd"},
	{"unshare", "unshare_flags"},
	{"setns", "fd nstype"},
	{"sched_setaffinity", "pid len user_mask*"},
	{"pidfd_open", "pid flags"},
	{"pidfd_send_signal", "fd sig info* flags"},
	{"memfd_create", "uname* flags"},
	{"finit_module", "fd uargs* flags"},
	{"io_uring_enter", "fd to_submit min_complete flags argp* argsz"},
	{"semop", "semid tsops* nsops"},
	{"semtimedop", "semid tsops* nsops timeout*"},
	{"msgsnd", "msqid msgp* msgsz msgflg"},
	{"msgrcv", "msqid msgp* msgsz msgtyp msgflg"},
	{"mq_timedsend", "mqdes u_msg_ptr* msg_len msg_prio u_abs_timeout*"},
	{"mq_timedreceive", "mqdes u_msg_ptr* msg_len u_msg_prio* u_abs_timeout*"},
	{"rt_sigtimedwait", "uthese* uinfo* uts* sigsetsize"},
	{"rt_sigsuspend", "unewset* sigsetsize"},
	{"getrandom", "ubuf* count flags"},
};

struct numbered_calls {
	const struct event_sink *sink; /* borrowed */
	enum syscall_abi abi;
	GHashTable *known; /* owned; struct numbered_call by number, NULL: it has no name */
};

static void call_free(gpointer data)
{
	struct numbered_call *call = data;

	if (!call)
		return;
	g_free(call->entry_name);
	g_free(call->exit_name);
	g_free(call->text);
	g_free(call);
}

struct numbered_calls *numbered_calls_new(const struct event_sink *sink, enum syscall_abi abi)
{
	struct numbered_calls *calls = g_new0(struct numbered_calls, 1);

	calls->sink = sink;
	calls->abi = abi;
	calls->known = g_hash_table_new_full(NULL, NULL, NULL, call_free);
	return calls;
}

void numbered_calls_free(struct numbered_calls *calls)
{
	if (!calls)
		return;
	g_hash_table_destroy(calls->known);
	g_free(calls);
}

/* The word of that number; to free. NULL: "-", or the list is shorter. */
static char *nth_word(const char *list, int64_t number)
{
	size_t length;

	for (; list && *list && number > 0; number--) {
		list = strchr(list, ' ');
		list += list != NULL;
	}
	length = list ? strcspn(list, " ") : 0;
	return length && *list != '-' ? g_strndup(list, length) : NULL;
}

static char *name_of(enum syscall_abi abi, int64_t number)
{
	static const char *const lists[] = {
		[ABI_X86_64] = calls_x86_64, [ABI_I386] = calls_i386,   [ABI_GENERIC] = calls_arm64,
		[ABI_ARM] = calls_arm,       [ABI_PPC64] = calls_ppc64, [ABI_S390X] = calls_s390x};
	char *name;

	if (number < 0)
		return NULL;
	if (abi == ABI_X86_64)
		number &= ~(int64_t) X32_BIT;
	name = nth_word(lists[abi], number);
	return name ? name : g_strdup(event_syscall_name(abi, number));
}

static const struct event_field *field_of(const struct event_class *class, const char *name)
{
	for (const struct event_field *at = class->fields; at->name; at++)
		if (strcmp(at->name, name) == 0)
			return at;
	return NULL;
}

/* clone's order is the architecture's own, but its flags come first where they matter. */
static const char *arguments_of(enum syscall_abi abi, const char *name)
{
	if (strcmp(name, "clone") == 0)
		return abi == ABI_S390X ? "newsp clone_flags parent_tid* child_tid* tls"
					: "clone_flags newsp parent_tid* child_tid* tls";
	for (size_t i = 0; i < G_N_ELEMENTS(signatures); i++)
		if (strcmp(signatures[i].name, name) == 0)
			return signatures[i].arguments;
	return "";
}

static void note_arguments(struct numbered_call *call, const char *arguments)
{
	char *rest = call->text = g_strdup(arguments), *name;

	for (size_t i = 0; i < CALL_ARGUMENTS && (name = strsep(&rest, " ")) && *name; i++) {
		size_t length = strlen(name);

		call->arguments[i].address = name[length - 1] == '*';
		if (call->arguments[i].address)
			name[length - 1] = '\0';
		else
			call->arguments[i].field = field_of(&call->entry, name);
		call->arguments[i].name = name;
	}
}

static struct numbered_call *new_call(struct numbered_calls *calls, int64_t number)
{
	g_autofree char *name = name_of(calls->abi, number);
	const struct event_sink *sink = calls->sink;
	struct numbered_call *call;

	if (!name)
		return NULL;
	call = g_new0(struct numbered_call, 1);
	call->entry_name = g_strconcat("syscall_entry_", name, NULL);
	call->exit_name = g_strconcat("syscall_exit_", name, NULL);
	call->entry = sink->declare(sink->data, call->entry_name, ORIGIN_KERNEL);
	call->exit = sink->declare(sink->data, call->exit_name, ORIGIN_KERNEL);
	note_arguments(call, arguments_of(calls->abi, name));
	return call;
}

const struct numbered_call *numbered_call(struct numbered_calls *calls, int64_t number)
{
	gpointer key, known;

	if (number < 0 || number > INT32_MAX)
		return NULL;
	key = GUINT_TO_POINTER((guint) number);
	if (!g_hash_table_lookup_extended(calls->known, key, NULL, &known)) {
		known = new_call(calls, number);
		g_hash_table_insert(calls->known, key, known);
	}
	return known;
}

enum syscall_abi event_abi_of_machine(const char *machine)
{
	static const struct {
		const char *machine; /* a prefix */
		enum syscall_abi abi;
	} machines[] = {
		{"x86_64", ABI_X86_64}, {"i386", ABI_I386},     {"i486", ABI_I386},
		{"i586", ABI_I386},     {"i686", ABI_I386},     {"aarch64", ABI_GENERIC},
		{"arm64", ABI_GENERIC}, {"riscv", ABI_GENERIC}, {"loongarch", ABI_GENERIC},
		{"arm", ABI_ARM},       {"ppc64", ABI_PPC64},   {"powerpc64", ABI_PPC64},
		{"s390x", ABI_S390X},
	};

	for (size_t i = 0; machine && i < G_N_ELEMENTS(machines); i++)
		if (g_str_has_prefix(machine, machines[i].machine))
			return machines[i].abi;
	return ABI_UNKNOWN;
}
