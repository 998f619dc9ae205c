/* SPDX-License-Identifier: MIT */
/* Idle waits: for a next request, which delay nobody. The one definition of them for all
 * commands.
 *
 * A wait is idle only if it is shown to be; what is not counts. So it must be in a call that
 * takes what others send (accept, poll and its kin, a read from a socket, pipe or terminal), or
 * on a futex that is no lock known, or for a signal; and what ended it must be a request:
 *
 *   client  ──ask──┤ waits for the answer ├──ask──
 *   server  ─idle──┤ works                ├─idle──
 *
 * Both sleep until the other wakes them. They differ in who began: the client woke, or made, the
 * server before that ever woke it. So a wait is for a next request if what ended it is who turned
 * to the waiter first. Of another process all threads count as one: a request may be taken by one
 * thread and answered by another.
 *
 * Of a virtual machine's process: its guest asks, so what a virtual CPU's thread ended was idle,
 * though the others made that thread.
 *
 * For packets the ports tell: the side with a port that systems give by themselves
 * (32768 and up) opened the connection; between two that were chosen they tell nothing. An event
 * loop's wait for somebody who was there before the trace, as it was itself, counts as idle too.
 *
 * Who has opened a connection, and never written to it, has subscribed: it is idle once something
 * has come there. So is an event loop that has written there, and has heard from there since, as
 * far as the other side sends when its own timer says so.
 *
 * A wait that a freezer of cgroups cut short was not for that: idle, but for a lock. A terminal's
 * reader waits for what is typed. Who waits for the lock that says whose turn it is to wait for the
 * next request is idle as long as the others are, if nothing came for it that it has not answered.
 *
 * Never idle: what a kernel thread ended that brought nothing from others (a helper of the
 * kernel's, as modprobe for mount; a worker that finishes a read), what has a reason (reason.h),
 * rt_sigsuspend() until a thread of the same process sends the signal (a collector of garbage has
 * stopped the world), a futex or an eventfd until another process woke it, of a thread that rests
 * elsewhere or has a pace of its own (semaphores in shared memory are locks in most databases), an
 * event loop's wait between a question and its answer that another process' signal ends (backends
 * of PostgreSQL wait for rows so), a wait to connect, to write, for a lock, at a barrier (a futex,
 * all of whose waiters were woken by one that was made for the same), for a child, a file, a block
 * device, in a page fault, stopped.
 *
 * Inferred, and wrong at times for a conversation that began before the trace. Place: waits/, for
 * the overview and findings (imposed/) and functions (calls/). Source: own; the need for it is in
 * the field's common complaint that waiting is "dominated by idle threads".
 */
#ifndef WHYLATE_WAITS_IDLE_H
#define WHYLATE_WAITS_IDLE_H

#include "waits/wait.h"

/* What this takes to know of all processes: else it is read when it is first asked for, which
 * several threads may not do at once (parts/). */
void idle_know_all(const struct session *session);
/* The same for parts that ask for the waits of so many threads. False: of all it would take longer
 * than they do; they are made one after the other. */
bool idle_know_for(const struct session *session, guint threads);

/* The thread waited for what it is there for: its next request. */
bool wait_is_idle(const struct session *session, const struct wait *wait);

/* Idle, as a read of what the first program of its pipeline brings, at a pace of its own. */
bool wait_is_for_source(const struct session *session, const struct wait *wait);

/* Idle, or it looked for a request in vain: an event loop's own time limit ended the wait, or the
 * trace did. It is not imposed by anybody, and nothing to make faster. */
bool wait_is_at_leisure(const struct session *session, const struct wait *wait);

/* In a futex, for what goes round between threads of its process, as a semaphore or the connections
 * of a pool. Only in a question about all of the trace. */
bool wait_is_for_share(const struct session *session, const struct wait *wait);

/* A server that was asked for something, and has not answered yet, waits for a lock, or until
 * another process signals that it may go on, as backends of a database wait for each other's rows:
 * whatever that one is idle for, this is late. Only in a question about all of the trace. */
bool wait_is_in_answer(const struct session *session, const struct wait *wait);

/* Something came for the thread before, and it has not written anything since. Only in a question
 * about all of the trace. */
bool wait_owes_answer(const struct session *session, const struct wait *wait);

/* A wait for a lock: locks.h, or of a file. */
bool wait_is_for_lock(const struct session *session, const struct wait *wait);

#endif
