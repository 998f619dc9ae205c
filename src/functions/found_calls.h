/* SPDX-License-Identifier: MIT */
/* What is found along the calls of threads. Place: functions/, what all its files know. */
#ifndef WHYLATE_FUNCTIONS_FOUND_CALLS_H
#define WHYLATE_FUNCTIONS_FOUND_CALLS_H

#include "calls/call_tree.h"
#include "calls/reaches.h"
#include "samples/counted_functions.h"
#include "symbols/binaries.h"

/* One function or system call, on whatever path; or a thread outside of any ("user code"). */
struct function_row {
	uint8_t kind;          /* enum call_node_kind */
	uint32_t what;         /* struct call_node's; of NODE_THREADS 0 */
	char *name;            /* owned */
	char *place;           /* owned; "file.c:12" of a user function; NULL: not known */
	uint64_t calls, open;
	int64_t idle;          /* ns of own[WIB_BLOCKED]: waited at leisure */
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
	struct user_requests *requests; /* owned; what it is limited to, NULL: nothing */
	struct call_tree *tree; /* owned */
	int64_t total[4]; /* the threads' times in the scope */
	GArray *rows; /* struct function_row; most exclusive time first */
	GArray *unreturned; /* struct unreturned, by thread */
	GArray *waits; /* struct wait_stack; longest sum first */
	GArray *callers; /* struct caller, with --function; most time first */
	GArray *in_interrupts; /* struct interrupt_call; most time first */
	GArray *reached; /* struct reached; of the probes that tell entries only */
	GPtrArray *sampled; /* owned; struct sample_tree, of those roots that have samples */
	GPtrArray *counted; /* owned; struct counted_threads, of those roots that have counters */
	GPtrArray *notes; /* owned; struct binary_note: binaries.h */
};

/* unreturned.c: calls that did not return. */
void unreturned_clear(gpointer unreturned);
/* Fills functions->unreturned. */
void unreturned_add(struct functions *functions);

#endif
