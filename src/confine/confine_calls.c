/* SPDX-License-Identifier: MIT */
/* See confine_calls.h. */
#include "confine/confine_calls.h"

#include <errno.h>
#include <glib.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Highest number that an architecture gives a call, but for ARM's own. */
#define NUMBERS 1024
#define LIKE_UNKNOWN SCMP_ACT_ERRNO(ENOSYS)
#define CLONE_SPACES                                                                               \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)

/* Which argument of clone() has them. */
#ifdef __s390x__
#define CLONE_FLAGS 1
#else
#define CLONE_FLAGS 0
#endif

/* What all need. Names that an architecture does not have are passed over. */
static const char *const common[] = {
	/* files; which ones, Landlock says */
	"read",
	"readv",
	"pread64",
	"preadv",
	"preadv2",
	"write",
	"writev",
	"pwrite64",
	"pwritev",
	"pwritev2",
	"close",
	"close_range",
	"lseek",
	"_llseek",
	"open",
	"openat",
	"openat2",
	"stat",
	"stat64",
	"lstat",
	"lstat64",
	"fstat",
	"fstat64",
	"newfstatat",
	"fstatat64",
	"statx",
	"statfs",
	"statfs64",
	"fstatfs",
	"fstatfs64",
	"access",
	"faccessat",
	"faccessat2",
	"readlink",
	"readlinkat",
	"getdents",
	"getdents64",
	"getcwd",
	"fadvise64",
	"fadvise64_64",
	"arm_fadvise64_64",
	"readahead",
	"fcntl",
	"fcntl64",
	"dup",
	"dup2",
	"dup3",
	"pipe",
	"pipe2",
	"ioctl",
	"poll",
	"ppoll",
	"ppoll_time64",
	"select",
	"_newselect",
	"pselect6",
	"pselect6_time64",
	"umask",
	/* memory */
	"mmap",
	"mmap2",
	"munmap",
	"mremap",
	"mprotect",
	"madvise",
	"msync",
	"brk",
	"mincore",
	"membarrier",
	/* this process and its threads */
	"exit",
	"exit_group",
	"set_tid_address",
	"set_robust_list",
	"get_robust_list",
	"rseq",
	"futex",
	"futex_time64",
	"futex_waitv",
	"sched_yield",
	"sched_getaffinity",
	"sched_getattr",
	"sched_getparam",
	"sched_getscheduler",
	"sched_get_priority_max",
	"sched_get_priority_min",
	"getpid",
	"gettid",
	"getppid",
	"getuid",
	"getuid32",
	"geteuid",
	"geteuid32",
	"getgid",
	"getgid32",
	"getegid",
	"getegid32",
	"getgroups",
	"getgroups32",
	"getresuid",
	"getresuid32",
	"getresgid",
	"getresgid32",
	"getpgrp",
	"getpgid",
	"getsid",
	"prctl",
	"arch_prctl",
	"set_thread_area",
	"get_thread_area",
	"set_tls",
	"cacheflush",
	"rt_sigaction",
	"rt_sigprocmask",
	"rt_sigreturn",
	"rt_sigpending",
	"rt_sigsuspend",
	"rt_sigtimedwait",
	"rt_sigtimedwait_time64",
	"sigaltstack",
	"sigreturn",
	"sigaction",
	"sigprocmask",
	"tgkill",
	"tkill",
	"kill",
	"restart_syscall",
	"getrlimit",
	"ugetrlimit",
	"setrlimit",
	"prlimit64",
	"getrusage",
	"sysinfo",
	"uname",
	"getrandom",
	"getcpu",
	/* time */
	"clock_gettime",
	"clock_gettime64",
	"clock_getres",
	"clock_getres_time64",
	"gettimeofday",
	"time",
	"times",
	"nanosleep",
	"clock_nanosleep",
	"clock_nanosleep_time64",
	"getitimer",
	"setitimer",
	"alarm",
	"pause",
	/* at a socket that there is */
	"sendto",
	"send",
	"sendmsg",
	"recvfrom",
	"recv",
	"recvmsg",
};

/* What an analysis writes, and what works for it. */
static const char *const analysis[] = {
	"creat",
	"rename",
	"renameat",
	"renameat2",
	"link",
	"linkat",
	"unlink",
	"unlinkat",
	"mkdir",
	"mkdirat",
	"rmdir",
	"truncate",
	"truncate64",
	"ftruncate",
	"ftruncate64",
	"fallocate",
	"fsync",
	"fdatasync",
	"sync_file_range",
	"sync_file_range2",
	"chmod",
	"fchmod",
	"fchmodat",
	"fchmodat2",
	"fchown",
	"fchown32",
	"utimensat",
	"utimensat_time64",
	"utime",
	"utimes",
	"futimesat",
	"flock",
	"copy_file_range",
	"sendfile",
	"sendfile64",
	"memfd_create",
	"epoll_create",
	"epoll_create1",
	"epoll_ctl",
	"epoll_wait",
	"epoll_pwait",
	"epoll_pwait2",
	"eventfd",
	"eventfd2",
	"signalfd",
	"signalfd4",
	"timerfd_create",
	"timerfd_settime",
	"timerfd_settime64",
	"shutdown",
	/* processes of our own, and what confines them further */
	"fork",
	"vfork",
	"wait4",
	"waitpid",
	"waitid",
	"seccomp",
	"landlock_create_ruleset",
	"landlock_add_rule",
	"landlock_restrict_self",
};

