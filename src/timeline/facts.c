/* SPDX-License-Identifier: MIT */
/* Groups of numbers, written as short as they can be; see facts.h.
 *
 *   shape count value value …  shape count value …  0
 *
 * Seven bits a byte, the lowest first, with the highest bit on all but the last; a value's sign is
 * its lowest bit. Each operation's begin at a word of eight bytes: segments of bytes would be small
 * and many.
 *
 * A record that was written before is not written again: calls in a loop differ in little, and a
 * store half as long costs half as much to write and to pass. It is looked for among those written
 * lately by a hash, and at most a segment behind, so that a pass from the first operation to the
 * last never looks further back.
 */
#include "timeline/facts.h"

#include <string.h>

#define WORDS_MAX (UINT32_MAX - 2 * PAGES_SEGMENT) /* in all */
#define RECORD_MAX 1024 /* of one operation; FACTS_MAX values take less */
#define NUMBER_MAX 10 /* of one number */

static guint8 *put_number(guint8 *to, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		*to++ = (guint8) (number | 0x80);
	*to++ = (guint8) number;
	return to;
}

static inline uint64_t take_number(const guint8 **at)
{
	const guint8 *byte = *at;
	uint64_t number = *byte & 0x7f;

	for (unsigned shift = 7; *byte++ & 0x80 && shift < 64; shift += 7)
		number |= (uint64_t) (*byte & 0x7f) << shift;
	*at = byte;
	return number;
}

static inline int64_t take_value(const guint8 **at)
{
	uint64_t number = take_number(at);

	return (int64_t) (number >> 1 ^ -(number & 1));
}

static inline void skip_numbers(const guint8 **at, uint32_t count)
{
	const guint8 *byte = *at;

	for (; count; count--)
		while (*byte++ & 0x80)
			;
	*at = byte;
}

void facts_put(GByteArray *bytes, uint32_t shape, const int64_t *values, uint32_t count)
{
	guint8 *to;

	if (bytes->len + (count + 2) * NUMBER_MAX >= RECORD_MAX)
		return;
	if (!bytes->len) { /* room for all that will be put */
		g_byte_array_set_size(bytes, RECORD_MAX);
		bytes->len = 0;
	}
	to = put_number(bytes->data + bytes->len, shape);
	to = put_number(to, count);
	for (uint32_t i = 0; i < count; i++)
		to = put_number(to, (uint64_t) values[i] << 1 ^ (values[i] < 0 ? UINT64_MAX : 0));
	bytes->len = (guint) (to - bytes->data);
}

static uint32_t hash_of(const struct fact_word *words, uint32_t count)
{
	uint64_t hash = count;

	for (uint32_t i = 0; i < count; i++)
		hash = (hash ^ hash >> 29 ^ words[i].bytes) * UINT64_C(0x9E3779B97F4A7C15);
	return (uint32_t) (hash >> 32);
}

/* The same record was written lately, there: in this segment, or less than one behind. */
static bool is_at(const struct timeline *timeline, uint32_t at, const struct fact_word *words,
		  uint32_t count)
{
	const struct pages *facts = &timeline->facts;

	return at < facts->used && facts->used - at < PAGES_SEGMENT &&
	       (at & (PAGES_SEGMENT - 1)) + count <= PAGES_SEGMENT &&
	       memcmp(pages_at(facts, at), words, count * sizeof *words) == 0;
}

/* `words`: with at least one byte that is 0 behind the record, and nothing else. */
static void append(struct timeline *timeline, uint32_t operation, const struct fact_word *words,
		   uint32_t count)
{
	struct fact_recent *recent;
	struct fact_place *place;
	uint32_t hash;

	if (timeline->facts.used > WORDS_MAX)
		return;
	while (timeline->fact_places.used <= operation)
		pages_reserve(&timeline->fact_places, 1);
	place = pages_at(&timeline->fact_places, operation);
	hash = hash_of(words, count);
	recent = &timeline->facts_recent[hash % FACTS_RECENT];
	if (recent->hash != hash || !is_at(timeline, recent->at, words, count)) {
		recent->hash = hash;
		recent->at = pages_reserve(&timeline->facts, count);
		memcpy(pages_at(&timeline->facts, recent->at), words, count * sizeof *words);
	}
	place->at = recent->at + 1;
}

static uint32_t words_of(uint32_t size)
{
	return size / (uint32_t) sizeof(struct fact_word) + 1;
}

void facts_append(struct timeline *timeline, uint32_t operation, GByteArray *bytes)
{
	uint32_t count = words_of(bytes->len);

	if (!bytes->len)
		return;
	memset(bytes->data + bytes->len, 0, count * sizeof(struct fact_word) - bytes->len);
	append(timeline, operation, (const void *) bytes->data, count);
}

uint32_t facts_place(const struct timeline *timeline, uint32_t operation)
{
	const struct fact_place *place;

	if (operation >= timeline->fact_places.used)
		return 0;
	place = pages_at(&timeline->fact_places, operation);
	return place->at <= timeline->facts.used ? place->at : 0;
}

static const guint8 *bytes_of(const struct timeline *timeline, uint32_t operation)
{
	uint32_t place = facts_place(timeline, operation);

	return place ? pages_at(&timeline->facts, place - 1) : NULL;
}

bool facts_of(const struct timeline *timeline, uint32_t operation, struct facts *facts)
{
	const guint8 *at = bytes_of(timeline, operation);
	uint32_t shape;

	facts->count = 0;
	if (!at)
		return false;
	while ((shape = (uint32_t) take_number(&at))) {
		uint32_t count = (uint32_t) take_number(&at);

		for (uint32_t i = 0; i < count; i++) {
			struct fact_value fact = {shape, i, take_value(&at)};

			if (facts->count < FACTS_MAX)
				facts->at[facts->count++] = fact;
		}
	}
	return facts->count;
}

void facts_keep(const struct timeline *from, uint32_t old, struct timeline *timeline,
		uint32_t operation)
{
	const guint8 *begin = bytes_of(from, old), *at = begin;

	if (!begin)
		return;
	while (take_number(&at))
		skip_numbers(&at, (uint32_t) take_number(&at));
	append(timeline, operation, (const void *) begin, words_of((uint32_t) (at - begin) - 1));
}

uint32_t facts_pick(const struct timeline *timeline, uint32_t operation, uint32_t all,
		    const struct fact_slots *(*slots_of)(void *data, uint32_t shape), void *data,
		    int64_t *values, uint32_t *wide)
{
	const guint8 *at = bytes_of(timeline, operation);
	uint32_t shape, found = 0;

	*wide = 0;

	while (at && found != all && (shape = (uint32_t) take_number(&at))) {
		uint32_t count = (uint32_t) take_number(&at), i = 0;
		const struct fact_slots *slots = slots_of(data, shape);

		for (; i < MIN(count, slots->count); i++) {
			uint32_t bit = slots->bit[i];

			if (!bit || found & bit) {
				skip_numbers(&at, 1);
				continue;
			}
			values[__builtin_ctz(bit)] = take_value(&at);
			found |= bit;
			*wide |= bit & slots->wide;
		}
		skip_numbers(&at, count - i);
	}
	return found;
}

void facts_pass(const struct timeline *timeline, uint32_t passed[2], uint32_t operation)
{
	const struct fact_place *place;

	if (operation >= timeline->fact_places.used)
		return;
	pages_pass_to(&timeline->fact_places, &passed[0], operation);
	place = pages_at(&timeline->fact_places, operation);
	if (place->at)
		pages_pass_to(&timeline->facts, &passed[1], place->at - 1);
}
