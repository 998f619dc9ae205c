/* SPDX-License-Identifier: MIT */
/* See sample_moments.h. */
#include "samples/sample_moments.h"
#include "util/when.h"

void sample_moments_init(struct sample_moments *moments, const struct session *session,
			 uint32_t thread)
{
	*moments = (struct sample_moments) {
		.thread = thread, .list = g_array_new(FALSE, FALSE, sizeof(struct sample_moment))};
	sampled_states_init(&moments->states, session);
}

void sample_moments_clear(struct sample_moments *moments)
{
	sampled_states_clear(&moments->states);
	g_array_free(moments->list, TRUE);
}

void sample_moments_add(struct sample_moments *moments, const struct span *span)
{
	const struct session *session = moments->states.session;
	const struct pages *store = &session->trace.timeline.samples;
	const struct log *log = &model_thread(&session->trace.model, moments->thread)->samples;

	sampled_states_add(&moments->states, moments->thread, span);
	for (uint32_t i = log->used ? sample_find(store, log, span->begin) : 0; i < log->used;
	     i++) {
		const struct sample *sample = sample_at(store, log, i);
		struct sample_moment moment = {.time = sample->time,
					       .leaf = span->leaf,
					       .source = sample->source};

		if (sample->time > span->end)
			break;
		moment.stack = sample_stack(session, moments->thread, sample);
		if (moment.stack->frames->len)
			g_array_append_val(moments->list, moment);
	}
}

/* The moments of one state. What is left by rounding goes on to the next. */
static void share_out(GArray *list, const struct sampled_state *state)
{
	uint32_t count = 0;
	int64_t given = 0;

	for (guint i = 0; i < list->len; i++) {
		struct sample_moment *at = &g_array_index(list, struct sample_moment, i);
		int64_t until;

		if (at->leaf != state->leaf || at->source != state->source)
			continue;
		until = (int64_t) ((int128) state->ns * ++count / state->samples);
		at->ns = until - given;
		given = until;
	}
}

void sample_moments_end(struct sample_moments *moments)
{
	GArray *list = moments->list;
	guint kept = 0;

	for (guint i = 0; i < moments->states.list->len; i++)
		share_out(list, g_ptr_array_index(moments->states.list, i));
	for (guint i = 0; i < list->len; i++) {
		const struct sample_moment *at = &g_array_index(list, struct sample_moment, i);

		if (at->ns) /* of another source, or of less than 1 ns */
			g_array_index(list, struct sample_moment, kept++) = *at;
	}
	g_array_set_size(list, kept);
	for (guint i = 0; i < moments->states.list->len; i++) {
		const struct sampled_state *state = g_ptr_array_index(moments->states.list, i);
		struct sample_moment none = {.time = INT64_MAX,
					     .ns = state->ns,
					     .leaf = state->leaf};

		if (!state->samples && state->ns)
			g_array_append_val(list, none);
	}
}
