/* SPDX-License-Identifier: MIT */
/* See histogram.h. */
#include "util/histogram.h"
#include "util/when.h"

#include <math.h>
#include <stdbool.h>

/* Is d^r >= 2^k? In limbs of 32 bits, as neither fits a machine word. */
static bool reaches(uint64_t d, guint r, guint k)
{
	uint32_t limbs[2 * 16 + 2] = {1};
	guint used = 1;

	for (guint i = 0; i < r; i++) {
		uint128 carry = 0;

		for (guint l = 0; l < used; l++) {
			carry += (uint128) limbs[l] * d;
			limbs[l] = (uint32_t) carry;
			carry >>= 32;
		}
		for (; carry; carry >>= 32)
			limbs[used++] = (uint32_t) carry;
	}
	if (k / 32 >= used)
		return false;
	for (guint l = used; l-- > k / 32 + 1;)
		if (limbs[l])
			return true;
	return limbs[k / 32] >> (k % 32) != 0;
}

/* The least d with d^r >= 2^k. It is near 2^(k/r), so a guess is tried first. */
int64_t bucket_from(guint resolution, guint bucket)
{
	uint64_t low = UINT64_C(1) << (bucket / resolution), high = low * 2;
	uint64_t guess = (uint64_t) exp2l((long double) bucket / resolution);

	if (!bucket)
		return 0;
	if (bucket >= OCTAVES * resolution)
		return INT64_MAX;
	if (guess > low && !reaches(guess - 1, resolution, bucket))
		low = guess;
	if (guess < high - 1 && reaches(guess + 1, resolution, bucket))
		high = guess + 1;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (reaches(middle, resolution, bucket))
			high = middle;
		else
			low = middle + 1;
	}
	return (int64_t) low;
}

void buckets_init(struct buckets *buckets, guint resolution)
{
	buckets->resolution = resolution;
	buckets->count = OCTAVES * resolution;
	buckets->from = g_new(int64_t, buckets->count + 1);
	for (guint k = 0; k <= buckets->count; k++)
		buckets->from[k] = bucket_from(resolution, k);
}

void buckets_clear(struct buckets *buckets)
{
	g_free(buckets->from);
}

guint bucket_of(const struct buckets *buckets, int64_t latency)
{
	guint bucket;

	if (latency <= 1)
		return 0;
	bucket = octave_of(latency) * buckets->resolution;
	while (bucket + 1 < buckets->count && buckets->from[bucket + 1] <= latency)
		bucket++;
	return bucket;
}

void histogram_init(struct histogram *histogram)
{
	*histogram = (struct histogram) {.min = INT64_MAX, .max = INT64_MIN};
}

void histogram_clear(struct histogram *histogram)
{
	g_free(histogram->counts);
}

guint histogram_count(struct histogram *histogram, const struct buckets *buckets, int64_t latency)
{
	guint bucket = bucket_of(buckets, latency);

	if (!histogram->counts)
		histogram->counts = g_new0(uint64_t, buckets->count);
	histogram->count++;
	histogram->sum += latency;
	histogram->min = MIN(histogram->min, latency);
	histogram->max = MAX(histogram->max, latency);
	histogram->counts[bucket]++;
	return bucket;
}

void histogram_add(struct histogram *histogram, const struct histogram *other, guint buckets)
{
	if (other->counts && !histogram->counts)
		histogram->counts = g_new0(uint64_t, buckets);
	for (guint b = 0; other->counts && b < buckets; b++)
		histogram->counts[b] += other->counts[b];
	histogram->count += other->count;
	histogram->sum += other->sum;
	histogram->min = MIN(histogram->min, other->min);
	histogram->max = MAX(histogram->max, other->max);
}
