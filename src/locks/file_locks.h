/* SPDX-License-Identifier: MIT */
/* Locks of files: flock, fcntl and the file's own (inode), as calls take and give them up; and
 * which lock a wait is for.
 *
 * Place: locks/, over the log in locks.h.
 */
#ifndef WHYLATE_OBJECTS_FILE_LOCKS_H
#define WHYLATE_OBJECTS_FILE_LOCKS_H

#include "locks/locks.h"

/* flock() on files of which the trace has no name: one for all of them. */
struct lock lock_of_unnamed(struct flow *flow, const struct thread *thread);
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

#endif
