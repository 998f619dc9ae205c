/* SPDX-License-Identifier: MIT */
/* Completed requests: what a wake-up is told of one, and of whose parts it was; see
 * completions.h.
 *
 * Part of disk/. Source: semantics.md, "Blocking causality", rules 1 and 3.
 */
#include "disk/completions.h"

#include "disk/block_requests.h"
#include "disk/held.h"

/* A write that was to be on the medium completes a second time, without a
 * length, when the flush after it has: it was served until then. */
struct request *completed_before(struct host *host, const struct event *event)
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

void request_describe(struct flow *flow, struct host *host, const struct request *request,
		      struct wake_detail *detail)
{
	/* among what was lost may be its completion, and the issue of another one there */
	bool doubtful = request->doubtful || host_unseen(host, request->issue, request->end);

	*detail = (struct wake_detail) {
		.kind = DETAIL_REQUEST,
		.requested = -1,
		.queued = -1,
		.served = -1,
		.number = request->sectors ? request->sector : FLUSH_SECTOR,
		.text = request_disk(flow, host, request->dev),
		.bios = request->bios,
		.threads = (uint16_t) MIN(request->threads, UINT16_MAX),
		.sectors = request->sectors,
		.flags = (request->bios ? DETAIL_BIOS : 0) |
			 (request->readahead ? DETAIL_READAHEAD : 0) |
			 (doubtful ? DETAIL_DOUBTFUL : 0)};
	name_requester(detail, &request->by[0]);
	detail->reason = held_reason(flow, host, request);
	if (request->origin)
		detail->origin = request_disk(flow, host, request->origin);
	if (request->issue == INT64_MIN || doubtful)
		return;
	detail->begin = request->issue;
	detail->served = request->end - request->issue;
	if (request->queued != INT64_MIN)
		detail->queued = request->issue - request->queued;
}

uint32_t request_keep(struct host *host, const struct request *request)
{
	uint32_t place = host->completed_next++ % G_N_ELEMENTS(host->completed) + 1;
	struct request *kept = &host->completed[place - 1];

	*kept = *request;
	kept->key = request_key(request->dev, request->sector, request->sectors, REQUEST_ISSUED);
	kept->used = true;
	return place;
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

bool is_bio_of(const struct flow *flow, const struct host *host, const struct wake_detail *detail,
	       const struct thread *woken)
{
	const struct request *request =
		detail->completed ? &host->completed[detail->completed - 1] : NULL;

	return detail->kind == DETAIL_REQUEST && request && request->phase == REQUEST_WAITING &&
	       request->issue == detail->begin && part_of(flow, request, woken);
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
		request_describe(flow, host, request, detail);
		name_requester(detail, by);
		*end = request->end;
		return true;
	}
	return false;
}
