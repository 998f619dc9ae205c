/* SPDX-License-Identifier: MIT */
/* Walking the ring buffer's pages; see ring_pages.h.
 *
 *   page:    time (64) · commit (a long: bytes used, and flags) · records
 *   record:  kind (5 bits) · time since the one before (27) · payload
 */
#include "foreign/ring_pages.h"
#include "util/when.h"

#include <string.h>

#define USED_MASK UINT32_C(0x07ffffff)
#define FLAG_MISSED UINT32_C(0x80000000) /* records before this page were overwritten */
#define FLAG_COUNTED UINT32_C(0x40000000) /* … so many: behind those that there are */
#define DELTA_BITS 27
#define KIND_PADDING 29
#define KIND_EXTEND 30  /* the time goes on by more than 27 bits */
#define KIND_ABSOLUTE 31 /* the time is this, but for its upper bits */
#define ABSOLUTE_BITS 59

struct pages_stream {
	struct foreign_stream stream;
	const struct ftrace_file *file;   /* borrowed */
	struct record_classes *classes; /* borrowed */
	struct pages_damage *damage;    /* borrowed */
	struct bytes data;              /* of the CPU; packed: its chunks */
	uint32_t page_size, head_size;
	bool packed;
	uint32_t chunks;                /* packed ones that are left */
	GByteArray *room;               /* owned; the chunk unpacked */
	struct bytes pages;             /* whole pages to come */
	struct bytes page;              /* the records left of this one */
	uint64_t clock, limit;          /* of the last record; none on this page can be later */
	uint64_t latest;                /* of the records told */
	uint64_t jump_max;              /* in the clock's units */
	struct record record;
	int64_t missed; /* records that are known to be, -1: not how many; 0: none */
	bool has_time, lost, ended;
};

static int64_t to_time(const struct ftrace_file *file, uint64_t clock)
{
	if (file->cycle_multiplier)
		clock = (uint64_t) (((uint128) clock * file->cycle_multiplier) >>
				    MIN(file->cycle_shift, 63));
	return bytes_time(clock, file->offset);
}

static void note_damage(struct pages_stream *stream, uint64_t bytes)
{
	stream->damage->bytes += bytes;
	stream->lost = true;
	stream->missed = -1;
}

/* The next packed chunk into `room`. */
static bool unpack_next(struct pages_stream *stream)
{
	while (stream->chunks) {
		uint64_t packed = bytes_u32(&stream->data);
		uint32_t unpacked = bytes_u32(&stream->data);
		uint64_t left = stream->data.size - stream->data.at;
		const uint8_t *from = bytes_take(&stream->data, packed);

		stream->chunks--;
		if (!from) {
			note_damage(stream, left);
			stream->chunks = 0;
			return false;
		}
		if (bytes_unpack(stream->file->packing, from, packed, stream->room, unpacked) &&
		    stream->room->len >= stream->page_size) {
			stream->pages = (struct bytes) {stream->room->data, stream->room->len, 0,
							stream->file->swap, false};
			return true;
		}
		note_damage(stream, packed);
	}
	return false;
}

/* When the page behind the one at `at` begins; UINT64_MAX: not known. */
static uint64_t next_begin(const struct pages_stream *stream, uint64_t at)
{
	const struct bytes *pages = &stream->pages;

	if (at + stream->page_size + stream->head_size > pages->size)
		return UINT64_MAX;
	return bytes_as_u64(pages->begin + at + stream->page_size, pages->swap);
}

/* How many records are missing, behind what the page uses. */
static void note_missed(struct pages_stream *stream, const uint8_t *page, uint32_t commit)
{
	uint64_t at = stream->head_size + (uint64_t) (commit & USED_MASK);

	stream->lost = true;
	if (!(commit & FLAG_COUNTED) || at + stream->file->word > stream->page_size)
		stream->missed = -1;
	else if (stream->missed >= 0)
		stream->missed += (int64_t) (stream->file->word == 4
						     ? bytes_as_u32(page + at, stream->data.swap)
						     : bytes_as_u64(page + at, stream->data.swap));
}

/* Goes to the next page with records; false: there is none. */
static bool next_page(struct pages_stream *stream)
{
	for (;;) {
		uint64_t at = stream->pages.at, begin, end;
		const uint8_t *page;
		uint32_t commit, used;

		if (stream->pages.size - at < stream->head_size) {
			if (!stream->packed || !unpack_next(stream))
				return false;
			continue;
		}
		page = bytes_take(&stream->pages, MIN(stream->page_size, stream->pages.size - at));
		begin = bytes_as_u64(page, stream->data.swap);
		commit = stream->file->word == 4
				 ? bytes_as_u32(page + 8, stream->data.swap)
				 : (uint32_t) bytes_as_u64(page + 8, stream->data.swap);
		used = commit & USED_MASK;
		end = next_begin(stream, at);
		if (used > stream->pages.at - at - stream->head_size || begin < stream->latest ||
		    (stream->has_time && begin - stream->latest > stream->jump_max) ||
		    (end < begin && end >= stream->latest)) {
			note_damage(stream, stream->pages.at - at);
			continue;
		}
		if (commit & FLAG_MISSED)
			note_missed(stream, page, commit);
		stream->page = (struct bytes) {page + stream->head_size, used, 0, stream->data.swap,
					       false};
		stream->clock = begin;
		stream->limit =
			MIN(end < begin ? UINT64_MAX : end,
			    begin > UINT64_MAX - stream->jump_max ? UINT64_MAX
								  : begin + stream->jump_max);
		return true;
	}
}

