/* SPDX-License-Identifier: MIT */
/* What differs, as columns and for people.
 *
 * Place: diff/. The data of the report is the diff. */
#ifndef WHYLATE_DIFF_DIFF_COLUMNS_H
#define WHYLATE_DIFF_DIFF_COLUMNS_H

#include "diff/diff.h"
#include "report/report.h"

/* Of struct difference and struct call_difference. */
extern const struct column difference_columns[], call_difference_columns[];

void diff_json(const struct diff *diff, struct output *output);
void diff_text(const struct diff *diff, struct output *output);

/* "13.6 ms", "1.5 kB", "312": a value of the metric, with "+" or "-" if `sign`; free with
 * g_free(). */
char *diff_value_text(const struct diff *diff, double value, bool sign);
/* It may be chance. */
bool difference_is_chance(const struct difference *at);
bool call_on_both(const struct call_difference *call);

#endif
