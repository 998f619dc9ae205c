/* SPDX-License-Identifier: MIT */
/* The latencies of each system call on both sides. Place: diff/. */
#ifndef WHYLATE_DIFF_DIFF_CALLS_H
#define WHYLATE_DIFF_DIFF_CALLS_H

#include "diff/sides.h"
#include "latencies/operations.h"

/* Which operations are a side's. */
struct taking {
	const struct side *side; /* borrowed */
	guint8 *listed; /* owned; of each request of the side: it is listed; NULL: of none */
	struct operation_scope scope;
	bool *tracers; /* owned; NULL: threads were asked for */
};
void taking_init(struct taking *taking, const struct side *side);
void taking_clear(struct taking *taking);
bool operation_taken(struct taking *taking, const struct operation *operation, uint32_t number);

/* Fills diff->calls. */
void diff_calls(struct diff *diff);
/* calls_apart.c: what sets the requests of the slower side apart, and the calls that differ most,
 * of diff->calls. */
void diff_apart(struct diff *diff);
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
