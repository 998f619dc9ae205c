/* SPDX-License-Identifier: MIT */
/* Where the time of threads goes, call path by call path, on both sides of the kernel boundary,
 * and beyond: what was waited for.
 *
 *   proxyapp                         a thread, or those of one name
 *   └ main                           function of user space
 *     └ comm_select
 *       ├ syscall:epoll_wait         system call
 *       │ └ ep_poll                  function of the kernel: probe, or call stack at the wait
 *       │   · timer                  what the time off the CPU, or interrupted, was put down to
 *       └ store_swap_out
 *         └ syscall:fsync
 *           · jbd2/vda-8             … a thread that it waited for, and that one's calls
 *             · block-device: vda
 *
 * Place: calls/, behind `whylate functions`; made of frames.h and of the critical paths of the
 * threads (path.h), which tile their lives: so the exclusive times of a thread's calls (`own`) sum
 * to its life in the scope, and each call's inclusive time is its own and its calls'. What lies
 * below a call by `waits` explains its own time, and is no part of these sums.
 * Source: semantics.md, "Working, Interrupted, Blocked", "Critical path"; the walk from function
 * to function across the kernel's boundary is CrossWalk's.
 *
 * A call whose exit was not seen before the exit of a call around it (longjmp(), an exception, a
 * missed kretprobe) is not a frame: nobody knows when it ended, so it is counted, and its time
 * stays its caller's. A function that only a call stack shows is a node at that wait, not a frame.
 * Rejected: to sum the frames' own lengths (interrupts, waits and other threads' work would have
 * to be taken out of each), and to end such a call with the next event (that invents a latency).
 */
#ifndef WHYLATE_CALLS_CALL_TREE_H
#define WHYLATE_CALLS_CALL_TREE_H

#include "tracking/piece_cause.h"
#include "calls/call_scope.h"
#include "calls/frames.h"

enum call_node_kind {
	NODE_THREADS,  /* threads of one name, on one host */
	NODE_CALL,     /* `what` is a frame's */
	NODE_SAMPLED,  /* a function of a recorded call stack; `what`: interned name */
	NODE_WAITS_FOR, /* a thread that was waited for; `what`: interned name */
	NODE_CAUSE,    /* `what`: interned "kind: label" */
};

#define NO_NODE UINT32_MAX
#define CALL_TREE_DEPTH 250 /* levels; deeper calls count where they would begin */

struct call_node {
	uint8_t kind;
	bool elsewhere;            /* of a thread that was waited for */
	uint32_t what;
	uint32_t parent;           /* NO_NODE: none */
	uint32_t depth;
	uint32_t latest[2]; /* private: child and wait that were looked for last, 0: none */
	GArray *children, *waits; /* owned; uint32_t: places of nodes; largest first */
	uint64_t calls; /* that were entered in the scope */
	uint64_t open; /* … and not left before the thread or trace ended */
	int64_t own[4], all[4]; /* ns, by enum wib: exclusive, inclusive */
	int64_t idle; /* ns of `all`, blocked: at leisure (waits/idle.h) */
	int64_t own_idle; /* … of `own` */
	uint32_t thread; /* one that was there, */
	uint32_t ref; /* … user function: interned address there, */
	int64_t at; /* … and when */
};

struct call_tree {
	const struct session *session; /* borrowed */
	GArray *nodes; /* struct call_node */
	GArray *roots; /* uint32_t: NODE_THREADS; who worked most first */
	GPtrArray *threads; /* owned; GArray of uint32_t: threads of each root, as in `roots` */
	struct call_scope scope; /* whose time it is */
	bool of_requests; /* … that is limited to requests: nothing of it is idle */
	struct piece_namer *namer; /* owned; for names and causes */
	GPtrArray *frames; /* owned; struct frames by thread, NULL: not asked for yet */
	GPtrArray *turns; /* owned; the same of their turns */
	uint64_t frames_held; /* so many in all of these, */
	uint64_t frames_most; /* … and may be */
	guint longest_list; /* of frames that was made */
	const GArray *only; /* borrowed; uint32_t: the threads that a part asks for; NULL: any */
	GHashTable *longest; /* owned; what the threads called -> int64_t: the longest such
				      call that was seen from both ends, 0: none was */
	/* private */
	uint64_t held_before; /* of a part: so many frames were there when it began */
	GHashTable *index;
	struct idmap causes;
	GHashTable *labels; /* owned; of causes -> interned: that is one table, with a lock */
	GString *label; /* owned; of the cause at hand */
	uint32_t idle_text; /* interned, 0: not asked for yet */
	uint32_t *names; /* owned; interned, of each thread, 0: not asked for yet */
	GArray *no_frames; /* empty */
	uint32_t *node_of_frame; /* of the thread being added; 0: not looked for, else + 1 */
};

/* Of the selected threads, or (none selected) of those that have functions; if there are none,
 * of all that worked but the kernel's and the recorder's. In the window; with --function only
 * inside these; with `requests` (NULL: without) only while they work on those listed, and where
 * none is selected of all that do. Free with call_tree_free(). */
struct call_tree *call_tree_new(const struct session *session,
				const struct user_requests *requests);
void call_tree_free(struct call_tree *tree);

static inline const struct call_node *call_node_at(const struct call_tree *tree, uint32_t place)
{
	return &g_array_index(tree->nodes, struct call_node, place);
}

/* The frames of a thread in the window; owned by the tree, until call_tree_let_go(). */
const struct frames *call_tree_frames(struct call_tree *tree, uint32_t thread);
/* The list that a frame of `what` is in: turns have one of their own. */
const struct frames *call_tree_frames_of(struct call_tree *tree, uint32_t thread, uint32_t what);
/* Frees frames, if there are many, but those of `keep` (NO_THREAD: of nobody); they are made again
 * when they are asked for. */
void call_tree_let_go(struct call_tree *tree, uint32_t keep);

/* The same tree for a part of a report (parts/make_parts.h), of its session: it may ask for the
 * frames of `threads` (uint32_t, borrowed), which nobody else asks for meanwhile, and no more. When
 * all parts are made, call_tree_part_end() frees it, and leaves the tree the frames. */
struct call_tree *call_tree_part_new(struct call_tree *tree, const struct session *session,
				     const GArray *threads);
void call_tree_part_end(struct call_tree *tree, struct call_tree *part);

/* What a piece of a path is put down to, as piece_cause.h has it: interned "kind: label". */
uint32_t call_tree_cause(struct call_tree *tree, const struct path *path,
			 const struct piece *piece);

char *call_node_name(const struct call_tree *tree, uint32_t node);
/* "thread", "function", "syscall", "kernel-function", "trap", "sampled", "waits-for", "cause". */
const char *call_node_kind_text(const struct call_node *node);
/* What was asked for, of a node's times: the sum of `times` that --metric says. */
int64_t function_metric_of(const struct session *session, const int64_t times[4]);

#endif
