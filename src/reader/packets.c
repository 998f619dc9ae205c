/* SPDX-License-Identifier: MIT */
/* Scanning the headers of packets; see packets.h. */
#include "reader/packets.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reader/program.h"
#include "util/error.h"

#define MAGIC 0xC1FC1FC1u
#define UUID_BYTES 16
#define LONGEST (UINT64_C(1) << 55) /* of a packet, in cycles: more than a year at 1 GHz */

struct stream_file *stream_file_open(const char *path, GError **error)
{
	struct mapped *mapped = mapped_new(path);
	struct stream_file *file;

	if (!mapped) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "cannot read the stream %s: %s", path, g_strerror(errno));
		return NULL;
	}
	file = g_new0(struct stream_file, 1);
	file->path = g_strdup(path);
	file->mapped = mapped;
	file->fd = -1;
	file->bytes = mapped_bytes(mapped);
	file->length = file->there = mapped_length(mapped);
	if (file->bytes)
		madvise((void *) file->bytes, (size_t) file->length, MADV_SEQUENTIAL);
	return file;
}

void stream_file_let_go(const struct stream_file *file, uint64_t from, uint64_t to)
{
	if (file->bytes && to > from)
		madvise((void *) (file->bytes + from), to - from, MADV_DONTNEED);
}

bool stream_file_copy(struct stream_file *file, uint64_t from, uint64_t size, uint8_t *to)
{
	if (file->fd < 0)
		file->fd = mapped_open(file->mapped, file->path);
	while (file->fd >= 0 && size) {
		ssize_t done = pread(file->fd, to, (size_t) size, (off_t) from);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		from += (uint64_t) done;
		to += done;
		size -= (uint64_t) done;
	}
	return file->fd >= 0;
}

