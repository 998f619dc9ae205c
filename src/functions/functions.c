/* SPDX-License-Identifier: MIT */
/* The answers made of a tree of calls; see functions.h. */
#include "functions/functions.h"

#include "functions/sample_tree.h"

#include <string.h>

#include "functions/callers.h"
#include "symbols/code.h"
#include "util/error.h"
#include "util/pattern.h"

/* --- by function ------------------------------------------------------------------------ */

struct row_key {
	uint32_t what;
	uint8_t kind;
};

static guint key_hash(gconstpointer data)
{
	const struct row_key *key = data;

	return key->what * 2654435761u + key->kind;
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
	const struct row_key *x = a, *y = b;

	return x->what == y->what && x->kind == y->kind;
}

static void row_clear(gpointer data)
{
	struct function_row *row = data;

	g_free(row->name);
	g_free(row->place);
}

/* "proxy.c:120", as the binary's debugging information has it; NULL. */
static char *source_of(const struct session *session, const struct call_node *node)
{
	const struct thread *thread = model_thread(&session->trace.model, node->thread);
	uint64_t address = g_ascii_strtoull(session_text(session, node->ref), NULL, 16);
	const struct code *code;
	const struct code_frame *frame;

	if (node->kind != NODE_CALL || PACK_KIND(node->what) != OPERATION_USER || !node->ref)
		return NULL;
	code = session_user_code(session, thread->host, thread_process(thread), address, node->at);
	if (!code || !code->frames->len)
		return NULL;
	frame = &g_array_index(code->frames, struct code_frame, 0);
	if (!frame->file)
		return NULL;
	return frame->line ? g_strdup_printf("%s:%u", frame->file, frame->line)
			   : g_strdup(frame->file);
}

static struct function_row *row_of(struct functions *functions, GHashTable *index, uint32_t place)
{
	const struct call_node *node = call_node_at(functions->tree, place);
	struct row_key key = {node->kind == NODE_THREADS ? 0 : node->what, node->kind};
	gpointer known = g_hash_table_lookup(index, &key);
	struct function_row row = {.kind = node->kind, .what = key.what};

	if (!known) {
		row.name = node->kind == NODE_THREADS ? g_strdup("(outside of any call)")
						      : call_node_name(functions->tree, place);
		row.place = source_of(functions->session, node);
		g_array_append_val(functions->rows, row);
		known = GUINT_TO_POINTER(functions->rows->len);
		g_hash_table_insert(index, g_memdup2(&key, sizeof key), known);
	}
	return &g_array_index(functions->rows, struct function_row, GPOINTER_TO_UINT(known) - 1);
}

/* A call of the same function is around it. */
static bool is_inside_itself(const struct functions *functions, const struct call_node *node)
{
	for (uint32_t at = node->parent; at != NO_NODE;
	     at = call_node_at(functions->tree, at)->parent) {
		const struct call_node *above = call_node_at(functions->tree, at);

		if (above->kind == node->kind && above->what == node->what)
			return true;
	}
	return false;
}

static bool is_of_waits(enum function_metric metric)
{
	return metric == BY_WALL || metric == BY_BLOCKED;
}

/* What it took itself, but for what it waited at leisure. */
static int64_t own_busy(const struct session *session, const struct function_row *row)
{
	bool waits = is_of_waits(session->asked.options->functions.metric);

	return function_metric_of(session, row->own) - (waits ? row->idle : 0);
}

