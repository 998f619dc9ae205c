/* SPDX-License-Identifier: MIT */
/* Busy stretches: what a thread does between two of its waits for what comes next.
 *
 *   ─ waits ─┤ a turn: works, waits for others, is kept off the CPU ├─ waits ─┤ a turn …
 *            wake-up                                          next wait begins
 *
 * An event loop's turn, a frame, a job. It is wall time: preemption, interrupts, waits for locks
 * and disks in it count. A wait for what comes next is one for a next request (waits/idle.h), one
 * that an event loop's own time limit ended, or a sleep by the thread's own timer. The first turn
 * whose begin was not seen, and the last, whose end was not, are none.
 *
 * Place: latencies/, beside waits as operations. Source: semantics.md, "Busy stretches".
 */
#ifndef WHYLATE_LATENCIES_BUSY_H
#define WHYLATE_LATENCIES_BUSY_H

#include "run/session.h"
#include "timeline/operation.h"

/* Those of a thread of user space, in order. `ref`: as a wait's, of the one before it. */
void busy_each(const struct session *session, uint32_t thread,
	       void (*take)(void *data, uint32_t thread, int64_t begin, int64_t end, uint32_t ref),
	       void *data);

/* Appends those of all threads of user space to the trace's operations. */
void busy_add(struct session *session);

#endif
