/* SPDX-License-Identifier: MIT */
/* Finding peaks; see peaks.h.
 *
 *   log2(1+n)   █                      Heights are h = log2(1 + count): on a
 *               █ █     █              log axis, with empty buckets on the
 *             █ █ █   █ █ █            ground. The lower of two tops is a peak
 *             █ █ █ █ █ █ █            of its own where the valley between
 *             └─peak 1─┘└─ 2 ─┘        them is
 *   - at least PROMINENCE below it in h (a factor of 2.8 in counts), and
 *   - lower by NOISE standard deviations of what chance would make of equal
 *     counts (Poisson: top - valley > NOISE sqrt(top + valley)).
 *   An empty stretch of GAP octaves (a factor of 8 in latency) separates
 *   whatever the counts: what lies beyond it behaves differently, even once.
 *
 * The valley goes to the peak on its left, as latencies have their tails on
 * the right: its lowest bucket, and those after it that chance may have made
 * of the same height (one standard deviation); of empty ones, no others. Merging begins with the
 * pair whose valley is shallowest, so that a row of small ripples becomes one peak whose top is
 * the highest of them.
 */
#include "util/peaks.h"

#include <math.h>
#include <stdbool.h>

#define PROMINENCE 1.5
#define NOISE 1.5
#define GAP 3

static double height(uint64_t count)
{
	return log2(1.0 + (double) count);
}

/* The lowest bucket between two tops; among equals the leftmost. */
static guint valley(const uint64_t *counts, guint left, guint right)
{
	guint lowest = left;

	for (guint i = left; i <= right; i++)
		if (counts[i] < counts[lowest])
			lowest = i;
	return lowest;
}

/* The last bucket of the valley's floor: what follows rises. */
static guint floor_end(const uint64_t *counts, guint lowest, guint right)
{
	guint last = lowest;

	while (last + 1 < right) {
		double rise = (double) counts[last + 1] - (double) counts[lowest];

		if (rise * rise > (double) (counts[last + 1] + counts[lowest]) ||
		    (rise > 0 && !counts[lowest]))
			break;
		last++;
	}
	return last;
}

/* How far the valley between two tops is from separating them: 0 or more, it does. */
static double separation(const uint64_t *counts, guint left, guint right)
{
	uint64_t low = counts[valley(counts, left, right)];
	uint64_t top = MIN(counts[left], counts[right]);
	double depth = height(top) - height(low);
	double noise = ((double) top - (double) low) / sqrt((double) top + (double) low);

	return MIN(depth / PROMINENCE, noise / NOISE) - 1;
}

/* The tops in [first, last], both not empty. */
static GArray *tops_of(const uint64_t *counts, guint first, guint last)
{
	GArray *tops = g_array_new(FALSE, FALSE, sizeof(guint));
	bool rising = true;

	for (guint i = first; i <= last; i++) {
		uint64_t next = i < last ? counts[i + 1] : 0;

		if (rising && counts[i] > next) {
			g_array_append_val(tops, i);
			rising = false;
		} else if (next > counts[i]) {
			rising = true;
		}
	}
	return tops;
}

/* Takes the lower of the two least separated tops away, until all are. */
static void merge(const uint64_t *counts, GArray *tops)
{
	while (tops->len > 1) {
		double least = INFINITY;
		guint at = 0, left, right;

		for (guint i = 0; i + 1 < tops->len; i++) {
			double apart = separation(counts, g_array_index(tops, guint, i),
						  g_array_index(tops, guint, i + 1));

			if (apart < least) {
				least = apart;
				at = i;
			}
		}
		if (least >= 0)
			return;
		left = g_array_index(tops, guint, at);
		right = g_array_index(tops, guint, at + 1);
		g_array_remove_index(tops, counts[left] < counts[right] ? at : at + 1);
	}
}

/* The peaks of a stretch that no wide gap divides. */
static void find_between(const uint64_t *counts, guint first, guint last, GArray *peaks)
{
	GArray *tops = tops_of(counts, first, last);

	merge(counts, tops);
	for (guint i = 0; i < tops->len; i++) {
		struct peak_range peak = {first, g_array_index(tops, guint, i), last};

		if (i + 1 < tops->len) {
			guint next = g_array_index(tops, guint, i + 1);

			peak.last = floor_end(counts, valley(counts, peak.mode, next), next);
		}
		first = peak.last + 1;
		while (!counts[peak.first])
			peak.first++;
		while (!counts[peak.last])
			peak.last--;
		for (guint b = peak.last + 1; b-- > peak.first;)
			if (counts[b] >= counts[peak.mode])
				peak.mode = b; /* the first of equals */
		g_array_append_val(peaks, peak);
	}
	g_array_free(tops, TRUE);
}

GArray *peaks_find(const uint64_t *counts, guint length, guint resolution)
{
	GArray *peaks = g_array_new(FALSE, FALSE, sizeof(struct peak_range));
	guint first = length, last = 0;

	for (guint i = 0; i < length; i++) {
		if (!counts[i])
			continue;
		if (first < length && i - last > GAP * resolution) {
			find_between(counts, first, last, peaks);
			first = i;
		}
		first = MIN(first, i);
		last = i;
	}
	if (first < length)
		find_between(counts, first, last, peaks);
	return peaks;
}
