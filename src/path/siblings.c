/* SPDX-License-Identifier: MIT */
/* See siblings.h. */
#include "path/siblings.h"

void siblings_init(struct siblings *siblings)
{
	siblings->first = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

void siblings_clear(struct siblings *siblings)
{
	g_hash_table_destroy(siblings->first);
}

uint32_t siblings_first(struct siblings *siblings, const struct session *session, uint32_t thread)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	gint64 key;
	gpointer first;

	if (!life->born || life->pid != life->tid || !is_thread(life->parent))
		return thread;
	key = (gint64) ((uint64_t) life->parent << 32 | life->name);
	first = g_hash_table_lookup(siblings->first, &key);
	if (first)
		return GPOINTER_TO_UINT(first) - 1;
	g_hash_table_insert(siblings->first, g_memdup2(&key, sizeof key),
			    GUINT_TO_POINTER(thread + 1));
	return thread;
}
