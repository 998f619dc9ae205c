/* SPDX-License-Identifier: MIT */
/* User space's events; none of them changes the states.
 *
 * Place: threads/.
 */
#ifndef WHYLATE_THREADS_USER_H
#define WHYLATE_THREADS_USER_H

#include "state/state.h"

void user_step(struct flow *flow, const struct event *event);
void user_gap_begin(struct flow *flow, const struct event *notice);
/* After the child's own record; before the name of the new program's file matters. */
void user_fork(struct flow *flow, struct thread *child, const struct thread *parent);
void user_exec(struct flow *flow, struct thread *thread, uint32_t index);
/* … what it executes has got its name. */
void user_program(struct flow *flow, const struct thread *thread);
/* Records what is on the stack at the end of its thread or of the trace, as
 * operation_frames_end() does for system calls and the kernel's functions. */
void user_frames_end(struct flow *flow, struct thread *thread, uint32_t index, int64_t end);

#endif
