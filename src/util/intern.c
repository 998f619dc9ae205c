/* SPDX-License-Identifier: MIT */
/* Interned strings over a GStringChunk; see intern.h. */
#include "util/intern.h"

#include <glib.h>
#include <pthread.h>
#include <string.h>

struct intern {
	GHashTable *ids;      /* owned; string (in chunk) -> number */
	const char **texts;   /* owned; number -> string (in chunk) */
	uint32_t count, room;
	GStringChunk *chunk;  /* owned */
	bool shared;
	pthread_mutex_t lock; /* of what is above but `texts`, while it is shared */
	GPtrArray *outgrown;  /* owned; earlier `texts`: others may be reading them */
};

struct intern *intern_new(void)
{
	struct intern *table = g_new0(struct intern, 1);

	table->ids = g_hash_table_new(g_str_hash, g_str_equal);
	table->chunk = g_string_chunk_new(4096);
	table->outgrown = g_ptr_array_new_with_free_func(g_free);
	pthread_mutex_init(&table->lock, NULL);
	intern_id(table, "");
	return table;
}

void intern_free(struct intern *table)
{
	if (!table)
		return;
	g_hash_table_destroy(table->ids);
	g_free(table->texts);
	g_string_chunk_free(table->chunk);
	g_ptr_array_free(table->outgrown, TRUE);
	pthread_mutex_destroy(&table->lock);
	g_free(table);
}

void intern_share(struct intern *table, bool shared)
{
	table->shared = shared;
	g_ptr_array_set_size(table->outgrown, 0);
}

bool intern_is_shared(const struct intern *table)
{
	return table->shared;
}

/* Who looks up a number has it from whoever made it, and sees the list it is in. */
static void make_room(struct intern *table)
{
	const char **texts;

	table->room = MAX(64, table->room * 2);
	texts = g_new(const char *, table->room);
	if (table->count)
		memcpy(texts, table->texts, table->count * sizeof *texts);
	g_ptr_array_add(table->outgrown, table->texts);
	__atomic_store_n(&table->texts, texts, __ATOMIC_RELEASE);
	if (!table->shared)
		g_ptr_array_set_size(table->outgrown, 0);
}

static uint32_t id_of(struct intern *table, const char *text)
{
	gpointer found;
	char *copy;

	if (g_hash_table_lookup_extended(table->ids, text, NULL, &found))
		return GPOINTER_TO_UINT(found);
	copy = g_string_chunk_insert(table->chunk, text);
	g_hash_table_insert(table->ids, copy, GUINT_TO_POINTER(table->count));
	if (table->count == table->room)
		make_room(table);
	table->texts[table->count] = copy;
	__atomic_store_n(&table->count, table->count + 1, __ATOMIC_RELAXED);
	return table->count - 1;
}

uint32_t intern_id(struct intern *table, const char *text)
{
	uint32_t id;

	if (!text)
		text = "";
	if (!table->shared)
		return id_of(table, text);
	pthread_mutex_lock(&table->lock);
	id = id_of(table, text);
	pthread_mutex_unlock(&table->lock);
	return id;
}

uint32_t intern_known(const struct intern *table, const char *text)
{
	struct intern *locked = (struct intern *) table;
	uint32_t id;

	if (table->shared)
		pthread_mutex_lock(&locked->lock);
	id = GPOINTER_TO_UINT(g_hash_table_lookup(table->ids, text));
	if (table->shared)
		pthread_mutex_unlock(&locked->lock);
	return id;
}

const char *intern_text(const struct intern *table, uint32_t id)
{
	g_assert(id < __atomic_load_n(&table->count, __ATOMIC_RELAXED));
	return __atomic_load_n(&table->texts, __ATOMIC_ACQUIRE)[id];
}

void intern_replace(struct intern *table, uint32_t id, const char *text)
{
	char *copy = g_string_chunk_insert(table->chunk, text);

	g_assert(id < table->count);
	table->texts[id] = copy;
	if (!g_hash_table_contains(table->ids, copy))
		g_hash_table_insert(table->ids, copy, GUINT_TO_POINTER(id));
}

uint32_t intern_count(const struct intern *table)
{
	return table->count;
}
