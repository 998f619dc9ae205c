/* SPDX-License-Identifier: MIT */
/* Names of system calls that the tracer's own table lacked, and how a trace numbers its calls.
 *
 * Before lttng-modules 2.13.18 the x86-64 table ended at Linux 3.10, so newer
 * calls, and the few with assembly entry points, arrive as `unknown` with a
 * number. Source: arch/x86/entry/syscalls/syscall_{64,32}.tbl of Linux; the
 * numbers are ABI and never change.
 */
#include "event/kinds.h"

#include <glib.h>
#include <stddef.h>
#include <string.h>

struct numbered {
	int16_t number;
	const char *name;
};

/* Since Linux 5.1 one range serves all architectures. */
static const struct numbered common[] = {
	{424, "pidfd_send_signal"},
	{425, "io_uring_setup"},
	{426, "io_uring_enter"},
	{427, "io_uring_register"},
	{428, "open_tree"},
	{429, "move_mount"},
	{430, "fsopen"},
	{431, "fsconfig"},
	{432, "fsmount"},
	{433, "fspick"},
	{434, "pidfd_open"},
	{435, "clone3"},
	{436, "close_range"},
	{437, "openat2"},
	{438, "pidfd_getfd"},
	{439, "faccessat2"},
	{440, "process_madvise"},
	{441, "epoll_pwait2"},
	{442, "mount_setattr"},
	{443, "quotactl_fd"},
	{444, "landlock_create_ruleset"},
	{445, "landlock_add_rule"},
	{446, "landlock_restrict_self"},
	{447, "memfd_secret"},
	{448, "process_mrelease"},
	{449, "futex_waitv"},
	{450, "set_mempolicy_home_node"},
	{451, "cachestat"},
	{452, "fchmodat2"},
	{453, "map_shadow_stack"},
	{454, "futex_wake"},
	{455, "futex_wait"},
	{456, "futex_requeue"},
	{457, "statmount"},
	{458, "listmount"},
	{462, "mseal"},
};

static const struct numbered x86_64[] = {
	{15, "rt_sigreturn"},   {56, "clone"},
	{57, "fork"},           {58, "vfork"},
	{59, "execve"},         {158, "arch_prctl"},
	{313, "finit_module"},  {314, "sched_setattr"},
	{315, "sched_getattr"}, {316, "renameat2"},
	{317, "seccomp"},       {318, "getrandom"},
	{319, "memfd_create"},  {320, "kexec_file_load"},
	{321, "bpf"},           {322, "execveat"},
	{323, "userfaultfd"},   {324, "membarrier"},
	{325, "mlock2"},        {326, "copy_file_range"},
	{327, "preadv2"},       {328, "pwritev2"},
	{329, "pkey_mprotect"}, {330, "pkey_alloc"},
	{331, "pkey_free"},     {332, "statx"},
	{333, "io_pgetevents"}, {334, "rseq"},
};

static const struct numbered x86_32[] = {
	{119, "sigreturn"},
	{173, "rt_sigreturn"},
	{120, "clone"},
	{2, "fork"},
	{190, "vfork"},
	{350, "finit_module"},
	{351, "sched_setattr"},
	{352, "sched_getattr"},
	{353, "renameat2"},
	{354, "seccomp"},
	{355, "getrandom"},
	{356, "memfd_create"},
	{357, "bpf"},
	{358, "execveat"},
	{359, "socket"},
	{360, "socketpair"},
	{361, "bind"},
	{362, "connect"},
	{363, "listen"},
	{364, "accept4"},
	{365, "getsockopt"},
	{366, "setsockopt"},
	{367, "getsockname"},
	{368, "getpeername"},
	{369, "sendto"},
	{370, "sendmsg"},
	{371, "recvfrom"},
	{372, "recvmsg"},
	{373, "shutdown"},
	{374, "userfaultfd"},
	{375, "membarrier"},
	{376, "mlock2"},
	{377, "copy_file_range"},
	{378, "preadv2"},
	{379, "pwritev2"},
	{383, "statx"},
	{384, "arch_prctl"},
	{385, "io_pgetevents"},
	{386, "rseq"},
	{403, "clock_gettime64"},
	{407, "clock_nanosleep"},
	{413, "pselect6"},
	{414, "ppoll"},
	{417, "recvmmsg"},
	{422, "futex"},
};

/* Where the architecture is not known: numbers that the tracer's tables lack
 * for want of a C function, the same on ARM and i386, or on all newer ones. */
static const struct numbered sigreturns[] = {
	{119, "sigreturn"},
	{173, "rt_sigreturn"},
	{139, "rt_sigreturn"},
};

static const char *find(const struct numbered *table, size_t count, int64_t number)
{
	for (size_t i = 0; i < count; i++)
		if (table[i].number == number)
			return table[i].name;
	return NULL;
}

#define FIND(table, number) find(table, sizeof table / sizeof *table, number)

const char *event_syscall_name(enum syscall_abi abi, int64_t number)
{
	if (number >= 424)
		return FIND(common, number);
	switch (abi) {
	case ABI_X86_64:
		return FIND(x86_64, number);
	case ABI_I386:
		return FIND(x86_32, number);
	default:
		return FIND(sigreturns, number);
	}
}

unsigned event_abi_hint(const char *name)
{
	static const struct {
		const char *name;
		unsigned hint;
	} hints[] = {
		{"arch_prctl", HINT_X86},
		{"ioperm", HINT_X86},
		{"iopl", HINT_X86},
		{"modify_ldt", HINT_X86},
		{"vm86old", HINT_X86 | HINT_32BIT},
		{"time", HINT_OLD},
		{"utime", HINT_OLD},
		{"stat64", HINT_32BIT},
		{"fstat64", HINT_32BIT},
		{"mmap2", HINT_32BIT},
		{"spu_run", HINT_OTHER},
		{"s390_runtime_instr", HINT_OTHER},
		{"cacheflush", HINT_OTHER},
		{"arm_fadvise64_64", HINT_OTHER},
	};
	const char *call;

	if (g_str_has_prefix(name, "x86_") || g_str_has_prefix(name, "mce_"))
		return HINT_X86;
	if (!g_str_has_prefix(name, "syscall_entry_") && !g_str_has_prefix(name, "sys_"))
		return 0;
	call = name + (g_str_has_prefix(name, "sys_") ? strlen("sys_") : strlen("syscall_entry_"));
	for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
		if (strcmp(call, hints[i].name) == 0)
			return hints[i].hint;
	return 0;
}

enum syscall_abi event_abi(unsigned hints)
{
	if (hints & HINT_OTHER)
		return ABI_UNKNOWN;
	if (hints & HINT_32BIT)
		return (hints & HINT_X86) ? ABI_I386 : ABI_UNKNOWN;
	return (hints & (HINT_X86 | HINT_OLD)) ? ABI_X86_64 : ABI_UNKNOWN;
}
