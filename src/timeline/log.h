/* SPDX-License-Identifier: MIT */
/* Records of one thing (a CPU's runs, a lock's holders), in order, in a store that it shares
 * with others of its kind: chunks of records that lie side by side, numbered through.
 *
 *   store   | … | 0 1 2 … 15 | another's | 16 17 … 31 | …
 *               ▲ starts[0]              ▲ starts[1]
 *
 * Place: timeline/. A thread's track (timeline.h) has chunks too, of intervals that are packed.
 */
#ifndef WHYLATE_TIMELINE_LOG_H
#define WHYLATE_TIMELINE_LOG_H

#include <stdint.h>

#include "util/pages.h"

struct chunks {
	uint32_t *starts; /* owned; indexes in the store */
	uint32_t count, room;
};

struct log {
	struct chunks chunks;
	uint32_t used; /* records in all */
};

void chunks_append(struct chunks *chunks, uint32_t start);

static inline void *log_at(const struct pages *store, const struct log *log, uint32_t per_chunk,
			   uint32_t index)
{
	return pages_at(store, log->chunks.starts[index / per_chunk] + index % per_chunk);
}

/* The place of a new record behind all others. */
void *log_append(struct pages *store, struct log *log, uint32_t per_chunk);
void log_clear(struct log *log);

#endif
