/* SPDX-License-Identifier: MIT */
/* What sets slow requests apart from the others, and those of one side from the other's.
 *
 *   requests   ·· ···· ·· ··          ·· ·          each peak of their latencies that has at most
 *              peak 1, most          peak 2         half of them; where there is one peak alone,
 *                                                   those that took SLOW_FACTOR times the median
 *
 * The search is apart/search.h's, of what request_known.h knows. Of more than SAMPLE requests a
 * sample is searched, and what is told is counted again of all.
 *
 * Place: traits/.
 */
#ifndef WHYLATE_TRAITS_REQUESTS_APART_H
#define WHYLATE_TRAITS_REQUESTS_APART_H

#include "tracking/requests.h"
#include "traits/traits.h"

#define SLOW_FACTOR 2 /* times the median */

/* A group of requests against all others. */
struct request_group {
	guint peak; /* as --pick peak:N counts them; 0: those that are slow, of one peak */
	int64_t from, to; /* ns: the least and the longest that they took */
	uint64_t count, all; /* requests in it, and those that are compared */
	struct traits *traits; /* owned */
};

struct requests_apart {
	GArray *groups; /* struct request_group, the slowest first */
	bool spread; /* of evenly spread requests: there are too many */
};

/* Of those that are listed. */
struct requests_apart *requests_apart_new(const struct user_requests *requests);
void requests_apart_free(struct requests_apart *apart);
/* A group about which something is told, the slowest; NULL: none. */
const struct request_group *requests_apart_told(const struct requests_apart *apart);
/* "Peak 2: 12 of 40 requests, 46.4 ms to 139 ms"; free with g_free(). */
char *request_group_title(const struct request_group *group);

/* What sets those of side `slow` apart from the other's; `separate`: the sides are of different
 * traces, or windows: what tells these apart is left out. `who`: what the sides are called, the
 * slow one first. NULL: a side has none. Free with traits_free(). */
struct traits *request_sides_apart(const struct user_requests *const sides[2], guint slow,
				   bool separate, const char *const who[2]);

#endif
