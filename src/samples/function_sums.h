/* SPDX-License-Identifier: MIT */
/* Which functions samples show: how many of them each has, and what share of the time that is.
 *
 *   5 samples of 78.4 ms    spin ◄ parse_config ◄ load_theme       60 %  spin
 *                                                                  40 %  read_line
 *
 * Place: samples/, over sample_stacks.h. Time is shared out by counting: the clock's samples come
 * at times with which the thread has nothing to do, so of n samples k in a function are k/n of the
 * time, ± what chance allows of that: half the width of Wilson's 95 % interval (E. B. Wilson,
 * 1927). Where the clock took none, samples of other interrupts count, then those of a softIRQ's
 * and of the thread's own events; the last come where the thread does certain things, and what
 * chance allows of them is not known. Samples of different sources are never added up.
 */
#ifndef WHYLATE_SAMPLES_FUNCTION_SUMS_H
#define WHYLATE_SAMPLES_FUNCTION_SUMS_H

#include "samples/sample_stacks.h"

struct function_sums;

struct function_share {
	const struct code_function *function; /* borrowed */
	uint32_t line;    /* at which most of its samples are, 0: not known */
	uint32_t samples; /* that have it on their stacks */
	uint32_t self;    /* … innermost */
	uint32_t calling; /* … as the caller of the innermost */
	uint32_t inferred; /* … without a frame of its own: the call there names it */
	double share, self_share; /* of the samples */
	double error, self_error; /* … of these; negative: not known */
	int64_t ns;       /* … of the time that is shared out, by `self`: these add up to it */
	GArray *callers;  /* owned; struct function_caller, most first; of the innermost only */
};

struct function_caller {
	const struct code_function *function;
	uint32_t samples, inferred;
	double share, error; /* as above, of all samples */
};

struct function_sums *function_sums_new(const struct session *session);
void function_sums_free(struct function_sums *sums);

/* Nothing is counted of a stack that tells no function. */
void function_sums_add(struct function_sums *sums, uint32_t thread, const struct sample *sample);
/* All samples of the thread in a stretch: the one at `end` is of what ran until then. */
void function_sums_add_all(struct function_sums *sums, uint32_t thread, int64_t begin, int64_t end);

/* What they come to. */
struct functions_sampled {
	GArray *functions; /* owned; struct function_share: those that ran most first, then those
			      that called these, then who is further out; NULL: no samples */
	uint32_t samples;
	uint32_t cut;      /* … whose stacks break off */
	uint32_t in_interrupts; /* besides: those that fell into interrupts without events */
	uint8_t source;    /* enum sample_source */
};

/* `ns`: the time that is shared out. `inner`: only functions that were innermost. */
struct functions_sampled
function_sums_take(const struct function_sums *sums, int64_t ns, bool inner);
/* The same of one stretch of a thread. */
struct functions_sampled sampled_in(const struct session *session, uint32_t thread, int64_t begin,
				    int64_t end, bool inner);
void sampled_clear(struct functions_sampled *sampled);

#endif
