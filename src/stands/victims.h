/* SPDX-License-Identifier: MIT */
/* What each thread lost to which root: struct fact, from the critical paths of those threads that
 * lost most.
 *
 * Part of stands/. Bounded: THREADS_MAX threads, PIECES_MAX pieces of paths in all.
 */
#ifndef WHYLATE_STANDS_VICTIMS_H
#define WHYLATE_STANDS_VICTIMS_H

#include "stands/stand.h"

struct waiting;

struct losses {
	GPtrArray *facts;  /* owned; struct fact, of one thread and one root each */
	int64_t *lost;     /* owned; of each thread: what its facts add up to */
	int64_t *for_children; /* owned; … of it in waits for its own children */
	bool *tracers;     /* owned; session_tracers() */
	uint32_t *names, *stems; /* owned; of each thread: interned, whole and without the number at
				    its end */
};

/* Also fills what threads waited for: stands->waited, waiters. */
void losses_init(struct losses *losses, const struct session *session,
		 const struct waiting *waiting, struct stands *stands);
/* Roots of the kind are told apart by who did it, not only by their object. */
bool kind_is_by_subject(enum stand_kind kind);
void losses_clear(struct losses *losses);

#endif
