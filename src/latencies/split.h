/* SPDX-License-Identifier: MIT */
/* Splitting one operation's time into the parts of its peak's tree.
 *
 * Place: latencies/, between the stores and roots.c. Source: roots.h.
 */
#ifndef WHYLATE_LATENCIES_SPLIT_H
#define WHYLATE_LATENCIES_SPLIT_H

#include "latencies/profile.h"
#include "util/idmap.h"

/* A stretch of a thread's time that is of a part whose `thing` is asked for. `by_turns`: somebody
 * on the way there waited for what comes first, from anybody. */
typedef void split_noter(guint thing, uint32_t thread, int64_t begin, int64_t end, bool by_turns,
			 void *data);

struct split {
	const struct session *session;
	const struct buckets *buckets;
	const struct options *options;
	struct peak *peak;
	const struct operation *operation;
	GArray *frames; /* uint32_t: inside the operation, latest first */
	guint frame; /* … the next to take */
	GArray *spans; /* struct span: off CPU inside the operation, by begin */
	guint span; /* … spans left */
	GArray *path; /* uint32_t: threads whose waits are being followed */
	bool *tracers; /* owned; session_tracers() */
	struct idmap by_thread; /* thread -> interned "by:NAME" */
	GArray *callpaths; /* uint32_t: interned text by call stack; 0: not made */
	bool works; /* the operation is a frame: it has work of its own */
	bool spans_gap; /* … overlaps lost events */
	split_noter *note; /* NULL: nothing is asked for */
	void *data; /* borrowed; for that */
	guint turns; /* waits of others that are being followed, for what comes first */
	int64_t until; /* while frames are walked back: who did what behind it is told */
};

void split_init(struct split *split, const struct profiles *profiles);
void split_clear(struct split *split);

/* Gives the time of `split->operation` to the parts of `split->peak`'s tree:
 * their sums, until part_take()'s are settled. */
void split_operation(struct split *split);
/* The stretches of the operation's parts are noted; the tree stays as it is. */
void split_note(struct split *split);
/* The part for the operation's own work. */
struct part *split_own(struct split *split, struct part *top);

#endif
