/* SPDX-License-Identifier: MIT */
/* Reading the headers of records; see header.h. */
#include "reader/header.h"

#include <string.h>

#define BLANK_BYTES 64

/* Widens `value` of `size` bits: the first such one at or after the last (CTF 1.8.3,
 * section 8). */
static void tick(struct stream *stream, uint64_t value, unsigned size)
{
	uint64_t mask;

	if (size >= 64) {
		stream->clock = value;
		stream->whole_clock = true;
		return;
	}
	mask = (UINT64_C(1) << size) - 1;
	stream->wrap = mask + 1;
	if ((stream->clock & mask) > value)
		stream->clock += mask + 1;
	stream->clock = (stream->clock & ~mask) | value;
}

/* The chosen option of a header's variant; NULL. */
static const struct type *option_of(const struct type *variant, const struct type *selector,
				    uint64_t value)
{
	for (guint i = 0; selector && selector->ranges && i < selector->ranges->len; i++) {
		const struct range *range = &g_array_index(selector->ranges, struct range, i);

		if ((int64_t) value < range->from || (int64_t) value > range->to)
			continue;
		for (guint k = 0; k < variant->members->len; k++) {
			const struct member *member =
				&g_array_index(variant->members, struct member, k);

			if (strcmp(member->name, range->label) == 0)
				return member->type;
		}
	}
	return NULL;
}

/* An event's header, in whatever form: `id` and the clock's value somewhere in it. */
static bool read_members(struct stream *stream, const struct type *type)
{
	struct cursor *cursor = &stream->cursor;
	const struct type *selector = NULL;
	uint64_t value = 0;

	cursor->at = (cursor->at + type->align - 1) / type->align * type->align;
	for (guint i = 0; i < type->members->len; i++) {
		const struct member *member = &g_array_index(type->members, struct member, i);

		if (member->type->kind == TYPE_VARIANT) {
			const struct type *option =
				option_of(member->type,
					  member->type->ranges ? member->type : selector, value);

			if (!option || option->kind != TYPE_STRUCT || !read_members(stream, option))
				return false;
		} else if (!cursor_integer(cursor, member->type, &value)) {
			return false;
		} else if (member->type->clocked) {
			tick(stream, value, member->type->size);
		} else if (strcmp(member->name, "id") == 0) {
			stream->event_id = value;
			selector = member->type;
		}
	}
	return true;
}

static inline bool fast_header(struct stream *stream)
{
	uint64_t at = (stream->cursor.at + 7) & ~UINT64_C(7);
	struct short_header header;
	unsigned bits = header_short(stream, at, &header);

	if (!bits)
		return false;
	stream->event_id = header.id;
	tick(stream, header.piece, header.wide);
	stream->cursor.at = at + bits;
	return true;
}

static inline bool read_header(struct stream *stream)
{
	const struct type *header = stream->table->stream->header;

	return header && (fast_header(stream) || read_members(stream, header));
}

bool header_read(struct stream *stream)
{
	return read_header(stream);
}

/* Zeros that were never written over read as records of event 0 at one time. */
static bool is_blank(const struct stream *stream, uint64_t at)
{
	uint64_t end = MIN(stream->cursor.end, at + BLANK_BYTES * 8);

	for (uint64_t i = at / 8; i < end / 8; i++)
		if (stream->cursor.packet[i])
			return false;
	return true;
}

bool header_read_sound(struct stream *stream)
{
	uint64_t clock = stream->clock, at = stream->cursor.at;

	return read_header(stream) && stream->clock >= clock && !header_too_late(stream) &&
	       (stream->event_id || !is_blank(stream, at));
}
