/* Call stacks by number; see callstack.h. */
#include "timeline/callstack.h"

void callstacks_init(struct callstacks *callstacks)
{
	callstacks->lists = g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref);
	callstacks->numbers = g_hash_table_new(g_bytes_hash, g_bytes_equal);
	g_ptr_array_add(callstacks->lists, g_bytes_new(NULL, 0));
}

void callstacks_clear(struct callstacks *callstacks)
{
	g_hash_table_destroy(callstacks->numbers);
	g_ptr_array_free(callstacks->lists, TRUE);
}

uint32_t callstack_id(struct callstacks *callstacks, const struct event_bytes *words)
{
	g_autoptr(GBytes) look = g_bytes_new_static(words->bytes, words->count);
	gpointer number;
	GBytes *kept;

	if (g_hash_table_lookup_extended(callstacks->numbers, look, NULL, &number))
		return GPOINTER_TO_UINT(number);
	kept = g_bytes_new(words->bytes, words->count);
	g_hash_table_insert(callstacks->numbers, kept,
			    GUINT_TO_POINTER(callstacks->lists->len));
	g_ptr_array_add(callstacks->lists, kept);
	return callstacks->lists->len - 1;
}

const uint64_t *callstack_words(const struct callstacks *callstacks, uint32_t number,
				guint *count)
{
	gsize size;
	const uint64_t *words =
		g_bytes_get_data(g_ptr_array_index(callstacks->lists, number), &size);

	*count = (guint) (size / sizeof *words);
	return words;
}
