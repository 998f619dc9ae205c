/* SPDX-License-Identifier: MIT */
/* Call stacks by number; see callstack.h. */
#include "timeline/callstack.h"

static guint paths_hash(gconstpointer key)
{
	const struct callpaths *paths = key;

	return ((paths->kernel * 31 + paths->user) * 31 + paths->waker_kernel) * 31 +
	       paths->waker_user;
}

static gboolean paths_equal(gconstpointer a, gconstpointer b)
{
	const struct callpaths *x = a, *y = b;

	return x->kernel == y->kernel && x->user == y->user && x->waker_kernel == y->waker_kernel &&
	       x->waker_user == y->waker_user;
}

void callstacks_init(struct callstacks *callstacks)
{
	struct callpaths none = {0};

	callstacks->paths = g_array_new(FALSE, FALSE, sizeof none);
	callstacks->path_numbers = g_hash_table_new_full(paths_hash, paths_equal, g_free, NULL);
	g_array_append_val(callstacks->paths, none);
	callstacks->lists = g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref);
	callstacks->numbers = g_hash_table_new(g_bytes_hash, g_bytes_equal);
	g_ptr_array_add(callstacks->lists, g_bytes_new(NULL, 0));
}

void callstacks_clear(struct callstacks *callstacks)
{
	g_hash_table_destroy(callstacks->numbers);
	g_ptr_array_free(callstacks->lists, TRUE);
	g_hash_table_destroy(callstacks->path_numbers);
	g_array_free(callstacks->paths, TRUE);
}

uint32_t callpaths_id(struct callstacks *callstacks, const struct callpaths *paths)
{
	gpointer known = g_hash_table_lookup(callstacks->path_numbers, paths);

	if (known || paths_equal(paths, callpaths_at(callstacks, 0)))
		return GPOINTER_TO_UINT(known);
	g_hash_table_insert(callstacks->path_numbers, g_memdup2(paths, sizeof *paths),
			    GUINT_TO_POINTER(callstacks->paths->len));
	g_array_append_vals(callstacks->paths, paths, 1);
	return callstacks->paths->len - 1;
}

uint32_t callstack_id(struct callstacks *callstacks, const struct event_bytes *words)
{
	g_autoptr(GBytes) look = g_bytes_new_static(words->bytes, words->count);
	gpointer number;
	GBytes *kept;

	if (g_hash_table_lookup_extended(callstacks->numbers, look, NULL, &number))
		return GPOINTER_TO_UINT(number);
	kept = g_bytes_new(words->bytes, words->count);
	g_hash_table_insert(callstacks->numbers, kept, GUINT_TO_POINTER(callstacks->lists->len));
	g_ptr_array_add(callstacks->lists, kept);
	return callstacks->lists->len - 1;
}

const uint64_t *callstack_words(const struct callstacks *callstacks, uint32_t number, guint *count)
{
	gsize size;
	const uint64_t *words =
		g_bytes_get_data(g_ptr_array_index(callstacks->lists, number), &size);

	*count = (guint) (size / sizeof *words);
	return words;
}
