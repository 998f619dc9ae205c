/* SPDX-License-Identifier: MIT */
/* Why threads ran longer or shorter, by hardware counters: more to do, or the same more slowly.
 *
 *   time = instructions × cycles per instruction × time per cycle
 *
 * Place: samples/, for diff/. Each factor's share of a change is that of its logarithm, so the
 * shares add up to the whole. Cycles per instruction are put down to memory only where cache
 * misses per instruction went the same way, by a fifth or more, and so many that each need not
 * have cost more than a miss can: what they do not explain is said to be unexplained.
 */
#ifndef WHYLATE_SAMPLES_COUNTER_FACTORS_H
#define WHYLATE_SAMPLES_COUNTER_FACTORS_H

#include "samples/counter_sums.h"

enum counted_factor {
	FACTOR_WORK,   /* instructions */
	FACTOR_SPEED,  /* cycles for each of them … */
	FACTOR_MEMORY, /* … of cache misses */
	FACTOR_BRANCHES, /* … of mispredicted branches */
	FACTOR_CLOCK,  /* time for each cycle */
	FACTORS
};

/* What the others take for granted: instructions, cycles and time. */
bool counters_compare(const struct counters *side);

/* What a change of the time comes from, and its share of that; more than 1 where others went
 * against it. The two times must differ. */
enum counted_factor counted_factor(const struct counters sides[2], double *share);
/* "more work: 2.00 times the instructions"; free with g_free(). */
char *counted_cause(const struct counters sides[2]);
/* "work", "memory", … */
const char *counted_factor_text(enum counted_factor factor);

#endif
