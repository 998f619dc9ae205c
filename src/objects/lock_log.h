/* SPDX-License-Identifier: MIT */
/* The log of a lock's holders, as those write it that know when locks change hands:
 * locks.c (files) and futexes.c. Internal to flow/; see locks.h.
 */
#ifndef WHYLATE_OBJECTS_LOCK_LOG_H
#define WHYLATE_OBJECTS_LOCK_LOG_H

#include "objects/locks.h"

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
/* `thread` gives the lock up now, whether it was known to have it or not. */
void lock_released(struct flow *flow, struct lock *lock, uint32_t thread, bool proved);
/* `thread` waited for the lock from `since` until now, asleep or spinning. */
void lock_waited(struct flow *flow, struct lock *lock, uint32_t thread, int64_t since);

#endif
