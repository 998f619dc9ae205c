/* SPDX-License-Identifier: MIT */
/* The verdict on each limit, with what was measured, and why.
 *
 * Place: limits/, on measure.h. The reports show judgements (limits_report.h), the command
 * turns them into its exit status. Source: interface.md, "Exit status".
 */
#ifndef WHYLATE_LIMITS_JUDGE_H
#define WHYLATE_LIMITS_JUDGE_H

#include "limits/judgement.h"

/* Of each of the options' limits, in order; struct judgement. Free with g_ptr_array_free(). */
GPtrArray *judgements_new(const struct session *session);
/* On measures alone, which it takes. Has no cause. */
struct judgement *judgement_new(const struct limit *limit, struct measures *measures);
void judgement_free(gpointer judgement);
const char *outcome_text(enum outcome outcome);
/* 1: some limit is exceeded, 4: some was not judged, 0. Source: interface.md, "Exit status". */
int judgements_status(const GPtrArray *judged);

#endif
