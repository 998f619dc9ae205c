/* SPDX-License-Identifier: MIT */
/* What ran in each state of threads, stack by stack: for flame graphs and trees of functions.
 *
 * Place: samples/. The time that a thread had in one state is shared out by the samples in it
 * (function_sums.h says by which); of one without samples nothing is told. So the stacks' times and
 * those of states without any are the time on the CPU, to the ns.
 */
#ifndef WHYLATE_SAMPLES_SAMPLED_STATES_H
#define WHYLATE_SAMPLES_SAMPLED_STATES_H

#include "samples/sample_stacks.h"

/* The samples of one thread in one state. */
struct sampled_state {
	uint32_t thread, leaf;
	int64_t ns;
	unsigned source;   /* enum sample_source of those that count; more: none */
	uint32_t samples;
	GArray *stacks;    /* owned; struct sampled_stack */
};

struct sampled_stack {
	const struct sample_stack *stack; /* borrowed */
	uint32_t samples;
	int64_t ns; /* sampled_states_end() */
};

struct sampled_states {
	const struct session *session; /* borrowed */
	GPtrArray *list;   /* owned; struct sampled_state, in order of being met */
	GHashTable *index; /* owned; thread and leaf -> place in it + 1 */
};

void sampled_states_init(struct sampled_states *states, const struct session *session);
void sampled_states_add(struct sampled_states *states, uint32_t thread, const struct span *span);
/* All that the thread worked in [from, to), ns. */
void sampled_states_add_work(struct sampled_states *states, uint32_t thread, int64_t from,
			     int64_t to);
/* Shares the time out. */
void sampled_states_end(struct sampled_states *states);
void sampled_states_clear(struct sampled_states *states);

#endif