static int most_own_first(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct function_row *x = a, *y = b;
	int64_t first = own_busy(data, x), second = own_busy(data, y);

	if (first != second)
		return first > second ? -1 : 1;
	first = function_metric_of(data, x->all);
	second = function_metric_of(data, y->all);
	if (first != second)
		return first > second ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add_rows(struct functions *functions)
{
	GHashTable *index = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);

	for (uint32_t i = 0; i < functions->tree->nodes->len; i++) {
		const struct call_node *node = call_node_at(functions->tree, i);
		struct function_row *row;
		bool inside;

		if (node->elsewhere || node->kind == NODE_CAUSE)
			continue;
		row = row_of(functions, index, i);
		inside = is_inside_itself(functions, node);
		row->calls += node->calls;
		row->open += node->open;
		row->idle += node->own_idle;
		for (int k = 0; k < 4; k++) {
			row->own[k] += node->own[k];
			functions->total[k] += node->own[k];
			if (!inside)
				row->all[k] +=
					node->kind == NODE_THREADS ? node->own[k] : node->all[k];
		}
	}
	g_hash_table_destroy(index);
	g_array_sort_with_data(functions->rows, most_own_first, (gpointer) functions->session);
}

static bool is_user_function(const struct call_node *node)
{
	return node->kind == NODE_CALL && PACK_KIND(node->what) == OPERATION_USER;
}

int64_t functions_busy_time(const struct functions *functions, uint32_t place)
{
	const struct session *session = functions->session;
	const struct call_node *node = call_node_at(functions->tree, place);
	bool waits = is_of_waits(session->asked.options->functions.metric);

	return function_metric_of(session, node->all) - (waits ? node->idle : 0);
}

/* Of a root's outermost functions of user space; 0: none were recorded. */
static int64_t outermost_time(const struct functions *functions, uint32_t root)
{
	const struct call_node *node = call_node_at(functions->tree, root);
	int64_t outermost = 0;

	for (guint i = 0; i < node->children->len; i++) {
		uint32_t child = g_array_index(node->children, uint32_t, i);

		if (is_user_function(call_node_at(functions->tree, child)))
			outermost += functions_busy_time(functions, child);
	}
	return outermost;
}

int64_t functions_scope(const struct functions *functions, uint32_t root)
{
	int64_t outermost = outermost_time(functions, root);

	return outermost ? outermost : functions_busy_time(functions, root);
}

int64_t functions_node_time(const struct functions *functions, uint32_t place)
{
	const struct call_node *node = call_node_at(functions->tree, place);
	enum function_metric metric = functions->session->asked.options->functions.metric;

	if (!node->elsewhere)
		return functions_busy_time(functions, place);
	if (!is_of_waits(metric))
		return 0;
	return node->all[0] + node->all[1] + node->all[2] + node->all[3];
}

bool functions_is_bottleneck(const struct functions *functions, uint32_t root, uint32_t node)
{
	const struct options *options = functions->session->asked.options;
	const struct call_node *at = call_node_at(functions->tree, node);
	int64_t whole = functions_scope(functions, root);
	int64_t part = functions_node_time(functions, node);

	if (at->parent == root && !is_user_function(at) && outermost_time(functions, root))
		return false;
	return part > 0 && (double) part * 100 >= options->functions.threshold * (double) whole;
}

/* --- all ---------------------------------------------------------------------------------- */

static void add_sampled(struct functions *functions)
{
	const struct session *session = functions->session;
	const GPtrArray *roots = functions->tree->threads;

	functions->sampled = g_ptr_array_new_with_free_func(sample_tree_free);
	for (guint i = 0; session->trace.timeline.samples.used && i < roots->len; i++) {
		const GArray *threads = g_ptr_array_index(roots, i);
		struct sample_tree *tree =
			threads && threads->len
				? sample_tree_new(session, &functions->tree->scope, threads)
				: NULL;

		if (tree)
			g_ptr_array_add(functions->sampled, tree);
	}
}

/* Hardware counters of a root's threads; NULL: they have none. */
static struct counted_threads *counted_new(const struct functions *functions, const GArray *threads)
{
	struct counted_threads *counted = counted_threads_new(g_array_index(threads, uint32_t, 0));

	for (guint i = 0; i < threads->len; i++) {
		uint32_t thread = g_array_index(threads, uint32_t, i);
		guint count;
		const struct call_slice *slices =
			call_scope_slices(&functions->tree->scope, thread, INT64_MIN, &count);

		for (guint k = 0; k < count; k++)
			counted_threads_add(counted, functions->session, thread, slices[k].begin,
					    slices[k].end);
	}
	counted_threads_sort(counted);
	if (counted->counters.runs)
		return counted;
	counted_threads_free(counted);
	return NULL;
}

