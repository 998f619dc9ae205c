/* SPDX-License-Identifier: MIT */
/* The verdict on one limit. Place: limits/; made in judge.c. */
#ifndef WHYLATE_LIMITS_JUDGEMENT_H
#define WHYLATE_LIMITS_JUDGEMENT_H

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

#endif
