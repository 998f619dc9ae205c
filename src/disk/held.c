/* SPDX-License-Identifier: MIT */
/* Requests that a timer kept back; see held.h.
 *
 *   T ── wants sectors ──┤ sleeps                                        ├──
 *   cgroup's limit, or   │ no event: the bio is kept            │
 *   device-mapper target │ block_bio_queue of the target        │
 *   timer ───────────────────── expires, queues work ─┤         │
 *   worker                          block_bio_queue, or remap ──┤ the device ├ complete, wakes T
 *
 * A bio over its cgroup's limit (io.max) is kept before the kernel tells of it
 * (blk_throtl_bio()): its first event is that of the worker which the limit's timer
 * (throtl_pending_timer_fn()) has given work to (blk_throtl_dispatch_work_fn()). A target that
 * delays (dm-delay) has the bio's event at once, and hands it on from such a worker. Both are
 * known by their shape, as functions' names need the kernel's symbols: inferred.
 *
 * What looks alike: work that is delayed by itself (the flusher's period, retries) is queued by
 * a timer too, but by one that lies in the work's item; the flusher's are also told by its events.
 * Who asked for the request himself was not held by any limit, only by the device.
 *
 * Part of disk/. Source: the kernel's block/blk-throttle.c, drivers/md/dm-delay.c.
 */
#include "disk/held.h"

#include "disk/block_requests.h"
#include "event/softirqs.h"

/* The thread is a worker that does what a timer has queued. */
static bool was_timed(const struct flow *flow, const struct host *host, const struct thread *thread)
{
	const struct block *idle;

	if (thread->made_syscall)
		return false;
	if (thread->flow.work.doing || host->has_works)
		return thread->flow.work.doing && thread->flow.work.by_timer;
	if (!thread->flow.block ||
	    !g_str_has_prefix(intern_text(flow->names, thread->name), "kworker/"))
		return false;
	idle = block_at(flow->timeline, thread->flow.block);
	return idle->kind == WAKER_SOFTIRQ && idle->context == PACK(FRAME_SOFTIRQ, SOFTIRQ_TIMER);
}

void held_until_now(const struct flow *flow, const struct host *host, uint32_t thread,
		    struct request *request)
{
	if (!is_thread(thread) || !was_timed(flow, host, flow_thread(flow, thread)))
		return;
	request->held = true;
	request->handed = flow->time;
	request->timer = flow_thread(flow, thread)->flow.work.timer;
}

static uint32_t key_with(struct flow *flow, const char *prefix, uint32_t name)
{
	g_autofree char *key = g_strconcat(prefix, intern_text(flow->names, name), NULL);

	return intern_id(flow->names, key);
}

uint32_t held_reason(struct flow *flow, struct host *host, const struct request *request)
{
	bool by_device = request->below;
	uint32_t disk = request_disk(flow, host, request->dev);
	struct reason reason;

	if (!request->held || host_unseen(host, request->queued, request->end))
		return 0;
	reason = reason_of_kind(by_device ? REASON_DEVICE_HOLDS : REASON_IO_LIMIT);
	reason.flags = REASON_ENDS | REASON_INFERRED;
	reason.object = key_with(flow, by_device ? "device:" : "limit:io.max of ", disk);
	reason.text = by_device ? request_disk(flow, host, request->below) : disk;
	reason.call = request->timer;
	reason.begin = request->handed;
	reason.ns = request->end - request->handed;
	return reason_new(flow->timeline, &reason);
}

void held_explains(struct flow *flow, const struct thread *woken, struct block *block)
{
	const struct wake_detail *detail =
		block->detail ? detail_at(flow->timeline, block->detail) : NULL;
	const struct reason *reason;

	if (detail && detail->kind == DETAIL_WORK && detail->behind)
		detail = detail_at(flow->timeline, detail->behind);
	if (!detail || detail->kind != DETAIL_REQUEST || !detail->reason || block->reason)
		return;
	reason = reason_at(flow->timeline, detail->reason);
	/* held before this wait began: it took no time of it */
	if (reason->kind == REASON_IO_LIMIT && reason->begin <= woken->flow.since)
		return;
	block->reason = detail->reason;
}
