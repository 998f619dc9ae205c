/* SPDX-License-Identifier: MIT */
/* Switches and thread lives: who runs, who left and why, who was born.
 *
 * Part of flow/ (state diagram in flow.h). Source: semantics.md, "Who",
 * "What a CPU runs", "Scheduled out"; for lost events "Gaps", whose letters
 * A to E name the cases in comments here.
 */
#include "flow/flow.h"

#include <sched.h>
#include <string.h>

#include "objects/locks.h"
#include "model/files.h"

uint32_t thread_find(struct flow *flow, uint32_t host, int32_t tid)
{
	return idmap_get(&model_host(flow->model, host)->tids, (uint32_t) tid);
}

/* "A thread not seen born lives from the trace's begin; from its first
 * evidence if a gap came before." A TID used again is a new thread. */
uint32_t thread_findnew(struct flow *flow, uint32_t host_index, int32_t tid, const char *comm)
{
	struct host *host = model_host(flow->model, host_index);
	uint32_t index = idmap_get(&host->tids, (uint32_t) tid);
	struct thread *thread;

	if (index == IDMAP_NONE || flow_thread(flow, index)->state == THREAD_DEAD) {
		bool forgot = index == IDMAP_NONE && host_forgot(host, tid);
		int64_t after = forgot                ? host->forgotten_by
				: index == IDMAP_NONE ? INT64_MIN
						      : flow_thread(flow, index)->end;
		bool late = index != IDMAP_NONE || host->gaps->len > 0 || forgot;

		index = thread_new(flow->model, host_index, tid, late ? flow->time : host->begin);
		thread = flow_thread(flow, index);
		thread->late = late;
		thread->late_after = after;
		flow_append(flow, thread, thread->begin, PACK(LEAF_UNKNOWN, 0), 0);
	}
	thread = flow_thread(flow, index);
	thread_set_name(flow->model, thread, comm, flow->time);
	return index;
}

static void begin_life(struct flow *flow, struct thread *thread, int64_t time)
{
	thread->begin = time;
	track_clear(&thread->track);
	flow_append(flow, thread, time, PACK(LEAF_UNKNOWN, 0), 0);
}

void thread_history(struct thread *thread, int64_t time)
{
	thread->flow.history = time;
	thread->flow.has_call = false;
	thread->flow.fault = false;
	if (thread->flow.woke)
		g_array_set_size(thread->flow.woke, 0);
}

/* From now on nothing is known of the thread; its frames are dropped. */
static void forget(struct flow *flow, struct thread *thread)
{
	call_close(thread);
	operations_drop_thread(thread);
	thread->flow.woken = INT64_MIN;
	thread->flow.work.doing = thread->flow.commits = false;
	thread_history(thread, flow->time);
	thread->flow.remembered = false;
	thread->state = THREAD_UNKNOWN;
	flow_append(flow, thread, flow->time, PACK(LEAF_UNKNOWN, 0), 0);
}

void thread_lost(struct flow *flow, struct thread *thread)
{
	/* "its system call is closed as exit unseen" */
	if (thread->flow.call.open)
		flow->odd[ODD_EXIT_UNSEEN]++;
	forget(flow, thread);
}

static void make_unknown(struct flow *flow, struct span *span, void *data)
{
	(void) flow;
	(void) data;
	span->leaf = PACK(LEAF_UNKNOWN, 0);
	span->ref = 0;
}

/* "If what is seen next contradicts it …, it is unknown from the later of b
 * and its begin, and the thread's system-call frame is dropped." */
bool thread_contradicted(struct flow *flow, struct thread *thread, int64_t since)
{
	const struct gap *gap =
		host_gap_over(model_host(flow->model, thread->host), since, flow->time);

	if (!gap)
		return false;
	if (thread->state == THREAD_BLOCKED || since < thread->flow.since) {
		struct block *block = block_at(flow->timeline, thread->flow.block);

		block->kind = WAKER_UNKNOWN;
		block->why = WHY_GAP;
	}
	track_rewrite(flow, thread, MAX(gap->begin, since), make_unknown, NULL);
	forget(flow, thread);
	return true;
}

