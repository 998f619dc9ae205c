/* SPDX-License-Identifier: MIT */
/* Work queues: whose work a kernel worker does.
 *
 *   Q ── workqueue_queue_work(item) ──┐ the item's address
 *   kworker ── execute_start(item) ── waking(T) ── execute_end
 *
 * The kernel says so only when an item is put into a queue, not when it was in
 * one already: a second event means that its execution was not seen, or that it
 * was taken back, and the newest counts. What an interrupt queued, when a request
 * had completed, a packet had come or a timer had expired (delayed work), has
 * that behind it, and is of who asked for, sent or armed that.
 *
 * Where these events were not recorded, a worker that wakes a thread after a
 * request of that thread has completed, or that was itself woken by a completion
 * in that thread's wait, is taken to have finished that request (file systems do
 * so: the interrupt queues the end of the I/O), if the thread's call may wait for
 * a file's blocks: inferred. jbd2's commits are followed here too.
 *
 * Part of disk/. Source: semantics.md, "Blocking causality", rule 1 ("work
 * queued to a kworker").
 */
#include "disk/work.h"

#include "disk/completions.h"
#include "event/softirqs.h"
#include "objects/calls.h"

/* Bytes from a delayed work's item to its timer: struct delayed_work in the kernel's
 * include/linux/workqueue.h, on 64 bits and without lock debugging. */
#define DELAYED_WORK_TIMER 32

/* Whose is what the interrupt has just done; what that was. */
static void queued_in_interrupt(struct flow *flow, struct host *host, struct cpu *cpu,
				const struct event *event, struct sent *queued)
{
	struct wake_detail detail = *cpu_pending(cpu);
	bool timers = cpu->frames[cpu->depth - 1].what == PACK(FRAME_SOFTIRQ, SOFTIRQ_TIMER);

	queued->in_interrupt = true;
	if (detail.kind == DETAIL_TIMER) {
		queued->by_timer = detail.number - event->work.item != DELAYED_WORK_TIMER;
		queued->timer = detail.origin;
	} else if (detail.kind == DETAIL_NONE || detail.kind == DETAIL_RAISE) {
		queued->by_timer = timers; /* which one was not recorded */
	}
	queued->thread = NO_THREAD;
	if (detail.kind != DETAIL_REQUEST && detail.kind != DETAIL_PACKET &&
	    detail.kind != DETAIL_TIMER)
		return;
	queued->thread = detail.thread;
	block_detail_for(flow, host, &detail, NULL);
	queued->behind = detail_new(flow->timeline, NULL, &detail);
}

static void work_queued(struct flow *flow, struct host *host, struct cpu *cpu,
			const struct event *event)
{
	struct sent queued = {.time = flow->time,
			      .thread = is_thread(cpu->current) && !cpu->frames_lost ? cpu->current
										     : NO_THREAD,
			      .waiting = true};
	uint32_t index = idmap_get(&host->works, event->work.item);

	if (cpu->depth)
		queued_in_interrupt(flow, host, cpu, event, &queued);
	if (index == IDMAP_NONE) {
		idmap_set(&host->works, event->work.item, host->sent->len);
		g_array_append_val(host->sent, queued);
	} else {
		g_array_index(host->sent, struct sent, index) = queued;
	}
}

static void work_begins(struct flow *flow, struct host *host, struct thread *worker,
			const struct event *event)
{
	uint32_t index = idmap_get(&host->works, event->work.item);
	struct sent *queued =
		index == IDMAP_NONE ? NULL : &g_array_index(host->sent, struct sent, index);

	worker->flow.work = (struct work) {.doing = true, .thread = NO_THREAD};
	if (event->work.function)
		worker->flow.work.function =
			flow_function(flow, &flow->work_functions, event->work.function);
	if (!queued || !queued->waiting)
		return; /* queued before the trace began, or not recorded */
	queued->waiting = false;
	worker->flow.work.thread = queued->thread;
	worker->flow.work.queued = queued->time;
	worker->flow.work.in_interrupt = queued->in_interrupt;
	worker->flow.work.behind = queued->behind;
	worker->flow.work.by_timer = queued->by_timer;
	worker->flow.work.timer = queued->timer;
}

void flow_work(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct host *host = flow_host(flow, event);
	struct thread *current = flow_current(flow, cpu);

	host->has_works = true;
	if (flow_in_gap(flow, cpu))
		return;
	if (event->kind == EV_WORK_QUEUE)
		work_queued(flow, host, cpu, event);
	else if (current && event->kind == EV_WORK_START)
		work_begins(flow, host, current, event);
	else if (current)
		current->flow.work.doing = false;
}

/* Dirty pages that a thread wants written (sync, or too many of them): the kernel's
 * own queue of a disk's writeback, in front of the worker's item. It tells for
 * whom a worker writes where no work queue events were recorded, if only one waits. */
