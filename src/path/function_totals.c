/* SPDX-License-Identifier: MIT */
/* See function_totals.h. */
#include "path/function_totals.h"

#include <string.h>

/* What a thread did in one state. */
struct state_sums {
	struct function_sums *sums; /* owned */
	int64_t ns;
};

static void state_free(void *data)
{
	struct state_sums *state = data;

	function_sums_free(state->sums);
	g_free(state);
}

static void add_total(GArray *totals, const struct function_total *fresh)
{
	struct function_total *at;
	guint i;

	for (i = 0; i < totals->len; i++)
		if (g_array_index(totals, struct function_total, i).function == fresh->function)
			break;
	if (i == totals->len) {
		g_array_append_vals(totals, fresh, 1);
		return;
	}
	at = &g_array_index(totals, struct function_total, i);
	if (fresh->at_line > at->at_line ||
	    (fresh->at_line == at->at_line && fresh->line < at->line)) {
		at->line = fresh->line;
		at->at_line = fresh->at_line;
	}
	at->samples += fresh->samples;
	at->ns += fresh->ns;
}

static void add_state(GArray *totals, const struct state_sums *state)
{
	struct functions_sampled sampled = function_sums_take(state->sums, state->ns, true);
	struct function_total none = {.ns = state->ns};

	for (guint i = 0; sampled.functions && i < sampled.functions->len; i++) {
		const struct function_share *share =
			&g_array_index(sampled.functions, struct function_share, i);
		struct function_total total = {share->function, share->line, share->self,
					       share->self, share->ns};

		add_total(totals, &total);
	}
	if (!sampled.samples)
		add_total(totals, &none);
	sampled_clear(&sampled);
}

static int largest_first(gconstpointer a, gconstpointer b)
{
	const struct function_total *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (!x->function || !y->function)
		return !y->function - !x->function;
	return strcmp(x->function->name, y->function->name);
}

static struct state_sums *state_of(GHashTable *states, const struct session *session,
				   const struct piece *piece)
{
	uint64_t key = (uint64_t) piece->thread << 32 | piece->leaf;
	struct state_sums *state = g_hash_table_lookup(states, &key);

	if (state)
		return state;
	state = g_new0(struct state_sums, 1);
	state->sums = function_sums_new(session);
	g_hash_table_insert(states, g_memdup2(&key, sizeof key), state);
	return state;
}

GArray *function_totals_new(const struct session *session, const struct path *path)
{
	GArray *totals = g_array_new(FALSE, FALSE, sizeof(struct function_total));
	GHashTable *states = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, state_free);
	GHashTableIter iterator;
	gpointer state;

	for (guint i = 0; session->trace.timeline.samples.used && i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);

		if (leaf_wib(piece->leaf) != WIB_WORKING)
			continue;
		state = state_of(states, session, piece);
		((struct state_sums *) state)->ns += piece->end - piece->begin;
		function_sums_add_all(((struct state_sums *) state)->sums, piece->thread,
				      piece->begin, piece->end);
	}
	g_hash_table_iter_init(&iterator, states);
	while (g_hash_table_iter_next(&iterator, NULL, &state))
		add_state(totals, state);
	g_hash_table_destroy(states);
	g_array_sort(totals, largest_first);
	return totals;
}
