/* SPDX-License-Identifier: MIT */
/* Chunks of records; see log.h. */
#include "timeline/log.h"

#include <glib.h>

void chunks_append(struct chunks *chunks, uint32_t start)
{
	if (chunks->count == chunks->room) {
		chunks->room = chunks->room ? chunks->room * 2 : 1;
		chunks->starts = g_renew(uint32_t, chunks->starts, chunks->room);
	}
	chunks->starts[chunks->count++] = start;
}

void *log_append(struct pages *store, struct log *log, uint32_t per_chunk)
{
	if (log->used == log->chunks.count * per_chunk)
		chunks_append(&log->chunks, pages_reserve(store, per_chunk));
	return log_at(store, log, per_chunk, log->used++);
}

void log_clear(struct log *log)
{
	g_free(log->chunks.starts);
	*log = (struct log) {0};
}
