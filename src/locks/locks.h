/* SPDX-License-Identifier: MIT */
/* Locks whose waits the kernel sees, and who held them.
 *
 * Place: locks/. This is the log of who takes and gives up locks. file_locks.c and
 * futexes.c write it while system calls and wake-ups pass; contention/holders.c reads it.
 * What is a lock, and how its holders are known:
 *
 *   futex    FUTEX_WAIT for the value that mutexes have while somebody waits: 2 (glibc,
 *            Go, Rust, Java), or the owner's TID with the waiters' bit (robust mutexes;
 *            in musl error-checking and recursive ones). Who calls FUTEX_WAKE on it had
 *            it until then; who returns from the wait has it from then on, unless it
 *            waits again. Inferred, but for an owner whose TID is in the word.
 *   rwlock   FUTEX_WAIT for 2, but woken all at once (glibc: __wrphase_futex): no mutex. Readers
 *            take and give it up unseen; known are who waited for 3 there, and who woke a
 *            writer: the last reader. How long each had it, nothing tells. Inferred.
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

#include "state/state.h"
#include "timeline/holds.h"

enum lock_kind { LOCK_FUTEX, LOCK_PI, LOCK_FLOCK, LOCK_FCNTL, LOCK_INODE };

#define READERS_MAX 4 /* remembered of a lock */

/* Who has had a lock to read. */
struct reader {
	uint32_t thread;
};

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
	bool read;            /* futex: several may have it at once, to read */
	uint32_t readers_count; /* of them, so many are known */
	struct reader readers[READERS_MAX];
	uint32_t resource;    /* interned: "futex:0x…", "file:PATH" */
	uint32_t turns;       /* given up by somebody who had waited for it */
	uint32_t crowd;       /* so many open holds: time to look for dead holders */
	int64_t longest, longest_shared; /* ns: holds that are over and were seen to begin */
	int64_t released;     /* last seen, INT64_MIN */
	uint32_t releaser;    /* inode: who it was */
	int64_t touched;      /* last event that tells of it */
	struct log holds;
	struct log waits; /* the same for those that waited: their calls, or blocked parts */
	GArray *open;         /* owned; struct hold not over yet; NULL: none */
	GArray *boosts;       /* owned; struct boost; NULL: none */
};

extern const struct record lock_record, boost_record, reader_record; /* util/records.h */

void locks_init(struct flow *flow);
void locks_clear(struct flow *flow);

/* Frees what the lock owns; its record stays. */
void lock_clear(struct lock *lock);

static inline struct lock *lock_at(const struct flow *flow, uint32_t index)
{
	g_assert(index > 0 && index <= flow->locks->len);
	return &g_array_index(flow->locks, struct lock, index - 1);
}

/* The lock of that number (an address, a file), as `like` says whose; 0: not met. */
uint32_t lock_find(const struct flow *flow, const struct lock *like, uint64_t number);
uint32_t lock_findnew(struct flow *flow, const struct lock *like, uint64_t number);
/* To be asked for at each event: forgets what was known before events were lost. */
struct lock *lock_touched(struct flow *flow, uint32_t index);
/* Nobody is known to have it; given up at `since` at the latest. */
void lock_forget(struct lock *lock, int64_t since);

/* The hold of `thread` that is not over, NULL. Borrowed until the next change. */
struct hold *lock_open_hold(const struct lock *lock, uint32_t thread);
void lock_hold_opens(struct flow *flow, struct lock *lock, const struct hold *hold);
/* As if it had never been; `hold` is one of lock_open_hold(). */
void lock_hold_drops(struct lock *lock, const struct hold *hold);
/* It is over at `end`. */
void lock_hold_ends(struct flow *flow, struct lock *lock, const struct hold *hold, int64_t end);
/* `thread` gives the lock up now, whether it was known to have it or not. */
void lock_released(struct flow *flow, struct lock *lock, uint32_t thread, bool proved);
/* `thread` waited for the lock from `since` until now, asleep or spinning. */
void lock_waited(struct flow *flow, struct lock *lock, uint32_t thread, int64_t since);

#endif
