/* SPDX-License-Identifier: MIT */
/* --fail-if, --budget and --junit, and what is to be done for limits while a trace is read.
 * Place: limits/. */
#ifndef WHYLATE_LIMITS_LIMIT_OPTIONS_H
#define WHYLATE_LIMITS_LIMIT_OPTIONS_H

#include "run/command.h"

extern const struct option option_fail_if, option_budget, option_junit;

#define LIMIT_OPTIONS &option_fail_if, &option_budget, &option_junit

/* --junit has limits to tell of. */
bool limits_check(struct options *options, GError **error);
/* What has to be recorded for the limits, beside what is already. */
void limits_want(const struct options *options, struct wanted *wanted);
/* The threads that they name, by their own names. */
void limits_choose(struct session *session);
/* Waits among the operations, where there are limits. */
void limits_finish(struct session *session);

#endif
