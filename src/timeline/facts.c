/* SPDX-License-Identifier: MIT */
/* Groups of numbers, written as short as they can be; see facts.h.
 *
 *   shape count value value …  shape count value …  0
 *
 * Seven bits a byte, the lowest first, with the highest bit on all but the last; a value's sign is
 * its lowest bit.
 */
#include "timeline/facts.h"

#include <string.h>

#define BYTES_MAX (UINT32_MAX - 2 * PAGES_SEGMENT) /* in all */
#define RECORD_MAX 1024 /* of one operation; FACTS_MAX values take less */

static void put_number(GByteArray *bytes, uint64_t number)
{
	guint8 digits[10];
	guint count = 0;

	do {
		digits[count] = (guint8) (number & 0x7f);
		number >>= 7;
		digits[count++] |= number ? 0x80 : 0;
	} while (number);
	g_byte_array_append(bytes, digits, count);
}

static uint64_t take_number(const struct fact_byte **at)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = (*at)++->byte;

		number |= (uint64_t) (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return number;
}

void facts_put(GByteArray *bytes, uint32_t shape, const int64_t *values, uint32_t count)
{
	if (bytes->len + (count + 2) * 10 >= RECORD_MAX)
		return;
	put_number(bytes, shape);
	put_number(bytes, count);
	for (uint32_t i = 0; i < count; i++)
		put_number(bytes, (uint64_t) values[i] << 1 ^ (values[i] < 0 ? UINT64_MAX : 0));
}

static void append(struct timeline *timeline, uint32_t operation, const void *bytes, uint32_t size)
{
	struct fact_place *place;
	struct fact_byte *to;
	uint32_t at;

	if (!size || timeline->facts.used > BYTES_MAX)
		return;
	while (timeline->fact_places.used <= operation)
		pages_reserve(&timeline->fact_places, 1);
	at = pages_reserve(&timeline->facts, size + 1);
	to = pages_at(&timeline->facts, at);
	memcpy(to, bytes, size); /* the last byte is 0 */
	place = pages_at(&timeline->fact_places, operation);
	place->at = at + 1;
}

void facts_append(struct timeline *timeline, uint32_t operation, const GByteArray *bytes)
{
	append(timeline, operation, bytes->data, bytes->len);
}

static const struct fact_byte *bytes_of(const struct timeline *timeline, uint32_t operation)
{
	const struct fact_place *place;

	if (operation >= timeline->fact_places.used)
		return NULL;
	place = pages_at(&timeline->fact_places, operation);
	return place->at && place->at - 1 < timeline->facts.used
		       ? pages_at(&timeline->facts, place->at - 1)
		       : NULL;
}

bool facts_of(const struct timeline *timeline, uint32_t operation, struct facts *facts)
{
	const struct fact_byte *at = bytes_of(timeline, operation);
	uint32_t shape;

	facts->count = 0;
	if (!at)
		return false;
	while ((shape = (uint32_t) take_number(&at))) {
		uint32_t count = (uint32_t) take_number(&at);

		for (uint32_t i = 0; i < count; i++) {
			uint64_t number = take_number(&at);
			struct fact_value fact = {shape, i,
						  (int64_t) (number >> 1 ^ -(number & 1))};

			if (facts->count < FACTS_MAX)
				facts->at[facts->count++] = fact;
		}
	}
	return facts->count;
}

void facts_keep(const struct timeline *from, uint32_t old, struct timeline *timeline,
		uint32_t operation)
{
	const struct fact_byte *begin = bytes_of(from, old), *at = begin;

	if (!begin)
		return;
	while (take_number(&at))
		for (uint64_t count = take_number(&at); count; count--)
			take_number(&at);
	append(timeline, operation, begin, (uint32_t) (at - begin) - 1);
}

/* The first record of a segment lies at its begin. */
void facts_pass(const struct timeline *timeline, uint32_t operation)
{
	const struct fact_place *place;

	if (operation >= timeline->fact_places.used)
		return;
	pages_pass(&timeline->fact_places, operation);
	place = pages_at(&timeline->fact_places, operation);
	if (place->at)
		pages_pass(&timeline->facts, place->at - 1);
}
