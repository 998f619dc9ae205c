/* SPDX-License-Identifier: MIT */
/* Bounded reading, and unpacking; see bytes.h. */
#include "foreign/bytes.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define UNPACKED_MAX (UINT64_C(256) << 20) /* a section, or some pages: never so much */

const uint8_t *bytes_take(struct bytes *bytes, uint64_t size)
{
	uint64_t at = bytes->at;

	if (!bytes->begin || size > bytes->size - at) {
		bytes->bad = true;
		bytes->at = bytes->size;
		return NULL;
	}
	bytes->at += size;
	return bytes->begin + at;
}

uint8_t bytes_u8(struct bytes *bytes)
{
	const uint8_t *at = bytes_take(bytes, 1);

	return at ? *at : 0;
}

uint16_t bytes_u16(struct bytes *bytes)
{
	const uint8_t *at = bytes_take(bytes, 2);

	return at ? bytes_as_u16(at, bytes->swap) : 0;
}

uint32_t bytes_u32(struct bytes *bytes)
{
	const uint8_t *at = bytes_take(bytes, 4);

	return at ? bytes_as_u32(at, bytes->swap) : 0;
}

uint64_t bytes_u64(struct bytes *bytes)
{
	const uint8_t *at = bytes_take(bytes, 8);

	return at ? bytes_as_u64(at, bytes->swap) : 0;
}

const char *bytes_text(struct bytes *bytes)
{
	uint64_t left = bytes->size - bytes->at;
	const uint8_t *at = left ? bytes->begin + bytes->at : NULL;
	const uint8_t *zero = left ? memchr(at, 0, left) : NULL;

	if (!zero) {
		bytes->bad = true;
		bytes->at = bytes->size;
		return "";
	}
	bytes->at += (uint64_t) (zero - at) + 1;
	return (const char *) at;
}

struct bytes bytes_part(const struct bytes *bytes, uint64_t from, uint64_t size)
{
	struct bytes part = {.swap = bytes->swap};

	from = MIN(from, bytes->size);
	part.begin = bytes->begin + from;
	part.size = MIN(size, bytes->size - from);
	return part;
}

bool bytes_unpack(enum packing packing, const uint8_t *from, uint64_t size, GByteArray *to,
		  uint64_t unpacked)
{
	uLongf length = (uLongf) unpacked;

	if (unpacked > UNPACKED_MAX || packing == PACKED_NOT)
		return false;
	g_byte_array_set_size(to, (guint) unpacked);
	if (packing == PACKED_ZLIB)
		return uncompress(to->data, &length, from, (uLong) size) == Z_OK &&
		       length == unpacked;
	return ZSTD_decompress(to->data, unpacked, from, size) == unpacked;
}
