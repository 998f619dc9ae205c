/* SPDX-License-Identifier: MIT */
/* The calls of one thread, nested: system calls, functions of the kernel and of user space, and
 * the interrupts that came between.
 *
 *   main ├──────────────────────────────────────────────┤
 *          read ├──────────────┤     compute ├───────┤
 *                  irq ├┤
 *
 * Place: calls/, over the store of operations (timeline/operation.h), in which a frame lies
 * behind what was nested in it. Here each stands before what is nested in it, by its begin, so a
 * call's own frames are a stretch of the list. Source: semantics.md, "The control-flow stack of
 * a thread".
 */
#ifndef WHYLATE_CALLS_FRAMES_H
#define WHYLATE_CALLS_FRAMES_H

#include "latencies/operations.h"

#define NO_FRAME UINT32_MAX

struct call_frame {
	int64_t begin, end;   /* whole, also where they lie outside the window */
	uint32_t what; /* PACK of operation_kind; of a user function its name: operation_what() */
	uint32_t ref : 29; /* user function: interned "0xADDRESS"; else struct operation's */
	uint32_t half : 2; /* enum operation_half */
	uint32_t in_interrupt : 1; /* an interrupt, or called in one: not the thread's doing */
	uint32_t parent; /* place in the list, NO_FRAME */
	uint32_t after; /* place behind its last nested frame */
};

struct frames {
	GArray *list; /* struct call_frame */
	uint32_t thread;
	bool stays; /* for who keeps several: not one of those to be freed first */
};

/* Those of `thread` that are in [from, to), or partly. Free with frames_free(). */
struct frames *frames_new(const struct session *session, uint32_t thread, int64_t from, int64_t to);
/* Those of a CPU while it was idle, or nobody knows whose. */
struct frames *frames_of_idle(const struct session *session, const struct cpu *cpu, int64_t from,
			      int64_t to);
/* The turns of a thread that loops (latencies/busy.h) that begin and end there: nothing is nested
 * in them here. */
struct frames *frames_of_turns(const struct session *session, uint32_t thread, int64_t from,
			       int64_t to);
void frames_free(struct frames *frames);

static inline const struct call_frame *frame_of(const struct frames *frames, uint32_t place)
{
	return &g_array_index(frames->list, struct call_frame, place);
}

/* The innermost call at `time`, of the thread's own (interrupts are none); NO_FRAME. `until`:
 * when it may be another. */
uint32_t frames_at(const struct frames *frames, int64_t time, int64_t *until);
/* The same for times that only go on; `place`: 0 first, then as it left it. */
uint32_t frames_on(const struct frames *frames, uint32_t *place, int64_t time, int64_t *until);

/* The first frame that begins at `time` or later; the length of the list: none does. */
uint32_t frames_from(const struct frames *frames, int64_t time);

/* It is a call: of the kernel, or of a function. */
static inline bool frame_is_call(const struct call_frame *frame)
{
	return PACK_KIND(frame->what) <= OPERATION_USER;
}

/* A system call in which threads wait until others have something for them, or it is time. */
bool frame_waits_for_others(const struct session *session, const struct call_frame *frame);

static inline bool what_is_turn(uint32_t what)
{
	return PACK_KIND(what) == OPERATION_BUSY;
}

/* Its begin was seen. */
static inline bool frame_is_counted(const struct call_frame *frame)
{
	return frame->half != OPERATION_ENTRY_UNSEEN;
}

/* "main", "syscall:read", "vfs_read": what a frame is called where its kind is plain;
 * free with g_free(). */
char *frame_name(const struct session *session, uint32_t what);
/* The frame is of a function that --function asks for (any, without it). */
bool frame_is_wanted(const struct session *session, const struct call_frame *frame);

#endif
