/* SPDX-License-Identifier: MIT */
/* See counted_functions.h. */
#include "samples/counted_functions.h"

#include <string.h>

#define SAMPLES_MIN 2 /* of a run that is put down to one function */

struct counted_threads *counted_threads_new(uint32_t thread)
{
	struct counted_threads *counted = g_new0(struct counted_threads, 1);

	counted->thread = thread;
	counted->functions = g_array_new(FALSE, FALSE, sizeof(struct counted_function));
	return counted;
}

void counted_threads_free(void *data)
{
	struct counted_threads *counted = data;

	g_array_free(counted->functions, TRUE);
	g_free(counted);
}

/* Which function all samples of a stretch are in; NULL: none, too few, or several. */
static const struct code_function *
only_function(const struct session *session, uint32_t thread, int64_t begin, int64_t end)
{
	const struct pages *store = &session->trace.timeline.samples;
	const struct log *log = &model_thread(&session->trace.model, thread)->samples;
	const struct code_function *only = NULL;
	guint samples = 0;

	for (uint32_t i = log->used ? sample_find(store, log, begin) : 0; i < log->used; i++) {
		const struct sample *sample = sample_at(store, log, i);
		const struct code_function *function;
		const struct sample_stack *stack;

		if (sample->time > end)
			break;
		if (sample->source > SAMPLE_INTERRUPT)
			continue;
		stack = sample_stack(session, thread, sample);
		if (stack->in_interrupt)
			continue;
		if (!stack->frames->len)
			return NULL;
		function = sample_function(
			session, g_array_index(stack->frames, struct sample_frame, 0).function);
		if (only && only != function)
			return NULL;
		only = function;
		samples++;
	}
	return samples >= SAMPLES_MIN ? only : NULL;
}

static void add_to(struct counted_threads *counted, const struct code_function *function,
		   const struct counters *run)
{
	struct counted_function fresh = {function, *run};

	for (guint i = 0; i < counted->functions->len; i++) {
		struct counted_function *at =
			&g_array_index(counted->functions, struct counted_function, i);

		if (at->function != function)
			continue;
		counters_add(&at->counters, run);
		return;
	}
	g_array_append_val(counted->functions, fresh);
}

void counted_threads_add(struct counted_threads *counted, const struct session *session,
			 uint32_t thread, int64_t begin, int64_t end)
{
	uint32_t used = model_thread(&session->trace.model, thread)->counts.used;

	for (uint32_t i = counters_first(session, thread, begin); i < used; i++) {
		const struct code_function *function;
		int64_t from;
		struct counters run = counters_of(session, thread, i, &from);

		if (from + run.ns > end)
			break;
		counters_add(&counted->counters, &run);
		function = only_function(session, thread, from, from + run.ns);
		if (function)
			add_to(counted, function, &run);
	}
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct counted_function *x = a, *y = b;
	int order;

	if (x->counters.ns != y->counters.ns)
		return x->counters.ns > y->counters.ns ? -1 : 1;
	order = strcmp(x->function->name, y->function->name);
	return order ? order : g_strcmp0(x->function->file, y->function->file);
}

void counted_threads_sort(struct counted_threads *counted)
{
	g_array_sort(counted->functions, longest_first);
}
