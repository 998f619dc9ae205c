/* SPDX-License-Identifier: MIT */
/* Histograms of latencies over logarithmic buckets.
 *
 * Place: util/. Source: semantics.md, "Latency": the bucket of latency d at resolution r is the
 * largest k with 2^k <= d^r (0 for d = 0).
 */
#ifndef WHYLATE_UTIL_HISTOGRAM_H
#define WHYLATE_UTIL_HISTOGRAM_H

#include <glib.h>
#include <stdint.h>

#define OCTAVES 63 /* that latencies may lie in; times the resolution: buckets */

/* The bucket at resolution 1. */
static inline guint octave_of(int64_t latency)
{
	return latency <= 1 ? 0 : (guint) (63 - __builtin_clzll((unsigned long long) latency));
}

/* The least latency of a bucket; of the one after the last INT64_MAX. */
int64_t bucket_from(guint resolution, guint bucket);

/* Bounds of buckets at one resolution: exact, in integers. Making them takes a millisecond. */
struct buckets {
	guint resolution, count;
	int64_t *from; /* owned; least latency of each bucket; from[count]: INT64_MAX */
};

void buckets_init(struct buckets *buckets, guint resolution);
void buckets_clear(struct buckets *buckets);
guint bucket_of(const struct buckets *buckets, int64_t latency);

struct histogram {
	uint64_t count;
	int64_t sum, min, max; /* ns; min > max: none */
	uint64_t *counts;      /* owned; by bucket; NULL: none */
};

void histogram_init(struct histogram *histogram);
void histogram_clear(struct histogram *histogram);
/* Returns the bucket that it is counted in. */
guint histogram_count(struct histogram *histogram, const struct buckets *buckets, int64_t latency);
/* Adds another one of so many buckets. */
void histogram_add(struct histogram *histogram, const struct histogram *other, guint buckets);

#endif
