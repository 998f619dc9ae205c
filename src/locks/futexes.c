/* SPDX-License-Identifier: MIT */
/* Futexes that are locks: who waits for, takes and gives up mutexes in memory; what
 * counts as one is in locks.h.
 *
 *   nobody waits        taken and given up unseen
 *   T: FUTEX_WAIT       somebody has it: whoever calls FUTEX_WAKE next
 *   P: FUTEX_WAKE       P had it since it returned from its own wait, else since the
 *                       last release at the earliest
 *   T: wait returns 0   T has it, unless it waits again: somebody was faster
 *
 * Part of locks/, over the log in locks.c. Source: linux/futex.h, kernel/futex/pi.c.
 */
#include "locks/futexes.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>

#include "model/container.h"
#include "objects/resource.h"

#define MUTEX_CONTENDED 2
/* glibc's pthread_rwlock_t: a reader waits while somebody writes, … */
#define RWLOCK_WRITES 3
/* … or, where writers go first, for one who waits: on the word with the number of readers, beside
 * the one that writers wait on. */
#define RWLOCK_TO_WRITERS 8 /* bytes */
#define RWLOCK_READER 8
#define RWLOCK_WRITER_FIRST 6 /* readers wait, and a writer */

static struct lock futex_of(const struct thread *thread)
{
	return (struct lock) {.kind = LOCK_FUTEX,
			      .host = thread->host,
			      .pid = thread->pid >= 0 ? thread->pid : -(thread->tid & INT32_MAX)};
}

/* A PID used again: what the process before had is gone with it. */
static struct lock *futex_touched(struct flow *flow, uint32_t index)
{
	struct lock *lock = lock_at(flow, index);
	uint32_t leader = lock->pid >= 0 ? thread_find(flow, lock->host, lock->pid) : IDMAP_NONE;

	if (leader != IDMAP_NONE && flow_thread(flow, leader)->begin > lock->touched)
		lock_forget(lock, flow_thread(flow, leader)->begin);
	return lock_touched(flow, index);
}

/* The owner's TID is in the futex word together with FUTEX_WAITERS, as robust
 * mutexes, PI futexes and musl keep it. NO_THREAD: not the TID of a thread of
 * the same process. */
static uint32_t owner_in_word(struct flow *flow, const struct thread *thread, uint32_t word)
{
	uint32_t owner;

	if (!(word & FUTEX_WAITERS))
		return NO_THREAD;
	owner = thread_by_number(flow->model, thread, (int32_t) (word & FUTEX_TID_MASK));
	if (!is_thread(owner) || thread->pid < 0 || flow_thread(flow, owner) == thread ||
	    flow_thread(flow, owner)->pid != thread->pid)
		return NO_THREAD;
	return owner;
}

static uint32_t new_futex(struct flow *flow, struct thread *thread, enum lock_kind kind)
{
	struct lock like = futex_of(thread);
	uint32_t index = lock_findnew(flow, &like, thread->flow.call.flags);
	struct lock *lock = futex_touched(flow, index);
	int32_t fd;

	lock->kind = (uint8_t) kind;
	flow->pi_locks |= kind == LOCK_PI;
	if (!lock->resource)
		lock->resource = call_resource(flow, thread, &fd);
	thread->flow.call.lock = index;
	return index;
}

/* The thread has had the lock to read. */
static void note_reader(struct lock *lock, uint32_t thread)
{
	for (uint32_t i = 0; i < lock->readers_count; i++)
		if (lock->readers[i].thread == thread)
			return;
	if (lock->readers_count < READERS_MAX)
		lock->readers[lock->readers_count++].thread = thread;
}

/* Whoever waits on the word is woken at once: those of a mutex are woken one by one. */
static void all_woken(struct flow *flow, uint32_t number)
{
	struct lock *lock = futex_touched(flow, number);

	if (lock->kind != LOCK_FUTEX || lock->turns)
		return;
	lock->read = lock->counts = true;
	lock_forget(lock, flow->time);
}

void lock_writer_woken(struct flow *flow, struct lock *lock, struct thread *thread,
		       struct block *block, uint32_t waker)
{
	struct reason reason = reason_of_kind(REASON_READ_LOCKED);
	uint32_t self = thread_find(flow, thread->host, thread->tid);

	note_reader(lock, waker);
	reason.thread = waker;
	for (uint32_t i = 0; i < lock->readers_count; i++) {
		uint32_t reader = lock->readers[i].thread;

		if (reader == self) /* it reads, too, at other times */
			continue;
		reason.count++;
		if (reader != waker && reason.other == NO_THREAD)
			reason.other = reader;
	}
	reason.object = lock->resource;
	reason.call = thread->flow.call.name;
	reason.from = reason.begin = thread->flow.since;
	reason.until = flow->time;
	reason.flags = REASON_INFERRED | (thread->flow.call.reads ? REASON_READS : 0);
	block->reason = reason_new(flow->timeline, &reason);
}

/* Mutexes have few values. One that was never seen to go from a waiter to the next
 * and is waited for with another value only looked like one. */
static void note_other_value(struct flow *flow, uint32_t index, const struct thread *thread)
{
	struct lock like = futex_of(thread);
	uint32_t known = flow->locks->len ? lock_find(flow, &like, thread->flow.call.flags) : 0;

	if (known && !lock_at(flow, known)->turns)
		lock_at(flow, known)->counts = true;
	if (known && thread->flow.call.argument == RWLOCK_WRITES)
		note_reader(lock_at(flow, known), index);
}

