/* SPDX-License-Identifier: MIT */
/* What the sentences of the verdict are about: pieces of the critical path of one thread in one
 * state and for one cause, added up, and waits that were one try (tried.h); the largest first.
 *
 * Part of path/ (path.h); put together to items: items.h, the words: share_words.h, the sentences:
 * verdict.c. Time that a thread was ready and had no CPU is one share, preempted or not.
 */
#ifndef WHYLATE_PATH_SHARES_H
#define WHYLATE_PATH_SHARES_H

#include "path/telling.h"
#include "ready/runners.h"
#include "waits/causality.h"
#include "words/times.h"

struct share {
	uint32_t thread, leaf; /* of siblings the first */
	uint32_t resource; /* what these pieces are added up by, besides: a reason's object;
			      of a guest's time that its host took the virtual CPU's thread */
	uint32_t named; /* the resource to be named, 0: several */
	enum cause_kind cause;
	char *cause_label;   /* owned; of the longest piece */
	bool inferred;       /* that */
	bool own_timer;      /* that: one that the thread armed, or its time limit */
	GArray *waiters;     /* owned; struct waiter: who waited for it, in what */
	GArray *objects; /* owned; struct worked_on: of faults the files that they read, of own
				code the handlers of signals (words/handler.h) */
	int64_t idle; /* in waits for a next request */
	struct times times;
	GArray *pieces; /* owned; guint: places in the path of what is added up here */
	struct runners runners; /* of a share off CPU but ready */
	int64_t spun; /* of work in a call: for a lock that somebody else had */
	uint32_t spun_for; /* who had it, in the longest piece */
	bool ending; /* the kernel ended the thread meanwhile: ending.h */
	bool reclaim; /* it freed memory for a page fault */
	bool spans_gap;
	bool for_others; /* somebody waited for it */
	uint32_t tried; /* part of waits that were one try: their place in the list, from 1 */
};

/* Waits of one thread in one state, for the share's thread or above it. */
struct waiter {
	uint32_t thread, leaf, resource;
	bool ending;
	int32_t behalf; /* the first of these waits, in path.waits */
	bool several;
	int64_t ns; /* of the share's time */
};

/* A file that a share's time went to. */
struct worked_on {
	uint32_t ref; /* as struct interval.ref */
	int64_t ns;
};

/* What the wait was on; one that timed out on several, on what it was for. */
uint32_t waited_on(const struct session *session, const struct block *block);
/* Adds one to a list of them. */
void waiters_add(GArray *waiters, const struct waiter *fresh);
/* The file that took most of the share's time, NULL. */
const struct worked_on *main_object(const struct share *share);
bool share_is_ready(const struct share *share);
/* A wait that the thread's own timer ended, and that was for nothing else. */
bool share_is_sleep(const struct session *session, const struct share *share);
/* Opening a file for writing took so long that an overlay file system will have copied it. */
bool share_copies_up(const struct share *share);
/* The told part of the path as shares (owned), the largest first, and as `tries` (struct tried). */
GPtrArray *shares_new(const struct telling *telling, GArray *tries);

#endif
