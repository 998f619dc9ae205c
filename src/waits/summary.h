/* SPDX-License-Identifier: MIT */
/* The Working / Interrupted / Blocked summary of a thread in a window: a tree
 * of times, and the instances of every node.
 *
 * Place: waits/. Children sum to their parent exactly, also where the tree
 * goes deeper than the leaf (file, device, who ran). Instances of a node are
 * the maximal intervals under it. Source: semantics.md, "Working,
 * Interrupted, Blocked"; third elements: interface.md, "JSON".
 */
#ifndef WHYLATE_WAITS_SUMMARY_H
#define WHYLATE_WAITS_SUMMARY_H

#include "run/session.h"
#include "samples/counter_sums.h"
#include "samples/function_sums.h"
#include "waits/state_names.h"

struct instance {
	int64_t begin, end;
	bool spans_gap;
};

struct idmap;

struct node {
	uint32_t id;         /* position in a walk that visits parents first */
	char *element;       /* owned; last element of the path, "total" for the root */
	char *label;         /* owned; for people */
	struct node *parent; /* borrowed */
	int64_t ns;
	uint64_t count;      /* instances */
	GPtrArray *children; /* owned; largest first */
	GArray *instances;   /* struct instance, longest first, at most the limit */
	bool spans_gap;      /* some instance does */
	struct functions_sampled sampled; /* what ran in it … */
	uint32_t sampled_leaf; /* … that state, of one with samples below working */
	struct counters counters; /* of all its work: what hardware counters counted; else runs 0 */

	/* while it is built */
	int64_t shortest; /* once cut to the limit: what is no longer is left out */
	struct function_sums *sums; /* owned; NULL: no samples */
	uint64_t tag; /* what tells it from its siblings */
	struct idmap *index; /* owned; tag -> place in children, once there are many; NULL */
	int64_t open_begin, open_end;
	bool open, open_gap;
};

/* The tree of `thread` in [from, to). Never NULL. */
struct node *summary_new(const struct session *session, uint32_t thread, int64_t from, int64_t to);
void node_free(struct node *node);

/* "working/syscall:read" and so on; free with g_free(). "total" for the root. */
char *node_key(const struct node *node);

#endif
