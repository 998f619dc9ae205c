/* SPDX-License-Identifier: MIT */
/* What is known of single operations besides their times: values under names, as system calls'
 * arguments and results, a block request's sector.
 *
 *   operations   | 1: read      | 2: irq | 3: openat | 4: read | …
 *   places       | at 1         | none   | at 19     | at 1    | …  a number for each operation
 *   facts        | fd=3 count=4096, ret=512 | … bytes: each number as short as it can be written
 *
 * A fact is a group of values with a shape: the interned names of the group's members, separated
 * by blanks ("fd buf* count": * marks what may be an address). An operation has a few groups, as
 * a call's entry and its exit.
 *
 * Place: timeline/, recorded only for those that ask (flow->facts_wanted). Operations that are
 * made once all has been read (waits) have none. Where the bytes would be more than can be
 * numbered, what comes later has no facts either.
 */
#ifndef WHYLATE_TIMELINE_FACTS_H
#define WHYLATE_TIMELINE_FACTS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "timeline/timeline.h"

#define FACTS_MAX 32 /* values of one operation */

struct fact_value {
	uint32_t shape;
	uint32_t member; /* of the shape, from 0 */
	int64_t value;
};

struct facts {
	uint32_t count;
	struct fact_value at[FACTS_MAX];
};

/* Appends a group to what will be an operation's facts; `bytes`: none else's. */
void facts_put(GByteArray *bytes, uint32_t shape, const int64_t *values, uint32_t count);
/* They are those of that operation; of operations in the order of their numbers. */
void facts_append(struct timeline *timeline, uint32_t operation, GByteArray *bytes);
/* Copies those of operation `old` from one timeline to another's operation. */
void facts_keep(const struct timeline *from, uint32_t old, struct timeline *timeline,
		uint32_t operation);
/* Those of two operations are the same if this is; 0: none is known. */
uint32_t facts_place(const struct timeline *timeline, uint32_t operation);
/* False: none is known. */
bool facts_of(const struct timeline *timeline, uint32_t operation, struct facts *facts);
/* Of a shape's members those that are asked for: from the first to the last of these. */
struct fact_slots {
	uint32_t count;
	uint32_t bit[FACTS_MAX]; /* 1 << where its value goes; 0: nobody asks */
	uint32_t wide; /* such bits: it may be an address */
};
/* Only those of its values that slots_of() asks for, of several in one place the first. Returns
 * bits: the places that were filled, of `all`; `wide`: of them those that may be addresses. */
uint32_t facts_pick(const struct timeline *timeline, uint32_t operation, uint32_t all,
		    const struct fact_slots *(*slots_of)(void *data, uint32_t shape), void *data,
		    int64_t *values, uint32_t *wide);
/* pages_pass_to() for passes over operations, or some of them, in their order. `passed`: 0 at
 * first. */
void facts_pass(const struct timeline *timeline, uint32_t passed[2], uint32_t operation);

#endif
