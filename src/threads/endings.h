/* SPDX-License-Identifier: MIT */
/* Processes that were asked to end, and did not in time.
 *
 *   S   ── kill(T, 15) ──┤ poll, 1 s        ├── kill(T, 9) ──     it waited for T's end
 *   T   ── ignores it, or cleans up ──────────────── killed
 *
 * When a process kills another by signal 9 that it has asked to end before, its waits between that
 * its own time limit ended, or the program sleep, were for the other's end. The same holds for a
 * wait for children or signals that a time limit ended right before a signal asks for the first
 * time: the limit of timeout(1).
 *
 * Part of threads/. Source: own; docs/semantics.md, "Time limits".
 */
#ifndef WHYLATE_THREADS_ENDINGS_H
#define WHYLATE_THREADS_ENDINGS_H

#include "state/state.h"

/* A signal was generated. */
void ending_signal(struct flow *flow, struct host *host, const struct cpu *cpu,
		   const struct event *event);

#endif
