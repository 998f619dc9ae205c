/* SPDX-License-Identifier: MIT */
/* See sampled_states.h. */
#include "samples/sampled_states.h"
#include "util/when.h"

static void state_free(void *data)
{
	struct sampled_state *state = data;

	g_array_free(state->stacks, TRUE);
	g_free(state);
}

void sampled_states_init(struct sampled_states *states, const struct session *session)
{
	*states = (struct sampled_states) {
		.session = session,
		.list = g_ptr_array_new_with_free_func(state_free),
		.index = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL)};
}

void sampled_states_clear(struct sampled_states *states)
{
	g_hash_table_destroy(states->index);
	g_ptr_array_free(states->list, TRUE);
}

static struct sampled_state *state_of(struct sampled_states *states, uint32_t thread, uint32_t leaf)
{
	uint64_t key = (uint64_t) thread << 32 | leaf;
	guint at = GPOINTER_TO_UINT(g_hash_table_lookup(states->index, &key));
	struct sampled_state *state;

	if (at)
		return g_ptr_array_index(states->list, at - 1);
	state = g_new0(struct sampled_state, 1);
	*state = (struct sampled_state) {
		.thread = thread,
		.leaf = leaf,
		.source = SAMPLE_OWN + 1,
		.stacks = g_array_new(FALSE, FALSE, sizeof(struct sampled_stack))};
	g_ptr_array_add(states->list, state);
	g_hash_table_insert(states->index, g_memdup2(&key, sizeof key),
			    GUINT_TO_POINTER(states->list->len));
	return state;
}

static void add_sample(struct sampled_states *states, struct sampled_state *state,
		       const struct sample *sample)
{
	struct sampled_stack fresh = {.samples = 1};

	if (sample->source > state->source)
		return;
	fresh.stack = sample_stack(states->session, state->thread, sample);
	if (!fresh.stack->frames->len)
		return;
	if (sample->source < state->source) { /* it says more of where time goes */
		state->source = sample->source;
		state->samples = 0;
		g_array_set_size(state->stacks, 0);
	}
	state->samples++;
	for (guint i = 0; i < state->stacks->len; i++) {
		struct sampled_stack *at = &g_array_index(state->stacks, struct sampled_stack, i);

		if (at->stack != fresh.stack)
			continue;
		at->samples++;
		return;
	}
	g_array_append_val(state->stacks, fresh);
}

void sampled_states_add(struct sampled_states *states, uint32_t thread, const struct span *span)
{
	const struct session *session = states->session;
	const struct pages *store = &session->trace.timeline.samples;
	const struct log *log = &model_thread(&session->trace.model, thread)->samples;
	struct sampled_state *state = state_of(states, thread, span->leaf);

	state->ns += span->end - span->begin;
	for (uint32_t i = log->used ? sample_find(store, log, span->begin) : 0; i < log->used;
	     i++) {
		const struct sample *sample = sample_at(store, log, i);

		if (sample->time > span->end)
			break;
		add_sample(states, state, sample);
	}
}

void sampled_states_add_work(struct sampled_states *states, uint32_t thread, int64_t from,
			     int64_t to)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, states->session, thread, from, to);
	while (spans_next(&spans, &span))
		if (leaf_wib(span.leaf) == WIB_WORKING)
			sampled_states_add(states, thread, &span);
}

void sampled_states_end(struct sampled_states *states)
{
	for (guint i = 0; i < states->list->len; i++) {
		struct sampled_state *state = g_ptr_array_index(states->list, i);
		uint64_t samples = 0;
		int64_t given = 0;

		for (guint k = 0; k < state->stacks->len; k++) {
			struct sampled_stack *at =
				&g_array_index(state->stacks, struct sampled_stack, k);
			int64_t until;

			samples += at->samples;
			until = (int64_t) ((int128) state->ns * (int128) samples / state->samples);
			at->ns = until - given;
			given = until;
		}
	}
}
