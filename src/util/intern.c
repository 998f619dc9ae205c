/* SPDX-License-Identifier: MIT */
/* Interned strings over a GStringChunk; see intern.h. */
#include "util/intern.h"

#include <glib.h>

struct intern {
	GHashTable *ids;      /* owned; string (in chunk) -> number */
	GPtrArray *texts;     /* owned; number -> string (in chunk) */
	GStringChunk *chunk;  /* owned */
};

struct intern *intern_new(void)
{
	struct intern *table = g_new0(struct intern, 1);

	table->ids = g_hash_table_new(g_str_hash, g_str_equal);
	table->texts = g_ptr_array_new();
	table->chunk = g_string_chunk_new(4096);
	intern_id(table, "");
	return table;
}

void intern_free(struct intern *table)
{
	if (!table)
		return;
	g_hash_table_destroy(table->ids);
	g_ptr_array_free(table->texts, TRUE);
	g_string_chunk_free(table->chunk);
	g_free(table);
}

uint32_t intern_id(struct intern *table, const char *text)
{
	gpointer found;
	char *copy;

	if (!text)
		text = "";
	if (g_hash_table_lookup_extended(table->ids, text, NULL, &found))
		return GPOINTER_TO_UINT(found);
	copy = g_string_chunk_insert(table->chunk, text);
	g_hash_table_insert(table->ids, copy, GUINT_TO_POINTER(table->texts->len));
	g_ptr_array_add(table->texts, copy);
	return table->texts->len - 1;
}

uint32_t intern_known(const struct intern *table, const char *text)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(table->ids, text));
}

const char *intern_text(const struct intern *table, uint32_t id)
{
	g_assert(id < table->texts->len);
	return g_ptr_array_index(table->texts, id);
}

void intern_replace(struct intern *table, uint32_t id, const char *text)
{
	char *copy = g_string_chunk_insert(table->chunk, text);

	g_assert(id < table->texts->len);
	g_ptr_array_index(table->texts, id) = copy;
	if (!g_hash_table_contains(table->ids, copy))
		g_hash_table_insert(table->ids, copy, GUINT_TO_POINTER(id));
}

uint32_t intern_count(const struct intern *table)
{
	return table->texts->len;
}
