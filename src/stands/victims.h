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
	uint8_t *children; /* owned; of each thread: processes that it made, 2: more than one */
	bool *tracers;     /* owned; session_tracers() */
	uint32_t *names; /* owned; of each thread: interned */
	uint32_t *stems; /* … the same of those whose names only a number at the end tells apart */
};

/* Also fills what threads waited for: stands->waited, waiters. */
void losses_init(struct losses *losses, const struct session *session,
		 const struct waiting *waiting, struct stands *stands);
/* There all the time, as a service is: whose waits matter to those whom it serves, who are
 * victims themselves, if they are traced. */
bool is_service(const struct session *session, uint32_t thread);
/* They are put down to the same thing: of most kinds to who did it and to the object. */
bool facts_have_one_root(const struct fact *a, const struct fact *b);
void losses_clear(struct losses *losses);
/* Of a fact of kind CPU, which others' losses were added to: who ran while its victim, or others of
 * that name, were ready, and not beside those that are late as well. */
void runners_of_victims(const struct session *session, const struct losses *losses,
			struct fact *fact);

#endif
