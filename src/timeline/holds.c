/* SPDX-License-Identifier: MIT */
/* Small chunks, as most locks are held few times; see holds.h. */
#include "timeline/holds.h"

#include <glib.h>

#define CHUNK 16u

const struct hold *hold_at(const struct pages *store, const struct hold_log *log, uint32_t index)
{
	return pages_at(store, log->chunks[index / CHUNK] + index % CHUNK);
}

void hold_append(struct pages *store, struct hold_log *log, const struct hold *hold)
{
	if (log->used == log->chunk_count * CHUNK) {
		if (log->chunk_count == log->chunk_room) {
			log->chunk_room = log->chunk_room ? log->chunk_room * 2 : 4;
			log->chunks = g_renew(uint32_t, log->chunks, log->chunk_room);
		}
		log->chunks[log->chunk_count++] = pages_reserve(store, CHUNK);
	}
	*(struct hold *) hold_at(store, log, log->used) = *hold;
	log->used++;
}

uint32_t hold_find(const struct pages *store, const struct hold_log *log, int64_t time)
{
	uint32_t low = 0, high = log->used;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (hold_at(store, log, middle)->end > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

void hold_log_clear(struct hold_log *log)
{
	g_free(log->chunks);
	*log = (struct hold_log) {0};
}
