/* SPDX-License-Identifier: MIT */
/* When the kernel began to end a thread.
 *
 * Place: threads/.
 */
#ifndef WHYLATE_THREADS_DEATHS_H
#define WHYLATE_THREADS_DEATHS_H

#include "state/state.h"

/* A signal was generated; it was delivered to the thread that runs. */
void death_signal(struct flow *flow, const struct cpu *cpu, const struct event *event);
void flow_signal_deliver(struct flow *flow, struct cpu *cpu, const struct event *event);
/* The thread entered a system call. */
void death_call(struct flow *flow, struct thread *thread);
/* The thread is over: sets its `ends_from`, if that was seen. */
void death_found(struct flow *flow, struct thread *thread, int64_t time);

#endif
