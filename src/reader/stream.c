/* SPDX-License-Identifier: MIT */
/* Going through a stream's packets and records; see stream.h. */
#include "reader/stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "reader/header.h"
#include "reader/salvage.h"
#include "metadata/field_text.h"
#include "util/pages.h"

/* Worth it for so many packets, as long as open files are few, and so are bytes of all streams. */
#define COPIED_PACKETS 4
#define COPIED_STREAMS 32
#define COPIED_BYTES (UINT64_C(16) << 20)
#define LINE_BYTES 64
#define SLACK 16 /* bytes behind a copy, which a load of a word may reach */

struct stream *stream_new(void)
{
	struct stream *stream = g_new0(struct stream, 1);

	stream->packets = g_array_new(FALSE, FALSE, sizeof(struct ctf_packet));
	stream->directories = g_ptr_array_new();
	stream->cursor.ready = g_array_new(FALSE, FALSE, sizeof(struct event_ready));
	return stream;
}

void stream_free(gpointer data)
{
	struct stream *stream = data;

	g_array_free(stream->packets, TRUE);
	g_ptr_array_free(stream->directories, TRUE);
	g_array_free(stream->cursor.ready, TRUE);
	free(stream->copy);
	g_free(stream);
}

int64_t stream_end_time(const struct stream *stream)
{
	guint last = stream->packets->len - 1;
	const struct ctf_packet *packet = &g_array_index(stream->packets, struct ctf_packet, last);

	return header_time(g_ptr_array_index(stream->directories, last), packet->end);
}

/* What has been read is not needed again: all before `upto` in that file, and the rest
 * of the one before it. */
static void let_go(struct stream *stream, struct stream_file *file, uint64_t upto)
{
	if (stream->file && stream->file != file) {
		stream_file_let_go(stream->file, stream->released, stream->file->length);
		if (stream->copied_max) /* else others may read it, in other threads */
			stream_file_close(stream->file);
	}
	if (stream->file != file || upto < stream->released)
		stream->released = 0;
	stream->file = file;
	upto &= ~(STREAM_FILE_PIECE - 1);
	if (!file || upto <= stream->released)
		return;
	stream_file_let_go(file, stream->released, upto);
	stream->released = upto;
}

static struct class_table *table_of(const struct stream_directory *directory, uint64_t stream_id)
{
	for (guint i = 0; i < directory->tables->len; i++) {
		struct class_table *table = g_ptr_array_index(directory->tables, i);

		if (table->stream->id == stream_id)
			return table;
	}
	return NULL;
}

void stream_begin(struct stream *stream, guint count)
{
	bool pays = count <= COPIED_STREAMS && stream->packets->len >= COPIED_PACKETS;

	stream->copied_max = pays ? COPIED_BYTES / count : 0;
}

/* Room for packets of that size: large ones in huge pages (util/pages.c says why). */
static void make_room(struct stream *stream, uint64_t size)
{
	size_t align = size >= PAGES_HUGE_BYTES / 2 ? PAGES_HUGE_BYTES : LINE_BYTES;
	size_t bytes = ((size_t) size + SLACK + align - 1) & ~(align - 1);

	free(stream->copy);
	stream->copy = aligned_alloc(align, bytes);
	stream->room = stream->copy ? size : 0;
	if (!stream->copy)
		return;
	if (align == PAGES_HUGE_BYTES)
		madvise(stream->copy, bytes, MADV_HUGEPAGE);
	memset(stream->copy + size, 0, SLACK);
}

/* Its bytes, as a copy if they can be had so. */
static const uint8_t *bytes_of(struct stream *stream, const struct ctf_packet *packet)
{
	uint64_t size = packet->size / 8;

	if (!size || size > stream->copied_max)
		return packet->file->bytes + packet->offset;
	if (stream->room < size)
		make_room(stream, size);
	return stream->copy && stream_file_copy(packet->file, packet->offset, size, stream->copy)
		       ? stream->copy
		       : packet->file->bytes + packet->offset;
}

static void enter(struct stream *stream)
{
	const struct ctf_packet *packet =
		&g_array_index(stream->packets, struct ctf_packet, stream->next);

	stream->directory = g_ptr_array_index(stream->directories, stream->next);
	stream->packet = packet;
	stream->table = table_of(stream->directory, packet->stream_id);
	stream->clock = stream->event_clock = packet->begin;
	stream->latest = header_latest(stream->directory, packet);
	stream->sound_until = 0;
	stream->walks = 0;
	stream->cursor.packet = bytes_of(stream, packet);
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
	const struct stream_directory *directory =
		g_ptr_array_index(stream->directories, stream->next);
	uint64_t known = before ? before->discarded : 0, count = packet->discarded - known;

	if (!packet->has_discarded || packet->discarded <= known)
		return false;
	stream->item = STREAM_LOST_EVENTS;
	stream->lost_begin = header_time(directory, before ? before->end : packet->begin);
	stream->lost_end = header_time(directory, packet->end);
	stream->lost_count = before ? (int64_t) count : -1;
	stream->time = stream->lost_begin;
	return true;
}

