/* SPDX-License-Identifier: MIT */
/* filter_query_parameters: which states of a time graph are dimmed or left out.
 *
 *   {"1": ["openat", "duration>10ms"]} ─► expressions ─┐
 *   a state's facts, those of its tooltip ─────────────┴─► matched by all: as it is; else tag 1
 *
 * Place: tsp/. A state that not all expressions under 1 match is dimmed, under 4 left out: so the
 * reference server has it, and viewers expect it; the specification does not say. Expressions:
 *
 *   either  = both { "||" both }           either = "(" either ")" | "!" one | text | key op value
 *   both    = one { "&&" one }             op = "==" "=" "!=" ">" "<" " contains "
 *
 * A text is found in any fact; letters' case does not matter. No regular expressions: those can be
 * made to take any time.
 */
#ifndef WHYLATE_TSP_STATE_FILTER_H
#define WHYLATE_TSP_STATE_FILTER_H

#include "tsp/asking.h"

#define TAG_DIMMED 1u
#define TAG_EXCLUDED 4u

struct expression;

struct filter {
	GPtrArray *dimmed, *excluded; /* owned; struct expression; empty: none */
	bool deep;      /* between the times that are asked for too */
};

/* False: refused. */
bool filter_take(struct asking *asking, struct filter *filter);
void filter_clear(struct filter *filter);
bool filter_is_empty(const struct filter *filter);
/* Tags of a state by its facts: names and values in turn. */
unsigned filter_tags(const struct filter *filter, const GPtrArray *facts);

#endif
