/* SPDX-License-Identifier: MIT */
/* Four multiply-and-rotate chains; see digest.h. */
#include "util/digest.h"

#include <string.h>

#define STEP UINT64_C(0x9E3779B97F4A7C15) /* odd: multiplying can be undone */

static uint64_t step(uint64_t lane, uint64_t word)
{
	lane = (lane ^ word) * STEP;
	return lane << 29 | lane >> 35;
}

void digest_init(struct digest *digest)
{
	for (int i = 0; i < 4; i++)
		digest->lanes[i] = STEP * (uint64_t) (i + 1);
}

void digest_add(struct digest *digest, const void *bytes, size_t size)
{
	const char *at = bytes;
	uint64_t a = digest->lanes[0], b = digest->lanes[1];
	uint64_t c = digest->lanes[2], d = digest->lanes[3];

	for (size_t i = 0; i + DIGEST_UNIT <= size; i += DIGEST_UNIT) {
		uint64_t words[4];

		memcpy(words, at + i, sizeof words);
		a = step(a, words[0]);
		b = step(b, words[1]);
		c = step(c, words[2]);
		d = step(d, words[3]);
	}
	*digest = (struct digest) {{a, b, c, d}};
}

uint64_t digest_end(const struct digest *digest)
{
	uint64_t sum = 0;

	for (int i = 0; i < 4; i++)
		sum = step(sum, digest->lanes[i]);
	return sum ^ sum >> 32;
}

uint64_t digest_of(const void *bytes, size_t size)
{
	size_t whole = size / DIGEST_UNIT * DIGEST_UNIT;
	uint64_t rest[4] = {0};
	struct digest digest;

	digest_init(&digest);
	digest_add(&digest, bytes, whole);
	memcpy(rest, (const char *) bytes + whole, size - whole);
	digest_add(&digest, rest, sizeof rest);
	rest[0] = size;
	digest_add(&digest, rest, sizeof rest);
	return digest_end(&digest);
}
