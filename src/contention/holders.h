/* SPDX-License-Identifier: MIT */
/* Who held the lock while a thread waited for it: not only who gave it up last.
 *
 *   T  ──┤ waits for L                                    ├──
 *   L    │ P holds      │ handed over │ Q holds           │
 *
 * Place: contention/, over the holds that locks/locks.c logged, clipped to the
 * wait. The parts of a wait in which a lock is known to be somebody's are the
 * holdings; the rest is the way from one to the next (the woken one waking up),
 * or not known.
 *
 * Proved: the trace names the owner (PI futex, flock, a TID in the futex word).
 * Inferred: a plain futex names nobody; the waker had it until it woke somebody.
 */
#ifndef WHYLATE_WAITS_HOLDERS_H
#define WHYLATE_WAITS_HOLDERS_H

#include "run/session.h"
#include "locks/locks.h"

/* One holder's part of a wait. */
struct holding {
	uint32_t thread;
	int64_t begin, end; /* ns, clipped to the wait */
	bool taken;         /* its begin was seen, or it had the lock before the wait began */
	bool proved;
};

/* The same of all parts of one holder. */
struct holder {
	uint32_t thread;
	uint32_t count;
	int64_t ns;
	bool proved;
	/* what it did in that time */
	int64_t wib[4];     /* by enum wib */
	uint32_t leaf, resource; /* what took it longest */
	int64_t leaf_ns;
};

struct lock_wait {
	const struct lock *lock;
	GArray *holdings;   /* owned; struct holding in order of time */
	GArray *holders;    /* owned; struct holder, longest first */
	int64_t between;    /* ns in which nobody is known to have held it */
	bool inferred;
};

/* NULL where `block`, a wait of `thread` over [begin, end), is for no lock, or
 * where nobody is known to have held it. */
struct lock_wait *lock_wait_new(const struct session *session, const struct block *block,
				uint32_t thread, int64_t begin, int64_t end);
void lock_wait_free(struct lock_wait *wait);
typedef struct lock_wait lock_wait;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(lock_wait, lock_wait_free)
/* Fills what the first `count` holders did meanwhile. */
void lock_wait_look(const struct session *session, struct lock_wait *wait, guint count);

/* The lock that a wait is for; NULL: none. What has been taken for a mutex and
 * never behaved like one is none. */
const struct lock *block_lock(const struct session *session, const struct block *block);
/* Until when it is known who has the lock now: to the first gap after the last event
 * that told of it; INT64_MAX: there was none. */
int64_t lock_known_until(const struct session *session, const struct lock *lock);
/* The lock is one, and not a condition that looked like it. */
bool lock_is_one(const struct lock *lock);
/* Where the hold is, as far as it can be known: [begin, end). */
struct holding hold_clipped(const struct session *session, const struct lock *lock,
			    const struct hold *hold);
/* "mutex", "pi-mutex", "flock", "record-lock", "file". */
const char *lock_kind_text(const struct lock *lock);

/* "lock-0 (216)": one thread, by its TID, as another of its process may have its name; free with
 * g_free(). */
char *lock_holder_name(const struct session *session, uint32_t thread);
/* "held by lock-0 (216) for 29.9 ms"; free with g_free(). */
char *lock_wait_words(const struct session *session, const struct lock_wait *wait);

/* How much of [begin, end), in which `thread` worked in the kernel, it must have spun for
 * a lock (inferred): it was in a call for a PI mutex, or in one that needs lock number
 * `lock` (0: none known), and somebody else had that. `owner`: who had it longest. */
int64_t lock_spin(const struct session *session, uint32_t thread, uint32_t lock, int64_t begin,
		  int64_t end, uint32_t *owner);

/* A waiter that had to wait for somebody less urgent. */
struct inversion {
	int32_t waiter, owner;  /* priorities as sched_switch has them */
	uint32_t thread;        /* the owner */
	int32_t boosted;        /* what the owner was raised to, NO_PRIORITY: it was not */
	int64_t kept_off;       /* ns in which the owner was ready and less urgent ones ran */
	uint32_t instead;       /* who did most of that, NO_THREAD */
};

/* False: no inversion, or priorities are not recorded. Source: Sha, Rajkumar and
 * Lehoczky, "Priority inheritance protocols" (1990), for the words. */
bool lock_wait_inversion(const struct session *session, const struct lock_wait *wait,
			 uint32_t thread, int64_t begin, int64_t end, struct inversion *inversion);
/* "real-time 20", "nice 0". */
char *priority_text(int32_t priority);

#endif
