/* SPDX-License-Identifier: MIT */
/* The items that stand out, as records; see stands.h.
 *
 * Part of stands/, what all its files know.
 */
#ifndef WHYLATE_STANDS_STAND_H
#define WHYLATE_STANDS_STAND_H

#include "stands/fact.h"

#define STANDS_MAX 5
#define STAND_ID 9 /* "s-k3f7qa" and the end */

#define LATE_TOLD 2

struct late {
	uint32_t thread;  /* NO_THREAD: there is none */
	uint32_t through; /* by waiting for whom, NO_THREAD */
	int64_t ns;
	bool after; /* whom both waited for let the told victim go on first, for most of it */
};

struct stand {
	struct fact *fact;  /* owned; the victims' of whom it is told */
	double weight;      /* what items are sorted by */
	GArray *victims;    /* owned; uint32_t: the threads that it is told of */
	guint others;       /* threads of other names that lose much to it too, … */
	GArray *all_late;            /* owned; struct late: … who they are, */
	struct late late[LATE_TOLD]; /* … and those of them that lose most, the first first */
	struct late
		first; /* who was let go on first, for `ns` of the told victim's time; 0: nobody */
	char id[STAND_ID]; /* of its finding: findings/findings.h; empty: it has none yet */
	int64_t saved; /* ns sooner its victim, were it gone; INT64_MIN: not known, … */
	int64_t saved_from, saved_to; /* … what is not sure leaves room for; else as `saved` */
	char *sentence; /* owned */
};

/* What user threads waited for themselves, added up over them. */
enum waiting_for {
	FOR_CPU,
	FOR_LOCK,
	FOR_DISK,
	FOR_NETWORK,
	FOR_MEMORY,
	FOR_LIMIT,
	FOR_INTERRUPT,
	FOR_CHILDREN, /* the thread's own: what they do is what it started them for, mostly */
	FOR_THREADS, /* who woke them, or is to answer */
	FOR_REST,
	WAITED_FOR_COUNT
};

struct stands {
	GArray *items; /* struct stand */
	GArray *no_news; /* … that would make nobody be done sooner, were they gone */
	char *unexplained; /* owned; what they do not explain: unexplained.h; NULL */
	/* Where there is neither: the longest wait of all, and what it was one of. */
	struct {
		char *sentence; /* owned; NULL: none of LONGEST_MIN */
		uint32_t thread;
		int64_t begin, end;
	} longest;
	int64_t waited[WAITED_FOR_COUNT];
	guint waiters; /* threads that these are added up over */
};

#endif
