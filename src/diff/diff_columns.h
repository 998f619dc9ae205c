/* SPDX-License-Identifier: MIT */
/* What differs, as columns and for people.
 *
 * Place: diff/. The data of the report is the diff. */
#ifndef WHYLATE_DIFF_DIFF_COLUMNS_H
#define WHYLATE_DIFF_DIFF_COLUMNS_H

#include "diff/diff.h"
#include "diff/sides.h"
#include "report/report.h"

/* Of struct difference and struct call_difference. */
extern const struct column difference_columns[], call_difference_columns[];

/* As a page for browsers. */
void diff_page(const struct diff *diff, struct output *output);
void diff_json(const struct diff *diff, struct output *output);
void diff_text(const struct diff *diff, struct output *output);

/* Of struct function_difference. */
extern const struct column function_difference_columns[];

#endif