void flow_writeback(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct host *host = flow_host(flow, event);
	struct thread *current = flow_current(flow, cpu);
	struct sent queued = {.time = flow->time, .thread = cpu->current, .waiting = true};
	const char *name = event->kind == EV_WRITEBACK_END ? NULL : event->writeback.name;
	uint64_t key = name ? g_str_hash(name) : 0;
	uint32_t index = idmap_get(&host->writebacks, key);

	if (!current || cpu_interrupted(cpu) || host->has_works)
		return;
	if (event->kind == EV_WRITEBACK_END) {
		current->flow.work.doing = false;
	} else if (event->kind == EV_WRITEBACK_QUEUE && index == IDMAP_NONE) {
		idmap_set(&host->writebacks, key, host->sent->len);
		g_array_append_val(host->sent, queued);
	} else if (event->kind == EV_WRITEBACK_QUEUE) {
		struct sent *before = &g_array_index(host->sent, struct sent, index);

		/* the events name the disk, not the item: of two that wait, either may be next */
		if (before->waiting && before->thread != queued.thread)
			queued.thread = NO_THREAD;
		*before = queued;
	} else if (index != IDMAP_NONE) {
		queued = g_array_index(host->sent, struct sent, index);
		current->flow.work =
			(struct work) {.doing = queued.waiting,
				       .thread = queued.thread,
				       .queued = queued.time,
				       .function = intern_id(flow->names, "writeback")};
		g_array_index(host->sent, struct sent, index).waiting = false;
	}
}

/* The thread of a file system's journal: what it wakes up to the next commit, it
 * wakes for the one it has done. */
void flow_journal(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *current = flow_current(flow, cpu);

	if (!current || cpu_interrupted(cpu))
		return;
	current->flow.commits = true;
	current->flow.transaction = event->journal.transaction;
}

/* In a call that may wait for a file's blocks, or in a page fault. Workers also
 * wake those who poll, or wait for a terminal, a socket, another worker. */
static bool may_wait_for_disk(struct flow *flow, struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	const char *key;
	uint8_t wait;

	if (!call->open)
		return thread->flow.fault;
	wait = flow_call_info(flow, call->name)->wait;
	if (wait != WAIT_DEFAULT && wait != WAIT_FD)
		return false;
	if (call->fd < 0)
		return true;
	key = intern_text(flow->names, key_of_fd(flow, thread, call->fd));
	return g_str_has_prefix(key, "fd:") ||
	       (g_str_has_prefix(key, "file:") && !g_str_has_prefix(key, "file:/dev/"));
}

/* The request whose completion woke the worker last, in the wait of `woken`. */
static bool woken_for(struct flow *flow, const struct thread *worker, const struct thread *woken,
		      struct wake_detail *request, int64_t *end)
{
	const struct block *idle =
		worker->flow.block ? block_at(flow->timeline, worker->flow.block) : NULL;

	if (!idle || !idle->detail || idle->kind == WAKER_THREAD)
		return false;
	*request = *detail_at(flow->timeline, idle->detail);
	*end = request->begin + request->served;
	return request->kind == DETAIL_REQUEST && request->served >= 0 && *end >= woken->flow.since;
}

/* No events of work queues: what the worker most likely did for `woken`. */
static uint32_t inferred_work(struct flow *flow, struct host *host, const struct thread *worker,
			      const struct thread *woken)
{
	struct wake_detail detail = {.kind = DETAIL_WORK,
				     .requested = -1,
				     .queued = -1,
				     .served = -1,
				     .flags = DETAIL_INFERRED | DETAIL_IN_INTERRUPT};
	struct wake_detail request;

	if (!block_completed_for(flow, host, woken, &request, &detail.begin) &&
	    !woken_for(flow, worker, woken, &request, &detail.begin))
		return 0;
	detail.thread = request.thread;
	detail.behind = detail_new(flow->timeline, NULL, &request);
	return detail_new(flow->timeline, NULL, &detail);
}

static bool is_worker(const struct flow *flow, const struct thread *thread)
{
	return g_str_has_prefix(intern_text(flow->names, thread->name), "kworker/");
}

uint32_t work_detail(struct flow *flow, const struct thread *worker, struct thread *woken)
{
	const struct work *work = &worker->flow.work;
	struct host *host = model_host(flow->model, worker->host);
	struct wake_detail detail = {
		.kind = DETAIL_WORK,
		.thread = work->thread,
		.text = work->function,
		.begin = work->queued,
		.behind = work->behind,
		.requested = -1,
		.queued = -1,
		.served = -1,
		.flags = work->in_interrupt ? DETAIL_IN_INTERRUPT : 0};

	if (work->doing)
		return detail_new(flow->timeline, NULL, &detail);
	/* a worker between its items waits for work, which jbd2 queues too, not for a commit */
	if (worker->flow.commits && (woken->flow.work.doing || !is_worker(flow, woken))) {
		detail = (struct wake_detail) {.kind = DETAIL_COMMIT,
					       .thread = NO_THREAD,
					       .requested = -1,
					       .queued = -1,
					       .served = -1,
					       .number = worker->flow.transaction};
		return detail_new(flow->timeline, NULL, &detail);
	}
	if (host->has_works || worker->made_syscall || woken->state != THREAD_BLOCKED ||
	    !is_worker(flow, worker) || !may_wait_for_disk(flow, woken))
		return 0;
	return inferred_work(flow, host, worker, woken);
}
