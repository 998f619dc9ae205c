/* SPDX-License-Identifier: MIT */
/* What a system call waits for.
 *
 * Place: objects/.
 */
#ifndef WHYLATE_OBJECTS_RESOURCE_H
#define WHYLATE_OBJECTS_RESOURCE_H

#include "state/state.h"

/* What the thread, in the call it is in, would wait for now: interned, 0 for nothing; `fd`:
 * the descriptor, -1. */
uint32_t call_resource(struct flow *flow, struct thread *thread, int32_t *fd);
/* The key of a file by its interned path: "file:/etc/hosts", "pipe:/run/initctl". */
uint32_t path_key(struct flow *flow, const struct thread *thread, uint32_t path);
/* Who wrote to what has this key has woken a thread that read there, or the other way round, or it
 * is said that one can neither seek nor read at a place in it: it is a FIFO, from now on a pipe by
 * its name, whose key is returned. If who opened it has woken who opened it (`opens`), that counts
 * the second time. Else returns the key itself. */
uint32_t fifo_found(struct flow *flow, struct host *host, uint32_t key, bool opens);
/* The thread that wait4 names, or that this call has made; NO_THREAD. */
uint32_t call_child(struct flow *flow, const struct thread *thread);
/* The command of a futex call, NO_OPERATION. */
uint8_t call_operation(struct flow *flow, const struct thread *thread);
bool call_is_on_own_futex(struct flow *flow, const struct thread *thread);
/* What the exit tells about waits inside the call; 0 nothing. */
uint32_t call_resource_at_exit(struct flow *flow, struct thread *thread,
			       const struct event_syscall *args, int32_t *fd);
/* A signal of the thread's own timer, as of alarm(2), ended the call. */
bool call_ended_by_alarm(struct flow *flow, const struct thread *thread, int64_t ret);
/* A timer that the call arms is for a time of day, not for a length: a deadline (TIMER_ABSTIME), or
 * the next turn of a period, which reading a timerfd arms. */
bool call_keeps_time(struct flow *flow, struct thread *thread);
/* The exit says that the call's time was over. */
bool call_timed_out(struct flow *flow, const struct thread *thread,
		    const struct event_syscall *args);
/* The call returned: what it wrote to counts for the thread's next wait (struct block). */
void call_note_sent(struct flow *flow, struct thread *thread, const struct event_syscall *args);

#endif