static bool lost_packets(struct stream *stream, const struct ctf_packet *before,
			 const struct ctf_packet *packet)
{
	const struct stream_directory *directory =
		g_ptr_array_index(stream->directories, stream->next);

	if (!before || !(packet->after_hole ||
			 (packet->has_sequence && packet->sequence > before->sequence + 1)))
		return false;
	stream->item = STREAM_LOST_PACKETS;
	stream->lost_begin = header_time(directory, before->end);
	stream->lost_end = header_time(directory, packet->begin);
	stream->lost_count = packet->has_sequence && packet->sequence > before->sequence
				     ? (int64_t) (packet->sequence - before->sequence - 1)
				     : -1;
	stream->time = stream->lost_begin;
	return true;
}

/* A file that is cut short, ends in what is no packet, or is of a trace that is still being
 * written, where the CPU's buffer was not yet full: nothing is known until the end. Nor is it
 * where whole packets are missing behind the last one. */
static bool tail_lost(struct stream *stream)
{
	const struct ctf_packet *last =
		&g_array_index(stream->packets, struct ctf_packet, stream->packets->len - 1);
	int64_t end = header_time(stream->directory, MAX(last->end, stream->clock));
	bool cut = last->file->cut ||
		   directory_is_growing(g_ptr_array_index(stream->directories,
							  stream->directories->len - 1),
					last->file);
	bool early = !stream->user && stream->until - end > STREAM_ENDS_EARLY;

	if (stream->tail_told || end >= stream->until || (!cut && !early))
		return false;
	stream->tail_told = true;
	stream_lose(stream, end, cut ? stream->until : INT64_MAX);
	return true;
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
static inline bool is_gone(const struct stream *stream, uint64_t from)
{
	const struct stream_file *file = stream->packet->file;
	uint64_t packet = stream->packet->offset, end = packet + (stream->cursor.at + 7) / 8;

	return end > file->there || mapped_gone(file->mapped, packet + from / 8, end);
}

/* The next record of the packet; false at its end. */
static bool next_event(struct stream *stream)
{
	const struct ctf_packet *packet = stream->packet;
	uint64_t from = stream->cursor.at, clock = stream->clock, before = stream->event_clock;

	if (from >= stream->cursor.end) {
		stream->packet = NULL;
		if (!packet->damaged || clock >= packet->end) /* else it was cut between two */
			return false;
		stream_lose(stream, header_time(stream->directory, clock),
			    header_time(stream->directory, MAX(packet->end, clock)));
		return true;
	}
	stream->event_at = from;
	stream->event_clock = clock;
	if (G_LIKELY(header_read_usual(stream))) {
		if (G_UNLIKELY(is_gone(stream, from))) {
			salvage_give_up(stream, from, clock);
			return true;
		}
	} else if (!header_read_sound(stream) || is_gone(stream, from)) {
		salvage_give_up(stream, from, clock);
		return true;
	} else if (header_leapt(stream, clock) && from >= stream->sound_until &&
		   !salvage_believe(stream, from, clock, before)) {
		return true;
	}
	stream->item = STREAM_EVENT;
	stream->time = header_time(stream->directory, stream->clock);
	return true;
}

void stream_next(struct stream *stream)
{
	for (;;) {
		const struct ctf_packet *packet, *before = NULL;

		if (stream->packet && next_event(stream))
			return;
		if (stream->next == stream->packets->len) {
			if (stream->goes_on || !tail_lost(stream)) {
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
			stream->time = header_time(stream->directory, packet->begin);
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
	salvage_give_up(stream, stream->event_at, stream->event_clock);
	return false;
}

void stream_seek(struct stream *stream, int64_t time)
{
	guint low = 0, high = stream->packets->len;

	while (low < high) { /* the first that does not begin before it */
		guint middle = low + (high - low) / 2;
		const struct ctf_packet *packet =
			&g_array_index(stream->packets, struct ctf_packet, middle);

		if (header_time(g_ptr_array_index(stream->directories, middle), packet->begin) <
		    time)
			low = middle + 1;
		else
			high = middle;
	}
	stream->next = low ? low - 1 : 0;
	stream->packet = NULL;
	stream->stage = 0;
	stream->tail_told = false;
}

void stream_text(const struct stream *stream, uint64_t at, GString *text)
{
	const struct record_class *class = class_table_find(stream->table, stream->event_id);
	const struct type *structs[] = {stream->table->stream->context, class->event->context,
					class->event->payload};
	struct field_place place = {stream->cursor.packet, at, stream->cursor.end,
				    stream->cursor.big_endian};

	fields_text(place, structs, G_N_ELEMENTS(structs), text);
}

struct event_place stream_place(const struct stream *stream, uint64_t at)
{
	return (struct event_place) {.time = stream->time,
				     .id = stream->event_id,
				     .at = at,
				     .stream = stream->number,
				     .packet = stream->next - 1};
}

bool stream_take_at(struct stream *stream, const struct event_place *place, struct event *event)
{
	if (place->packet >= stream->packets->len)
		return false;
	stream->copied_max = 0;
	stream->next = place->packet;
	enter(stream);
	stream->time = place->time;
	stream->event_id = place->id;
	stream->event_at = stream->cursor.at;
	stream->cursor.at = place->at;
	return stream->table && place->at >= stream->event_at && place->at <= stream->cursor.end &&
	       stream_take(stream, event);
}
