/* SPDX-License-Identifier: MIT */
/* The samples of a thread one by one, in order of time, with the time that each stands for.
 *
 *   ├──── user ───┬──────┤ read ┬ ├─ user ─────┤     two samples in user: each has half of its time
 *                 ▲             ▲           ▲
 *
 * Place: samples/, over sampled_states.h, whose rules hold: samples of a state share out all of
 * that state's time, and only those of the best source count. So the moments' times, and those of
 * states without any, are the time on the CPU, to the ns.
 */
#ifndef WHYLATE_SAMPLES_SAMPLE_MOMENTS_H
#define WHYLATE_SAMPLES_SAMPLE_MOMENTS_H

#include "samples/sampled_states.h"

struct sample_moment {
	int64_t time;  /* INT64_MAX: no sample in that state */
	int64_t ns;    /* that it stands for */
	uint32_t leaf; /* the state */
	unsigned source; /* enum sample_source */
	const struct sample_stack *stack; /* borrowed; NULL: no sample */
};

struct sample_moments {
	struct sampled_states states;
	uint32_t thread;
	GArray *list; /* owned; struct sample_moment */
};

void sample_moments_init(struct sample_moments *moments, const struct session *session,
			 uint32_t thread);
/* What the thread did next; only while it was on a CPU. */
void sample_moments_add(struct sample_moments *moments, const struct span *span);
/* Shares the time out: what is left in `list` counts; states without a sample come last. */
void sample_moments_end(struct sample_moments *moments);
void sample_moments_clear(struct sample_moments *moments);

#endif