static const char *const server[] = {
	"accept", "accept4", "setsockopt", "getsockopt", "getsockname", "getpeername", "listen",
};

/* What libraries try and do without. */
static const char *const refused[] = {
	"clone3", /* what it asks for lies in memory, so nothing could be allowed of it */
	"sched_setaffinity",
	"sched_setattr",
	"sched_setparam",
	"sched_setscheduler",
	"setpriority",
	"getpriority",
	"ioprio_set",
	"mlock",
	"mlock2",
	"munlock",
	"mlockall",
	"mbind",
	"get_mempolicy",
	"set_mempolicy",
	"io_uring_setup",
	"userfaultfd",
	"perf_event_open",
	"personality",
	"getxattr",
	"lgetxattr",
	"fgetxattr",
	"listxattr",
	"statmount",
	"capget",
};

/* What a child is refused, as by a limit on processes. */
static const char *const starting[] = {"fork", "vfork", "clone"};

/* LeakSanitizer stops all threads with it. */
static const char *const sanitizers[] = {"ptrace", "process_vm_readv"};

struct filter {
	scmp_filter_ctx context; /* owned */
	bool *said;              /* [NUMBERS]; a call has its answer */
	bool ok;
};

static void say(struct filter *filter, uint32_t action, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int number = seccomp_syscall_resolve_name(names[i]);

		if (number == __NR_SCMP_ERROR || number < 0)
			continue;
		if (number < NUMBERS) {
			if (filter->said[number])
				continue;
			filter->said[number] = true;
		}
		if (action != LIKE_UNKNOWN)
			filter->ok &=
				seccomp_rule_add_exact(filter->context, action, number, 0) == 0;
	}
}

#define SAY(filter, action, names) say(filter, action, names, G_N_ELEMENTS(names))

/* One more answer to a call that depends on its first argument. */
static void say_by(struct filter *filter, uint32_t action, int number, struct scmp_arg_cmp compare)
{
	if (number < 0)
		return;
	if (number < NUMBERS)
		filter->said[number] = true;
	filter->ok &= seccomp_rule_add(filter->context, action, number, 1, compare) == 0;
}

/* What depends on an argument. Name services try a socket of their daemon's; libdw
 * loads a library that asks servers for debug files, and that tries what sockets there are. */
static void say_some(struct filter *filter, enum confine_set set)
{
	say_by(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), SCMP_A0_32(SCMP_CMP_EQ, AF_UNIX));
	say_by(filter, set == CONFINE_CHILD ? SCMP_ACT_ERRNO(EACCES) : SCMP_ACT_KILL_PROCESS,
	       SCMP_SYS(socket), SCMP_A0_32(SCMP_CMP_NE, AF_UNIX));
	say_by(filter, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), SCMP_A0_32(SCMP_CMP_EQ, AF_UNIX));
	if (set == CONFINE_CHILD)
		return;
	say_by(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone),
	       SCMP_CMP32(CLONE_FLAGS, SCMP_CMP_MASKED_EQ, CLONE_SPACES, 0));
	/* of the caller's own thread (event/relay.c), not of another's */
	say_by(filter, SCMP_ACT_ALLOW, SCMP_SYS(sched_setaffinity), SCMP_A0_32(SCMP_CMP_EQ, 0));
}

/* All others that are known. */
static void say_rest(struct filter *filter)
{
	for (int number = 0; number < NUMBERS; number++) {
		char *name = filter->said[number]
				     ? NULL
				     : seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);

		if (name)
			filter->ok &= seccomp_rule_add_exact(filter->context, SCMP_ACT_KILL_PROCESS,
							     number, 0) == 0;
		free(name);
	}
}

bool calls_offered(void)
{
	uint32_t action = SECCOMP_RET_KILL_PROCESS;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool calls_confine(enum confine_set set)
{
	g_autofree bool *said = g_new0(bool, NUMBERS);
	struct filter filter = {seccomp_init(LIKE_UNKNOWN), said, true};

	if (!filter.context)
		return false;
	seccomp_attr_set(filter.context, SCMP_FLTATR_CTL_NNP, 0); /* it is set already */
	seccomp_attr_set(filter.context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	SAY(&filter, SCMP_ACT_ALLOW, common);
	if (set != CONFINE_CHILD)
		SAY(&filter, SCMP_ACT_ALLOW, analysis);
	if (set == CONFINE_CHILD)
		SAY(&filter, LIKE_UNKNOWN, starting);
	if (set == CONFINE_SERVER)
		SAY(&filter, SCMP_ACT_ALLOW, server);
	if (CONFINE_SANITIZED)
		SAY(&filter, SCMP_ACT_ALLOW, sanitizers);
	SAY(&filter, LIKE_UNKNOWN, refused);
	say_some(&filter, set);
	say_rest(&filter);
	filter.ok = filter.ok && seccomp_load(filter.context) == 0;
	seccomp_release(filter.context);
	return filter.ok;
}
