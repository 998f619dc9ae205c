/* SPDX-License-Identifier: MIT */
/* Why what a limit is about was measured as it was. Place: limits/, for judge.c. */
#ifndef WHYLATE_LIMITS_JUDGE_CAUSE_H
#define WHYLATE_LIMITS_JUDGE_CAUSE_H

#include "limits/judgement.h"

/* What made the measured value so, for people; NULL: not known. Free with
 * g_free(). */
char *judgement_cause(const struct session *session, const struct judgement *judgement);

#endif
