/* SPDX-License-Identifier: MIT */
/* Unpacking perf's records; see perf_unpack.h. */
#include "foreign/perf_unpack.h"

#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "util/spill.h"

#define PIECE (UINT64_C(1) << 18)

struct unpacking {
	const struct bytes *records; /* borrowed */
	uint64_t *damaged;      /* borrowed */
	ZSTD_DStream *packed;   /* owned; one from the file's begin to its end */
	GByteArray *rest;       /* owned; of a record whose end is in the next packed one */
	GByteArray *ready;      /* owned; whole records that are not written yet */
	uint64_t written;
	int fd;   /* owned */
	bool failed;            /* … to write */
	bool broken;            /* what is packed cannot be read any further */
};

struct head {
	uint32_t type;
	uint16_t size;
};

static struct head head_at(const struct bytes *records, uint64_t at)
{
	struct bytes bytes = bytes_part(records, at, PERF_HEAD);
	struct head head = {.type = bytes_u32(&bytes)};

	bytes_u16(&bytes);
	head.size = bytes_u16(&bytes);
	return head;
}

static bool is_packed(uint32_t type)
{
	return type == PERF_COMPRESSED || type == PERF_COMPRESSED2;
}

/* Bytes of the record and of what belongs to it behind it; 0: it is none. */
static uint64_t whole_size(const struct bytes *records, uint64_t at)
{
	struct head head = head_at(records, at);
	struct bytes more = bytes_part(records, at + PERF_HEAD, 8);
	uint64_t size = head.size;

	if (size < PERF_HEAD)
		return 0;
	if (head.type == PERF_TRACING_DATA)
		size += (bytes_u32(&more) + UINT64_C(7)) / 8 * 8;
	else if (head.type == PERF_AUXTRACE)
		size += bytes_u64(&more);
	return size <= records->size - at ? size : 0;
}

static bool any_packed(const struct bytes *records)
{
	uint64_t size;

	for (uint64_t at = 0; records->size - at >= PERF_HEAD; at += size) {
		if (is_packed(head_at(records, at).type))
			return true;
		size = whole_size(records, at);
		if (!size) /* damaged: it is gone through again, with care */
			return false;
	}
	return false;
}

static void flush(struct unpacking *unpacking)
{
	GByteArray *ready = unpacking->ready;

	if (!unpacking->failed && ready->len)
		unpacking->failed =
			spill_reserve(unpacking->fd, unpacking->written, ready->len) != 0 ||
			!spill_write(unpacking->fd, ready->data, ready->len, unpacking->written);
	unpacking->written += ready->len;
	g_byte_array_set_size(ready, 0);
}

static void write_whole(struct unpacking *unpacking, const uint8_t *from, uint64_t size)
{
	while (size) {
		uint64_t some = MIN(size, PIECE);

		g_byte_array_append(unpacking->ready, from, (guint) some);
		if (unpacking->ready->len >= PIECE)
			flush(unpacking);
		from += some;
		size -= some;
	}
}

/* Whole records go on. */
static void write_rest(struct unpacking *unpacking)
{
	GByteArray *rest = unpacking->rest;
	guint at = 0;

	while (rest->len - at >= PERF_HEAD) {
		uint16_t size = bytes_as_u16(rest->data + at + 6, unpacking->records->swap);

		if (size < PERF_HEAD) { /* what follows is no record either */
			*unpacking->damaged += rest->len - at;
			unpacking->broken = true;
			g_byte_array_set_size(rest, 0);
			return;
		}
		if (size > rest->len - at)
			break;
		write_whole(unpacking, rest->data + at, size);
		at += size;
	}
	g_byte_array_remove_range(rest, 0, at);
}

static void unpack_one(struct unpacking *unpacking, const uint8_t *from, uint64_t size)
{
	ZSTD_inBuffer in = {from, size, 0};
	g_autofree uint8_t *piece = g_malloc(PIECE);

	for (;;) {
		ZSTD_outBuffer out = {piece, PIECE, 0};
		size_t left = ZSTD_decompressStream(unpacking->packed, &out, &in);

		g_byte_array_append(unpacking->rest, piece, (guint) out.pos);
		write_rest(unpacking);
		if (ZSTD_isError(left)) {
			unpacking->broken = true;
			*unpacking->damaged += size;
		}
		if (unpacking->broken || (in.pos == in.size && out.pos < PIECE))
			return;
	}
}

static void unpack_all(struct unpacking *unpacking)
{
	const struct bytes *records = unpacking->records;
	uint64_t size;

	for (uint64_t at = 0; records->size - at >= PERF_HEAD; at += size) {
		struct head head = head_at(records, at);

		size = whole_size(records, at);
		if (!size) {
			*unpacking->damaged += records->size - at;
			return;
		}
		if (!is_packed(head.type)) {
			write_whole(unpacking, records->begin + at, size);
			continue;
		}
		if (unpacking->broken) {
			*unpacking->damaged += size;
			continue;
		}
		if (head.type == PERF_COMPRESSED) {
			unpack_one(unpacking, records->begin + at + PERF_HEAD, size - PERF_HEAD);
		} else {
			struct bytes body = bytes_part(records, at + PERF_HEAD, size - PERF_HEAD);
			uint64_t packed = bytes_u64(&body);

			unpack_one(unpacking, body.begin + body.at,
				   MIN(packed, body.size - body.at));
		}
	}
}

bool perf_unpack(struct bytes *records, struct mapped **unpacked, uint64_t *damaged,
		 const char **why)
{
	struct unpacking unpacking = {.records = records, .damaged = damaged};
	g_autofree char *path = NULL;

	if (!any_packed(records))
		return true;
	unpacking.fd = spill_open();
	if (unpacking.fd < 0) {
		*why = "no temporary file can be had to unpack it";
		return false;
	}
	unpacking.packed = ZSTD_createDStream();
	unpacking.rest = g_byte_array_new();
	unpacking.ready = g_byte_array_new();
	unpack_all(&unpacking);
	flush(&unpacking);
	*damaged += unpacking.rest->len;
	g_byte_array_free(unpacking.ready, TRUE);
	g_byte_array_free(unpacking.rest, TRUE);
	ZSTD_freeDStream(unpacking.packed);
	path = g_strdup_printf("/proc/self/fd/%d", unpacking.fd);
	if (!unpacking.failed)
		*unpacked = mapped_new(path);
	close(unpacking.fd);
	if (!*unpacked) {
		*why = "the temporary file to unpack it into cannot be written";
		return false;
	}
	records->begin = mapped_bytes(*unpacked);
	records->size = mapped_length(*unpacked);
	return true;
}
