/* SPDX-License-Identifier: MIT */
/* See counts.h. */
#include "timeline/counts.h"

const struct counted_run *
counted_run_at(const struct pages *store, const struct log *log, uint32_t index)
{
	return log_at(store, log, COUNTS_PER_CHUNK, index);
}

void counted_run_append(struct pages *store, struct log *log, const struct counted_run *run)
{
	*(struct counted_run *) log_append(store, log, COUNTS_PER_CHUNK) = *run;
}

uint32_t counted_run_find(const struct pages *store, const struct log *log, int64_t time)
{
	uint32_t low = 0, high = log->used;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (counted_run_at(store, log, middle)->begin >= time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
