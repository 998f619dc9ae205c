/* SPDX-License-Identifier: MIT */
/* The latencies of each system call on both sides. Place: diff/. */
#ifndef WHYLATE_DIFF_DIFF_CALLS_H
#define WHYLATE_DIFF_DIFF_CALLS_H

#include "diff/sides.h"

/* Fills diff->calls. */
void diff_calls(struct diff *diff);
/* diff_functions.c: struct function_difference, the largest first; empty unless both sides have
 * samples. Free with g_array_free(). */
GArray *diff_functions(const struct diff *diff);
/* … struct counter_difference (pointers, owned), the largest change first; NULL: no counters on
 * both sides. */
GPtrArray *diff_counters(const struct diff *diff);
/* What the name of a thread's turns begins with: busy.h. */
#define DIFF_TURN "busy:"
const char *call_part_text(enum call_part part);

#endif
