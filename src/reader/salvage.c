/* SPDX-License-Identifier: MIT */
/* Searching for what makes sense behind damage; see salvage.h. */
#include "reader/salvage.h"

#include "reader/header.h"

#define RUN_MIN 4 /* records in a row that make sense after damage */
#define RUN_LONG 256 /* … where the clock leaps */
#define WALKS_MAX 100 /* in vain in one packet */

/* The payload at the cursor and the records behind it make sense: RUN_MIN of them, more
 * where the clock leaps; or all up to the packet's end, or to one with the whole clock. Nothing
 * is taken: at most places in a packet a list begins that is as long as the rest of it. */
static bool is_sound(struct stream *stream, bool *leaps)
{
	stream->whole_clock = false;
	for (int good = 1;; good++) {
		struct record_class *class = class_table_find(stream->table, stream->event_id);
		uint64_t clock = stream->clock;

		if (!class || !class_pass(stream->table, class, &stream->cursor))
			return false;
		if (good >= (*leaps ? RUN_LONG : RUN_MIN) || stream->whole_clock ||
		    stream->cursor.at >= stream->cursor.end)
			return true;
		if (!header_read_sound(stream))
			return false;
		*leaps |= header_leapt(stream, clock);
	}
}

enum walk {
	WALK_SOUND,  /* … and the whole clock or the packet's end agrees */
	WALK_AHEAD,  /* the clock is too far there */
	WALK_BROKEN, /* a record on the way makes no sense */
};

/* From a record whose header has been read; the cursor is where the walk ended then. */
static enum walk walk(struct stream *stream, int *records)
{
	for (*records = 1;; ++*records) {
		struct record_class *class = class_table_find(stream->table, stream->event_id);
		uint64_t clock = stream->clock;

		if (header_too_late(stream))
			return WALK_AHEAD;
		if (!class || !class_pass(stream->table, class, &stream->cursor))
			return WALK_BROKEN;
		if (stream->cursor.at >= stream->cursor.end)
			return WALK_SOUND;
		stream->whole_clock = false;
		if (!header_read(stream))
			return WALK_BROKEN;
		if (stream->clock < clock)
			return WALK_AHEAD;
		if (stream->whole_clock)
			return WALK_SOUND;
	}
}

static enum walk walk_from(struct stream *stream, uint64_t at, uint64_t clock)
{
	int records;

	stream->cursor.at = at;
	stream->clock = clock;
	return at < stream->cursor.end && header_read(stream)
		       ? walk(stream, &records)
		       : WALK_BROKEN;
}

/* Records make sense from the cursor on; `strict`: and no leap sets the clock too far. */
static bool plausible(struct stream *stream, bool strict)
{
	uint64_t at = stream->cursor.at, clock = stream->clock;
	bool leaps;

	if (at >= stream->cursor.end || !header_read_sound(stream))
		return false;
	leaps = header_leapt(stream, clock);
	if (!is_sound(stream, &leaps))
		return false;
	if (!strict || !leaps)
		return true;
	return ++stream->walks < WALKS_MAX && walk_from(stream, at, clock) == WALK_SOUND;
}

/* Searches the rest of the packet from `from` for the next plausible run; the cursor is
 * there then. */
static bool search(struct stream *stream, uint64_t from, uint64_t clock, bool strict)
{
	const struct mapped *mapped = stream->packet->file->mapped;
	uint64_t offset = stream->packet->offset;
	struct cursor *cursor = &stream->cursor;

	for (uint64_t at = from / 8 * 8 + 8; at + RUN_MIN * 8 <= cursor->end; at += 8) {
		if (mapped_gone(mapped, offset + at / 8, offset + at / 8 + 1)) {
			at = (mapped_behind_gone(mapped, offset + at / 8) - offset) * 8 - 8;
			continue;
		}
		cursor->at = at;
		stream->clock = clock;
		if (plausible(stream, strict)) {
			cursor->at = at;
			return true;
		}
	}
	return false;
}

/* The cursor goes to where records make sense again, or to the packet's end. */
static void resync(struct stream *stream, uint64_t from, uint64_t clock)
{
	if (!search(stream, from, clock, true) && !search(stream, from, clock, false))
		stream->cursor.at = stream->cursor.end;
	stream->packet->file->lost += (stream->cursor.at - from) / 8;
	stream->clock = clock;
}

/* What is between `begin` (clock) and where the cursor and the clock are now is lost. */
static void hole(struct stream *stream, uint64_t begin)
{
	uint64_t at = stream->cursor.at, clock = stream->clock;
	int64_t end;

	if (at < stream->cursor.end && header_read_sound(stream)) { /* its time ends the hole */
		end = header_time(stream->directory, stream->clock);
		stream->cursor.at = at;
		stream->clock = clock;
	} else {
		stream->clock = MAX(stream->packet->end, clock);
		end = header_time(stream->directory, stream->clock);
		stream->cursor.at = stream->cursor.end;
	}
	stream_lose(stream, header_time(stream->directory, begin), end);
}

void salvage_give_up(struct stream *stream, uint64_t from, uint64_t clock)
{
	resync(stream, from, clock);
	hole(stream, clock);
}

/* The clock is too far, from the record that began at `from` on: that one's piece is
 * damaged, or the one before it, when the clock was at `before`, was set too far and is told
 * already. False: neither. */
static bool wind_back(struct stream *stream, uint64_t from, uint64_t clock, uint64_t before)
{
	struct record_class *class = class_table_find(stream->table, stream->event_id);
	struct event event = {.cpu = stream->cpu};
	uint64_t at;

	if (!class || !class_take(stream->table, class, &stream->cursor, &event))
		return false;
	at = stream->cursor.at;
	if (walk_from(stream, at, clock) == WALK_SOUND) {
		stream->cursor.at = at;
		stream->clock = clock;
	} else if (walk_from(stream, from, before) == WALK_SOUND) {
		stream->cursor.at = from;
		stream->clock = before;
		do { /* what is before the time that was told */
			at = stream->cursor.at;
			before = stream->clock;
			if (at >= stream->cursor.end || !header_read_sound(stream))
				break;
			class = class_table_find(stream->table, stream->event_id);
		} while (stream->clock < clock && class &&
			 class_take(stream->table, class, &stream->cursor, &event));
		stream->cursor.at = at;
		stream->clock = before;
	} else {
		return false;
	}
	stream->packet->file->lost += (at - from) / 8;
	return true;
}

bool salvage_believe(struct stream *stream, uint64_t from, uint64_t clock, uint64_t before)
{
	uint64_t at = stream->cursor.at, here = stream->clock, id = stream->event_id;
	int records;
	enum walk found = walk(stream, &records);

	/* else a leap further on may be to blame */
	if (found == WALK_SOUND || ++stream->walks == WALKS_MAX)
		stream->sound_until = stream->cursor.at;
	stream->cursor.at = at;
	stream->clock = here;
	stream->event_id = id;
	if (found == WALK_AHEAD && wind_back(stream, from, clock, before)) {
		hole(stream, clock);
		return false;
	}
	if (found != WALK_SOUND && records < RUN_LONG) {
		salvage_give_up(stream, from, clock);
		return false;
	}
	stream->cursor.at = at;
	stream->clock = here;
	stream->event_id = id;
	return true;
}
