/* SPDX-License-Identifier: MIT */
/* Calls that stand out, added up by function. Place: functions/, under stand_outs.h. */
#ifndef WHYLATE_FUNCTIONS_STAND_OUT_SUMS_H
#define WHYLATE_FUNCTIONS_STAND_OUT_SUMS_H

#include "functions/stand_out.h"

/* One function's calls that stand out, of all threads. */
struct stand_out_sum {
	uint32_t what, root; /* of turns their root, else 0 */
	uint32_t thread; /* that of the longest; */
	guint threads; /* … so many have some, */
	uint32_t last; /* … this one while they are counted */
	uint64_t count;
	int64_t excess; /* ns: beyond the medians, in all */
	int64_t shortest, longest, median; /* ns: of one call; of the longest one's function */
	GHashTable *spent; /* owned; what those in the list took longer for -> int64_t, … */
	int64_t explained; /* … of so many ns of their excess */
};

/* Of all that were found, thread by thread; largest excess first. */
GArray *stand_out_sums_new(const GArray *list);
/* What one that has its differences took longer for. */
void stand_out_sums_explain(GArray *sums, const struct stand_out *one);

#endif
