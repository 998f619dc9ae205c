/* SPDX-License-Identifier: MIT */
/* The ways to a target in two traces, and what each thing on them took. Place: diff/, what target.h
 * and target_words.h both know. */
#ifndef WHYLATE_DIFF_TARGET_PART_H
#define WHYLATE_DIFF_TARGET_PART_H

#include "diff/thread_match.h"
#include "path/path_sums.h"

struct target_part {
	uint32_t thread[2]; /* NO_THREAD: not on that side, or it is … */
	bool many; /* … of a family: thread_match.h */
	uint32_t leaf, resource; /* as in the session of `side`; resource 0: none */
	enum cause_kind cause;
	int side; /* where it is told of: it took longer there */
	int64_t ns[2], longest[2];
	uint64_t count[2]; /* pieces */
	char *cause_words[2]; /* owned; of the longest; NULL */
	uint32_t waiter[2]; /* who waited for the longest, NO_THREAD; in … */
	uint32_t waited_in[2]; /* … this leaf */
	bool spans_gap;
	uint32_t seen_leaf[2], seen_resource[2]; /* … of each side */
	char *label; /* owned; of the thread, on both sides */
	char *sentence; /* owned */
};

struct target {
	uint32_t thread[2];
	int64_t from[2], to[2];
	char *begin, *end; /* owned; what both windows begin and end with, for people */
	char *caution; /* owned; why the two may not be alike, NULL */
	GArray *functions[2]; /* owned; struct function_total of the ways; NULL before */
	GArray *parts; /* struct target_part; largest difference first, whatever its sign */
	char *verdict; /* owned; the answer in a sentence */
};

static inline int64_t target_ns(const struct target *target, int side)
{
	return target->to[side] - target->from[side];
}
static inline int64_t part_difference(const struct target_part *part)
{
	return part->ns[1] - part->ns[0];
}

#endif
