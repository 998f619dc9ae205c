/* SPDX-License-Identifier: MIT */
/* Which thread of one trace is which of another, and what the two are called together.
 *
 *   Xorg (249 in A, 254 in B)      it is in both
 *   lttng (247 in A)               it is only in A
 *   forker (all that bash (7) created)   more than eight are called so
 *
 * Place: diff/, for all that it compares by threads. How they are matched: kin.h. What a thread
 * talks to is what it read, wrote and connected to, where that has a name that another run has too.
 */
#ifndef WHYLATE_DIFF_THREAD_MATCH_H
#define WHYLATE_DIFF_THREAD_MATCH_H

#include "tracking/thread_names.h"

struct thread_match {
	const struct session *session[2]; /* borrowed */
	uint32_t *partner[2];             /* owned; of each thread, NO_THREAD: none */
	struct thread_names *names[2];    /* owned; each side's own */
	GPtrArray
		*called[2]; /* owned; of each side's threads what both are called (owned); NULL: of
				 one trace */
	GHashTable *siblings; /* owned; family (owned) -> on each side how many: struct siblings */
};

/* `pinned`: two that are one by what was asked; NO_THREAD: none are. Of one trace, each thread is
 * itself. */
struct thread_match *thread_match_new(const struct session *a, const struct session *b,
				      const uint32_t pinned[2]);
void thread_match_free(struct thread_match *match);

/* The same thread on the other side, NO_THREAD. */
uint32_t thread_match_partner(const struct thread_match *match, int side, uint32_t thread);
/* What both are called: "Xorg (249 in A, 254 in B)"; free with g_free(). */
char *thread_match_label(const struct thread_match *match, int side, uint32_t thread);
/* A family are those of one name that one thread created. Of more than SIBLINGS_MAX, on either
 * side, one alone says little: what tells that family from others, NULL: it is none; free with
 * g_free(). */
#define SIBLINGS_MAX 8
char *thread_match_family(const struct thread_match *match, int side, uint32_t thread);
/* "forker (all that bash (219 in A, 218 in B) created)"; free with g_free(). */
char *thread_match_family_label(const struct thread_match *match, int side, uint32_t thread);
/* Names a side's threads so that the two of a pair have one name: with the processes where
 * few have that name. */
void thread_match_name(const struct thread_match *match, int side, struct thread_names *names);

#endif
