/* SPDX-License-Identifier: MIT */
/* For each peak of a profile: what sets its operations apart from the others of the profile; and of
 * the whole profile, which numbers its latencies follow.
 *
 *   store of operations ─ pass 1: a sample of each peak ─ what is known of those
 *   ─ search, peak by peak ─ pass 2: what is told is counted again, of all operations
 *
 * A peak that has more than half of the operations is not asked about, of two halves the faster
 * one: what sets it apart is told of the others.
 *
 * The second pass is left out where the sample is all there is. Memory follows the sample: of each
 * peak 2,048 operations at most, of PROFILES_SEARCHED profiles. The same trace gives the same
 * sample: random numbers are drawn from a fixed seed.
 *
 * Place: traits/.
 */
#ifndef WHYLATE_TRAITS_PEAKS_APART_H
#define WHYLATE_TRAITS_PEAKS_APART_H

#include "apart/line_fit.h"
#include "latencies/profile.h"
#include "traits/traits.h"

struct peaks_apart;

/* A number that the latencies of a profile follow. */
struct correlation {
	char *field; /* owned; as a trait's */
	uint64_t count; /* operations that have it */
	double slope, middle; /* ns = middle + slope x */
	double share; /* of the variance of the latencies */
	char *sentence; /* owned */
	GArray *points; /* owned; struct point; CORRELATION_POINTS at most */
};
#define CORRELATION_POINTS 200

/* Of peaks that were searched for root causes. */
struct peaks_apart *peaks_apart_new(struct profiles *profiles);
void peaks_apart_free(struct peaks_apart *apart);
/* struct correlation, what explains most first; NULL: none was looked for. */
const GPtrArray *profile_correlations(const struct peaks_apart *apart,
				      const struct profile *profile);
/* NULL: not asked. */
const struct traits *peak_traits(const struct peaks_apart *apart, const struct peak *peak);

#endif