void cpu_runs(struct flow *flow, struct host *host, struct cpu *cpu, uint32_t thread)
{
	if (cpu->current == NO_THREAD && cpu->unknown_since != INT64_MIN) {
		if (flow->time < cpu->unknown_since || /* no trace is that long */
		    __builtin_add_overflow(cpu->unknown_ns, flow->time - cpu->unknown_since,
					   &cpu->unknown_ns))
			cpu->unknown_ns = MAX(cpu->unknown_ns, 0);
		cpu->unknown_since = INT64_MIN;
	}
	if (thread == NO_THREAD && cpu->unknown_since == INT64_MIN)
		cpu->unknown_since = MAX(flow->time, host->begin);
	cpu->current = thread;
	if (thread != NO_THREAD)
		cpu->named = true;
	run_append(flow->timeline, &cpu->runs, flow->time, thread, cpu->priority);
	cpu->priority = NO_PRIORITY;
}

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

static void leave_other_cpu(struct flow *flow, struct thread *thread, const struct cpu *here)
{
	struct host *host = model_host(flow->model, thread->host);
	struct cpu *other;

	if (thread->state != THREAD_RUNNING || thread->flow.cpu == here->id)
		return;
	flow->odd[ODD_RUNS_TWICE]++;
	other = host_cpu(host, thread->flow.cpu);
	if (is_thread(other->current) && flow_thread(flow, other->current) == thread)
		cpu_runs(flow, host, other, NO_THREAD);
}

/* Since when it is off the CPU: who waits for one was blocked or preempted before. */
static int64_t off_since(const struct thread *thread)
{
	return thread->flow.left == INT64_MIN ? thread->flow.since
					      : MIN(thread->flow.left, thread->flow.since);
}

/* Gaps: a thread off CPU that is seen as prev must have run unseen. */
void thread_runs(struct flow *flow, struct thread *thread, const struct cpu *cpu)
{
	if (thread->state == THREAD_RUNNING && thread->flow.cpu == cpu->id)
		return;
	thread->evident = true;
	leave_other_cpu(flow, thread, cpu);
	switch (thread->state) {
	case THREAD_UNKNOWN:
		thread_history(thread, flow->time);
		break;
	case THREAD_PREEMPTED:
	case THREAD_WAIT_CPU:
	case THREAD_BLOCKED:
		if (!thread_contradicted(flow, thread, off_since(thread))) {
			flow->odd[ODD_SWITCH_MISMATCH]++;
			if (thread->state == THREAD_BLOCKED) {
				struct block *block = block_at(flow->timeline, thread->flow.block);

				block->kind = WAKER_UNKNOWN;
				block->why = WHY_NO_WAKEUP;
			}
		}
		break;
	default:
		break;
	}
	thread->state = THREAD_RUNNING;
	thread->flow.cpu = cpu->id;
	flow_refresh(flow, thread, cpu);
}

/* "A thread found off CPU without having been seen to leave … was so since S,
 * or since the end of the last gap after S." S itself is known only at the
 * end of the trace: readers cut the interval there (spans_next()). A thread
 * that was known before a gap stays unknown "until its next evidence". */
void thread_found_off(struct flow *flow, struct thread *thread, enum thread_state state)
{
	struct host *host = model_host(flow->model, thread->host);
	int64_t since = flow->time;

	if (!thread->evident) {
		since = MAX(host->begin, host_last_gap_end(host, flow->time));
		if (thread->late && thread->late_after < since)
			begin_life(flow, thread, since);
		else
			since = MAX(since, thread->begin);
	}
	thread->evident = true;
	if (!thread->backfilled) {
		thread->backfilled = true;
		thread->backfill_begin = since;
	}
	thread_history(thread, since);
	call_close(thread);
	if (state == THREAD_BLOCKED) {
		thread_block(flow, thread, since, PACK(LEAF_BLOCK_UNKNOWN, 0));
	} else {
		thread->state = THREAD_WAIT_CPU;
		thread->flow.since = since;
		flow_append(flow, thread, since, PACK(LEAF_WAIT_CPU, 0), NO_CPU);
	}
}

