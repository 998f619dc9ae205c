/* SPDX-License-Identifier: MIT */
/* The headers of records: which event it is, and when.
 *
 * Place: reader/, below salvage.h: moves a stream's cursor, sets its `event_id`, `clock` and
 * `whole_clock`. Clocks narrower than 64 bits are widened from the packet's begin on
 * (CTF 1.8.3, section 8).
 */
#ifndef WHYLATE_READER_HEADER_H
#define WHYLATE_READER_HEADER_H

#include <string.h>

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

/* Up to when events of a packet are, raw. */
static inline uint64_t header_latest(const struct stream_directory *directory,
				     const struct ctf_packet *packet)
{
	return packet->has_times ? packet->end + directory->slack : UINT64_MAX;
}
/* By how much the clock is past the packet's end, raw. */
static inline uint64_t header_too_late(const struct stream *stream)
{
	return stream->clock > stream->latest ? stream->clock - stream->latest : 0;
}
/* The clock went on from `clock` by much of what a header's piece of it tells apart. */
#define HEADER_LEAP 32 /* one part of so many */
static inline bool header_leapt(const struct stream *stream, uint64_t clock)
{
	return stream->clock - clock > stream->wrap / HEADER_LEAP;
}

/* A header in one of the two forms that LTTng writes where nothing needs shifting: a word with id
 * and 27 bits of clock, or 16 bits of id and 32 of clock. */
struct short_header {
	uint64_t id;
	uint32_t piece; /* of the clock */
	unsigned wide;  /* bits of that */
};

/* The bits that it takes at bit `at`, where a byte begins; 0: it is another, or the long form. */
static inline unsigned header_short(const struct stream *stream, uint64_t at,
				    struct short_header *header)
{
	const uint8_t *bytes = stream->cursor.packet + at / 8;
	uint64_t left = stream->cursor.end - at;
	uint16_t id;

	if (G_LIKELY(stream->table->form == HEADER_COMPACT)) {
		if (at > stream->cursor.end || left < 32)
			return 0;
		memcpy(&header->piece, bytes, sizeof header->piece);
		header->id = header->piece & 31;
		header->piece >>= 5;
		header->wide = 27;
		return header->id == 31 ? 0 : 32;
	}
	if (stream->table->form != HEADER_LARGE || at > stream->cursor.end || left < 48)
		return 0;
	memcpy(&id, bytes, sizeof id);
	memcpy(&header->piece, bytes + sizeof id, sizeof header->piece);
	header->id = id;
	header->wide = 32;
	return id == UINT16_MAX ? 0 : 48;
}

/* The same as header_read_sound() for nearly all records: such a form, and nothing that would have
 * to be looked at more closely. False: nothing was done. */
static inline bool header_read_usual(struct stream *stream)
{
	uint64_t at = stream->cursor.at, wrap, step;
	struct short_header header;
	unsigned bits;

	if (at % 8 || !(bits = header_short(stream, at, &header)))
		return false;
	wrap = UINT64_C(1) << header.wide;
	step = (header.piece - stream->clock) & (wrap - 1);
	if (!header.id || step > wrap / HEADER_LEAP || stream->clock + step > stream->latest)
		return false;
	stream->wrap = wrap;
	stream->event_id = header.id;
	stream->clock += step;
	stream->cursor.at = at + bits;
	return true;
}

#endif
