/* SPDX-License-Identifier: MIT */
/* Who stopped a thread.
 *
 * Place: threads/.
 */
#ifndef WHYLATE_THREADS_STOP_H
#define WHYLATE_THREADS_STOP_H

#include "state/state.h"

/* A signal was generated; those that stop a thread, or say that one stopped, are kept. */
void stop_signal(struct flow *flow, struct host *host, const struct cpu *cpu,
		 const struct event *event);
/* `thread` has just left the CPU stopped, or stopped for its tracer. */
void thread_stops(struct flow *flow, struct host *host, struct thread *thread, bool traced);
/* The wait of `block`, in state `leaf`, has just been ended by `waker`: was its cgroup frozen, or
 * the file system that it was to write to? */
void thread_thaws(struct flow *flow, const struct thread *thread, struct block *block,
		  uint32_t leaf, const struct waker *waker);
/* The file of that key freezes a cgroup, and thaws it. */
bool key_freezes(const char *key);

#endif