static void add_counted(struct functions *functions)
{
	const struct session *session = functions->session;
	const GPtrArray *roots = functions->tree->threads;

	functions->counted = g_ptr_array_new_with_free_func(counted_threads_free);
	for (guint i = 0; session->trace.timeline.counts.used && i < roots->len; i++) {
		const GArray *threads = g_ptr_array_index(roots, i);
		struct counted_threads *counted =
			threads && threads->len ? counted_new(functions, threads) : NULL;

		if (counted)
			g_ptr_array_add(functions->counted, counted);
	}
}

struct functions *functions_new(const struct session *session, struct user_requests *requests)
{
	struct functions *functions = g_new0(struct functions, 1);

	functions->session = session;
	functions->requests = requests;
	functions->tree = call_tree_new(session, requests);
	functions->rows = g_array_new(FALSE, FALSE, sizeof(struct function_row));
	g_array_set_clear_func(functions->rows, row_clear);
	functions->unreturned = g_array_new(FALSE, FALSE, sizeof(struct unreturned));
	g_array_set_clear_func(functions->unreturned, unreturned_clear);
	functions->waits = g_array_new(FALSE, FALSE, sizeof(struct wait_stack));
	add_rows(functions);
	unreturned_add(functions);
	wait_stacks_add(functions);
	functions->callers = g_array_new(FALSE, FALSE, sizeof(struct caller));
	g_array_set_clear_func(functions->callers, caller_clear);
	callers_add(functions);
	functions->in_interrupts = g_array_new(FALSE, FALSE, sizeof(struct interrupt_call));
	interrupt_calls_add(functions);
	add_sampled(functions);
	add_counted(functions);
	functions->reached = reaches_new(functions->tree);
	functions->notes = binaries_notes(session->found.binaries);
	return functions;
}

/* "; it has 'NAME', …": those that are called. */
static char *functions_called(const struct functions *functions, const char *wanted)
{
	struct nearest nearest = {.wanted = wanted};
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, functions->tree->longest);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		g_autofree char *name = frame_name(functions->session, GPOINTER_TO_UINT(key));

		nearest_offer(&nearest, name);
	}
	return nearest_list(&nearest, "; it has ");
}

bool functions_check(const struct functions *functions, GError **error)
{
	const char *wanted = functions->session->asked.options->functions.function;
	g_autofree char *called = NULL;
	const char *unnamed = NULL;

	for (guint i = 0; i < functions->rows->len; i++)
		if (g_array_index(functions->rows, struct function_row, i).kind == NODE_CALL)
			return true;
	if (!wanted)
		return true;
	called = functions_called(functions, wanted);
	for (guint i = 0; i < functions->notes->len; i++) {
		const struct binary_note *note = g_ptr_array_index(functions->notes, i);

		if (note->state != BINARY_NAMED && note->state != BINARY_UNCHECKED)
			unnamed = note->path;
	}
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--function '%s': no such function is called by these threads in the "
		    "window%s%s%s%s%s",
		    wanted, functions->requests ? " while they work on these requests" : "", called,
		    unnamed ? " (the functions of " : "", unnamed ? unnamed : "",
		    unnamed ? " have no names: --binary-path DIR says where it is)" : "");
	return false;
}

void functions_free(struct functions *functions)
{
	call_tree_free(functions->tree);
	user_requests_free(functions->requests);
	g_array_free(functions->rows, TRUE);
	g_array_free(functions->unreturned, TRUE);
	g_array_free(functions->waits, TRUE);
	g_array_free(functions->callers, TRUE);
	g_array_free(functions->in_interrupts, TRUE);
	g_array_free(functions->reached, TRUE);
	g_ptr_array_free(functions->sampled, TRUE);
	g_ptr_array_free(functions->counted, TRUE);
	g_ptr_array_free(functions->notes, TRUE);
	g_free(functions);
}
