/* SPDX-License-Identifier: MIT */
/* See holds.h. */
#include "timeline/holds.h"

const struct hold *hold_at(const struct pages *store, const struct log *log, uint32_t index)
{
	return log_at(store, log, HOLDS_PER_CHUNK, index);
}

void hold_append(struct pages *store, struct log *log, const struct hold *hold)
{
	*(struct hold *) log_append(store, log, HOLDS_PER_CHUNK) = *hold;
}

uint32_t hold_find(const struct pages *store, const struct log *log, int64_t time)
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
