/* SPDX-License-Identifier: MIT */
/* See wait_stacks.h. */
#include "functions/wait_stacks.h"

#include "symbols/symbols.h"

static bool is_same_way(const struct wait_stack *a, const struct wait_stack *b)
{
	return a->root == b->root && a->leaf == b->leaf && a->kernel == b->kernel &&
	       a->user == b->user;
}

static void add_stack(struct functions *functions, GHashTable *index, uint32_t root,
		      uint32_t thread, const struct span *span)
{
	const struct session *session = functions->session;
	const struct block *block = block_at(&session->trace.timeline, span->ref);
	const struct callpaths *paths =
		callpaths_at(&session->trace.flow.callstacks, block->callpaths);
	int64_t ns = span->end - span->begin;
	struct wait_stack wait = {root, span->leaf, paths->kernel, paths->user, 0,
				  0,    -1,         thread,        span->begin, block};
	uint64_t key = ((uint64_t) (span->leaf * 2654435761u ^ root) << 32) ^
		       (paths->kernel * 40503u + paths->user);
	gpointer known;
	struct wait_stack *at;

	if (!paths->kernel && !paths->user)
		return;
	known = g_hash_table_lookup(index, &key);
	if (!known || !is_same_way(&g_array_index(functions->waits, struct wait_stack,
						  GPOINTER_TO_UINT(known) - 1),
				   &wait)) {
		g_array_append_val(functions->waits, wait);
		known = GUINT_TO_POINTER(functions->waits->len);
		g_hash_table_insert(index, g_memdup2(&key, sizeof key), known);
	}
	at = &g_array_index(functions->waits, struct wait_stack, GPOINTER_TO_UINT(known) - 1);
	at->count++;
	at->ns += ns;
	if (ns > at->longest) {
		at->longest = ns;
		at->thread = thread;
		at->begin = span->begin;
		at->block = block;
	}
}

static void add_stacks(struct functions *functions, GHashTable *index, uint32_t root,
		       uint32_t thread)
{
	guint count;
	const struct call_slice *slices =
		call_scope_slices(&functions->tree->scope, thread, INT64_MIN, &count);
	struct spans spans;
	struct span span;

	for (guint i = 0; i < count; i++) {
		spans_begin(&spans, functions->session, thread, slices[i].begin, slices[i].end);
		while (spans_next_off_cpu(&spans, &span))
			if (leaf_is_blocked(span.leaf))
				add_stack(functions, index, root, thread, &span);
	}
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct wait_stack *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

void wait_stacks_add(struct functions *functions)
{
	const struct session *session = functions->session;
	GHashTable *index;

	if (session->trace.flow.callstacks.paths->len <= 1)
		return;
	index = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (guint i = 0; i < functions->tree->threads->len; i++) {
		const GArray *threads = g_ptr_array_index(functions->tree->threads, i);

		for (guint k = 0; threads && k < threads->len; k++) {
			uint32_t thread = g_array_index(threads, uint32_t, k);
			add_stacks(functions, index, i, thread);
		}
	}
	g_hash_table_destroy(index);
	g_array_sort(functions->waits, longest_first);
}

GPtrArray *user_callpath_new(const struct session *session, uint32_t thread, int64_t time,
			     uint32_t number)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	GPtrArray *path = g_ptr_array_new_with_free_func(g_free);
	uint64_t words[CALLSTACK_WORDS];
	guint count;

	count = callstack_words(&session->trace.flow.callstacks, number, words);
	if (count && words[count - 1] == UINT64_MAX) /* cut by the tracer */
		count--;
	for (guint i = count;
	     i-- > 0;) /* return addresses but the innermost: the call is before it */
		g_ptr_array_add(path,
				g_strdup(session_user_function(session, life->host,
							       thread_process(life),
							       i ? words[i] - 1 : words[i], time)));
	return path;
}

GPtrArray *waker_callpath_new(const struct session *session, uint32_t number)
{
	guint first = 0;
	uint64_t words[CALLSTACK_WORDS];
	guint count = callstack_words(&session->trace.flow.callstacks, number, words);
	GPtrArray *path = callpath_new(session->found.symbols, words, count);

	for (guint i = 0; i < path->len; i++)
		if (g_str_has_prefix(g_ptr_array_index(path, i), "asm_common_interrupt") ||
		    g_str_has_prefix(g_ptr_array_index(path, i), "asm_sysvec_"))
			first = i + 1;
	if (first)
		g_ptr_array_remove_range(path, 0, first);
	return path;
}
