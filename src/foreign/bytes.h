/* SPDX-License-Identifier: MIT */
/* Reading headers: one place after the other, and never past the end.
 *
 * Place: foreign/. What is not there is 0, and `bad` is set: who reads asks once, at the end.
 */
#ifndef WHYLATE_FOREIGN_BYTES_H
#define WHYLATE_FOREIGN_BYTES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t bytes_as_u16(const uint8_t *at, bool swap)
{
	uint16_t value;

	memcpy(&value, at, sizeof value);
	return swap ? GUINT16_SWAP_LE_BE(value) : value;
}

static inline uint32_t bytes_as_u32(const uint8_t *at, bool swap)
{
	uint32_t value;

	memcpy(&value, at, sizeof value);
	return swap ? GUINT32_SWAP_LE_BE(value) : value;
}

static inline uint64_t bytes_as_u64(const uint8_t *at, bool swap)
{
	uint64_t value;

	memcpy(&value, at, sizeof value);
	return swap ? GUINT64_SWAP_LE_BE(value) : value;
}

/* No CPU is without an event for so long (ns, 52 days): one of the times is damaged. */
#define JUMP_MAX (UINT64_C(1) << 52)

/* A clock's count (ns) and what it is to be moved by: a damaged one stays the last of all. */
static inline int64_t bytes_time(uint64_t clock, int64_t offset)
{
	int64_t sum;

	return clock > INT64_MAX || __builtin_add_overflow((int64_t) clock, offset, &sum)
		       ? INT64_MAX
		       : sum;
}

struct bytes {
	const uint8_t *begin;
	uint64_t size, at;
	bool swap, bad;
};

/* The next `size` bytes; NULL: there are not so many. */
const uint8_t *bytes_take(struct bytes *bytes, uint64_t size);
uint8_t bytes_u8(struct bytes *bytes);
uint16_t bytes_u16(struct bytes *bytes);
uint32_t bytes_u32(struct bytes *bytes);
uint64_t bytes_u64(struct bytes *bytes);
/* Ended by a zero; "" if it is not. */
const char *bytes_text(struct bytes *bytes);
/* [from, from + size) of it, cut at its end. */
struct bytes bytes_part(const struct bytes *bytes, uint64_t from, uint64_t size);

/* --- compressed ones ---------------------------------------------------------------------- */

enum packing { PACKED_NOT, PACKED_ZLIB, PACKED_ZSTD };

/* Into `to`, which gets that size. False: it is damaged. */
bool bytes_unpack(enum packing packing, const uint8_t *from, uint64_t size, GByteArray *to,
		  uint64_t unpacked);

#endif
