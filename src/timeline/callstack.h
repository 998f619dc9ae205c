/* SPDX-License-Identifier: MIT */
/* Call stacks, as the tracer's contexts callstack-kernel and callstack-user give them:
 * each different list of addresses is stored once and named by a number.
 *
 * Place: timeline/, written by flow/ at switches and wake-ups, read by the analyses. Innermost
 * first. The tracer's own functions come first in what it records; readers
 * drop them (symbols.h). Source: lttng-events.md, 3.
 */
#ifndef WHYLATE_TIMELINE_CALLSTACK_H
#define WHYLATE_TIMELINE_CALLSTACK_H

#include <glib.h>
#include <stdint.h>

#include "event/event.h"

struct callstacks {
	GPtrArray *lists;    /* owned; GBytes of uint64_t by number; 0: none */
	GHashTable *numbers; /* owned; GBytes -> number */
	GArray *paths;       /* owned; struct callpaths by number; 0: none */
	GHashTable *path_numbers; /* owned; struct callpaths -> number */
};

/* The ways that led to a wait and to its end: numbers of lists, 0: not recorded. */
struct callpaths {
	uint32_t kernel, user;             /* where it fell asleep */
	uint32_t waker_kernel, waker_user; /* where it was woken */
};

void callstacks_init(struct callstacks *callstacks);
void callstacks_clear(struct callstacks *callstacks);

/* The number of a list of 64-bit words. */
uint32_t callstack_id(struct callstacks *callstacks, const struct event_bytes *words);

/* The list with that number, borrowed; NULL and 0 for number 0. */
const uint64_t *callstack_words(const struct callstacks *callstacks, uint32_t number, guint *count);

/* The number of such a set; of all zeros 0. */
uint32_t callpaths_id(struct callstacks *callstacks, const struct callpaths *paths);

static inline const struct callpaths *
callpaths_at(const struct callstacks *callstacks, uint32_t number)
{
	return &g_array_index(callstacks->paths, struct callpaths, number);
}

#endif
