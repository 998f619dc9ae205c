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
 * Part of objects/. Source: semantics.md, "Blocking causality", rules 1 and 3;
 * lttng-events.md 1.4; the kernel's block/blk-core.c, blk-mq.c, blk-flush.c.
 */
#include "disk/block.h"

#include <string.h>

#include "disk/bios.h"
#include "disk/block_requests.h"
#include "objects/operation_log.h"

/* What its bios did not tell may be among what was lost: since when it waits, and for whom; who
 * inserts or issues it may do so for anybody. */
static bool may_lack_bios(const struct flow *flow, const struct host *host,
			  const struct request *request)
{
	return flow->has_bios && request->sectors && host->gaps->len;
}

static void issuer_if_unknown(struct flow *flow, const struct host *host, const struct cpu *cpu,
			      struct request *request, const struct event *event)
{
	struct requester by;

	if (request->threads || may_lack_bios(flow, host, request))
		return;
	by = requester_of(flow, cpu, event);
	if (by.thread != NO_THREAD)
		request_add(request, &by);
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
	if (!request->bios)
		request->readahead = event->block.rwbs & RWBS_READAHEAD;
	issuer_if_unknown(flow, host, cpu, request, event);
	operation_queued(flow, cpu, event->host, request);
	if (!before)
		return;
	request->doubtful = true;
	request_absorb(request, &other);
}

/* The driver could not take it: it goes back, and is issued again later. */
static void request_requeued(struct host *host, int64_t time, const struct event *event)
{
	uint64_t sector = event->block.sector;
	struct request *request =
		request_find(host, event->block.dev, sector, event->block.sectors, REQUEST_ISSUED);

	if (request)
		request = request_move(host, request, sector, REQUEST_WAITING);
	if (!request)
		return;
	request->issue = INT64_MIN;
	request->requeued = time;
}

/* --- completion ---------------------------------------------------------------- */

static uint32_t disk_name(struct flow *flow, struct host *host, uint32_t dev)
{
	uint32_t name = idmap_get(&host->disks, dev);
	char text[32];

	if (name != IDMAP_NONE)
		return name;
	g_snprintf(text, sizeof text, "device %u:%u", dev >> 20, dev & 0xfffff);
	return intern_id(flow->names, text);
}

/* A write that was to be on the medium completes a second time, without a
 * length, when the flush after it has: it was served until then. */
static struct request *completed_before(struct host *host, const struct event *event)
{
	uint64_t key = request_key(event->block.dev, event->block.sector, 1, REQUEST_ISSUED);

	if (event->block.sectors || event->block.sector == FLUSH_PLACE)
		return NULL; /* a flush by itself has done nothing before */
	for (guint i = 0; i < G_N_ELEMENTS(host->completed); i++)
		if (host->completed[i].used && host->completed[i].key == key)
			return &host->completed[i];
	return NULL;
}

static void name_requester(struct wake_detail *detail, const struct requester *by)
{
	detail->flags &= (uint8_t) ~DETAIL_BEHALF_SEEN;
	detail->flags |= by->behalf_seen ? DETAIL_BEHALF_SEEN : 0;
	detail->thread = by->thread;
	detail->call = by->call;
	detail->behalf = by->behalf;
	detail->asked = by->thread == NO_THREAD ? 0 : by->time;
}

static void describe_request(struct flow *flow, struct host *host, const struct request *request,
			     struct wake_detail *detail)
{
	/* among what was lost may be its completion, and the issue of another one there */
	bool doubtful = request->doubtful || host_gap_over(host, request->issue, request->end);

	*detail = (struct wake_detail) {
		.kind = DETAIL_REQUEST,
		.requested = -1,
		.queued = -1,
		.served = -1,
		.number = request->sectors ? request->sector : FLUSH_SECTOR,
		.text = disk_name(flow, host, request->dev),
		.bios = request->bios,
		.threads = (uint16_t) MIN(request->threads, UINT16_MAX),
		.sectors = request->sectors,
		.flags = (request->bios ? DETAIL_BIOS : 0) |
			 (request->readahead ? DETAIL_READAHEAD : 0) |
			 (doubtful ? DETAIL_DOUBTFUL : 0)};
	name_requester(detail, &request->by[0]);
	if (request->origin)
		detail->origin = disk_name(flow, host, request->origin);
	if (request->issue == INT64_MIN || doubtful)
		return;
	detail->begin = request->issue;
	detail->served = request->end - request->issue;
	if (request->queued != INT64_MIN)
		detail->queued = request->issue - request->queued;
}

/* The device has done a part of it: the rest goes on. */
static void completed_in_part(struct host *host, struct request *request, uint32_t sectors)
{
	request->left -= sectors;
	request_move(host, request, request->sector + sectors, REQUEST_ISSUED);
}

