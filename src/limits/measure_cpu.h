/* SPDX-License-Identifier: MIT */
/* How long a thread worked in a function, by samples, for a limit on it.
 *
 * Part of limits/, below measure.h. What a thread worked in one state is shared out by the samples
 * in it: those with the function anywhere on their stacks. What chance allows of so many samples
 * adds up as variances do, the states being sampled apart; work in states without samples, or with
 * those of the thread's own events only, may have been in any function.
 */
#ifndef WHYLATE_LIMITS_MEASURE_CPU_H
#define WHYLATE_LIMITS_MEASURE_CPU_H

#include "run/session.h"

struct function_time {
	double ns;       /* in functions that the pattern fits */
	double variance; /* ns²: what chance allows of it, at 95 % */
	double whole;    /* ns: all of the thread's work in the window … */
	double unknown;  /* … and that of it without samples */
};

struct function_time function_time_of(const struct session *session, uint32_t thread,
				      const char *pattern);

#endif
