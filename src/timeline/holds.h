/* SPDX-License-Identifier: MIT */
/* Who held a lock from when to when: a log per lock, in the order in which
 * they gave it up.
 *
 *   P  ──────┤ takes it      ├── gives it up, wakes T
 *            [begin        end)
 *   T     ──┤ waits …         ├── takes it
 *
 * Place: timeline/, written by locks/locks.c, read by contention/holders.c. It
 * knows nothing of what the lock is. A begin may be only the earliest that it
 * can have been (`taken` false): a lock taken without waiting is not seen.
 */
#ifndef WHYLATE_TIMELINE_HOLDS_H
#define WHYLATE_TIMELINE_HOLDS_H

#include <stdbool.h>
#include <stdint.h>

#include "timeline/log.h"

struct hold {
	int64_t begin, end; /* ns, [begin, end); begin INT64_MIN: not known; end INT64_MAX: open */
	uint32_t thread;
	int32_t fd : 28; /* file locks: taken through this descriptor, -1 */
	bool taken : 1; /* begin is when it was seen to have it */
	bool proved : 1; /* the trace names the owner; else the waker is taken for it */
	bool shared : 1; /* others may hold it too */
	bool again : 1; /* fcntl: called more than once, perhaps to unlock */
};

#define HOLDS_PER_CHUNK 16u /* few, as most locks are held few times */

void hold_append(struct pages *store, struct log *log, const struct hold *hold);
const struct hold *hold_at(const struct pages *store, const struct log *log, uint32_t index);
/* The first that ended after `time`; log->used if none did. */
uint32_t hold_find(const struct pages *store, const struct log *log, int64_t time);

#endif