static void request_completed(struct flow *flow, struct host *host, struct cpu *cpu,
			      const struct event *event)
{
	uint32_t sectors = event->block.sectors;
	bool flush = !sectors && event->block.rwbs & RWBS_FLUSH;
	struct request *request = NULL, *before = NULL, *kept;
	struct wake_detail *detail = cpu_pending(cpu);

	*detail = (struct wake_detail) {
		.kind = DETAIL_REQUEST,
		.thread = NO_THREAD,
		.behalf = NO_THREAD,
		.requested = -1,
		.queued = -1,
		.served = -1,
		.number = event->block.sector,
		.text = disk_name(flow, host, event->block.dev)};
	if (sectors || (flush && event->block.sector == FLUSH_PLACE))
		request = request_find(host, event->block.dev, event->block.sector, sectors,
				       REQUEST_ISSUED);
	if (!request)
		before = completed_before(host, event);
	if (!request && !before && flush) /* some kernels give a flush's sector as 0 */
		request = request_find(host, event->block.dev, FLUSH_PLACE, 0, REQUEST_ISSUED);
	if (!request && !before && !sectors && !flush)
		detail->kind = DETAIL_NONE; /* no I/O of a sector, nor a flush */
	if (request && sectors > request->left) {
		request_free(host, request); /* its own completion was not seen, nor this issue */
		return;
	}
	if (!request && !before)
		return;
	(request ? request : before)->end = flow->time;
	describe_request(flow, host, request ? request : before, detail);
	if (before) {
		before->used = false;
		detail->completed = (uint32_t) (before - host->completed) + 1;
		return;
	}
	if (sectors < request->left) {
		completed_in_part(host, request, sectors);
		return;
	}
	operation_served(flow, cpu, event->host, request);
	detail->completed = host->completed_next++ % G_N_ELEMENTS(host->completed) + 1;
	kept = &host->completed[detail->completed - 1];
	*kept = *request;
	kept->key = request_key(request->dev, request->sector, request->sectors, REQUEST_ISSUED);
	kept->used = true;
	request_free(host, request);
}

/* What `thread` asked for in it; NULL: nothing. */
static const struct requester *part_of(const struct flow *flow, const struct request *request,
				       const struct thread *thread)
{
	for (uint32_t i = 0; thread && i < MIN(request->threads, REQUESTERS_MAX); i++)
		if (request->by[i].thread != NO_THREAD &&
		    flow_thread(flow, request->by[i].thread) == thread)
			return &request->by[i];
	return NULL;
}

void block_detail_for(const struct flow *flow, struct host *host, struct wake_detail *detail,
		      const struct thread *woken)
{
	const struct request *request =
		detail->completed ? &host->completed[detail->completed - 1] : NULL;
	const struct requester *by;

	detail->completed = 0;
	if (detail->kind != DETAIL_REQUEST || !request || detail->threads < 2)
		return;
	if (request->issue != detail->begin && !(detail->flags & DETAIL_DOUBTFUL))
		return; /* other CPUs have completed so many since that it is gone */
	by = part_of(flow, request, woken);
	if (by)
		name_requester(detail, by);
}

bool block_completed_for(struct flow *flow, struct host *host, const struct thread *thread,
			 struct wake_detail *detail, int64_t *end)
{
	for (uint32_t i = 1; i <= MIN(host->completed_next, G_N_ELEMENTS(host->completed)); i++) {
		const struct request *request = &host->completed[(host->completed_next - i) %
								 G_N_ELEMENTS(host->completed)];
		const struct requester *by = part_of(flow, request, thread);

		if (!by || request->end < thread->flow.since)
			continue;
		describe_request(flow, host, request, detail);
		name_requester(detail, by);
		*end = request->end;
		return true;
	}
	return false;
}

void flow_block(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct host *host = flow_host(flow, event);
	if (event->block.sectors && event->block.sector >= FLUSH_PLACE - event->block.sectors)
		return; /* no disk is that large, and flushes are kept there */
	if (!event->block.sectors && !(event->block.rwbs & RWBS_FLUSH) &&
	    (event->kind == EV_BLOCK_INSERT || event->kind == EV_BLOCK_ISSUE))
		return;
	switch (event->kind) {
	case EV_BLOCK_INSERT:
		request_inserted(flow, host, cpu, event);
		break;
	case EV_BLOCK_ISSUE:
		request_issued(flow, host, cpu, event);
		break;
	case EV_BLOCK_REQUEUE:
		request_requeued(host, flow->time, event);
		break;
	case EV_BLOCK_COMPLETE:
		request_completed(flow, host, cpu, event);
		break;
	default:
		flow_bio(flow, host, cpu, event);
		break;
	}
}