/* The leaf of a thread that sleeps, by its frames (table of leaves). */
uint32_t thread_blocked_leaf(const struct thread *thread)
{
	if (thread->flow.call.open)
		return PACK(LEAF_BLOCK_SYSCALL, thread->flow.call.name);
	if (thread->flow.fault)
		return PACK(LEAF_BLOCK_FAULT, 0);
	return PACK(thread->flow.has_call ? LEAF_BLOCK_OTHER : LEAF_BLOCK_UNKNOWN, 0);
}

void thread_block(struct flow *flow, struct thread *thread, int64_t time, uint32_t leaf)
{
	uint32_t index = block_new(flow->timeline);
	struct block *block = block_at(flow->timeline, index);

	block->stack = flow_thread_stack(flow, thread);
	if (PACK_KIND(leaf) == LEAF_BLOCK_SYSCALL) {
		block->resource = call_resource(flow, thread, &block->fd);
		block->child = call_child(flow, thread);
		block->operation = call_operation(flow, thread);
		block->timer = thread->flow.call.timer;
		block->lock = lock_waited_for(flow, thread);
		thread->flow.call.waits++;
	}
	thread->state = THREAD_BLOCKED;
	thread->flow.block = index;
	thread->flow.since = time;
	flow_append(flow, thread, time, leaf, index);
}

void thread_end(struct flow *flow, struct thread *thread, int64_t time)
{
	if (thread->state == THREAD_DEAD)
		return;
	if (thread->state == THREAD_RUNNING) {
		struct host *host = model_host(flow->model, thread->host);
		struct cpu *cpu = host_cpu(host, thread->flow.cpu);

		if (is_thread(cpu->current) && flow_thread(flow, cpu->current) == thread)
			cpu_runs(flow, host, cpu, NO_THREAD);
	}
	thread->state = THREAD_DEAD;
	thread->end = MAX(time, thread->begin);
	fd_table_leave(&thread->files);
}

static void switch_out(struct flow *flow, struct host *host, struct cpu *cpu, struct thread *thread,
		       int64_t prev_state)
{
	bool remembered = thread->flow.remembered;

	thread->flow.remembered = false;
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
		thread_block(flow, thread, flow->time, thread_blocked_leaf(thread));
		break;
	}
}

/* The functions that led to the wait. */
static void switch_callstacks(struct flow *flow, const struct thread *thread,
			      const struct event *event)
{
	struct block *block = block_at(flow->timeline, thread->flow.block);
	struct callpaths paths = *callpaths_at(&flow->callstacks, block->callpaths);

	if (event->sched_switch.callstack.count)
		paths.kernel = callstack_id(&flow->callstacks, &event->sched_switch.callstack);
	if (event->sched_switch.user_callstack.count)
		paths.user = callstack_id(&flow->callstacks, &event->sched_switch.user_callstack);
	block->callpaths = callpaths_id(&flow->callstacks, &paths);
}

/* prev ran until now, whether that was known or not. */
static void leave(struct flow *flow, struct host *host, struct cpu *cpu, const struct event *event)
{
	int32_t tid = event->sched_switch.prev_tid;
	uint32_t index =
		tid == 0 ? IDLE_THREAD
			 : thread_findnew(flow, event->host, tid, event->sched_switch.prev_comm);
	bool in_gap = flow_in_gap(flow, cpu);
	struct thread *thread;

	if (cpu->current != NO_THREAD && cpu->current != index && !in_gap) {
		flow->odd[ODD_SWITCH_MISMATCH]++;
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
	if (index == IDLE_THREAD)
		return;
	thread = flow_thread(flow, index);
	if (thread->state == THREAD_DEAD)
		return;
	thread_runs(flow, thread, cpu); /* C: before the switch it is unknown */
	if (event->sched_switch.vtid || event->sched_switch.cgroup_ns)
		context_namespaces(flow, thread, event);
	switch_out(flow, host, cpu, thread, event->sched_switch.prev_state);
	thread->flow.left = flow->time;
	flow->has_callstacks |= event->sched_switch.callstack.count > 0;
	if (flow->operations_wanted && thread->state == THREAD_BLOCKED)
		switch_callstacks(flow, thread, event);
}

static void enter(struct flow *flow, struct host *host, struct cpu *cpu, const struct event *event)
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
	leave_other_cpu(flow, thread, cpu);
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
	cpu_runs(flow, host, cpu, index);
	flow_refresh(flow, thread, cpu);
}

