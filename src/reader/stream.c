/* Going through a stream's packets and records; see stream.h. */
#include "reader/stream.h"

#include <string.h>
#include <sys/mman.h>

#define RUN_MIN 4 /* records in a row that make sense after damage */
#define RUN_LONG 256 /* … where the clock leaps */
#define BLANK_BYTES 64
#define WALKS_MAX 100 /* in vain in one packet */

struct stream *stream_new(void)
{
	struct stream *stream = g_new0(struct stream, 1);

	stream->packets = g_array_new(FALSE, FALSE, sizeof(struct ctf_packet));
	stream->parts = g_ptr_array_new();
	stream->cursor.ready = g_array_new(FALSE, FALSE, sizeof(struct event_ready));
	return stream;
}

void stream_free(gpointer data)
{
	struct stream *stream = data;

	g_array_free(stream->packets, TRUE);
	g_ptr_array_free(stream->parts, TRUE);
	g_array_free(stream->cursor.ready, TRUE);
	g_free(stream);
}

static int64_t time_of(const struct part *part, uint64_t raw)
{
	uint64_t cycles;

	if (part->frequency == 1000000000)
		return (int64_t) (raw + (uint64_t) part->offset);
	cycles = raw + (uint64_t) part->offset_cycles;
	return part->offset_s * INT64_C(1000000000) +
	       (int64_t) (cycles / part->frequency * 1000000000 +
			  (uint64_t) ((unsigned __int128) (cycles % part->frequency) * 1000000000 /
				      part->frequency));
}

int64_t stream_end_time(const struct stream *stream)
{
	guint last = stream->packets->len - 1;
	const struct ctf_packet *packet = &g_array_index(stream->packets, struct ctf_packet, last);

	return time_of(g_ptr_array_index(stream->parts, last), packet->end);
}

/* What has been read is not needed again: all before `upto` in that file, and the rest
 * of the one before it. */
static void let_go(struct stream *stream, const struct stream_file *file, uint64_t upto)
{
	if (stream->file && stream->file != file)
		stream_file_let_go(stream->file, stream->released, stream->file->length);
	if (stream->file != file || upto < stream->released)
		stream->released = 0;
	stream->file = file;
	upto &= ~(STREAM_FILE_PIECE - 1);
	if (!file || upto <= stream->released)
		return;
	stream_file_let_go(file, stream->released, upto);
	stream->released = upto;
}

static const struct class_table *table_of(const struct part *part, uint64_t stream_id)
{
	for (guint i = 0; i < part->tables->len; i++) {
		const struct class_table *table = g_ptr_array_index(part->tables, i);

		if (table->stream->id == stream_id)
			return table;
	}
	return NULL;
}

static void enter(struct stream *stream)
{
	const struct ctf_packet *packet = &g_array_index(stream->packets, struct ctf_packet, stream->next);

	stream->part = g_ptr_array_index(stream->parts, stream->next);
	stream->packet = packet;
	stream->table = table_of(stream->part, packet->stream_id);
	stream->clock = stream->event_clock = packet->begin;
	stream->sound_until = 0;
	stream->walks = 0;
	stream->cursor.packet = packet->file->bytes + packet->offset;
	stream->cursor.at = packet->header;
	stream->cursor.end = packet->content;
	stream->cursor.big_endian = packet->metadata->big_endian;
	stream->next++;
	let_go(stream, packet->file, packet->offset);
}

/* Events lost between the last packet and this one; their place is said to be from
 * the end of that to the end of this (lttng-events.md, section 4). */
static bool lost_events(struct stream *stream, const struct ctf_packet *before,
			const struct ctf_packet *packet)
{
	const struct part *part = g_ptr_array_index(stream->parts, stream->next);
	uint64_t known = before ? before->discarded : 0, count = packet->discarded - known;

	if (!packet->has_discarded || packet->discarded <= known)
		return false;
	stream->item = STREAM_LOST_EVENTS;
	stream->lost_begin = time_of(part, before ? before->end : packet->begin);
	stream->lost_end = time_of(part, packet->end);
	stream->lost_count = before ? (int64_t) count : -1;
	stream->time = stream->lost_begin;
	return true;
}

