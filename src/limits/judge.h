/* SPDX-License-Identifier: MIT */
/* The verdict on each limit, with what was measured, and why.
 *
 * Place: limits/, on measure.h. The reports show judgements (report/limits.h), the command
 * turns them into its exit status. Source: interface.md, "Exit status".
 */
#ifndef WHYLATE_LIMITS_JUDGE_H
#define WHYLATE_LIMITS_JUDGE_H

#include "limits/measure.h"

enum outcome {
	OUTCOME_KEPT,
	OUTCOME_EXCEEDED,
	OUTCOME_NOT_APPLIED, /* a condition does not hold */
	OUTCOME_NOT_JUDGED,  /* it cannot be told; `why` says so */
};

struct judgement {
	const struct limit *limit; /* borrowed */
	enum outcome outcome;
	bool measured;           /* there is a value */
	double low, high;        /* the worst subject's value; equal where it is known exactly */
	char *subject;           /* owned; … and which that is, NULL */
	guint subjects, exceeded; /* how many there are; … exceed the limit */
	char *why;               /* owned; why not judged, or not applied; NULL */
	char *cause;             /* owned; what made it so, for people; NULL */
	uint32_t thread;         /* where it is seen: NO_THREAD: nowhere */
	int64_t begin, end;
	struct measures *measures; /* owned */
};

/* Of each of the options' limits, in order; struct judgement. Free with g_ptr_array_free(). */
GPtrArray *judgements_new(const struct session *session);
/* On measures alone, which it takes. Has no cause. */
struct judgement *judgement_new(const struct limit *limit, struct measures *measures);
void judgement_free(gpointer judgement);
const char *outcome_text(enum outcome outcome);
/* 1: some limit is exceeded, 4: some was not judged, 0. Source: interface.md, "Exit status". */
int judgements_status(const GPtrArray *judged);

/* judge_cause.c: what made the measured value so, for people; NULL: not known. Free with
 * g_free(). */
char *judgement_cause(const struct session *session, const struct judgement *judgement);

#endif
