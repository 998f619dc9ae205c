/* SPDX-License-Identifier: MIT */
/* Which locks cost most: their waits added up, who held them meanwhile, convoys.
 *
 * Place: contention/, over the waits that locks/locks.c logged: whole calls on a
 * futex, so that time spent spinning in the kernel (PI futexes) counts too.
 *
 *   queue  0 1 2 3 3 2 3 2 3 … 1 0     a convoy: two or more threads wait all the time,
 *               └── handed over ──┘     and the lock goes from one to the next
 *
 * Source for the word: Blasgen, Gray, Mitoma and Price, "The convoy phenomenon"
 * (1979): a queue on a busy lock that does not dissolve by itself.
 */
#ifndef WHYLATE_WAITS_CONTENTION_H
#define WHYLATE_WAITS_CONTENTION_H

#include "contention/holders.h"

struct convoy {
	int64_t begin, end; /* ns */
	uint32_t handovers; /* waits that ended in it */
	uint32_t longest;   /* most threads waiting at once */
};

/* The waits for one lock. */
struct contention {
	uint32_t lock;       /* number */
	uint64_t waits;
	int64_t ns, longest, longest_begin, longest_end;
	uint32_t longest_thread;
	uint32_t waiters;    /* different threads */
	uint32_t queue;      /* most of them at once */
	int64_t between;     /* ns of ns in which nobody is known to have held it */
	GArray *holders;     /* owned; struct holder, longest first, ns summed over the waits */
	struct convoy convoy; /* the one with most hand-overs; none: 0 of them */
	struct inversion inversion; /* the longest wait's */
	bool inverted, inferred;
};

/* The locks that `threads` (a set of thread indexes; NULL: all) waited for in
 * [from, to), the largest sum first: struct contention. Free with g_array_free(). */
GArray *contention_new(const struct session *session, GHashTable *threads, int64_t from,
		       int64_t to);

#endif
