/* SPDX-License-Identifier: MIT */
/* Runs a command, and kills it, or has a call fail, at one step of what it writes:
 *
 *   stop_at COUNT kill|ERRNO COMMAND...
 *
 * A step is a system call that makes, changes, names or removes a file, but for standard output
 * and error. At the one numbered COUNT (from 1) the command gets SIGKILL before the call is made,
 * or this call and all later ones that write give that ERRNO (a number) and do nothing. Ends with
 * 0 after a kill, with 99 if the command ended before, else with its status. For tests/load.t;
 * ptrace(2), so that no library has to be in between. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/elf.h>
#include <linux/ptrace.h>

#define NOT_REACHED 99

/* `writes`: it is what fails when a disk is full; else what names and removes. */
static bool is_step(const struct __ptrace_syscall_info *info, bool *writes)
{
	uint64_t call = info->entry.nr;
	const uint64_t *arguments = (const uint64_t *) info->entry.args;

	*writes = true;
	switch (call) {
	case SYS_openat:
		return arguments[2] & O_CREAT || (arguments[2] & O_TMPFILE) == O_TMPFILE;
#ifdef SYS_open
	case SYS_open:
		return arguments[1] & O_CREAT;
	case SYS_mkdir:
		return true;
	case SYS_rename:
	case SYS_link:
	case SYS_unlink:
	case SYS_rmdir:
		*writes = false;
		return true;
#endif
	case SYS_write:
	case SYS_writev:
	case SYS_pwrite64:
	case SYS_pwritev:
	case SYS_ftruncate:
	case SYS_fallocate:
		return (int) arguments[0] > STDERR_FILENO;
	case SYS_mkdirat:
		return true;
	case SYS_renameat:
	case SYS_renameat2:
	case SYS_linkat:
	case SYS_unlinkat:
		*writes = false;
		return true;
	default:
		return false;
	}
}

/* Where a machine keeps the number of the call, and what it gives. */
static bool set_number(pid_t pid, bool at_exit, long value)
{
#if defined(__x86_64__)
	struct user_regs_struct registers;
	struct iovec all = {&registers, sizeof registers};

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &all) != 0)
		return false;
	if (at_exit)
		registers.rax = (unsigned long) value;
	else
		registers.orig_rax = (unsigned long) value;
	return ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &all) == 0;
#elif defined(__aarch64__)
	struct user_regs_struct registers;
	struct iovec all = {&registers, sizeof registers};
	int number = (int) value;
	struct iovec one = {&number, sizeof number};

	if (!at_exit)
		return ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &one) == 0;
	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &all) != 0)
		return false;
	registers.regs[0] = (unsigned long) value;
	return ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &all) == 0;
#else
	(void) pid;
	(void) at_exit;
	(void) value;
	return false;
#endif
}

struct stopping {
	long at, seen;
	int error; /* 0: it is killed */
	pid_t command, failing; /* failing: whose call will have failed; 0: none's */
	bool killed;            /* what is left of its processes goes on to its end */
};

/* At a call's begin or end; true: the command was killed. */
static bool pass(struct stopping *stopping, pid_t pid)
{
	struct __ptrace_syscall_info info;
	bool writes;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) <= 0)
		return false;
	if (info.op == PTRACE_SYSCALL_INFO_EXIT && stopping->failing == pid) {
		set_number(pid, true, -stopping->error);
		stopping->failing = 0;
	}
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY || !is_step(&info, &writes))
		return false;
	stopping->seen++;
	if (!stopping->error && stopping->seen == stopping->at) {
		kill(stopping->command, SIGKILL);
		return true;
	}
	if (stopping->error &&
	    (stopping->seen == stopping->at || (stopping->seen > stopping->at && writes))) {
		if (!set_number(pid, false, -1))
			exit(NOT_REACHED);
		stopping->failing = pid;
	}
	return false;
}

static int watch(struct stopping *stopping)
{
	int status, result = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		int number = 0;

		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (pid == stopping->command)
				result = WIFEXITED(status) ? WEXITSTATUS(status)
							   : 128 + WTERMSIG(status);
			continue;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			stopping->killed |= !stopping->killed && pass(stopping, pid);
		} else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP) {
			number = WSTOPSIG(status);
		}
		ptrace(PTRACE_SYSCALL, pid, 0, number);
	}
	return stopping->killed ? 0 : stopping->seen < stopping->at ? NOT_REACHED : result;
}

int main(int argc, char **argv)
{
	struct stopping stopping = {0};
	int status;

	if (argc < 4)
		return 2;
	stopping.at = atol(argv[1]);
	stopping.error = strcmp(argv[2], "kill") == 0 ? 0 : atoi(argv[2]);
	stopping.command = fork();
	if (stopping.command == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execv(argv[3], argv + 3);
		_exit(127);
	}
	if (stopping.command < 0 || waitpid(stopping.command, &status, 0) != stopping.command)
		return 2;
	ptrace(PTRACE_SETOPTIONS, stopping.command, 0,
	       PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE |
		       PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK);
	ptrace(PTRACE_SYSCALL, stopping.command, 0, 0);
	return watch(&stopping);
}
