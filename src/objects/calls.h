/* SPDX-License-Identifier: MIT */
/* System calls by name: how their waits are explained, what their success
 * changes, and the keys of what they name.
 *
 * Place: objects/.
 */
#ifndef WHYLATE_OBJECTS_CALLS_H
#define WHYLATE_OBJECTS_CALLS_H

#include "state/state.h"

enum call_wait {
	WAIT_DEFAULT, /* the descriptor or file name it has */
	WAIT_NOTHING,
	WAIT_FD,
	WAIT_POLL,
	WAIT_SELECT,
	WAIT_EPOLL,
	WAIT_RING, /* io_uring_enter: for what was asked for before, whichever comes */
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
	DOES_SHUTDOWN,
	DOES_CLOSE_RANGE,
	DOES_EVENTFD,
	DOES_TIMERFD,
	DOES_ARM, /* a timer of its own */
	DOES_EPOLL,
	DOES_EPOLL_CTL,
	DOES_SIGNALFD,
	DOES_INOTIFY,
	DOES_MEMFD,
	DOES_FLOCK,
	DOES_WRITE, /* under the file's own lock */
	DOES_NAMESPACES,
	DOES_AFFINITY,
	DOES_POLICY, /* of scheduling */
	DOES_SET_CLOCK, /* the system's, or a network card's */
	DOES_FORK,
	DOES_EXIT,
	DOES_EXEC,
	DOES_LOAD, /* a module of the kernel */
	DOES_MAP,
	DOES_UNMAP,
	DOES_REMAP,
	DOES_BREAK,
	DOES_CHDIR,
	DOES_CONTROL, /* ioctl: what, its command says */
};

/* What moves through the call's descriptor. */
enum call_moves {
	MOVES_NOTHING,
	MOVES_IN,      /* read */
	MOVES_OUT,     /* write */
	MOVES_RECEIVE, /* the same of sockets only */
	MOVES_SEND,
	MOVES_BOTH,    /* sendfile, splice: in through `fd`, out through `newfd` */
};

/* What a call may be tried again and again for, and what makes the difference (tries.h). */
enum call_tries {
	TRIES_NOTHING,
	TRIES_LOOK, /* whether there is such a file */
	TRIES_OPEN,
	TRIES_MAKE, /* a name of a file */
	TRIES_REMOVE,
	TRIES_MOVE,
	TRIES_LOCK,
	TRIES_READ,
	TRIES_WRITE,
	TRIES_CONNECT,
	TRIES_BIND,
	TRIES_LISTEN,
	TRIES_SIGNAL,
	TRIES_CHILD,
	TRIES_FUTEX,
	TRIES_EXIT,
};

struct call_info {
	bool known;
	uint8_t wait; /* enum call_wait */
	uint8_t effect; /* enum call_effect */
	uint8_t moves; /* enum call_moves */
	uint8_t tries; /* enum call_tries */
	bool sigreturn;
	bool passes; /* who makes it has done nothing: tells the time, hands over to others */
};

/* It sends a signal. */
bool call_signals(const char *name);
/* It returns when a signal has come, pause and the like. */
bool call_awaits_signal(const char *name);
void calls_init(struct flow *flow);
void calls_clear(struct flow *flow);
/* The names that the two tables have, one after the other; NULL behind the last. */
const char *known_call(guint number);
const struct call_info *call_info_of_name(const struct flow *flow, uint32_t name);
/* Looks up all that the trace has: after it was taken from an image. */
void calls_know(struct flow *flow);
/* The same, for each event: looked up once. */
static inline const struct call_info *flow_call_info(const struct flow *flow, uint32_t name)
{
	const struct call_info *info =
		name < flow->call_info->len
			? &g_array_index(flow->call_info, struct call_info, name)
			: NULL;

	return info && info->known ? info : call_info_of_name(flow, name);
}
/* Keeps what is needed of the arguments of the call that `thread` has just entered. */
void call_arguments(struct flow *flow, struct thread *thread, const struct event_syscall *args);
/* … and what its addresses lead to, where that is told behind its entry. */
void call_told(struct flow *flow, struct thread *thread, const struct event_syscall *args);
/* The thread is in no call any more. */
void call_close(struct thread *thread);
/* The thread's descriptors; its own, or its process's. */
struct fd_table *thread_files(struct flow *flow, struct thread *thread);

/* The key of a formatted text, as interface.md writes it: "fd:5". */
uint32_t key_format(struct flow *flow, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* "socket:ADDR:PORT", 0 if there is no address: 4 or 16 bytes. */
uint32_t socket_key(struct flow *flow, const struct event_bytes *address, uint32_t port);
/* The same of a peer that a system call names. */
uint32_t address_key(struct flow *flow, const struct event_syscall *args);
/* "socket:unix" and so on. */
uint32_t family_key(struct flow *flow, int32_t family);
/* What the descriptor is, "fd:N" if that is not known. */
uint32_t key_of_fd(struct flow *flow, struct thread *thread, int32_t fd);

#endif
