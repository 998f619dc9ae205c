/* SPDX-License-Identifier: MIT */
/* Waits on a futex that expire and are begun again, until somebody wakes the waiter.
 *
 *   T  ──┤ futex, 5 ms ├─┤ futex, 5 ms ├─┤ futex … ├── has it
 *   P  ──── runs on ─────────────────────── wakes T, waits itself ──
 *
 * So Python's interpreter lock is waited for, and conditions with a period. Between two such
 * waits the thread does next to nothing: one that works each time has a period of its own. Nor
 * is anything said of one that nobody wakes. Who woke it had been in its way, but not before it
 * was woken itself: then it was who did that. And not if it waited itself until the thread's time
 * limit had passed, and went on by what that did then (a batch is sent, and acknowledged): the
 * limit is what both waited for. All inferred.
 *
 * FUTEX_TRYLOCK_PI that fails (EAGAIN) again and again, with naps between, was for who calls
 * FUTEX_UNLOCK_PI on that word next.
 *
 * A word stands for the eight bytes that it is in, as glibc's conditions have two in turn.
 *
 * Place: locks/, over tries/tries.h.
 */
#ifndef WHYLATE_LOCKS_FUTEX_TRIES_H
#define WHYLATE_LOCKS_FUTEX_TRIES_H

#include "tries/tries.h"

/* The thread ends. If it had a little to do each time a wait expired, and was woken just now, it
 * had a period, and was told to end. */
void futex_thread_ends(struct flow *flow, uint32_t index);
/* futex() has ended with `ret`. */
void futex_call_ended(struct flow *flow, uint32_t index, int64_t ret);

#endif
