/* SPDX-License-Identifier: MIT */
/* Values of a diff, for sentences and tables. Place: diff/, over sides.h. */
#ifndef WHYLATE_DIFF_DIFF_VALUES_H
#define WHYLATE_DIFF_DIFF_VALUES_H

#include "diff/sides.h"

/* "13.6 ms", "1.5 kB", "312": a value of the metric, with "+" or "-" if `sign`; free with
 * g_free(). */
char *diff_value_text(const struct diff *diff, double value, bool sign);
/* It may be chance. */
bool difference_is_chance(const struct difference *at);
bool call_on_both(const struct call_difference *call);

#endif
