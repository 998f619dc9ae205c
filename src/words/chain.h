/* SPDX-License-Identifier: MIT */
/* A chain of waits in words, from the one whom nobody waits for down to who is waited for.
 *
 *   app (3) waited for db (4) in read on socket x, which waited for log (5) in futex
 *
 * Part of words/, for the verdict and for what stands out.
 */
#ifndef WHYLATE_WORDS_CHAIN_H
#define WHYLATE_WORDS_CHAIN_H

#include "run/session.h"

/* One who waits, in what. */
struct link {
	uint32_t thread, leaf, resource;
	bool ending;                 /* … in its own end */
	const struct block *block;   /* whose reason says more, NULL */
	bool shared;                 /* … for what goes round: idle.h */
};

/* How threads are called: by `append`, `waiter` waits for it (NO_THREAD: nobody does). */
struct naming {
	void (*append)(GString *text, const void *of, uint32_t thread, uint32_t waiter);
	const void *of;
};

/* " waited 12 ms for db (4) in read on socket x, which waited for log (5) in futex": behind the
 * first one's name; `amount`: what stands behind the first "waited", or "". `last`: whom the last
 * of these waits was for. */
void append_chain(GString *text, const struct session *session, const struct naming *naming,
		  const struct link *links, guint count, uint32_t last, const char *amount);
/* ", until /run/ready was there": what the wait was for, if its reason says more; or that it was
 * given up. */
void append_clause(GString *text, const struct session *session, const struct block *block);

#endif
