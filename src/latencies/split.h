/* SPDX-License-Identifier: MIT */
/* Splitting one operation's time into the parts of its peak's tree.
 *
 * Place: latencies/, between the stores and roots.c. Source: roots.h.
 */
#ifndef WHYLATE_LATENCIES_SPLIT_H
#define WHYLATE_LATENCIES_SPLIT_H

#include "latencies/profile.h"
#include "util/idmap.h"

struct split {
	const struct session *session;
	const struct buckets *buckets;
	const struct options *options;
	struct peak *peak;
	const struct operation *operation;
	GArray *frames;  /* uint32_t: inside the operation, latest first */
	guint frame;     /* … the next to take */
	GArray *spans;   /* struct span: off CPU inside the operation, by begin */
	guint span;      /* … spans left */
	GArray *path;    /* uint32_t: threads whose waits are being followed */
	bool *tracers;   /* owned; session_tracers() */
	struct idmap by_thread; /* thread -> interned "by:NAME" */
	GArray *callpaths; /* uint32_t: interned text by call stack; 0: not made */
	bool works;      /* the operation is a frame: it has work of its own */
	bool spans_gap;  /* … overlaps lost events */
};

void split_init(struct split *split, const struct profiles *profiles);
void split_clear(struct split *split);

/* Gives the time of `split->operation` to the parts of `split->peak`'s tree:
 * their sums, until part_take()'s are settled. */
void split_operation(struct split *split);
/* The part for the operation's own work. */
struct part *split_own(struct split *split, struct part *top);

#endif
