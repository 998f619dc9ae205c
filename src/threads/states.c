/* SPDX-License-Identifier: MIT */
/* The states of a thread: what it is in, since when, and when that proves wrong; see states.h. */
#include "threads/states.h"

#include "locks/file_locks.h"
#include "model/files.h"
#include "model/memory.h"
#include "objects/calls.h"
#include "objects/mappings.h"
#include "objects/operation_log.h"
#include "objects/resource.h"
#include "state/holdback.h"
#include "state/stacks.h"
#include "threads/deaths.h"
#include "tries/call_tries.h"

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
static void make_thread_unknown(struct flow *flow, struct thread *thread)
{
	operations_drop_thread(flow, thread);
	call_close(thread);
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
	make_thread_unknown(flow, thread);
}

static void make_span_unknown(struct flow *flow, struct span *span, void *data)
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
	track_rewrite(flow, thread, MAX(gap->begin, since), make_span_unknown, NULL);
	make_thread_unknown(flow, thread);
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

void thread_leaves_other_cpu(struct flow *flow, struct thread *thread, const struct cpu *here)
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

int64_t thread_off_since(const struct thread *thread)
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
	thread_leaves_other_cpu(flow, thread, cpu);
	switch (thread->state) {
	case THREAD_UNKNOWN:
		thread_history(thread, flow->time);
		break;
	case THREAD_PREEMPTED:
	case THREAD_WAIT_CPU:
	case THREAD_BLOCKED:
		if (!thread_contradicted(flow, thread, thread_off_since(thread))) {
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
		thread->backfill_end = flow->time;
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
	uint32_t index = block_new(flow->timeline, &thread->track);
	struct block *block = block_at(flow->timeline, index);

	g_assert(leaf_is_blocked(leaf));
	block->stack = flow_thread_stack(flow, thread);
	if (PACK_KIND(leaf) == LEAF_BLOCK_SYSCALL) {
		block->resource = call_resource(flow, thread, &block->fd);
		block->child = call_child(flow, thread);
		block->operation = call_operation(flow, thread);
		block->own_futex = call_is_on_own_futex(flow, thread);
		block->timer = thread->flow.call.timer;
		block->deadline =
			flow_call_info(flow, thread->flow.call.name)->wait == WAIT_SLEEP &&
			call_keeps_time(flow, thread);
		block->lock = lock_waited_for(flow, thread);
		thread->flow.call.waits++;
	}
	block->sent = thread->flow.sent;
	block->sent_fd = block->sent ? thread->flow.sent_fd : -1;
	block->sent_ago =
		block->sent ? (uint32_t) CLAMP(time - thread->flow.sent_at, 0, UINT32_MAX) : 0;
	thread->flow.sent = 0;
	if (thread->flow.fault && thread->flow.fault_address) {
		uint32_t key = mapping_key(flow, thread, thread->flow.fault_address);

		*(PACK_KIND(leaf) == LEAF_BLOCK_FAULT ? &block->resource : &block->fault) = key;
	}
	thread->state = THREAD_BLOCKED;
	thread->flow.block = index;
	thread->flow.since = time;
	flow_append(flow, thread, time, leaf, index);
}

struct releasing {
	struct flow *flow;
	uint32_t index;
};

static void release(const struct open_file *file, void *data)
{
	const struct releasing *releasing = data;

	call_releases(releasing->flow, releasing->index, file);
}

/* Who leads a process ends with it, or nearly so. */
static void release_files(struct flow *flow, const struct thread *thread)
{
	struct releasing releasing = {flow, IDMAP_NONE};

	if (thread->pid != thread->tid || !tries_any(flow, TRY_FAILS))
		return;
	releasing.index = thread_find(flow, thread->host, thread->tid);
	if (releasing.index != IDMAP_NONE)
		fd_each_last(thread->files, release, &releasing);
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
	death_found(flow, thread, time);
	thread->state = THREAD_DEAD;
	thread->end = MAX(time, thread->begin);
	release_files(flow, thread);
	fd_table_leave(&thread->files);
	memory_leave(&thread->memory);
}
