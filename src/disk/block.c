/* SPDX-License-Identifier: MIT */
/* Block requests: from the bio that a thread queued to its completion.
 *
 *   T ── bio_queue(dev, s) ── getrq or backmerge ── [insert] ── issue(s, n) ── complete
 *        │ waiting: one entry a bio              │ takes all waiting │ issued: one
 *        │                                       │ entries in [s, s+n) │ entry a request
 *        └──────────── queued ────────────────────┴────── served ──────┘
 *
 * A bio (bios.c) names the thread that wants its sectors; who inserts or issues
 * the request may be a kernel worker. What was merged is found at the issue by
 * the sectors that it covers, and a request smaller than its bio leaves the rest
 * of that waiting.
 *
 * Pairs are by device and sector. Two requests issued at once for one sector, or
 * a completion that was lost, leave it open which one completes: no times then.
 *
 * Part of disk/. Source: semantics.md, "Blocking causality", rules 1 and 3;
 * lttng-events.md 1.4; the kernel's block/blk-core.c, blk-mq.c, blk-flush.c.
 */
#include "disk/block.h"

#include <string.h>

#include "disk/bios.h"
#include "disk/reclaim.h"
#include "disk/block_requests.h"
#include "disk/queue_facts.h"
#include "disk/completions.h"
#include "disk/held.h"
#include "disk/written.h"
#include "event/softirqs.h"
#include "objects/operation_log.h"

#define MAJOR_SHIFT 20 /* of the kernel's own device numbers */
#define MAJOR_LOOP 7
#define MAJOR_NBD 43

/* What its bios did not tell may be among what was lost: since when it waits, and for whom; who
 * inserts or issues it may do so for anybody. */
static bool may_lack_bios(const struct flow *flow, const struct host *host,
			  const struct request *request)
{
	return flow->has_bios && request->sectors && host->gaps->len;
}

static void issuer_if_unknown(struct flow *flow, struct host *host, const struct cpu *cpu,
			      struct request *request, const struct event *event)
{
	struct requester by;

	if (request->threads || may_lack_bios(flow, host, request))
		return;
	by = requester_of(flow, cpu, event);
	if (by.thread == NO_THREAD)
		return;
	request_add(request, &by);
	file_is_on(flow, host, by.thread, request->dev, event->block.rwbs & RWBS_WRITE);
	held_until_now(flow, host, by.thread, request);
}

static void request_inserted(struct flow *flow, struct host *host, const struct cpu *cpu,
			     const struct event *event)
{
	uint32_t dev = event->block.dev, sectors = event->block.sectors;
	struct request *request =
		request_find(host, dev, event->block.sector, sectors, REQUEST_WAITING);

	if (request && !request->bios && request->requeued == INT64_MIN) {
		request_free(host, request); /* an older one, never issued */
		request = NULL;
	}
	if (!request)
		request = request_new(host, dev, event->block.sector, sectors, REQUEST_WAITING);
	if (request->queued == INT64_MIN && !may_lack_bios(flow, host, request))
		request->queued = flow->time;
	if (!request->bios)
		request->readahead = event->block.rwbs & RWBS_READAHEAD;
	issuer_if_unknown(flow, host, cpu, request, event);
}

/* All that waits and is covered by the request is part of it: from `at` to the
 * request's end. What reaches over that end waits on with the rest. */
static void gather_waiting(struct host *host, const struct event *event, uint64_t at)
{
	uint64_t end = event->block.sector + event->block.sectors;
	uint32_t dev = event->block.dev;

	while (at < end) {
		struct request *next = request_find(host, dev, at, 1, REQUEST_WAITING);
		struct request more;

		if (next && at + next->sectors > end) {
			request_divide(host, next, (uint32_t) (end - at));
			next = request_find(host, dev, at, 1, REQUEST_WAITING);
		}
		if (!next)
			return;
		more = *next;
		request_free(host, next);
		at += more.sectors;
		request_absorb(request_find(host, dev, event->block.sector, 1, REQUEST_ISSUED),
			       &more);
	}
}

/* Takes what waits at the request's sector out of waiting. */
static struct request *start_request(struct host *host, const struct event *event)
{
	uint32_t dev = event->block.dev, sectors = event->block.sectors;
	uint64_t sector = event->block.sector;
	struct request *request = request_find(host, dev, sector, sectors, REQUEST_WAITING);

	if (request && sectors && request->sectors > sectors) {
		request_divide(host, request, sectors);
		request = request_find(host, dev, sector, sectors, REQUEST_WAITING);
	}
	if (!request)
		return request_new(host, dev, sector, sectors, REQUEST_ISSUED);
	request = request_move(host, request, sector, REQUEST_ISSUED);
	if (sectors)
		gather_waiting(host, event, sector + request->sectors);
	return request_find(host, dev, sector, sectors, REQUEST_ISSUED);
}

static void request_issued(struct flow *flow, struct host *host, const struct cpu *cpu,
			   const struct event *event)
{
	uint32_t dev = event->block.dev, sectors = event->block.sectors;
	struct request *before =
		request_find(host, dev, event->block.sector, sectors, REQUEST_ISSUED);
	struct request *request, other = {0};

	if (before) {
		other = *before;
		request_free(host, before);
	}
	request = start_request(host, event);
	request->issue = flow->time;
	request->sectors = request->left = sectors;
	request->write = event->block.rwbs & RWBS_WRITE;
	request->meta = event->block.rwbs & RWBS_META;
	if (!request->bios)
		request->readahead = event->block.rwbs & RWBS_READAHEAD;
	issuer_if_unknown(flow, host, cpu, request, event);
	if (before)
		queue_left(flow, event->host, &other);
	queue_issued(flow, event->host, request);
	operation_queued(flow, cpu, event->host, request);
	if (!before)
		return;
	request->doubtful = true;
	request_absorb(request, &other);
}

