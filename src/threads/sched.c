/* SPDX-License-Identifier: MIT */
/* Switches: who runs, who left and why.
 *
 * Part of threads/ (state diagram in states.h). Source: semantics.md, "What a CPU
 * runs", "Scheduled out"; for lost events "Gaps", whose letters A to E name the
 * cases in comments here.
 */
#include "threads/sched.h"

#include "objects/operation_log.h"
#include "threads/arrival.h"
#include "threads/sampling.h"
#include "threads/namespaces.h"
#include "threads/states.h"
#include "threads/stop.h"
#include "threads/wake.h"

/* The CPU ran `thread` as far as was known, and that proves wrong. */
static void lose_track(struct flow *flow, struct host *host, struct cpu *cpu)
{
	if (is_thread(cpu->current)) {
		struct thread *thread = flow_thread(flow, cpu->current);

		if (thread->state == THREAD_RUNNING && thread->flow.cpu == cpu->id)
			thread_lost(flow, thread);
	}
	cpu_runs(flow, host, cpu, NO_THREAD);
}

#define TASK_INTERRUPTIBLE 1 /* of prev_state, however it is written */

static void switch_out(struct flow *flow, struct host *host, struct cpu *cpu, struct thread *thread,
		       int64_t prev_state)
{
	bool remembered = thread->flow.remembered;

	thread->flow.remembered = false;
	/* "a fault of a thread that never returns to user mode is over at its next switch out":
	 * one without system calls and faults in user mode, as io_uring's workers */
	if (!thread->flow.call.open && !thread->flow.has_call)
		thread->flow.fault = false;
	if (host_is_idle_sleep(host, prev_state))
		thread->kernel = true;
	switch (host_switch_out(host, prev_state)) {
	case OUT_DEAD:
		cpu->current = NO_THREAD; /* the next one follows at once */
		thread_end(flow, thread, flow->time);
		break;
	case OUT_PREEMPTED:
		thread->state = THREAD_PREEMPTED;
		thread->flow.since = flow->time;
		flow_append(flow, thread, flow->time, PACK(LEAF_PREEMPTED, 0), cpu->id);
		break;
	case OUT_STOPPED:
		thread_block(flow, thread, flow->time, PACK(LEAF_BLOCK_STOPPED, 0));
		thread_stops(flow, host, thread, false);
		break;
	case OUT_TRACED:
		thread_block(flow, thread, flow->time, PACK(LEAF_BLOCK_TRACED, 0));
		thread_stops(flow, host, thread, true);
		break;
	default:
		thread->flow.remembered = remembered; /* until its next switch */
		thread->flow.interruptible = prev_state & TASK_INTERRUPTIBLE;
		thread_block(flow, thread, flow->time, thread_blocked_leaf(thread));
		if (host_is_idle_sleep(host, prev_state))
			block_at(flow->timeline, thread->flow.block)->operation = IDLE_OPERATION;
		break;
	}
}

/* The functions that led to the wait. */
static void switch_callstacks(struct flow *flow, const struct thread *thread,
			      const struct event *event)
{
	struct block *block = block_at(flow->timeline, thread->flow.block);
	struct callpaths paths = *callpaths_at(&flow->callstacks, block->callpaths);

	paths.kernel = callstack_id(&flow->callstacks, &event->callstack);
	paths.user = callstack_id(&flow->callstacks, &event->user_callstack);
	flow->has_wait_stacks |= paths.kernel || paths.user;
	block->callpaths = callpaths_id(&flow->callstacks, &paths);
}

