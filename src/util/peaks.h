/* SPDX-License-Identifier: MIT */
/* The peaks of a latency histogram, as a person sees them on a logarithmic
 * axis.
 *
 * Place: util/. Source: DARC, section 3: "The peak analysis takes the
 * logarithmic values of the y-axis into account, mimicking the way a human
 * might identify peaks". The paper gives no rule; this one is topographic
 * prominence, with two conditions against noise (peaks.c).
 */
#ifndef WHYLATE_UTIL_PEAKS_H
#define WHYLATE_UTIL_PEAKS_H

#include <glib.h>
#include <stdint.h>

struct peak_range {
	guint first, mode, last; /* buckets; first and last are not empty */
};

/* The peaks of `counts[0 … length-1]`, `resolution` buckets a factor of two,
 * left to right: struct peak_range. Every bucket that is not empty lies in
 * exactly one; none if all are empty. Free with g_array_free(). */
GArray *peaks_find(const uint64_t *counts, guint length, guint resolution);

#endif