void stream_file_close(struct stream_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

int stream_file_changed(const struct stream_file *file)
{
	uint64_t now = mapped_size_now(file->mapped, file->path);

	return now < file->length ? -1 : now > file->length;
}

void stream_file_look(struct stream_file *file)
{
	file->there = MIN(file->there, mapped_size_now(file->mapped, file->path));
}

void stream_file_free(gpointer data)
{
	struct stream_file *file = data;

	stream_file_close(file);
	mapped_free(file->mapped);
	g_free(file->path);
	g_free(file);
}

/* --- one header ------------------------------------------------------------ */

struct scan {
	struct ctf_packet *packet;
	struct cursor cursor;
	const uint8_t *uuid; /* in the packet; NULL: none */
	uint32_t magic;
	bool has_magic, has_sizes;
};

static void take_number(struct scan *scan, const char *name, uint64_t value)
{
	struct ctf_packet *packet = scan->packet;

	if (strcmp(name, "magic") == 0) {
		scan->magic = (uint32_t) value;
		scan->has_magic = true;
	} else if (strcmp(name, "stream_id") == 0) {
		packet->stream_id = value;
	} else if (strcmp(name, "stream_instance_id") == 0) {
		packet->instance = value;
		packet->has_instance = true;
	} else if (strcmp(name, "timestamp_begin") == 0) {
		packet->begin = value;
		packet->has_times = true;
	} else if (strcmp(name, "timestamp_end") == 0) {
		packet->end = value;
	} else if (strcmp(name, "content_size") == 0) {
		packet->content = value;
		scan->has_sizes = true;
	} else if (strcmp(name, "packet_size") == 0) {
		packet->size = value;
	} else if (strcmp(name, "packet_seq_num") == 0) {
		packet->sequence = value;
		packet->has_sequence = true;
	} else if (strcmp(name, "events_discarded") == 0) {
		packet->discarded = value;
		packet->has_discarded = true;
	} else if (strcmp(name, "cpu_id") == 0) {
		packet->cpu = (uint32_t) value;
		packet->has_cpu = true;
	}
}

static bool take_bytes(struct scan *scan, const char *name, const struct type *type)
{
	struct cursor *cursor = &scan->cursor;
	const struct type *element = type->element;
	uint64_t at = (cursor->at + type->align - 1) / type->align * type->align;

	if (element->kind != TYPE_INTEGER || type->length > 4096 ||
	    at + element->size * type->length > cursor->end)
		return false;
	if (strcmp(name, "uuid") == 0 && element->size == 8 && type->length == UUID_BYTES)
		scan->uuid = cursor->packet + at / 8;
	cursor->at = at + element->size * type->length;
	return true;
}

/* Headers and contexts of packets are structs of numbers, and the UUID. */
static bool take_struct(struct scan *scan, const struct type *type)
{
	struct cursor *cursor = &scan->cursor;
	uint64_t value;

	if (!type)
		return true;
	if (type->kind != TYPE_STRUCT)
		return false;
	cursor->at = (cursor->at + type->align - 1) / type->align * type->align;
	for (guint i = 0; i < type->members->len; i++) {
		const struct member *member = &g_array_index(type->members, struct member, i);

		if (member->type->kind == TYPE_ARRAY) {
			if (!take_bytes(scan, member->name, member->type))
				return false;
		} else if (cursor_integer(cursor, member->type, &value)) {
			take_number(scan, member->name, value);
		} else {
			return false;
		}
	}
	return true;
}

static bool same_uuid(const uint8_t *bytes, const char *text)
{
	for (int i = 0; i < UUID_BYTES; i++) {
		while (*text == '-')
			text++;
		if (!g_ascii_isxdigit(text[0]) || !g_ascii_isxdigit(text[1]) ||
		    bytes[i] !=
			    (g_ascii_xdigit_value(text[0]) << 4 | g_ascii_xdigit_value(text[1])))
			return false;
		text += 2;
	}
	return true;
}

static const struct stream_type *stream_of(const struct metadata *metadata, uint64_t id)
{
	for (guint i = 0; i < metadata->streams->len; i++) {
		const struct stream_type *stream = g_ptr_array_index(metadata->streams, i);

		if (stream->id == id)
			return stream;
	}
	return NULL;
}

/* Sizes and times that can be. */
static bool possible(const struct ctf_packet *packet)
{
	return packet->content >= packet->header && packet->size >= packet->content &&
	       packet->size % 8 == 0 && packet->size &&
	       (!packet->has_times ||
		(packet->end >= packet->begin && packet->end - packet->begin <= LONGEST));
}

/* The packet at `offset`. False: there is none that makes sense. */
static bool read_header(struct stream_file *file, const struct metadata *metadata, uint64_t offset,
			struct ctf_packet *packet)
{
	struct scan scan = {.packet = packet};
	uint64_t left = (file->length - offset) * 8;
	const struct stream_type *stream;

	*packet = (struct ctf_packet) {.file = file,
				       .metadata = metadata,
				       .offset = offset,
				       .content = left,
				       .size = left};
	scan.cursor.packet = file->bytes + offset;
	scan.cursor.end = left;
	scan.cursor.big_endian = metadata->big_endian;
	if (!take_struct(&scan, metadata->packet_header) ||
	    (scan.has_magic && scan.magic != MAGIC) ||
	    (scan.uuid && metadata->uuid && !same_uuid(scan.uuid, metadata->uuid)))
		return false;
	stream = stream_of(metadata, packet->stream_id);
	if (!stream || !take_struct(&scan, stream->packet_context))
		return false;
	packet->header = scan.cursor.at;
	if (!possible(packet))
		return false;
	if (packet->size > left) { /* cut off: what there is of it */
		packet->size = left;
		packet->damaged = packet->content > left;
		packet->content = MIN(packet->content, left);
	}
	return true;
}

/* --- a damaged header, from the index ----------------------------------------
 *
 * LTTng writes index/NAME.idx beside the stream NAME: what the packets' headers say, but
 * for the CPU. All big-endian (lttng-tools, ctf-index.h): magic, major, minor, bytes of an
 * entry; entries of offset (bytes), size, content (bits), begin, end, discarded, stream,
 * and since 1.1 instance and sequence number. */

#define INDEX_MAGIC 0xC1F1DCC1u
#define INDEX_WORDS 7 /* of an entry, at least */

static uint64_t index_word(const char *bytes, guint number)
{
	uint64_t word;

	memcpy(&word, bytes + 8 * number, sizeof word);
	return GUINT64_FROM_BE(word);
}

/* What the index says of the packet at packet->offset; false: nothing. */
static bool ask_index(const struct stream_file *file, struct ctf_packet *packet)
{
	g_autofree char *directory = g_path_get_dirname(file->path);
	g_autofree char *name = g_path_get_basename(file->path);
	g_autofree char *base = g_strconcat(name, ".idx", NULL);
	g_autofree char *path = g_build_filename(directory, "index", base, NULL);
	g_autofree char *bytes = NULL;
	uint32_t head[4];
	gsize length, step;

	if (!g_file_get_contents(path, &bytes, &length, NULL) || length < sizeof head)
		return false;
	memcpy(head, bytes, sizeof head);
	step = GUINT32_FROM_BE(head[3]);
	if (GUINT32_FROM_BE(head[0]) != INDEX_MAGIC || step < 8 * INDEX_WORDS || step > 4096)
		return false;
	for (gsize at = sizeof head; at + step <= length; at += step) {
		const char *entry = bytes + at;

		if (index_word(entry, 0) != packet->offset)
			continue;
		packet->size = index_word(entry, 1);
		packet->content = index_word(entry, 2);
		packet->begin = index_word(entry, 3);
		packet->end = index_word(entry, 4);
		packet->discarded = index_word(entry, 5);
		packet->stream_id = index_word(entry, 6);
		packet->has_times = packet->has_discarded = true;
		packet->has_instance = packet->has_sequence = step >= 8 * (INDEX_WORDS + 2);
		if (packet->has_sequence) {
			packet->instance = index_word(entry, 7);
			packet->sequence = index_word(entry, 8);
		}
		return true;
	}
	return false;
}

/* "channel0_1": one of the numbers behind the channel's name is the CPU. */
static bool name_has_cpu(const char *path, uint32_t cpu)
{
	g_autofree char *name = g_path_get_basename(path);
	g_auto(GStrv) parts = g_strsplit(name, "_", -1);
	char number[16];

	g_snprintf(number, sizeof number, "%u", cpu);
	for (guint i = 1; parts[0] && parts[i]; i++)
		if (strcmp(parts[i], number) == 0)
			return true;
	return false;
}

/* The packet at `offset`, whose header is damaged. `like`: another of the file, NULL. False:
 * the index does not know it, or not which CPU's it is. */
static bool mend_header(struct stream_file *file, const struct metadata *metadata, uint64_t offset,
			const struct ctf_packet *like, struct ctf_packet *packet)
{
	struct ctf_packet damaged = {0}, next;
	struct scan scan = {.packet = &damaged};
	uint64_t left = (file->length - offset) * 8;
	const struct stream_type *stream;

	*packet = (struct ctf_packet) {.file = file, .metadata = metadata, .offset = offset};
	if (!ask_index(file, packet) || packet->size > left)
		return false;
	if (packet->size < left) { /* else the index is of another file */
		if (!read_header(file, metadata, offset + packet->size / 8, &next))
			return false;
		like = like ? like : &next;
	}
	scan.cursor.packet = file->bytes + offset;
	scan.cursor.end = left;
	scan.cursor.big_endian = metadata->big_endian;
	stream = stream_of(metadata, packet->stream_id);
	if (!stream || !take_struct(&scan, metadata->packet_header) ||
	    !take_struct(&scan, stream->packet_context))
		return false;
	packet->header = scan.cursor.at;
	packet->has_cpu = damaged.has_cpu;
	packet->cpu = like ? like->cpu : damaged.cpu;
	return possible(packet) &&
	       (like || !packet->has_cpu || name_has_cpu(file->path, packet->cpu));
}

/* Where the next header may be: the magic number lies there. */
static uint64_t next_magic(const struct stream_file *file, const struct metadata *metadata,
			   uint64_t from)
{
	uint32_t magic = metadata->big_endian ? GUINT32_TO_BE(MAGIC) : GUINT32_TO_LE(MAGIC);

	while (from + sizeof magic <= file->length) {
		if (memcmp(file->bytes + from, &magic, sizeof magic) == 0)
			return from;
		from = mapped_gone(file->mapped, from, from + 1)
			       ? mapped_behind_gone(file->mapped, from)
			       : from + 1;
	}
	return file->length;
}

void packets_scan(struct stream_file *file, const struct metadata *metadata, GArray *packets)
{
	bool hole = false, sound;
	struct ctf_packet packet;
	uint64_t at = 0, from, released = 0;

	while (at < file->length) {
		if (at - released >= 2 * STREAM_FILE_PIECE) {
			from = at & ~(STREAM_FILE_PIECE - 1);
			stream_file_let_go(file, released, from);
			released = from;
		}
		sound = read_header(file, metadata, at, &packet);
		if (!sound && !hole &&
		    mend_header(file, metadata, at,
				packets->len ? &g_array_index(packets, struct ctf_packet,
							      packets->len - 1)
					     : NULL,
				&packet)) {
			file->lost += packet.header / 8;
			sound = true;
		}
		if (sound) {
			packet.after_hole = hole;
			hole = false;
			file->cut = packet.damaged;
			g_array_append_val(packets, packet);
			at += packet.size / 8;
			continue;
		}
		from = at;
		at = next_magic(file, metadata, at + 1);
		file->lost += at - from;
		file->cut = hole = true;
	}
	stream_file_let_go(file, released, file->length);
}
