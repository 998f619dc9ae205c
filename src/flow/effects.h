/* SPDX-License-Identifier: MIT */
/* What a system call that succeeded changes.
 *
 * Place: flow/.
 */
#ifndef WHYLATE_FLOW_EFFECTS_H
#define WHYLATE_FLOW_EFFECTS_H

#include "state/state.h"

void call_effects(struct flow *flow, uint32_t index, struct thread *thread,
		  const struct event_syscall *args);
/* A thread that tries something (tries/tries.h) calls exit or exit_group. */
void call_exits(struct flow *flow, uint32_t index);

#endif
