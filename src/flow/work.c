/* Work queues: whose work a kernel worker does.
 *
 *   Q ── workqueue_queue_work(item) ──┐ the item's address
 *   kworker ── execute_start(item) ── waking(T) ── execute_end
 *
 * An item may be queued again while it waits, by somebody else: the first one
 * counts, as nothing is queued twice. What an interrupt queued, when a request
 * had completed or a packet had come, is of who issued or sent that.
 *
 * Part of flow/. Source: semantics.md, "Blocking causality", rule 1 ("work
 * queued to a kworker").
 */
#include "flow/flow.h"

static void work_queued(struct flow *flow, struct host *host, struct cpu *cpu,
			const struct event *event)
{
	struct sent queued = {.flow = event->work.function, .time = flow->time,
			      .thread = is_thread(cpu->current) ? cpu->current : NO_THREAD,
			      .in_interrupt = cpu->depth > 0, .waiting = true};
	uint32_t index = idmap_get(&host->works, event->work.item);
	const struct wake_detail *pending = cpu_pending(cpu);

	if (cpu->depth)
		queued.thread = pending->kind == DETAIL_REQUEST || pending->kind == DETAIL_PACKET
					? pending->thread
					: NO_THREAD;
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

	worker->flow.work = (struct work) {.doing = true, .thread = NO_THREAD,
					   .function = flow_address(flow, event->work.function)};
	if (!queued || !queued->waiting)
		return; /* queued before the trace began, or not recorded */
	queued->waiting = false;
	worker->flow.work.thread = queued->thread;
	worker->flow.work.queued = queued->time;
	worker->flow.work.in_interrupt = queued->in_interrupt;
}

void flow_work(struct flow *flow, struct host *host, struct cpu *cpu, const struct event *event)
{
	struct thread *current = flow_current(flow, cpu);

	if (flow_in_gap(flow, cpu))
		return;
	if (event->kind == EV_WORK_QUEUE)
		work_queued(flow, host, cpu, event);
	else if (current && event->kind == EV_WORK_START)
		work_begins(flow, host, current, event);
	else if (current)
		current->flow.work.doing = false;
}

uint32_t work_detail(struct flow *flow, const struct thread *worker)
{
	const struct work *work = &worker->flow.work;
	struct wake_detail detail = {.kind = DETAIL_WORK, .thread = work->thread,
				     .text = work->function, .begin = work->queued,
				     .requested = -1, .queued = -1, .served = -1,
				     .number = work->in_interrupt};

	return work->doing ? detail_new(flow->timeline, &detail) : 0;
}
