/* SPDX-License-Identifier: MIT */
/* Limits judged over many traces: what was measured in each is added up.
 *
 * Place: batch/. Counts, sums and buckets add exactly, so that a limit over all is judged as it
 * would be over one trace of them all (limits/judge.h).
 */
#ifndef WHYLATE_BATCH_BATCH_LIMITS_H
#define WHYLATE_BATCH_BATCH_LIMITS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "limits/judge.h"

/* Owned; of struct batch_limit, sorted by text. */
GPtrArray *batch_limits_new(void);
/* A limit of a line; `merged`: of a sum. */
void batch_limits_add(GPtrArray *limits, const json_t *from, bool merged);
/* Judges them over all: a new reference, an array. They are not added to after it. */
json_t *batch_limits_merged(GPtrArray *limits);
/* Members sum_ns, min_ns, max_ns and buckets. */
void histogram_of_json(const json_t *from, struct histogram *latencies);

#endif