void flow_switch(struct flow *flow, struct host *host, struct cpu *cpu, const struct event *event)
{
	leave(flow, host, cpu, event);
	enter(flow, host, cpu, event);
	cpu->last_switch = flow->time;
}

static bool is_fork_call(struct flow *flow, uint32_t name)
{
	const char *text = intern_text(flow->names, name);

	return strcmp(text, "clone") == 0 || strcmp(text, "clone3") == 0 ||
	       strcmp(text, "fork") == 0 || strcmp(text, "vfork") == 0;
}

/* What the child has of its parent: the frame it was forked in ("inherits
 * that frame"), descriptors, process. */
static void inherit(struct flow *flow, struct thread *child, uint32_t child_index,
		    uint32_t parent_index)
{
	struct thread *parent = flow_thread(flow, parent_index);
	struct call *call = &parent->flow.call;
	bool shares_files;
	int64_t flags = -1;

	child->parent = parent_index;
	child->of_kthreadd = parent->tid == 2;
	child->program = parent->program;
	shares_files = child->pid >= 0 && child->pid == parent->pid;
	if (call->open && is_fork_call(flow, call->name)) {
		bool flags_known = strcmp(intern_text(flow->names, call->name), "clone") == 0;

		if (child->pid < 0 && flags_known)
			child->pid = (call->flags & CLONE_THREAD) ? parent->pid : child->tid;
		flags = flags_known ? (int64_t) call->flags : -1;
		shares_files = flags_known ? (call->flags & CLONE_FILES) != 0 : shares_files;
		child->flow.call =
			(struct call) {.open = true,
				       .inherited = true,
				       .name = call->name,
				       .begin = flow->time,
				       .fd = -1,
				       .newfd = -1,
				       .timer = -1,
				       .child = NO_THREAD};
		call->child = child_index;
	}
	inherit_namespaces(flow, child, parent, flags);
	thread_files(flow, parent); /* may give the child one, if the parent's pid is its TID */
	user_fork(flow, child, parent);
	fd_table_leave(&child->files);
	child->files = shares_files ? fd_table_join(parent->files) : fd_table_copy(parent->files);
}

/* A new life, waiting for a CPU; the parent is whoever runs here. */
static struct thread *birth(struct flow *flow, struct cpu *cpu, const struct event *event,
			    int32_t tid, int32_t pid, const char *comm, int32_t parent_tid)
{
	uint32_t old = thread_find(flow, event->host, tid), index, parent = cpu->current;
	struct thread *thread;

	if (old != IDMAP_NONE)
		thread_end(flow, flow_thread(flow, old), flow->time);
	if (!flow_current(flow, cpu))
		parent = parent_tid > 0 ? thread_find(flow, event->host, parent_tid) : NO_THREAD;
	index = thread_new(flow->model, event->host, tid, flow->time);
	thread = flow_thread(flow, index);
	thread->born = thread->evident = true;
	thread->pid = pid;
	thread_set_name(flow->model, thread, comm, flow->time);
	if (is_thread(parent))
		inherit(flow, thread, index, parent);
	thread->state = THREAD_WAIT_CPU;
	thread->flow.since = thread->flow.woken = flow->time;
	thread_history(thread, flow->time);
	flow_append(flow, thread, flow->time, PACK(LEAF_WAIT_CPU, 0), NO_CPU);
	return thread;
}