/* The driver could not take it: it goes back, and is issued again later. */
static void request_requeued(struct flow *flow, struct host *host, const struct event *event)
{
	uint64_t sector = event->block.sector;
	struct request *request =
		request_find(host, event->block.dev, sector, event->block.sectors, REQUEST_ISSUED);

	if (request)
		request = request_move(host, request, sector, REQUEST_WAITING);
	if (!request)
		return;
	queue_left(flow, event->host, request);
	request->issue = INT64_MIN;
	request->requeued = flow->time;
}

/* --- completion ---------------------------------------------------------------- */

/* The device has done a part of it: the rest goes on. */
static void completed_in_part(struct host *host, struct request *request, uint32_t sectors)
{
	request->left -= sectors;
	request_move(host, request, request->sector + sectors, REQUEST_ISSUED);
}

/* A write of nothing, made to have the cache flushed (blkdev_issue_flush()), was never issued: it
 * completes behind the flush that was, which has just done so in the same interrupt. */
static bool was_flush(struct flow *flow, struct host *host, const struct wake_detail *pending,
		      const struct event *event)
{
	return !event->block.sectors && event->block.rwbs & RWBS_WRITE &&
	       !(event->block.rwbs & RWBS_FLUSH) && pending->kind == DETAIL_REQUEST &&
	       pending->number == FLUSH_SECTOR &&
	       pending->text == request_disk(flow, host, event->block.dev);
}

/* Of a loop or network block device a kernel thread does the work: which raises, when it is done,
 * the softIRQ in which the request completes. Real devices' interrupts may raise it in any
 * thread's time, where they are not recorded. The majors: the kernel's devices.txt. */
static bool raiser_is_device(struct flow *flow, const struct cpu *cpu, const struct event *event)
{
	uint32_t major = event->block.dev >> MAJOR_SHIFT;

	return (major == MAJOR_LOOP || major == MAJOR_NBD) && cpu->depth &&
	       cpu->frames[cpu->depth - 1].what == PACK(FRAME_SOFTIRQ, SOFTIRQ_BLOCK) &&
	       is_thread(cpu->raiser.thread) &&
	       thread_is_kernel(flow->model, model_thread(flow->model, cpu->raiser.thread));
}

static void request_completed(struct flow *flow, struct host *host, struct cpu *cpu,
			      const struct event *event)
{
	uint32_t sectors = event->block.sectors;
	bool flush = !sectors && event->block.rwbs & RWBS_FLUSH;
	struct request *request = NULL, *before = completed_before(host, event);
	struct wake_detail *detail = cpu_pending(cpu);

	if (!before && was_flush(flow, host, detail, event))
		return;
	cpu->by_raiser = raiser_is_device(flow, cpu, event);
	*detail = (struct wake_detail) {
		.kind = DETAIL_REQUEST,
		.thread = NO_THREAD,
		.behalf = NO_THREAD,
		.requested = -1,
		.queued = -1,
		.served = -1,
		.number = event->block.sector,
		.text = request_disk(flow, host, event->block.dev)};
	if (sectors || (flush && event->block.sector == FLUSH_PLACE))
		request = request_find(host, event->block.dev, event->block.sector, sectors,
				       REQUEST_ISSUED);
	if (!request && !before && flush) /* some kernels give a flush's sector as 0 */
		request = request_find(host, event->block.dev, FLUSH_PLACE, 0, REQUEST_ISSUED);
	if (!request && !before && !sectors && !flush)
		detail->kind = DETAIL_NONE; /* no I/O of a sector, nor a flush */
	if (request && sectors > request->left) {
		queue_left(flow, event->host, request);
		request_free(host, request); /* its own completion was not seen, nor this issue */
		return;
	}
	if (!request && !before)
		return;
	(request ? request : before)->end = flow->time;
	request_describe(flow, host, request ? request : before, detail);
	if (before) {
		before->used = false;
		detail->completed = (uint32_t) (before - host->completed) + 1;
		return;
	}
	if (sectors < request->left) {
		completed_in_part(host, request, sectors);
		return;
	}
	queue_left(flow, event->host, request);
	operation_served(flow, cpu, event->host, request, disk_served(flow, host, request));
	detail->completed = request_keep(host, request);
	request_free(host, request);
}

void flow_block(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct host *host = flow_host(flow, event);
	if (event->block.sectors && event->block.sector >= FLUSH_PLACE - event->block.sectors)
		return; /* no disk is that large, and flushes are kept there */
	if (!event->block.sectors && !(event->block.rwbs & RWBS_FLUSH) &&
	    (event->kind == EV_BLOCK_INSERT || event->kind == EV_BLOCK_ISSUE))
		return;
	if (event->kind == EV_BLOCK_BIO && event->block.rwbs & RWBS_WRITE)
		reclaim_writes(flow, cpu);
	if (event->kind == EV_BLOCK_ISSUE && event->block.rwbs & RWBS_WRITE)
		reclaim_issues(flow, cpu, event);
	switch (event->kind) {
	case EV_BLOCK_INSERT:
		request_inserted(flow, host, cpu, event);
		break;
	case EV_BLOCK_ISSUE:
		request_issued(flow, host, cpu, event);
		break;
	case EV_BLOCK_REQUEUE:
		request_requeued(flow, host, event);
		break;
	case EV_BLOCK_COMPLETE:
		request_completed(flow, host, cpu, event);
		break;
	default:
		flow_bio(flow, host, cpu, event);
		break;
	}
}
