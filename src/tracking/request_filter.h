/* SPDX-License-Identifier: MIT */
/* --pick: which requests, by number, name, percentile or peak.
 *
 *   3           the one with that id           'nginx*'    whose label fits the pattern
 *   p90         the slowest: from the 90th percentile of their latencies up
 *   p10..p50    those between two percentiles  peak:2      of the second peak of their profile
 *
 * Place: tracking/, for requests and diff. A request is between the percentiles A and B if
 * its rank by latency, of n requests, is above A n / 100 and not above B n / 100; so
 * p0..p50 and p50..p100 have none in common. Peaks: peaks.h, at resolution 1.
 */
#ifndef WHYLATE_TRACKING_REQUEST_FILTER_H
#define WHYLATE_TRACKING_REQUEST_FILTER_H

#include "tracking/requests.h"
#include "util/histogram.h"

/* Which of the requests are asked for. */
struct request_scope {
	const GPtrArray *picks; /* strings: request_filter.h; none: all */
	const char *option; /* … of which option, for errors */
	int64_t from, to; /* begin and end lie in it */
};

/* The text may be a pick; else an error that says what would be right. */
bool pick_check(const char *option, const char *text, GError **error);

/* The text is one percentile above 0 and below 100: "p90". */
bool percentile_check(const char *option, const char *text, GError **error);

/* The peaks of the latencies of those at these places: struct peak_range (peaks.h); at resolution 1
 * as peak:N counts them. Free with g_array_free(). */
GArray *request_peaks(const struct user_requests *requests, const GArray *places,
		      const struct buckets *buckets);

/* Those of `candidates` (uint32_t: places from 0) that the scope's picks mean; without one,
 * all. NULL and `error` if one means none. Free with g_array_free(). */
GArray *picks_apply(const struct user_requests *requests, const GArray *candidates,
		    const struct request_scope *scope, GError **error);

#endif
