/* SPDX-License-Identifier: MIT */
/* Block requests, from the first bio to the completion.
 *
 * Place: objects/.
 */
#ifndef WHYLATE_OBJECTS_BLOCK_H
#define WHYLATE_OBJECTS_BLOCK_H

#include "state/state.h"

void flow_block(struct flow *flow, struct cpu *cpu, const struct event *event);
/* Of a request merged of several threads' bios, `detail` (a copy of what its
 * completion left pending) gets the part of who was woken, if he has one. */
void block_detail_for(const struct flow *flow, struct host *host, struct wake_detail *detail,
		      const struct thread *woken);
/* The request that `thread` asked for and that completed last, since it is blocked:
 * what its completion had left pending, and when that was. False: none. */
bool block_completed_for(struct flow *flow, struct host *host, const struct thread *thread,
			 struct wake_detail *detail, int64_t *end);

#endif
