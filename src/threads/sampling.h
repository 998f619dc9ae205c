/* SPDX-License-Identifier: MIT */
/* Events that carry call stacks, as samples of what ran; hardware counters of switches, as what
 * each thread executed (timeline/counts.h).
 *
 * Part of threads/. An interrupt's stack goes on with what it interrupted, so the clock's tick is a
 * sample of the thread, taken at a time that the thread has no part in: at the tick's begin, as
 * the recording of its stack may take longer than the tick. Of one interrupt only the first event
 * counts. A switch tells where the thread waits (threads/sched.c), which is no sample of what it
 * works on. Where nobody is known to run, or the CPU idles, there is none.
 *
 * perf:cpu:NAME are a CPU's: between two switches on it they counted for who ran there.
 * perf:thread:NAME are the thread's own: between two times that it left a CPU. What is not whole is
 * left out: a run in which events were lost, a counter that went back (the CPU was off). A
 * processor without counters, as most virtual machines have, records zeros: whoever ran executed
 * something, so that a run of no instructions and no cycles tells nothing.
 *
 * Source: lttng-events.md, 3.
 */
#ifndef WHYLATE_THREADS_SAMPLING_H
#define WHYLATE_THREADS_SAMPLING_H

#include "state/state.h"

/* Before what the event changes is changed. */
void flow_sample(struct flow *flow, struct cpu *cpu, const struct event *event);

/* The event was recorded just before through another channel, which is how some are recorded with
 * stacks and all without: what it changes has been changed. */
bool flow_is_copy(struct flow *flow, struct cpu *cpu, const struct event *event);

/* `thread` is leaving the CPU, NULL: the idle one, or nobody known; `followed`: it is who the
 * CPU's last switch was to. */
void flow_count(struct flow *flow, const struct host *host, struct cpu *cpu, struct thread *thread,
		bool followed, const struct event *event);

#endif
