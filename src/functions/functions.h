/* SPDX-License-Identifier: MIT */
/* Functions: where time goes along the calls of threads, one question after the other.
 *
 * Place: functions/, behind `whylate functions`, over call_tree.h and frames.h. What is in the tree
 * is summed by function, call paths that take a good part of the time are picked (the walk), calls
 * that did not return and waits with recorded call stacks are listed. Calls that stand out are in
 * stand_outs.h. Sources: CrossWalk (the walk: breadth first, from `--threshold` of the time on),
 * spTracer (nested calls between two events).
 */
#ifndef WHYLATE_FUNCTIONS_FUNCTIONS_H
#define WHYLATE_FUNCTIONS_FUNCTIONS_H

#include "symbols/binaries.h"
#include "calls/call_tree.h"

/* One function or system call, on whatever path; or a thread outside of any ("user code"). */
struct function_row {
	uint8_t kind;          /* enum call_node_kind */
	uint32_t what;         /* struct call_node's; of NODE_THREADS 0 */
	char *name;            /* owned */
	char *place;           /* owned; "file.c:12" of a user function; NULL: not known */
	uint64_t calls, open;
	int64_t own[4], all[4]; /* ns; of calls inside a call of itself, `all` counts once */
};

/* A thread in calls that had not returned when it, or the trace, ended. */
struct unreturned {
	uint32_t thread;
	GArray *frames;        /* owned; uint32_t: places in its frames, outermost first */
	bool died;             /* the thread ended in them */
	uint32_t cause;        /* interned "kind: label": what it waits for; 0: it does not */
	int64_t since;         /* when the innermost began */
	bool strange;          /* the innermost takes longer than any that returned, or is no
				  call in which threads wait at leisure */
};

/* Waits of one thread's name, in one call, that came the same way. */
struct wait_stack {
	uint32_t root;         /* node: which threads */
	uint32_t leaf;
	uint32_t kernel, user; /* numbers of call stacks, 0: not recorded */
	uint32_t count;
	int64_t ns, longest;
	uint32_t thread;       /* … the longest one's, */
	int64_t begin;         /* … when, … */
	const struct block *block; /* … and how it ended; borrowed */
};

/* A function of the kernel that interrupts called, or the idle loop, whoever ran: not in the sums.
 * */
struct interrupt_call {
	uint32_t interrupt, what; /* of operation_kind, PACKed; UINT32_MAX: the idle loop */
	uint64_t calls;
	int64_t all, own; /* ns */
};

/* Where a function that --function asks for was called from. */
struct caller {
	uint32_t root; /* node: which threads */
	char *path; /* owned; "main > comm_select"; "" in no call */
	uint32_t what; /* the function */
	uint64_t calls;
	int64_t times[4]; /* ns, with all that it called, by enum wib */
};

struct functions {
	const struct session *session; /* borrowed */
	struct call_tree *tree; /* owned */
	int64_t total[4]; /* the threads' times in the scope */
	GArray *rows; /* struct function_row; most exclusive time first */
	GArray *unreturned; /* struct unreturned, by thread */
	GArray *waits; /* struct wait_stack; longest sum first */
	GArray *callers; /* struct caller, with --function; most time first */
	GArray *in_interrupts; /* struct interrupt_call; most time first */
	GPtrArray *notes; /* owned; struct binary_note: binaries.h */
};

struct functions *functions_new(const struct session *session);
/* False and `error` (usage): --function names none that is called. */
bool functions_check(const struct functions *functions, GError **error);
void functions_free(struct functions *functions);

/* --metric's time of a root's outermost functions of user space; where none were recorded, of all
 * of the threads' lives. What shares are of. */
int64_t functions_scope(const struct functions *functions, uint32_t root);
/* The node's --metric time; of a thread that was waited for all of its time meanwhile, as that was
 * time blocked. */
int64_t functions_node_time(const struct functions *functions, uint32_t node);
/* The node is a bottleneck: its --metric time is at least --threshold percent of that. */
bool functions_is_bottleneck(const struct functions *functions, uint32_t root, uint32_t node);

/* The functions of a call stack in user space, outermost first; owned strings. */
GPtrArray *user_callpath_new(const struct session *session, uint32_t thread, int64_t time,
			     uint32_t number);

/* The kernel's functions that led to a wake-up, outermost first, without what an interrupt
 * interrupted; owned strings. */
GPtrArray *waker_callpath_new(const struct session *session, uint32_t number);

#endif
