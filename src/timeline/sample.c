/* SPDX-License-Identifier: MIT */
/* See sample.h. */
#include "timeline/sample.h"

const struct sample *sample_at(const struct pages *store, const struct log *log, uint32_t index)
{
	return log_at(store, log, SAMPLES_PER_CHUNK, index);
}

void sample_append(struct pages *store, struct log *log, const struct sample *sample)
{
	*(struct sample *) log_append(store, log, SAMPLES_PER_CHUNK) = *sample;
}

uint32_t sample_find(const struct pages *store, const struct log *log, int64_t time)
{
	uint32_t low = 0, high = log->used;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sample_at(store, log, middle)->time > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