/* prev ran until now, whether that was known or not. */
static void switch_from(struct flow *flow, struct host *host, struct cpu *cpu,
			const struct event *event)
{
	int32_t tid = event->sched_switch.prev_tid;
	uint32_t index =
		tid == 0 ? IDLE_THREAD
			 : thread_findnew(flow, event->host, tid, event->sched_switch.prev_comm);
	bool in_gap = flow_in_gap(flow, cpu);
	struct thread *thread = index == IDLE_THREAD ? NULL : flow_thread(flow, index);

	flow_count(flow, host, cpu, thread, cpu->current == index, event);
	flow->switches += cpu->current != NO_THREAD && !in_gap;
	if (cpu->current != NO_THREAD && cpu->current != index && !in_gap) {
		flow->odd[ODD_SWITCH_MISMATCH]++;
		flow->strange_switches++;
		lose_track(flow, host, cpu);
	}
	if (cpu->depth) {
		flow->odd[ODD_FRAMES_AT_SWITCH]++;
		flow->odd[ODD_EXIT_UNSEEN] += cpu->depth;
		cpu->depth = 0;
	}
	cpu->frames_lost &= in_gap;
	operations_drop_cpu(cpu);
	cpu->pending.kind = DETAIL_NONE;
	cpu->last_woken = NO_THREAD;
	if (!thread || thread->state == THREAD_DEAD)
		return;
	thread_runs(flow, thread, cpu); /* C: before the switch it is unknown */
	if (event->sched_switch.vtid || event->sched_switch.cgroup_ns)
		context_namespaces(flow, thread, event);
	if (event->sched_switch.prev_prio != NO_PRIORITY)
		thread->priority = event->sched_switch.prev_prio;
	switch_out(flow, host, cpu, thread, event->sched_switch.prev_state);
	thread->flow.left = flow->time;
	/* preempted it is halted still, and sleeps next, as KVM does not poll while another thread
	 * is to run: virt/kvm/kvm_main.c */
	thread->flow.halted &= thread->state != THREAD_BLOCKED;
	flow->has_callstacks |= event->has_callstacks && event->callstack.count > 0;
	if (event->has_callstacks && thread->state == THREAD_BLOCKED)
		switch_callstacks(flow, thread, event);
}

static void switch_to(struct flow *flow, struct host *host, struct cpu *cpu,
		      const struct event *event)
{
	int32_t tid = event->sched_switch.next_tid;
	bool in_gap = flow_in_gap(flow, cpu);
	uint32_t index;
	struct thread *thread;

	if (tid == 0) {
		cpu_runs(flow, host, cpu, in_gap ? NO_THREAD : IDLE_THREAD);
		return;
	}
	index = thread_findnew(flow, event->host, tid, event->sched_switch.next_comm);
	thread = flow_thread(flow, index);
	thread_leaves_other_cpu(flow, thread, cpu);
	if (host_gap_over(host, thread->flow.left, flow->time)) {
		thread->flow.unseen_from = thread->flow.left;
		thread->flow.unseen_until = flow->time;
		/* a worker may have run in the gap, and be at another item since */
		thread->flow.work.doing = thread->flow.commits = false;
	}
	if (thread->state == THREAD_UNKNOWN && thread->flow.remembered) {
		thread_was_woken(flow, thread);
	} else if (thread->state == THREAD_UNKNOWN) {
		thread_found_off(flow, thread, THREAD_WAIT_CPU);
	} else if (thread->state == THREAD_BLOCKED) {
		struct block *block = block_at(flow->timeline, thread->flow.block);

		flow->odd[ODD_WAKEUP_UNSEEN]++;
		block->kind = WAKER_UNKNOWN;
		block->why = WHY_NO_WAKEUP;
		thread_contradicted(flow, thread,
				    thread->flow.since); /* E, where events were lost */
	}
	if (thread->state == THREAD_WAIT_CPU) {
		struct interval *last = track_last(flow->timeline, &thread->track);

		flow_thread_arrives(flow, cpu, thread);
		operation_wait_cpu(flow, cpu, thread, index);
		if (last->leaf == PACK(LEAF_WAIT_CPU, 0))
			last->ref = cpu->id; /* it waited for this CPU in the end */
	}
	thread->flow.remembered = false;
	thread->by_fork = false;
	thread->flow.cpu = cpu->id;
	if (in_gap) { /* D: it ran at this instant; unknown after it */
		thread_lost(flow, thread);
		cpu_runs(flow, host, cpu, NO_THREAD);
		return;
	}
	thread->state = THREAD_RUNNING;
	cpu->priority = event->sched_switch.next_prio;
	if (cpu->priority != NO_PRIORITY)
		thread->priority = cpu->priority;
	cpu_runs(flow, host, cpu, index);
	flow_refresh(flow, thread, cpu);
}

void flow_switch(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct host *host = flow_host(flow, event);

	switch_from(flow, host, cpu, event);
	switch_to(flow, host, cpu, event);
	cpu->last_switch = flow->time;
}
