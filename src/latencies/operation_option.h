/* SPDX-License-Identifier: MIT */
/* --operation, which the commands that show latencies share. Place: latencies/. */
#ifndef WHYLATE_LATENCIES_OPERATION_OPTION_H
#define WHYLATE_LATENCIES_OPERATION_OPTION_H

#include "run/command.h"

extern const struct option option_operation;
/* Its patterns are some. */
bool operations_check(struct options *options, GError **error);
/* The operations that it names. */
void operations_want(const struct options *options, struct wanted *wanted);

#endif
