/* SPDX-License-Identifier: MIT */
/* Threads that will never go on: each waits, to the trace's end, for a lock that
 * another one of them has.
 *
 * Place: contention/, made once a report. Proved where the trace names the
 * owners all around the cycle (PI futex, flock, a TID in the futex word).
 * Suspected where it does not: a plain mutex taken without waiting leaves no
 * trace, so two or more threads of one process that wait for different mutexes
 * to the end, far longer than any of these was ever held, with nobody seen to
 * give one up meanwhile; or all that are left of a process. What threads of a
 * pool wait for in peace (conditions, semaphores) is no mutex.
 * Source: semantics.md, "Blocking causality", rule 4.
 */
#ifndef WHYLATE_WAITS_DEADLOCKS_H
#define WHYLATE_WAITS_DEADLOCKS_H

#include "run/session.h"

struct stuck {
	uint32_t thread;
	uint32_t lock;  /* number of what it waits for */
	uint32_t owner; /* NO_THREAD: not known */
	int64_t since;  /* its wait's begin */
};

struct deadlock {
	GArray *members; /* owned; struct stuck; in a proved one each one's owner is the next */
	bool proved;
};

/* struct deadlock: proved ones first, in order of their first members. Found when they are first
 * asked for. */
const GPtrArray *deadlocks_of(const struct session *session);
/* The one that `thread` is part of, NULL. O(1). */
const struct deadlock *deadlock_of(const struct session *session, uint32_t thread);
/* "dead-1 (222) waits for futex:0x…, dead-2 (223) for futex:0x…", the first few of many;
 * g_free(). */
char *deadlock_words(const struct session *session, const struct deadlock *deadlock);

#endif
