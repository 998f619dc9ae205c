/* SPDX-License-Identifier: MIT */
/* See measure_cpu.h. */
#include "limits/measure_cpu.h"

#include <math.h>

#include "run/choosing.h"
#include "samples/sampled_states.h"

#define Z 1.959964 /* of 95 % of a normal distribution */

static void add_state(const struct session *session, const struct sampled_state *state,
		      const char *pattern, struct function_time *time)
{
	double n = state->samples, ns = (double) state->ns, k = 0, half, middle;

	time->whole += ns;
	if (!state->samples || state->source > SAMPLE_INTERRUPT) {
		time->unknown += ns;
		return;
	}
	for (guint i = 0; i < state->stacks->len; i++) {
		const struct sampled_stack *at =
			&g_array_index(state->stacks, struct sampled_stack, i);

		if (sample_stack_has(session, at->stack, pattern))
			k += at->samples;
	}
	/* Wilson's interval is not around k / n: its farther end counts */
	middle = (k / n + Z * Z / (2 * n)) / (1 + Z * Z / n);
	half = Z / (1 + Z * Z / n) * sqrt(k / n * (1 - k / n) / n + Z * Z / (4 * n * n));
	half = (half + fabs(middle - k / n)) * ns;
	time->variance += half * half;
	time->ns += ns * k / n;
}

struct function_time function_time_of(const struct session *session, uint32_t thread,
				      const char *pattern)
{
	struct function_time time = {0};
	struct sampled_states states;

	sampled_states_init(&states, session);
	sampled_states_add_work(&states, thread, session->asked.from, session->asked.to);
	for (guint i = 0; i < states.list->len; i++)
		add_state(session, g_ptr_array_index(states.list, i), pattern, &time);
	sampled_states_clear(&states);
	return time;
}
