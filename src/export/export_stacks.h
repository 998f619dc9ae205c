/* SPDX-License-Identifier: MIT */
/* Sums of stacks, for folded stacks and pprof: who waited, in what, for what.
 *
 * Part of export/. Of each kind (--stacks) the frames, outermost first:
 *
 *   off-cpu        process, thread, functions and system call, kernel call stack (where the
 *                  trace has the context), what was waited for, cause; or who ran meanwhile
 *   waker          process, thread, … as far as the system call, "--", the waker's frames from
 *                  the innermost out, the waker: as offwaketime(8) has it
 *   on-cpu         process, thread, functions of user space, system call, the kernel's, as samples
 *                  (callstack-user, callstack-kernel) share out each state's time
 *   all            both: off-cpu with the functions of user space before the call
 *   critical-path  process, thread, then for each wait that the path goes through what was
 *                  waited for and the thread that it leads to, state, cause
 *
 * Times are exact: off-cpu's sum is the time off the CPU, waker's the time blocked,
 * critical-path's the window, on-cpu's the time on the CPU; but threads that slept all the window
 * are left out of the first two, unless they were named.
 */
#ifndef WHYLATE_EXPORT_EXPORT_STACKS_H
#define WHYLATE_EXPORT_EXPORT_STACKS_H

#include "samples/sampled_states.h"
#include "export/export_walk.h"

struct stack_sum {
	GBytes *frames;   /* owned; uint32_t interned, outermost first */
	uint32_t thread;  /* whose; NO_THREAD if threads are not told apart */
	uint32_t cause;   /* interned kind of cause, 0: none */
	int64_t ns;
	uint64_t count;   /* waits, or pieces of the path */
};

struct stack_sums {
	struct walk *walk;       /* borrowed */
	bool by_user;            /* functions of user space come before the call */
	bool by_thread;          /* equal stacks of two threads are two */
	GPtrArray *list;         /* owned; struct stack_sum, in the order of the walk */
	/* while they are added up: */
	GHashTable *index;       /* owned; GBytes (frames, thread, cause) -> struct stack_sum */
	GArray *frames;          /* owned; uint32_t: the stack at hand */
	struct sampled_states ran; /* on-cpu, all: what ran */
	GArray *callpaths;       /* owned; GArray * of uint32_t by number of call stack; NULL */
	uint32_t cause;
	int64_t end;             /* of the state at hand */
	struct span ready;       /* … of who waits for a CPU */
	uint32_t idle; /* … interned: why nobody ran there meanwhile; 0: not asked yet */
};

/* A sampled function with its source line is one frame: "NAME\nFILE\nLINE" in `by_thread`. */
/* As the session's options say. */
void stack_sums_init(struct stack_sums *sums, struct walk *walk, bool by_thread);
void stack_sums_clear(struct stack_sums *sums);

#endif
