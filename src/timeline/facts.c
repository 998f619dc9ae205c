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
#define NUMBER_MAX 10 /* of one number */

static guint8 *put_number(guint8 *to, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		*to++ = (guint8) (number | 0x80);
	*to++ = (guint8) number;
	return to;
}

static uint64_t take_number(const struct fact_byte **at)
{
	const struct fact_byte *byte = *at;
	uint64_t number = byte->byte & 0x7f;

	for (unsigned shift = 7; byte++->byte & 0x80 && shift < 64; shift += 7)
		number |= (uint64_t) (byte->byte & 0x7f) << shift;
	*at = byte;
	return number;
}

void facts_put(GByteArray *bytes, uint32_t shape, const int64_t *values, uint32_t count)
{
	guint8 group[RECORD_MAX], *to = group;

	if (bytes->len + (count + 2) * NUMBER_MAX >= RECORD_MAX)
		return;
	to = put_number(to, shape);
	to = put_number(to, count);
	for (uint32_t i = 0; i < count; i++)
		to = put_number(to, (uint64_t) values[i] << 1 ^ (values[i] < 0 ? UINT64_MAX : 0));
	g_byte_array_append(bytes, group, (guint) (to - group));
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
