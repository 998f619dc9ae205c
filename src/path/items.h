/* SPDX-License-Identifier: MIT */
/* What the sentences of a verdict are about, in the order of what a person can do about it.
 *
 *   shares (shares.h)                            items
 *   frontend waits for db, which computes  ┐
 *   frontend waits for db, which sleeps    ┴──►  frontend waited for db, which did both
 *   frontend waits for a disk              ───►  that
 *   frontend computes, works in a call     ───►  frontend worked in both
 *
 * What others imposed comes first, the largest first: waits for other threads, devices, locks,
 * limits, and for a CPU that others had. What was the thread's own follows: its work, its own
 * timers, interrupts, the tracer's doings. It comes first where it took more than half of the
 * time, and nothing that was imposed took a tenth. Items that are too small for the time take no
 * place before others.
 *
 * Part of path/ (path.h).
 */
#ifndef WHYLATE_PATH_ITEMS_H
#define WHYLATE_PATH_ITEMS_H

#include "path/shares.h"

enum item_kind {
	ITEM_FOR,         /* what others waited for, of one thread: `waiters` say who */
	ITEM_WAIT,        /* a wait that was for no thread; another share that stands alone */
	ITEM_READY,       /* ready, without a CPU */
	ITEM_WORK,        /* it worked itself */
	ITEM_SLEEP,       /* its own timers */
	ITEM_INTERRUPTED, /* by interrupts */
	ITEM_TRIED,       /* waits that were one try */
};

struct item {
	enum item_kind kind;
	uint32_t thread;     /* whose shares these are */
	bool imposed;        /* by others, or by what is short */
	bool idle;           /* most of it in waits for a next request */
	uint32_t tried;      /* place in the list of tries, from 1 */
	int64_t ns;
	GPtrArray *shares;   /* owned; of struct share, the largest first */
	GArray *waiters;     /* owned; struct waiter, the longest first */
};

/* struct item (owned): what the sentences are about, in their order. */
GPtrArray *items_new(const struct telling *telling, const GPtrArray *shares, const GArray *tries);

#endif
