/* SPDX-License-Identifier: MIT */
/* What took longer on the way to a target in one of two runs, in words.
 * Place: diff/, for target.h. */
#ifndef WHYLATE_DIFF_TARGET_WORDS_H
#define WHYLATE_DIFF_TARGET_WORDS_H

#include "diff/target_part.h"

/* "Xorg (249 in A, 254 in B) slept 799.2 ms in A (40 times, clock_nanosleep) and 0 ns in B: 799.2
 * ms sooner"; free with g_free(). */
char *part_sentence(const struct thread_match *match, const struct target_part *part);
/* "811.9 ms sooner in B: …", by its parts; free with g_free(). */
char *target_verdict(const struct target *target);

#endif
