/* SPDX-License-Identifier: MIT */
/* One walk over all that a session knows of its threads, for the exports: so
 * that formats differ in how they are written, not in what is in them.
 *
 * Place: export/, below the formats. What is visited,
 * in this order:
 *
 *   runs      of each CPU in the order of hosts and CPUs: who ran when
 *   threads   by host, PID, TID, begin; of each
 *             its frames and states in order of time, outer ones first:
 *
 *     frames  ├─ main ──────────────────────────────┤     functions, system calls
 *                   ├─ read ────────────┤
 *     states  ├user ┤work├blocked ├ready┤work├ user ┤     they tile the thread's life
 *                                 ^ wake-up: right after the state that it ended
 *
 * A state is cut where a frame begins or ends, so that each lies in one frame
 * or in none. Everything is clipped to the window, and what is shorter than
 * --min-duration is left out (with the wake-up that ended it).
 *
 * Frames are operations seen from both ends (operation.h), and system calls of
 * which only one end, or none, was seen; those have no latency.
 *
 * CPUs come first, then threads one by one, each in order of time. No format needs more, as the
 * readers of Perfetto and of the Trace Event Format sort. So memory does not grow with the trace,
 * but for 24 bytes a frame of the thread at hand, and sums of stacks. Rejected: `ftrace` packets
 * for Perfetto, which would make states of its own from them; slices of states on a track beside
 * the calls' (twice the rows, and Trace Event viewers have one track a thread).
 */
#ifndef WHYLATE_EXPORT_EXPORT_WALK_H
#define WHYLATE_EXPORT_EXPORT_WALK_H

#include "waits/causality.h"
#include "run/session.h"

#define NOT_SEEN INT64_MIN

struct walk_thread {
	uint32_t number;     /* 1 to walk.threads->len, in the order of the walk */
	uint32_t thread;
	uint32_t process;    /* index in walk.processes */
	int64_t begin, end;  /* its life in the window */
};

/* Threads of one PID; one whose PID is not known is a process of its own. */
struct walk_process {
	uint16_t host;
	int32_t pid;         /* of one without: its thread's TID */
	uint32_t name;       /* interned: its first thread's */
};

struct walk_frame {
	uint32_t what;       /* PACK of operation_kind: syscall, function or user */
	uint32_t operation;  /* number in the store, 0: not over */
	uint32_t resource;   /* interned key of what a system call was on, 0 */
	uint32_t cpu;        /* where it ended, NO_CPU */
	int64_t begin, end;  /* in the window, and in the frame around it */
	int64_t entered, left; /* as they were; NOT_SEEN */
};

struct walk_state {
	struct span span;          /* one piece; its ref as timeline.h has it */
	const struct block *block; /* of a blocked one; else NULL; borrowed */
	int64_t begin, end;        /* of the whole state: pieces of one have these in common */
	bool woken;                /* blocked: until a wake-up at `end` */
	bool goes_on;              /* ready: the next state is the same wait, for another CPU */
	bool spans_gap;
};

struct walk_wake {
	uint32_t number;           /* from 1 */
	int64_t time;
	const struct block *block; /* the wait's; whose waker is not known: kind says so */
	uint32_t woken, waker;     /* numbers in the walk; waker 0: it has none, or not known */
	uint16_t host;
	uint32_t cpu;              /* where the wake-up happened, NO_CPU: not known */
};

struct walk;

/* Any of them may be NULL. */
struct walk_visitor {
	/* `thread`: as in struct run */
	void (*run)(const struct walk *walk, uint16_t host, uint32_t cpu, int64_t begin,
		    int64_t end, uint32_t thread, void *data);
	void (*thread_begin)(const struct walk *walk, const struct walk_thread *thread, void *data);
	void (*enter)(const struct walk *walk, const struct walk_frame *frame, void *data);
	void (*state)(const struct walk *walk, const struct walk_state *state, void *data);
	void (*wake)(const struct walk *walk, const struct walk_wake *wake, void *data);
	void (*leave)(const struct walk *walk, const struct walk_frame *frame, void *data);
	void (*thread_end)(const struct walk *walk, const struct walk_thread *thread, void *data);
};

struct walk {
	const struct session *session; /* borrowed */
	GArray *threads;         /* owned; struct walk_thread */
	GArray *processes;       /* owned; struct walk_process */
	uint32_t *numbers;       /* owned; by thread: its number, 0: not exported */
	/* while it goes on: */
	const struct walk_visitor *visitor;
	void *data;
	const struct walk_thread *current;
	GArray *frames;          /* owned; struct walk_frame: open, outermost first */
	uint32_t wakes;          /* so many so far */
	uint32_t steps;          /* … since spilled records left memory last */
};

/* Of the threads that the session has selected, in its window. */
void walk_init(struct walk *walk, const struct session *session);
void walk_clear(struct walk *walk);
void walk_all(struct walk *walk, const struct walk_visitor *visitor, void *data);

/* "read", "vfs_read": without its kind. */
const char *walk_frame_name(const struct session *session, const struct walk_frame *frame);
/* "syscall", "function", "user-function". */
const char *walk_frame_kind(const struct walk_frame *frame);
/* What a state is put down to, of blocked ones; clear with cause_clear(). */
struct cause walk_cause(const struct walk *walk, const struct walk_state *state);
/* The number that stands for a PID or TID of a host where all have to be different: that of
 * the first host is as it is, the others' are moved by so many each. */
#define WALK_HOST_STEP 10000000
int64_t walk_unique_id(uint16_t host, int32_t id);
/* The waker is not known, or it was no thread that was woken. */
bool walk_wake_is_known(const struct walk_wake *wake);

#endif
