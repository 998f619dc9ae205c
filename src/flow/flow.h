/* SPDX-License-Identifier: MIT */
/* The control flow of every thread, step by step as the events pass: what others may ask of it.
 *
 * Place: over state/, objects/ and threads/: an event comes in at this door, which holds it back
 * while the order is not clear yet; its step (step.h) moves the stacks of the thread and CPU
 * concerned, and the timeline gets an interval where the state changed.
 *
 *   door (flow.c) ─► step.c ─► syscall.c, interrupt.c, gaps.c, dump.c
 *                       └────► threads/: switches, wake-ups, lives; objects/: what they act on
 *
 * Source: semantics.md; each function names the sentence it carries out.
 */
#ifndef WHYLATE_FLOW_FLOW_H
#define WHYLATE_FLOW_FLOW_H

#include "state/stacks.h"
#include "state/state.h"

void flow_init(struct flow *flow, struct model *model, struct timeline *timeline);
void flow_clear(struct flow *flow);

/* What a reader hands on, in time order. */
void flow_packet(struct flow *flow, uint32_t host, uint32_t cpu, int64_t begin);
void flow_lost(struct flow *flow, uint32_t host, uint32_t cpu, int64_t begin, int64_t end,
	       int64_t count, bool packets);
void flow_event(struct flow *flow, const struct event *event);
/* The same of a user-space trace. */
void flow_user_event(struct flow *flow, const struct event *event);
void flow_user_lost(struct flow *flow, uint32_t host, uint32_t cpu, int64_t begin, int64_t end,
		    int64_t count);
void flow_live(struct flow *flow);
/* Sets the begin of a life by its first evidence, once; before that is forgotten. */
void flow_settle_begin(struct flow *flow, struct thread *thread);
/* Ends all lives. */
void flow_end(struct flow *flow);

#endif
