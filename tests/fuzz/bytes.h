/* SPDX-License-Identifier: MIT */
/* A fuzzer's bytes as numbers and texts, and the other way, for seeds.
 *
 * Every input means something, and most bytes one thing alone, so that a small
 * change of the input is a small change of what it says. What is past the end is 0.
 *
 *   0 … 199    that number
 *   200 … 207  the number in the following 1 … 8 bytes, lowest first, signed
 *   208, 209   how often a loop has gone round; that and the next byte
 *   210 …      one of `wild`
 */
#ifndef WHYLATE_FUZZ_BYTES_H
#define WHYLATE_FUZZ_BYTES_H

#include <glib.h>
#include <stdint.h>
#include <string.h>

#define SMALL_NUMBERS 200
#define ROUND 208
#define WILD 210

struct bytes {
	const uint8_t *at, *end;
	int64_t round;
	GPtrArray *owned; /* what texts and arrays lie in */
};

/* Numbers at which something changes: limits, special descriptors, kernel addresses,
 * states of prev_state, first namespaces, device numbers. */
static const int64_t wild[] = {
	-1,
	-2,
	-3,
	-4,
	-11,
	-100,
	-110,
	-512,
	INT32_MIN,
	INT32_MAX,
	UINT32_MAX,
	INT64_MIN,
	INT64_MAX,
	INT64_C(1) << 32,
	INT64_C(1) << 31,
	256,
	512,
	1024,
	2048,
	4096,
	65535,
	65536,
	1000,
	1000000,
	1000000000,
	4026531836,
	4026531835,
	8 << 20,
	254 << 20,
	-INT64_C(0x7f000000),
	-INT64_C(0x3fcc0000),
	-INT64_C(0x777777777000),
	0x80000000 | 5,
	0x11,
	0x100,
	INT64_C(1) << 62,
	-(INT64_C(1) << 62),
	134,
	393,
	1 << 29,
	0x3d0f00,
	56,
	199,
	200,
	220,
	1 << 14};

static inline void bytes_init(struct bytes *bytes, const uint8_t *data, size_t size)
{
	static const uint8_t nothing[1];

	if (!size)
		data = nothing;
	*bytes = (struct bytes) {data, data + size, 0, g_ptr_array_new_with_free_func(g_free)};
}

static inline void bytes_clear(struct bytes *bytes)
{
	g_ptr_array_free(bytes->owned, TRUE);
}

static inline uint8_t take_byte(struct bytes *bytes)
{
	return bytes->at < bytes->end ? *bytes->at++ : 0;
}

static inline int64_t take_number(struct bytes *bytes)
{
	uint8_t tag = take_byte(bytes);
	uint64_t value = 0;
	int count = tag - SMALL_NUMBERS + 1;

	if (tag < SMALL_NUMBERS)
		return tag;
	if (tag == ROUND)
		return bytes->round;
	if (tag == ROUND + 1)
		return bytes->round + take_byte(bytes);
	if (tag >= WILD)
		return wild[(size_t) (tag - WILD) % G_N_ELEMENTS(wild)];
	for (int i = 0; i < count; i++)
		value |= (uint64_t) take_byte(bytes) << 8 * i;
	if (count < 8 && value >> (8 * count - 1))
		value |= ~UINT64_C(0) << 8 * count;
	return (int64_t) value;
}

/* A copy of exactly these bytes, so that a sanitizer sees any step past them. */
static inline void *keep_copy(struct bytes *bytes, const void *data, size_t size)
{
	void *copy = g_malloc(MAX(size, 1));

	if (size)
		memcpy(copy, data, size);
	g_ptr_array_add(bytes->owned, copy);
	return copy;
}

static inline const uint8_t *take_bytes(struct bytes *bytes, size_t size, size_t *taken)
{
	const uint8_t *at = bytes->at;

	*taken = MIN(size, (size_t) (bytes->end - at));
	bytes->at += *taken;
	return keep_copy(bytes, at, *taken);
}

static inline void put_byte(GByteArray *out, int value)
{
	uint8_t byte = (uint8_t) value;

	g_byte_array_append(out, &byte, 1);
}

static inline void put_number(GByteArray *out, int64_t value)
{
	int count = 1;

	if (value >= 0 && value < SMALL_NUMBERS) {
		put_byte(out, (int) value);
		return;
	}
	while (count < 8 &&
	       (value < -(INT64_C(1) << (8 * count - 1)) || value >= INT64_C(1) << (8 * count - 1)))
		count++;
	put_byte(out, SMALL_NUMBERS + count - 1);
	for (int i = 0; i < count; i++)
		put_byte(out, (int) (value >> 8 * i & 0xff));
}

#endif
