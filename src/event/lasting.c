/* SPDX-License-Identifier: MIT */
/* See lasting.h. A kind that is not in its list lasts, and a call that is. */
#include "event/lasting.h"

#include <string.h>

/* Many events, none of which says anything of later ones. Requests to disks, packets and timers
 * do while they are on their way: a reader that passes over them goes on early enough. */
static bool kind_is_moment(uint16_t kind)
{
	return kind == EV_OTHER || kind == EV_SCHED_MIGRATE ||
	       (kind >= EV_IRQ_ENTRY && kind <= EV_CPU_IDLE) ||
	       (kind >= EV_WRITEBACK_QUEUE && kind <= EV_NET_RECEIVE) ||
	       kind == EV_FUNCTION_ENTRY || kind == EV_FUNCTION_EXIT || kind == EV_FUNCTION_REACHED;
}

/* Those that set what is known later of descriptors, files, memory, processes and timers. */
static bool call_lasts(const char *call)
{
	static const char *const calls[] = {
		"open",
		"openat",
		"openat2",
		"open_by_handle_at",
		"creat",
		"memfd_create",
		"chdir",
		"fchdir",
		"dup",
		"dup2",
		"dup3",
		"fcntl",
		"fcntl64",
		"pipe",
		"pipe2",
		"socket",
		"socketpair",
		"socketcall",
		"bind",
		"listen",
		"accept",
		"accept4",
		"connect",
		"shutdown",
		"close",
		"close_range",
		"eventfd",
		"eventfd2",
		"timerfd_create",
		"timerfd_settime",
		"timer_settime",
		"epoll_create",
		"epoll_create1",
		"epoll_ctl",
		"signalfd",
		"signalfd4",
		"inotify_init",
		"inotify_init1",
		"flock",
		"unshare",
		"setns",
		"clock_settime",
		"settimeofday",
		"sched_setaffinity",
		"sched_setscheduler",
		"clone",
		"clone3",
		"fork",
		"vfork",
		"execve",
		"execveat",
		"exit",
		"exit_group",
		"finit_module",
		"init_module",
		"mmap",
		"mmap_pgoff",
		"munmap",
		"mremap",
		"brk",
		"mkdir",
		"mkdirat",
		"link",
		"linkat",
		"symlink",
		"symlinkat",
		"mknod",
		"mknodat",
		"unlink",
		"unlinkat",
		"rmdir",
		"rename",
		"renameat",
		"renameat2",
		"rt_sigreturn",
		"sigreturn"};

	for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
		if (strcmp(calls[i], call) == 0)
			return true;
	return strchr(call, ':'); /* another tracer's: any call */
}

/* "syscall_entry_read", "compat_sys_read" and the like: what is behind the prefix. */
static const char *call_of(const char *name)
{
	static const char *const prefixes[] = {"syscall_entry_", "syscall_exit_", "sys_"};

	if (g_str_has_prefix(name, "compat_"))
		name += strlen("compat_");
	for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++)
		if (g_str_has_prefix(name, prefixes[i]))
			return name + strlen(prefixes[i]);
	return name;
}

enum event_span event_span(const struct event_class *class, const char *name)
{
	const char *call = call_of(name);

	switch (class->kind) {
	case EV_SCHED_SWITCH:
		return SPAN_SWITCH;
	case EV_SCHED_WAKING:
	case EV_SCHED_WAKEUP:
		return SPAN_WAKING;
	case EV_IRQ_ENTRY:
	case EV_SOFTIRQ_ENTRY:
	case EV_VECTOR_ENTRY:
	case EV_HRTIMER_EXPIRE_ENTRY:
		return SPAN_INTERRUPT;
	case EV_IRQ_EXIT:
	case EV_SOFTIRQ_EXIT:
	case EV_VECTOR_EXIT:
	case EV_HRTIMER_EXPIRE_EXIT:
		return SPAN_INTERRUPT_ENDS;
	case EV_SOFTIRQ_RAISE:
		return SPAN_RAISE;
	case EV_HRTIMER_START:
	case EV_TIMER_START:
		return SPAN_TIMER;
	case EV_PAGE_FAULT_USER:
	case EV_PAGE_FAULT_KERNEL:
		return SPAN_FAULT;
	case EV_SYSCALL_ENTRY:
		return call_lasts(call) ? SPAN_CALL_LASTS : SPAN_CALL;
	case EV_SYSCALL_EXIT:
		if (strcmp(call, "exit_syscall") == 0)
			return SPAN_RETURN_ANY;
		return call_lasts(call) ? SPAN_RETURN_LASTS : SPAN_RETURN;
	default:
		return kind_is_moment(class->kind) ? SPAN_MOMENT : SPAN_LASTS;
	}
}