struct head {
	uint32_t kind, delta;
};

static struct head head_of(const struct pages_stream *stream, uint32_t word)
{
	if (stream->file->big)
		return (struct head) {word >> DELTA_BITS, word & ((1u << DELTA_BITS) - 1)};
	return (struct head) {word & 31, word >> 5};
}

/* The next record of the page. False: there is none, or it is damaged. */
static bool next_on_page(struct pages_stream *stream)
{
	struct bytes *page = &stream->page;

	while (page->size - page->at >= 4) {
		uint64_t at = page->at, size = 0;
		struct head head = head_of(stream, bytes_u32(page));

		if (head.kind == KIND_EXTEND || head.kind == KIND_ABSOLUTE) {
			uint64_t high = (uint64_t) bytes_u32(page) << DELTA_BITS | head.delta;

			if (head.kind == KIND_EXTEND)
				stream->clock += high;
			else
				stream->clock =
					(stream->clock >> ABSOLUTE_BITS << ABSOLUTE_BITS) | high;
			continue;
		}
		if (head.kind == KIND_PADDING && !head.delta) /* the rest is empty */
			return false;
		stream->clock += head.delta;
		if (head.kind == KIND_PADDING || head.kind == 0) {
			size = bytes_u32(page);
			if (head.kind == 0)
				size = size < 4 ? UINT64_MAX : (size - 4 + 3) & ~UINT64_C(3);
			else
				size = size < 4 ? 0 : size - 4; /* its own length is in it */
		} else {
			size = 4 * (uint64_t) head.kind;
		}
		stream->record.bytes = bytes_take(page, size);
		if (!stream->record.bytes || stream->clock > stream->limit) {
			note_damage(stream, page->size - at);
			page->at = page->size;
			return false;
		}
		stream->record.size = size;
		if (head.kind != KIND_PADDING)
			return true;
	}
	return false;
}

/* What is lost behind the last record is lost for good. */
static void end(struct pages_stream *stream)
{
	struct foreign_stream *base = &stream->stream;

	base->item = stream->lost && stream->has_time ? ITEM_LOST : ITEM_END;
	base->lost_begin = to_time(stream->file, stream->latest);
	base->lost_end = INT64_MAX;
	base->lost_count = -1;
	stream->ended = true;
	stream->lost = false;
}

static void next(struct foreign_stream *base)
{
	struct pages_stream *stream = (struct pages_stream *) base;

	if (stream->ended) {
		base->item = ITEM_END;
		return;
	}
	if (base->item == ITEM_LOST) { /* the event behind the gap */
		base->item = ITEM_EVENT;
		return;
	}
	while (!next_on_page(stream))
		if (!next_page(stream)) {
			end(stream);
			return;
		}
	base->item = ITEM_EVENT;
	base->lost_begin = to_time(stream->file, stream->latest);
	base->time = to_time(stream->file, stream->clock);
	if (stream->lost && stream->has_time) {
		base->item = ITEM_LOST;
		base->lost_count = stream->missed;
		base->lost_end = base->time;
	}
	stream->lost = false;
	stream->missed = 0;
	stream->has_time = true;
	stream->latest = stream->clock;
}

static bool take(struct foreign_stream *base, struct event *event)
{
	struct pages_stream *stream = (struct pages_stream *) base;

	return record_classes_take(stream->classes, &stream->record, event);
}

static void text(struct foreign_stream *base, GString *to)
{
	struct pages_stream *stream = (struct pages_stream *) base;

	record_classes_text(stream->classes, &stream->record, to);
}

static void stream_free(struct foreign_stream *base)
{
	struct pages_stream *stream = (struct pages_stream *) base;

	g_byte_array_free(stream->room, TRUE);
	g_free(stream);
}

struct foreign_stream *
pages_stream_new(const struct ftrace_file *file, const struct trace_buffer *buffer,
		 const struct cpu_data *data, struct record_classes *classes,
		 struct pages_damage *damage)
{
	struct pages_stream *stream = g_new0(struct pages_stream, 1);
	struct bytes all = {mapped_bytes(file->file), mapped_length(file->file), 0, file->swap,
			    false};

	stream->stream = (struct foreign_stream) {
		.cpu = data->cpu,
		.item = ITEM_EVENT,
		.next = next,
		.take = take,
		.text = text,
		.free = stream_free};
	stream->file = file;
	stream->classes = classes;
	stream->damage = damage;
	/* the size of packed data is without the count of its chunks */
	stream->data = bytes_part(&all, data->offset, data->size + (buffer->packed ? 4 : 0));
	damage->total += data->size;
	if (stream->data.size < data->size) { /* the file was cut */
		damage->bytes += data->size - stream->data.size;
		stream->lost = true;
		stream->missed = -1;
	}
	stream->page_size = buffer->page;
	stream->head_size = 8 + file->word;
	stream->room = g_byte_array_new();
	stream->packed = buffer->packed;
	stream->record.swap = file->swap;
	stream->jump_max = file->cycle_multiplier ? JUMP_MAX << 2 : JUMP_MAX; /* cycles, 4 a ns */
	if (stream->packed)
		stream->chunks = bytes_u32(&stream->data);
	else
		stream->pages = stream->data;
	return &stream->stream;
}