/* Who was woken and did not get the mutex waits again at once, or yields first (Go).
 * Who was told of a condition goes about it: in musl those waits look the same,
 * FUTEX_WAIT for 2 (pthread_cond_timedwait.c: node.barrier). */
static bool did_something_else(const struct flow *flow, const struct thread *thread)
{
	const struct call *call = &thread->flow.call;

	return call->before != call->name &&
	       strcmp(intern_text(flow->names, call->before), "sched_yield") != 0;
}

/* The lock that a reader waits for on a word of its own, 0: it is none such. */
static uint32_t lock_to_read(const struct flow *flow, const struct thread *thread, uint32_t word)
{
	struct lock like = futex_of(thread);

	return word >= RWLOCK_READER && (word & RWLOCK_WRITER_FIRST) == RWLOCK_WRITER_FIRST &&
			       flow->locks->len
		       ? lock_find(flow, &like, thread->flow.call.flags + RWLOCK_TO_WRITERS)
		       : 0;
}

static void waits_for_futex(struct flow *flow, uint32_t index, struct thread *thread, int command)
{
	uint32_t word = (uint32_t) thread->flow.call.argument;
	bool pi = command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2;
	uint32_t owner = pi ? NO_THREAD : owner_in_word(flow, thread, word);
	struct hold *mine;
	struct lock *lock;

	if (!pi && word != MUTEX_CONTENDED && owner == NO_THREAD) {
		if (!(word & FUTEX_WAITERS))
			note_other_value(flow, index, thread);
		thread->flow.call.lock = lock_to_read(flow, thread, word);
		thread->flow.call.reads = thread->flow.call.lock != 0;
		return; /* a condition, a semaphore, a join: nobody's */
	}
	lock = lock_at(flow, new_futex(flow, thread, pi ? LOCK_PI : LOCK_FUTEX));
	lock->certain |= pi || owner != NO_THREAD || command == FUTEX_WAIT;
	mine = lock_open_hold(lock, index);
	if (mine) {
		lock_hold_drops(lock, mine); /* woken, but somebody was faster */
		lock->counts |= !lock->turns && did_something_else(flow, thread);
	}
	if (owner != NO_THREAD && !lock_open_hold(lock, owner)) {
		if (lock->open)
			g_array_set_size(lock->open, 0);
		lock_hold_opens(flow, lock,
				&(struct hold) {.begin = lock->released,
						.end = INT64_MAX,
						.thread = owner,
						.fd = -1,
						.proved = true});
	}
}

void lock_futex_begins(struct flow *flow, uint32_t index, struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	int command = call->op & FUTEX_CMD_MASK;
	struct lock like = futex_of(thread);
	uint32_t known;

	if (!call->flags)
		return;
	switch (command) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		waits_for_futex(flow, index, thread, command);
		break;
	case FUTEX_TRYLOCK_PI:
		lock_at(flow, new_futex(flow, thread, LOCK_PI))->certain = true;
		break;
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_UNLOCK_PI:
		known = flow->locks->len ? lock_find(flow, &like, call->flags) : 0;
		if (known && command != FUTEX_UNLOCK_PI && (uint32_t) call->argument > 1)
			all_woken(flow, known);
		else if (known)
			lock_released(flow, futex_touched(flow, known), index,
				      command == FUTEX_UNLOCK_PI);
		break;
	default:
		break;
	}
}

void lock_futex_ends(struct flow *flow, uint32_t index, struct thread *thread, int64_t ret)
{
	struct lock *lock = lock_touched(flow, thread->flow.call.lock);
	bool pi = lock->kind == LOCK_PI;
	bool tries = (thread->flow.call.op & FUTEX_CMD_MASK) == FUTEX_TRYLOCK_PI;

	if ((ret != -EAGAIN) != tries) /* else it was given up before the call looked */
		lock_waited(flow, lock, index, thread->flow.call.begin);
	if (ret || lock->read || thread->flow.call.reads || lock_open_hold(lock, index))
		return;
	/* only one has it: an owner that the word named died with it, and was not seen to
	 * give it up (the kernel's exit_robust_list() wakes a waiter) */
	while (lock->open && lock->open->len) {
		const struct hold *other = &g_array_index(lock->open, struct hold, 0);

		if (other->proved)
			lock_released(flow, lock, other->thread, true);
		else
			lock_hold_drops(lock, other);
	}
	lock_hold_opens(flow, lock,
			&(struct hold) {.begin = flow->time,
					.end = INT64_MAX,
					.thread = index,
					.fd = -1,
					.taken = true,
					.proved = pi});
}

void flow_boost(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = flow_current(flow, cpu);
	struct boost boost = {.time = flow->time,
			      .from = event->priority.from,
			      .to = event->priority.to,
			      .thread = thread_find(flow, event->host, event->priority.tid)};
	struct lock *lock;

	if (!thread || boost.thread == IDMAP_NONE || flow_thread(flow, boost.thread) == thread ||
	    !thread->flow.call.open || !thread->flow.call.lock)
		return;
	lock = lock_touched(flow, thread->flow.call.lock);
	if (lock->kind != LOCK_PI)
		return;
	/* the first one raised in a call is the lock's owner, more are whom that waits for */
	if (!lock->open || !lock->open->len)
		lock_hold_opens(flow, lock,
				&(struct hold) {.begin = lock->released,
						.end = INT64_MAX,
						.thread = boost.thread,
						.fd = -1,
						.proved = true});
	if (!lock->boosts)
		lock->boosts = g_array_new(FALSE, FALSE, sizeof boost);
	g_array_append_val(lock->boosts, boost);
}
