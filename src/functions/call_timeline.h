/* SPDX-License-Identifier: MIT */
/* Everything a thread did in the window, as nested rectangles: its calls, the interrupts that
 * came between, its waits, and when it was ready but had no CPU.
 *
 * Place: functions/, over frames.h and the thread's states. The picture is that of spTracer: all
 * calls between a start and a stop event.
 */
#ifndef WHYLATE_FUNCTIONS_CALL_TIMELINE_H
#define WHYLATE_FUNCTIONS_CALL_TIMELINE_H

#include "calls/call_tree.h"
#include "waits/causality.h"

enum rectangle_kind { RECTANGLE_CALL, RECTANGLE_INTERRUPT, RECTANGLE_WAIT, RECTANGLE_READY };

struct rectangle {
	int64_t begin, end;    /* whole, also where a call lies partly outside the window */
	uint32_t depth;        /* 0: in no other */
	uint8_t kind;
	uint8_t half;          /* calls: enum operation_half */
	uint32_t what;         /* calls, interrupts: of operation_kind, PACKed */
	struct span span;      /* waits, ready: the state */
};

/* Or an interrupt, which is told as one. */
static inline bool rectangle_is_call(const struct rectangle *rectangle)
{
	return rectangle->kind == RECTANGLE_CALL || rectangle->kind == RECTANGLE_INTERRUPT;
}

/* By begin, what is around before what is in it; those that --depth and --min-duration leave.
 * Free with g_array_free(). */
GArray *call_timeline_new(struct call_tree *tree, uint32_t thread);

/* What ended a wait, or why a ready thread had no CPU. Clear with cause_clear(). */
struct cause rectangle_cause(const struct session *session, uint32_t thread,
			     const struct rectangle *rectangle);

#endif
