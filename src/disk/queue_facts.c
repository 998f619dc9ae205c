/* SPDX-License-Identifier: MIT */
/* See queue_facts.h. */
#include "disk/queue_facts.h"

#include <stdlib.h>

struct disk_queue {
	uint32_t flying;
	uint64_t end; /* of the request issued last: sector; UINT64_MAX: none */
};

static struct disk_queue *queue_of(struct flow *flow, uint16_t host, uint32_t dev)
{
	uint64_t key = (uint64_t) host << 32 | dev;
	struct disk_queue none = {0, UINT64_MAX};
	uint32_t at;

	if (!flow->disk_queues)
		flow->disk_queues = g_array_new(FALSE, TRUE, sizeof none);
	at = idmap_get(&flow->disk_index, key);
	if (at == IDMAP_NONE) {
		at = flow->disk_queues->len;
		g_array_append_val(flow->disk_queues, none);
		idmap_set(&flow->disk_index, key, at);
	}
	return &g_array_index(flow->disk_queues, struct disk_queue, at);
}

void queue_issued(struct flow *flow, uint16_t host, struct request *request)
{
	struct disk_queue *queue;

	request->depth = request->distance = -1;
	if (!flow->facts_wanted)
		return;
	queue = queue_of(flow, host, request->dev);
	if (!model_host(flow->model, host)->gaps->len)
		request->depth = queue->flying;
	queue->flying++;
	if (!request->sectors)
		return;
	if (queue->end != UINT64_MAX)
		request->distance =
			(int64_t) MIN(request->sector > queue->end ? request->sector - queue->end
								   : queue->end - request->sector,
				      (uint64_t) INT64_MAX);
	queue->end = request->sector + request->sectors;
}

void queue_left(struct flow *flow, uint16_t host, const struct request *request)
{
	struct disk_queue *queue;

	if (!flow->facts_wanted)
		return;
	queue = queue_of(flow, host, request->dev);
	queue->flying -= queue->flying > 0;
}