static bool lost_packets(struct stream *stream, const struct ctf_packet *before,
			 const struct ctf_packet *packet)
{
	const struct part *part = g_ptr_array_index(stream->parts, stream->next);

	if (!before || !(packet->after_hole ||
			 (packet->has_sequence && packet->sequence > before->sequence + 1)))
		return false;
	stream->item = STREAM_LOST_PACKETS;
	stream->lost_begin = time_of(part, before->end);
	stream->lost_end = time_of(part, packet->begin);
	stream->lost_count = packet->has_sequence && packet->sequence > before->sequence
				     ? (int64_t) (packet->sequence - before->sequence - 1)
				     : -1;
	stream->time = stream->lost_begin;
	return true;
}

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
static bool read_header(struct stream *stream, const struct type *type)
{
	struct cursor *cursor = &stream->cursor;
	const struct type *selector = NULL;
	uint64_t value = 0;

	cursor->at = (cursor->at + type->align - 1) / type->align * type->align;
	for (guint i = 0; i < type->members->len; i++) {
		const struct member *member = &g_array_index(type->members, struct member, i);

		if (member->type->kind == TYPE_VARIANT) {
			const struct type *option = option_of(
				member->type, member->type->ranges ? member->type : selector, value);

			if (!option || option->kind != TYPE_STRUCT || !read_header(stream, option))
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

/* The two forms that LTTng writes, where nothing needs shifting: a word with id and 27
 * bits of clock, or 16 bits of id and 32 of clock. False: another, or the long one. */
static bool fast_header(struct stream *stream)
{
	struct cursor *cursor = &stream->cursor;
	uint64_t at = (cursor->at + 7) & ~UINT64_C(7), left = cursor->end - at;
	const uint8_t *bytes = cursor->packet + at / 8;
	uint32_t word;
	uint16_t id;

	switch (stream->table->form) {
	case HEADER_COMPACT:
		if (at > cursor->end || left < 32)
			return false;
		memcpy(&word, bytes, sizeof word);
		if ((word & 31) == 31)
			return false;
		stream->event_id = word & 31;
		tick(stream, word >> 5, 27);
		cursor->at = at + 32;
		return true;
	case HEADER_LARGE:
		if (at > cursor->end || left < 48)
			return false;
		memcpy(&id, bytes, sizeof id);
		if (id == UINT16_MAX)
			return false;
		memcpy(&word, bytes + 2, sizeof word);
		stream->event_id = id;
		tick(stream, word, 32);
		cursor->at = at + 48;
		return true;
	default:
		return false;
	}
}

/* The header of the record at the cursor, whatever the clock then is; false: none. */
static bool any_header(struct stream *stream)
{
	const struct type *header = stream->table->stream->header;

	return header && (fast_header(stream) || read_header(stream, header));
}

/* By how much the clock is past the packet's end. */
static uint64_t too_late(const struct stream *stream)
{
	uint64_t end = stream->packet->end + stream->part->slack;

	return stream->packet->has_times && stream->clock > end ? stream->clock - end : 0;
}

/* Nothing but zeros at the cursor, or the packet's end: what is behind the end of a file that was
 * cut reads so, and the record before it may have begun in front of that. */
static bool zeros_follow(const struct cursor *cursor)
{
	uint64_t at = (cursor->at + 7) / 8, word;

	if (at * 8 + 64 > cursor->end)
		return true;
	memcpy(&word, cursor->packet + at, sizeof word);
	return !word;
}

/* The record that began at bit `from`, or something in it, went away while it was read. */
static bool is_gone(const struct stream *stream, uint64_t from)
{
	const struct stream_file *file = stream->packet->file;
	uint64_t packet = stream->packet->offset, end = packet + (stream->cursor.at + 7) / 8;

	return end > file->there || mapped_gone(file->mapped, packet + from / 8, end);
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

/* The header of the record at the cursor; false: it makes no sense. */
static bool next_header(struct stream *stream)
{
	uint64_t clock = stream->clock, at = stream->cursor.at;

	return any_header(stream) && stream->clock >= clock && !too_late(stream) &&
	       (stream->event_id || !is_blank(stream, at));
}

/* The clock went on from `clock` by much of what a header's piece of it tells apart. */
static bool leapt(const struct stream *stream, uint64_t clock)
{
	return stream->clock - clock > stream->wrap / 32;
}

/* --- damage -----------------------------------------------------------------
 *
 * A record has a piece of the clock only. One that is damaged, or bytes that are no record, set
 * the clock too far for all behind them, until one tells the whole clock. So where the clock
 * leaps it is looked what follows, up to there; each record once. */

/* The payload at the cursor and the records behind it make sense: RUN_MIN of them, more
 * where the clock leaps; or all up to the packet's end, or to one with the whole clock. */
static bool is_sound(struct stream *stream, bool *leaps)
{
	struct event event = {.cpu = stream->cpu};

	stream->whole_clock = false;
	for (int good = 1;; good++) {
		struct record_class *class = class_table_find(stream->table, stream->event_id);
		uint64_t clock = stream->clock;

		if (!class || !class_take(stream->table, class, &stream->cursor, &event))
			return false;
		if (good >= (*leaps ? RUN_LONG : RUN_MIN) || stream->whole_clock ||
		    stream->cursor.at >= stream->cursor.end)
			return true;
		if (!next_header(stream))
			return false;
		*leaps |= leapt(stream, clock);
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
	struct event event = {.cpu = stream->cpu};

	for (*records = 1;; ++*records) {
		struct record_class *class = class_table_find(stream->table, stream->event_id);
		uint64_t clock = stream->clock;

		if (too_late(stream))
			return WALK_AHEAD;
		if (!class || !class_take(stream->table, class, &stream->cursor, &event))
			return WALK_BROKEN;
		if (stream->cursor.at >= stream->cursor.end)
			return WALK_SOUND;
		stream->whole_clock = false;
		if (!any_header(stream))
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
	return at < stream->cursor.end && any_header(stream) ? walk(stream, &records) : WALK_BROKEN;
}

/* Records make sense from the cursor on; `strict`: and no leap sets the clock too far. */
static bool plausible(struct stream *stream, bool strict)
{
	uint64_t at = stream->cursor.at, clock = stream->clock;
	bool leaps;

	if (at >= stream->cursor.end || !next_header(stream))
		return false;
	leaps = leapt(stream, clock);
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

static void lost(struct stream *stream, int64_t begin, int64_t end)
{
	stream->item = STREAM_LOST_EVENTS;
	stream->time = stream->lost_begin = begin;
	stream->lost_end = MAX(begin, end);
	stream->lost_count = -1;
}

/* What is between `begin` (clock) and where the cursor and the clock are now is lost. */
static void hole(struct stream *stream, uint64_t begin)
{
	uint64_t at = stream->cursor.at, clock = stream->clock;
	int64_t end;

	if (at < stream->cursor.end && next_header(stream)) { /* its time ends the hole */
		end = time_of(stream->part, stream->clock);
		stream->cursor.at = at;
		stream->clock = clock;
	} else {
		end = time_of(stream->part, MAX(stream->packet->end, clock));
		stream->cursor.at = stream->cursor.end;
	}
	lost(stream, time_of(stream->part, begin), end);
}

/* The record that began at `from`, when the clock was at `clock`, is broken: a hole up to
 * what makes sense again. */
static void give_up(struct stream *stream, uint64_t from, uint64_t clock)
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
			if (at >= stream->cursor.end || !next_header(stream))
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

/* Whether to believe the record that began at `from` and whose header has been read. If not, a
 * hole is what comes next. */
static bool believe_leap(struct stream *stream, uint64_t from, uint64_t clock, uint64_t before)
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
		give_up(stream, from, clock);
		return false;
	}
	stream->cursor.at = at;
	stream->clock = here;
	stream->event_id = id;
	return true;
}

/* Somebody still writes: all files are asked once, when the first stream is at its end, then
 * each one's own. */
static bool is_growing(struct part *part, const struct stream_file *file)
{
	for (guint i = 0; i < part->files->len && !part->growth_asked; i++)
		part->growing |= stream_file_changed(g_ptr_array_index(part->files, i)) > 0;
	part->growth_asked = true;
	return part->growing = part->growing || stream_file_changed(file) > 0;
}

/* A file that is cut short, ends in what is no packet, or is of a trace that is still being
 * written, where the CPU's buffer was not yet full: nothing is known until the end. */
static bool tail_lost(struct stream *stream)
{
	const struct ctf_packet *last =
		&g_array_index(stream->packets, struct ctf_packet, stream->packets->len - 1);
	int64_t end = time_of(stream->part, MAX(last->end, stream->clock));

	if (stream->tail_told || end >= stream->until ||
	    (!last->file->cut &&
	     !is_growing(g_ptr_array_index(stream->parts, stream->parts->len - 1), last->file)))
		return false;
	stream->tail_told = true;
	lost(stream, end, stream->until);
	return true;
}

/* The next record of the packet; false at its end. */
static bool next_event(struct stream *stream)
{
	const struct ctf_packet *packet = stream->packet;
	uint64_t from = stream->cursor.at, clock = stream->clock, before = stream->event_clock;

	if (from >= stream->cursor.end) {
		stream->packet = NULL;
		if (!packet->damaged) /* else it was cut between two records */
			return false;
		lost(stream, time_of(stream->part, clock),
		     time_of(stream->part, MAX(packet->end, clock)));
		return true;
	}
	stream->event_at = from;
	stream->event_clock = clock;
	if (!next_header(stream) || is_gone(stream, from)) {
		give_up(stream, from, clock);
		return true;
	}
	if (leapt(stream, clock) && from >= stream->sound_until &&
	    !believe_leap(stream, from, clock, before))
		return true;
	stream->item = STREAM_EVENT;
	stream->time = time_of(stream->part, stream->clock);
	return true;
}

void stream_next(struct stream *stream)
{
	for (;;) {
		const struct ctf_packet *packet, *before = NULL;

		if (stream->packet && next_event(stream))
			return;
		if (stream->next == stream->packets->len) {
			if (!tail_lost(stream)) {
				stream->item = STREAM_END;
				let_go(stream, NULL, 0);
			}
			return;
		}
		packet = &g_array_index(stream->packets, struct ctf_packet, stream->next);
		if (stream->next)
			before = packet - 1;
		switch (stream->stage++) {
		case 0:
			if (lost_events(stream, before, packet))
				return;
			break;
		case 1:
			if (lost_packets(stream, before, packet))
				return;
			break;
		default:
			enter(stream);
			stream->stage = 0;
			if (before)
				break;
			stream->item = STREAM_BEGINS;
			stream->time = time_of(stream->part, packet->begin);
			return;
		}
	}
}

bool stream_take(struct stream *stream, struct event *event)
{
	struct record_class *class = class_table_find(stream->table, stream->event_id);

	event->time = stream->time;
	event->cpu = stream->cpu;
	event->host = (uint16_t) stream->host;
	if (class && class_take(stream->table, class, &stream->cursor, event)) {
		if (G_UNLIKELY(zeros_follow(&stream->cursor)))
			stream_file_look(stream->packet->file);
		if (!is_gone(stream, stream->event_at))
			return true;
	}
	give_up(stream, stream->event_at, stream->event_clock);
	return false;
}
