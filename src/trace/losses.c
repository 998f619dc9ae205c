/* SPDX-License-Identifier: MIT */
/* See losses.h. */
#include "trace/losses.h"

#include "timeline/packet.h"

#define LOSS_MIN INT64_C(1000000) /* ns: as net/transport_waits.c has it */
#define LOSS_PART 5               /* … and so large a part of the wait */

/* The packet that ended the wait, as it was sent on another host; NULL: it was sent once. */
static const struct packet *sent_again(const struct trace *trace, const struct pairs *pairs,
				       const struct block *block)
{
	const struct wake_detail *detail =
		block->detail ? detail_at(&trace->timeline, block->detail) : NULL;
	const struct packet *sent;
	uint32_t found;

	if (!detail || !packet_from_outside(detail))
		return NULL;
	found = pairs_sent(pairs, detail->packet);
	sent = found ? packet_at(&trace->timeline, found) : NULL;
	return sent && sent->again ? sent : NULL;
}

static void explain(struct trace *trace, struct block *block, const struct packet *sent,
		    int64_t begin, int64_t end)
{
	const struct clock_line *line = &model_host(&trace->model, sent->host)->clock.line;
	int64_t first = MAX(clock_line_at(line, sent->first), begin);
	int64_t last = MIN(clock_line_at(line, sent->time), end);
	int64_t handed = clock_line_at(line, sent->handed);
	struct reason reason = reason_of_kind(REASON_RETRANSMISSION);

	if (last - first < LOSS_MIN || (last - first) * LOSS_PART < end - begin)
		return;
	reason.object = sent->service;
	reason.result = sent->how;
	reason.count = (uint16_t) MIN(sent->again, UINT16_MAX);
	reason.number = (uint64_t) sent->gap;
	reason.amount = 1;
	reason.text = sent->dropped_by;
	reason.flags = sent->dropped_by ? REASON_UNSENT : 0;
	reason.ns = last - first;
	reason.thread = sent->thread;
	reason.call = sent->call;
	reason.begin = handed;
	reason.from = begin;
	reason.until = CLAMP(handed, begin, end);
	block->reason = reason_new(&trace->timeline, &reason);
}

static void explain_waits(struct trace *trace, const struct pairs *pairs,
			  const struct thread *thread)
{
	struct track_pos pos = {0, 0};
	struct span span;

	while (track_read(&trace->timeline, &thread->track, &pos, thread->end, &span)) {
		struct block *block;
		const struct packet *sent;

		if (!leaf_is_blocked(span.leaf))
			continue;
		block = block_at(&trace->timeline, span.ref);
		sent = sent_again(trace, pairs, block);
		if (sent && (!block->reason ||
			     reason_is_transport(reason_at(&trace->timeline, block->reason))))
			explain(trace, block, sent, span.begin, span.end);
	}
}

void losses_follow(struct trace *trace, const struct pairs *pairs)
{
	bool any = false;

	for (guint i = 0; i < pairs->list->len && !any; i++)
		any = packet_at(&trace->timeline, g_array_index(pairs->list, struct pair, i).sent)
			      ->again;
	for (uint32_t i = 0; any && i < trace->model.thread_count; i++)
		explain_waits(trace, pairs, model_thread(&trace->model, i));
}
