/* SPDX-License-Identifier: MIT */
/* Locks of files that are tried again and again: flock with LOCK_NB, fcntl with F_SETLK.
 *
 *   flock   who has it is known (file_locks.h); of a file that the trace does not name it is the
 *           only other process that has the lock of such a file: inferred
 *   fcntl   its arguments are not recorded, so locking and unlocking look alike. The one that has
 *           the lock must call before it is free: of the processes that had called before the
 *           try failed, the one that calls next; if there is only one such, that one. Inferred.
 *
 * Place: locks/, over tries/tries.h.
 */
#ifndef WHYLATE_LOCKS_LOCK_TRIES_H
#define WHYLATE_LOCKS_LOCK_TRIES_H

#include "tries/tries.h"

/* Before file_locks.h learns of the call's success: flock() or fcntl() has ended with `ret`. */
void lock_call_ended(struct flow *flow, uint32_t index, int64_t ret);

#endif
