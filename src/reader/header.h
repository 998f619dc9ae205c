/* SPDX-License-Identifier: MIT */
/* The headers of records: which event it is, and when.
 *
 * Place: reader/, below salvage.h: moves a stream's cursor, sets its `event_id`, `clock` and
 * `whole_clock`. Clocks narrower than 64 bits are widened from the packet's begin on
 * (CTF 1.8.3, section 8).
 */
#ifndef WHYLATE_READER_HEADER_H
#define WHYLATE_READER_HEADER_H

#include "reader/stream_state.h"
#include "util/when.h"

/* ns from the origin; `raw` is a clock's value. */
static inline int64_t header_time(const struct stream_directory *directory, uint64_t raw)
{
	return clock_ns(directory->offset_s, raw + (uint64_t) directory->offset_cycles,
			directory->frequency);
}

/* The header of the record at the cursor, whatever the clock then is; false: none. */
bool header_read(struct stream *stream);
/* The same; false: it makes no sense there. */
bool header_read_sound(struct stream *stream);

/* By how much the clock is past the packet's end, raw. */
static inline uint64_t header_too_late(const struct stream *stream)
{
	uint64_t end = stream->packet->end + stream->directory->slack;

	return stream->packet->has_times && stream->clock > end ? stream->clock - end : 0;
}
/* The clock went on from `clock` by much of what a header's piece of it tells apart. */
static inline bool header_leapt(const struct stream *stream, uint64_t clock)
{
	return stream->clock - clock > stream->wrap / 32;
}

#endif
