/* SPDX-License-Identifier: MIT */
/* The answer that `whylate diff` begins with where no target is compared, in sentences: what
 * requests cost more on one side and for what; without requests, what the thread whose life changed
 * most took longer for; else the system calls that changed most.
 *
 * Place: diff/, over the differences that the lists below show (sides.h, target.h).
 */
#ifndef WHYLATE_DIFF_DIFF_ANSWER_H
#define WHYLATE_DIFF_DIFF_ANSWER_H

#include "diff/sides.h"

/* Owned sentences; free with g_ptr_array_unref(). */
GPtrArray *diff_answer(const struct diff *diff);

#endif
