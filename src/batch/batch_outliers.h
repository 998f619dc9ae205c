/* SPDX-License-Identifier: MIT */
/* Which of many traces are far out, in what, and what they have that few others do.
 *
 *   mean latency of fsync, by trace     ▁▂█▆▂▁            ▁        far out: beyond three times the
 *                                       Q1  Q3    fence   /t/7     quartiles' distance above Q3
 *
 * Place: batch/. Of each trace: the mean latency of each operation (of five or more), and what each
 * cost takes of a second (batch_settings.h). A sum has of each such measure the traces by buckets,
 * and the LARGEST largest; both add up exactly, so that a sum of sums tells the same. Distances are
 * of logarithms, as latencies spread by factors. Told only where MEASURED_LEAST traces have it, the
 * trace takes at least twice Q3, and more than a millisecond is at stake; ranked by that time. A
 * trace is told for what it lost most by. Source: Tukey 1977 (far out).
 */
#ifndef WHYLATE_BATCH_BATCH_OUTLIERS_H
#define WHYLATE_BATCH_BATCH_OUTLIERS_H

#include <jansson.h>

#include "batch/batch_settings.h"

struct batch_outliers;

struct batch_outliers *batch_outliers_new(void);
void batch_outliers_free(struct batch_outliers *outliers);
/* Of a trace's line. */
void batch_outliers_add(struct batch_outliers *outliers, const json_t *line);
/* Member "outliers" of a sum. */
void batch_outliers_add_sum(struct batch_outliers *outliers, const json_t *of);
/* After batch_settings_sum(): a new reference, NULL if there is no measure. */
json_t *batch_outliers_sum(struct batch_outliers *outliers, const struct batch_settings *settings);

#endif
