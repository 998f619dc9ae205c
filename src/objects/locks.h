/* SPDX-License-Identifier: MIT */
/* Locks whose waits the kernel sees, and who held them.
 *
 * Place: objects/ fills them while system calls and wake-ups pass; waits/holders.c
 * reads them. What is a lock, and how its holders are known:
 *
 *   futex    FUTEX_WAIT for the value that mutexes have while somebody waits: 2 (glibc,
 *            Go, Rust, Java), or the owner's TID with the waiters' bit (robust mutexes;
 *            in musl error-checking and recursive ones). Who calls FUTEX_WAKE on it had
 *            it until then; who returns from the wait has it from then on, unless it
 *            waits again. Inferred, but for an owner whose TID is in the word.
 *   PI futex the kernel knows the owner: it alone may unlock, the one woken is the
 *            next owner, and a waiter boosts it (sched_pi_setprio). Proved.
 *   flock    taken and given up by system calls, waited for or not. Proved.
 *   fcntl    its arguments are not recorded: who wakes a waiter had a lock in its
 *            way. Proved, but for the begin.
 *   inode    both in calls on one file: the waker most likely gave up the file's
 *            lock, unless one reads and one writes: it may be a FIFO. One call that
 *            writes a file goes after the other, so who ends one had the lock since
 *            the one before ended: others in such calls were spinning for it
 *            (rwsem_spin_on_owner). Inferred.
 *
 * Source: linux/futex.h, kernel/futex/pi.c (futex_unlock_pi: only the owner;
 * rt_mutex hands over to the top waiter), fs/locks.c (locks_wake_up_blocks).
 */
#ifndef WHYLATE_OBJECTS_LOCKS_H
#define WHYLATE_OBJECTS_LOCKS_H

#include "flow/flow.h"
#include "timeline/holds.h"

enum lock_kind { LOCK_FUTEX, LOCK_PI, LOCK_FLOCK, LOCK_FCNTL, LOCK_INODE };

/* A waiter raised its owner's priority. */
struct boost {
	int64_t time;
	uint32_t thread;  /* who was raised */
	int32_t from, to; /* as sched_switch's priorities */
};

struct lock {
	uint8_t kind;         /* enum lock_kind */
	bool free;            /* its number: there is no such lock any more */
	bool certain;         /* futex: its value said that it is a mutex */
	bool counts;          /* … but what was done since that it is none: a condition */
	uint16_t host;
	int32_t pid;          /* futex: of the process, else -1 */
	uint32_t resource;    /* interned: "futex:0x…", "file:PATH" */
	uint32_t turns;       /* given up by somebody who had waited for it */
	uint32_t crowd;       /* so many open holds: time to look for dead holders */
	int64_t longest, longest_shared; /* ns: holds that are over and were seen to begin */
	int64_t released;     /* last seen, INT64_MIN */
	uint32_t releaser;    /* inode: who it was */
	int64_t touched;      /* last event that tells of it */
	struct hold_log holds;
	struct hold_log waits; /* the same for those that waited: their calls, or blocked parts */
	GArray *open;         /* owned; struct hold not over yet; NULL: none */
	GArray *boosts;       /* owned; struct boost; NULL: none */
};

void locks_init(struct flow *flow);
void locks_clear(struct flow *flow);

/* Frees what the lock owns; its record stays. */
void lock_clear(struct lock *lock);

static inline struct lock *lock_at(const struct flow *flow, uint32_t index)
{
	return &g_array_index(flow->locks, struct lock, index - 1);
}

/* At entry and exit of a system call on a futex; the latter if call.lock is set. */
void lock_futex_begins(struct flow *flow, uint32_t index, struct thread *thread);
void lock_futex_ends(struct flow *flow, uint32_t index, struct thread *thread, int64_t ret);
/* flock() and fcntl() that succeeded, close(). */
void lock_flock(struct flow *flow, uint32_t index, struct thread *thread);
void lock_fcntl(struct flow *flow, uint32_t index, struct thread *thread);
void lock_file_closed(struct flow *flow, struct thread *thread);
/* A call that writes a file has ended. */
void lock_file_written(struct flow *flow, uint32_t index, struct thread *thread);
/* The lock that a thread waits for in its call, 0: none that is known. */
uint32_t lock_waited_for(struct flow *flow, struct thread *thread);
/* `waker` ended the wait `block` of `thread`. */
void lock_waiter_woken(struct flow *flow, struct thread *thread, struct block *block,
		       const struct waker *waker);
/* sched_pi_setprio: a waiter, current here, raises the owner's priority. */
void lock_boosts(struct flow *flow, struct thread *thread, const struct event *event);

#endif
