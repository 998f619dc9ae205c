/* SPDX-License-Identifier: MIT */
/* Call stacks, as the tracer's contexts callstack-kernel and callstack-user give them: a tree, in
 * which what stacks have in common is stored once. A stack is the number of its innermost node.
 *
 *   main ◄── load_theme ◄── render_glyphs ◄── spin     node: address, number of its caller
 *                      ◄─── parse_config  ◄── spin
 *
 * Place: timeline/, written by flow/ at events that carry stacks, read by the analyses. Innermost
 * first. The tracer's own functions come first in what it records; readers
 * drop them (symbols.h). Source: lttng-events.md, 3.
 *
 * What does not fit into CALLSTACK_NODES counts as not recorded. Rejected: each list of addresses
 * by itself, as before: ten times the memory, since samples of one loop differ in one word.
 */
#ifndef WHYLATE_TIMELINE_CALLSTACK_H
#define WHYLATE_TIMELINE_CALLSTACK_H

#include <glib.h>
#include <stdint.h>

#include "event/event.h"
#include "util/idmap.h"

#define CALLSTACK_WORDS 130 /* the tracer's 128, the one that says "cut", and one to spare */
#define CALLSTACK_NODES (1u << 22)

struct stack_node {
	uint64_t address;
	uint32_t parent; /* its caller, a number below its own; 0: it is the outermost */
	uint32_t depth;  /* of the stack that it ends, from 1 */
};

struct callstacks {
	GArray *nodes;            /* owned; struct stack_node by number; 0: none */
	struct idmap children;    /* parent and address -> node */
	struct idmap lists;       /* a whole list -> its number: most come again */
	GArray *paths; /* owned; struct callpaths by number; 0: none */
	GHashTable *path_numbers; /* owned; struct callpaths -> number */
};

/* The ways that led to a wait and to its end: numbers of stacks, 0: not recorded. */
struct callpaths {
	uint32_t kernel, user;             /* where it fell asleep */
	uint32_t waker_kernel, waker_user; /* where it was woken */
};

void callstacks_init(struct callstacks *callstacks);
void callstacks_clear(struct callstacks *callstacks);

/* The number of a list of 64-bit words. */
uint32_t callstack_id(struct callstacks *callstacks, const struct event_bytes *words);

/* The list with that number, innermost first; how long it is. */
guint callstack_words(const struct callstacks *callstacks, uint32_t number,
		      uint64_t words[CALLSTACK_WORDS]);

/* The number of such a set; of all zeros 0. */
uint32_t callpaths_id(struct callstacks *callstacks, const struct callpaths *paths);

static inline const struct callpaths *
callpaths_at(const struct callstacks *callstacks, uint32_t number)
{
	return &g_array_index(callstacks->paths, struct callpaths, number);
}

#endif
