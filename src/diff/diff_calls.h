/* SPDX-License-Identifier: MIT */
/* The latencies of each system call on both sides. Place: diff/. */
#ifndef WHYLATE_DIFF_DIFF_CALLS_H
#define WHYLATE_DIFF_DIFF_CALLS_H

#include "diff/sides.h"

/* Fills diff->calls. */
void diff_calls(struct diff *diff);
const char *call_part_text(enum call_part part);

#endif
