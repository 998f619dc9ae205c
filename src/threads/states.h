/* SPDX-License-Identifier: MIT */
/* The states of a thread, and what moves it from one to another.
 *
 *          fork seen                    sched_switch next
 *   (born) ──────────► WAIT_CPU ───────────────────────────► RUNNING
 *                         ▲                                   │ │ │
 *              waking,    │        prev, state 0 or preempted │ │ │ dead
 *              wakeup     │      PREEMPTED ◄──────────────────┘ │ └──► DEAD
 *                         │          │ next ──► RUNNING         │
 *                         └──────── BLOCKED ◄───────────────────┘ prev, else
 *
 *   UNKNOWN: before the first evidence and after events were lost; left by
 *   any evidence (thread_runs(), thread_found_off()).
 *
 * Invariant: a thread in state RUNNING is `current` of the CPU that it runs on, and its
 * last interval is the leaf of its own frames and that CPU's (flow_refresh());
 * flow/flow_check.c looks, for this and more.
 *
 * Place: threads/, at its bottom. Source: semantics.md, "What a CPU runs", "Gaps".
 */
#ifndef WHYLATE_THREADS_STATES_H
#define WHYLATE_THREADS_STATES_H

#include "state/state.h"

/* The thread is known to run on `cpu` from now on, whatever was thought. */
void thread_runs(struct flow *flow, struct thread *thread, const struct cpu *cpu);
/* It runs here, so nowhere else: the CPU where it was thought to run has an unknown thread. */
void thread_leaves_other_cpu(struct flow *flow, struct thread *thread, const struct cpu *here);
/* Found off CPU, not seen to leave: in `state` since S or the last gap's end. */
void thread_found_off(struct flow *flow, struct thread *thread, enum thread_state state);
/* Events were lost: nothing is known of the thread from now on. */
void thread_lost(struct flow *flow, struct thread *thread);
/* Begins a known history at `time`. */
void thread_history(struct thread *thread, int64_t time);
/* What was seen contradicts the off-CPU stretch: unknown from where events
 * were lost. False if none were. */
bool thread_contradicted(struct flow *flow, struct thread *thread, int64_t since);
/* Since when it is off the CPU: who waits for one was blocked or preempted before. */
int64_t thread_off_since(const struct thread *thread);
void thread_block(struct flow *flow, struct thread *thread, int64_t time, uint32_t leaf);
/* The leaf of a thread that goes to sleep, by its frames. */
uint32_t thread_blocked_leaf(const struct thread *thread);
void thread_end(struct flow *flow, struct thread *thread, int64_t time);
/* `cpu` runs `thread`, IDLE_THREAD or NO_THREAD from now on. */
void cpu_runs(struct flow *flow, struct host *host, struct cpu *cpu, uint32_t thread);

#endif
