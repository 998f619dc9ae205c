/* SPDX-License-Identifier: MIT */
/* Futexes that are locks.
 *
 * Place: locks/, over the log in locks.h.
 */
#ifndef WHYLATE_OBJECTS_FUTEXES_H
#define WHYLATE_OBJECTS_FUTEXES_H

#include "locks/locks.h"

/* At entry and exit of a system call on a futex; the latter if call.lock is set. */
void lock_futex_begins(struct flow *flow, uint32_t index, struct thread *thread);
void lock_futex_ends(struct flow *flow, uint32_t index, struct thread *thread, int64_t ret);
/* `waker` ended the wait of `thread` to write under a lock that several read. */
void lock_writer_woken(struct flow *flow, struct lock *lock, struct thread *thread,
		       struct block *block, uint32_t waker);
/* sched_pi_setprio: a waiter, current here, raises the owner's priority. */
void flow_boost(struct flow *flow, struct cpu *cpu, const struct event *event);

#endif
