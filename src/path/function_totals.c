/* SPDX-License-Identifier: MIT */
/* See function_totals.h. */
#include "path/function_totals.h"

#include <string.h>

#include "samples/function_words.h"
#include "util/when.h"

#define SHARE_MIN 0.01 /* smaller ones are not named */

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
	if (fresh->caller_samples > at->caller_samples ||
	    (fresh->caller_samples == at->caller_samples && at->caller &&
	     strcmp(fresh->caller->name, at->caller->name) < 0)) {
		at->caller = fresh->caller;
		at->caller_samples = fresh->caller_samples;
	}
	at->samples += fresh->samples;
	at->ns += fresh->ns;
}

static void take_caller(struct function_total *total, const struct function_share *share)
{
	const struct function_caller *most =
		share->callers->len ? &g_array_index(share->callers, struct function_caller, 0)
				    : NULL;

	if (!most || strcmp(most->function->name, UNKNOWN_FUNCTION) == 0)
		return;
	total->caller = most->function;
	total->caller_samples = most->samples;
}

static void add_state(GArray *totals, const struct state_sums *state)
{
	struct functions_sampled sampled = function_sums_take(state->sums, state->ns, true);
	struct function_total none = {.ns = state->ns};

	for (guint i = 0; sampled.functions && i < sampled.functions->len; i++) {
		const struct function_share *share =
			&g_array_index(sampled.functions, struct function_share, i);
		struct function_total total = {.function = share->function,
					       .line = share->line,
					       .at_line = share->self,
					       .samples = share->self,
					       .ns = share->ns};

		take_caller(&total, share);
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

struct path_work {
	const struct session *session; /* borrowed */
	GHashTable *states;            /* owned; thread and leaf -> struct state_sums */
};

struct path_work *path_work_new(const struct session *session)
{
	struct path_work *work = g_new(struct path_work, 1);

	*work = (struct path_work) {session, g_hash_table_new_full(g_int64_hash, g_int64_equal,
								   g_free, state_free)};
	return work;
}

void path_work_free(struct path_work *work)
{
	if (work)
		g_hash_table_destroy(work->states);
	g_free(work);
}

void path_work_add(struct path_work *work, const struct path *path)
{
	const struct session *session = work->session;

	for (guint i = 0; session->trace.timeline.samples.used && i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);
		struct state_sums *state;

		if (leaf_wib(piece->leaf) != WIB_WORKING)
			continue;
		state = state_of(work->states, session, piece);
		state->ns += piece->end - piece->begin;
		function_sums_add_all(state->sums, piece->thread, piece->begin, piece->end);
	}
}

GArray *path_work_totals(const struct path_work *work)
{
	GArray *totals = g_array_new(FALSE, FALSE, sizeof(struct function_total));
	GHashTableIter iterator;
	gpointer state;

	g_hash_table_iter_init(&iterator, work->states);
	while (g_hash_table_iter_next(&iterator, NULL, &state))
		add_state(totals, state);
	g_array_sort(totals, largest_first);
	return totals;
}

GArray *function_totals_new(const struct session *session, const struct path *path)
{
	struct path_work *work = path_work_new(session);
	GArray *totals;

	path_work_add(work, path);
	totals = path_work_totals(work);
	path_work_free(work);
	return totals;
}

int64_t function_totals_ns(const GArray *totals)
{
	int64_t ns = 0;

	for (guint i = 0; i < totals->len; i++)
		ns += g_array_index(totals, struct function_total, i).ns;
	return ns;
}

void append_function_totals(GString *text, const GArray *totals, int64_t whole, guint most)
{
	char length[32];
	guint i;

	for (i = 0; i < totals->len && i < most; i++) {
		const struct function_total *total =
			&g_array_index(totals, struct function_total, i);
		double share = (double) total->ns / (double) MAX(whole, 1);

		if (i && share < SHARE_MIN)
			break;
		g_string_append(text, i ? ", " : "");
		if (total->function)
			append_function(text, total->function, total->line);
		else
			g_string_append(text, "no sample");
		g_string_append_printf(text, " %s (%.1f %%)", when_duration(length, total->ns),
				       100.0 * share);
	}
	if (i < totals->len)
		g_string_append_printf(text, ", and %u more", totals->len - i);
}
