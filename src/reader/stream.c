/* Going through a stream's packets and records; see stream.h. */
#include "reader/stream.h"

#include <string.h>
#include <sys/mman.h>

#define RUN_MIN 4 /* records in a row that make sense after damage */

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
	stream->clock = packet->begin;
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
		return;
	}
	mask = (UINT64_C(1) << size) - 1;
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

/* The header of the record at the cursor; false: it makes no sense. */
static bool next_header(struct stream *stream)
{
	const struct type *header = stream->table->stream->header;
	uint64_t clock = stream->clock;

	return header && (fast_header(stream) || read_header(stream, header)) &&
	       stream->clock >= clock &&
	       (!stream->packet->has_times ||
		stream->clock <= stream->packet->end + stream->part->slack);
}

/* --- damage ----------------------------------------------------------------- */

/* So many records in a row make sense from the cursor on, or all up to the end. */
static bool plausible(struct stream *stream)
{
	struct event event;
	int good = 0;

	while (good < RUN_MIN && stream->cursor.at < stream->cursor.end) {
		struct record_class *class;

		if (!next_header(stream))
			return false;
		class = class_table_find(stream->table, stream->event_id);
		event.cpu = stream->cpu;
		if (!class || !class_take(stream->table, class, &stream->cursor, &event))
			return false;
		good++;
	}
	return good > 0;
}

/* Searches the rest of the packet for the next plausible run; the cursor is there, or at
 * the packet's end. */
static void resync(struct stream *stream, uint64_t from, uint64_t clock)
{
	struct cursor *cursor = &stream->cursor;

	for (uint64_t at = from / 8 * 8 + 8; at + RUN_MIN * 8 <= cursor->end; at += 8) {
		cursor->at = at;
		stream->clock = clock;
		if (!plausible(stream))
			continue;
		cursor->at = at;
		stream->clock = clock;
		stream->packet->file->lost += (at - from) / 8;
		return;
	}
	stream->packet->file->lost += (cursor->end - from) / 8;
	cursor->at = cursor->end;
	stream->clock = clock;
}

static void lost(struct stream *stream, int64_t begin, int64_t end)
{
	stream->item = STREAM_LOST_EVENTS;
	stream->time = stream->lost_begin = begin;
	stream->lost_end = MAX(begin, end);
	stream->lost_count = -1;
}

/* The record that began at `from`, when the clock was at `clock`, is broken: a hole up to
 * what makes sense again. */
static void give_up(struct stream *stream, uint64_t from, uint64_t clock)
{
	int64_t begin = time_of(stream->part, clock), end;
	uint64_t at;

	resync(stream, from, clock);
	at = stream->cursor.at;
	if (at < stream->cursor.end && next_header(stream)) { /* its time ends the hole */
		end = time_of(stream->part, stream->clock);
		stream->cursor.at = at;
		stream->clock = clock;
	} else {
		end = time_of(stream->part, MAX(stream->packet->end, clock));
		stream->cursor.at = stream->cursor.end;
	}
	lost(stream, begin, end);
}

/* A file that is cut short, or ends in what is no packet: nothing is known until the end. */
static bool tail_lost(struct stream *stream)
{
	const struct ctf_packet *last =
		&g_array_index(stream->packets, struct ctf_packet, stream->packets->len - 1);
	int64_t end = time_of(stream->part, MAX(last->end, stream->clock));

	if (stream->tail_told || !last->file->cut || end >= stream->until)
		return false;
	stream->tail_told = true;
	lost(stream, end, stream->until);
	return true;
}

/* The next record of the packet; false at its end. */
static bool next_event(struct stream *stream)
{
	const struct ctf_packet *packet = stream->packet;
	uint64_t from = stream->cursor.at, clock = stream->clock;

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
	if (!next_header(stream)) {
		give_up(stream, from, clock);
		return true;
	}
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
	if (class && class_take(stream->table, class, &stream->cursor, event))
		return true;
	give_up(stream, stream->event_at, stream->event_clock);
	return false;
}