void flow_fork(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	uint32_t parent = thread_find(flow, event->host, event->fork.parent_tid);
	struct thread *child;

	if (event->fork.child_tid == 0)
		return;
	if (parent != IDMAP_NONE && flow_thread(flow, parent)->pid < 0)
		flow_thread(flow, parent)->pid = event->fork.parent_pid;
	child = birth(flow, cpu, event, event->fork.child_tid, event->fork.child_pid,
		      event->fork.child_comm, event->fork.parent_tid);
	child->by_fork = true;
	fork_namespaces(flow, child,
			is_thread(child->parent) ? flow_thread(flow, child->parent) : NULL, event);
}

void flow_wakeup_new(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	uint32_t index = thread_find(flow, event->host, event->wake.tid);
	struct thread *thread = index == IDMAP_NONE ? NULL : flow_thread(flow, index);

	if (event->wake.tid == 0)
		return;
	if (!thread || !thread->by_fork || thread->state != THREAD_WAIT_CPU)
		thread = birth(flow, cpu, event, event->wake.tid, -1, event->wake.comm, -1);
	thread->by_fork = false;
	thread->flow.wakeup_due = false;
	if (event->wake.target_cpu >= 0)
		track_last(flow->timeline, &thread->track)->ref = (uint32_t) event->wake.target_cpu;
}

/* exec by a thread that does not lead its process: it lives on under the
 * leader's TID, and the leader is over. */
static struct thread *take_over_leader(struct flow *flow, const struct event *event)
{
	struct host *host = model_host(flow->model, event->host);
	uint32_t index = thread_find(flow, event->host, event->exec.old_tid);
	uint32_t leader = thread_find(flow, event->host, event->exec.tid);

	if (index == IDMAP_NONE || index == leader)
		return NULL;
	if (leader != IDMAP_NONE)
		thread_end(flow, flow_thread(flow, leader), flow->time);
	idmap_remove(&host->tids, (uint32_t) event->exec.old_tid);
	host_forget(host, event->exec.old_tid, flow->time); /* who has it next is another */
	idmap_set(&host->tids, (uint32_t) event->exec.tid, index);
	flow_thread(flow, index)->tid = event->exec.tid;
	thread_takes_lead(flow->model, flow_thread(flow, index));
	return flow_thread(flow, index);
}

void flow_exec(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = NULL;
	const char *base;
	char name[16];

	(void) cpu;
	if (event->exec.old_tid > 0 && event->exec.old_tid != event->exec.tid)
		thread = take_over_leader(flow, event);
	if (!thread)
		thread =
			flow_thread(flow, thread_findnew(flow, event->host, event->exec.tid, NULL));
	thread->execed = true;
	user_exec(flow, thread, thread_find(flow, event->host, event->exec.tid));
	if (event->exec.filename && *event->exec.filename) {
		base = strrchr(event->exec.filename, '/');
		g_strlcpy(name, base ? base + 1 : event->exec.filename, sizeof name);
		thread_set_name(flow->model, thread, name, flow->time);
		thread->program = intern_id(flow->names, event->exec.filename);
	}
	if (thread->files) { /* exec unshares the table and closes what is marked so */
		struct fd_table *own = fd_table_copy(thread->files);

		fd_table_leave(&thread->files);
		thread->files = own;
		fd_exec(own);
	}
}

void flow_free(struct flow *flow, const struct event *event)
{
	uint32_t index = thread_find(flow, event->host, event->exit.tid);
	struct thread *thread;

	/* a zombie may stay for long: its life may have been forgotten meanwhile */
	if (index == IDMAP_NONE && event->exit.tid > 0 &&
	    !host_forgot(model_host(flow->model, event->host), event->exit.tid))
		index = thread_findnew(flow, event->host, event->exit.tid, event->exit.comm);
	if (index == IDMAP_NONE || event->exit.tid <= 0)
		return;
	thread = flow_thread(flow, index);
	/* it has exited, which it cannot have done off the CPU */
	if (thread->state == THREAD_BLOCKED || thread->state == THREAD_WAIT_CPU ||
	    thread->state == THREAD_PREEMPTED)
		thread_contradicted(flow, thread, off_since(thread));
	thread_end(flow, thread, flow->time);
}
