/* SPDX-License-Identifier: MIT */
/* See parts.h. */
#include "whatif/parts.h"

#include "waits/wait.h"

/* What the piece was spent on, as an interned key; 0: its leaf tells. */
static uint32_t resource_of(const struct session *session, const struct new_piece *piece)
{
	return leaf_is_blocked(piece->span.leaf)
		       ? block_waits_for(session,
					 block_at(&session->trace.timeline, piece->span.ref))
		       : 0;
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct part *x = a, *y = b;

	return x->ns != y->ns           ? (x->ns > y->ns ? -1 : 1)
	       : x->thread != y->thread ? (x->thread < y->thread ? -1 : 1)
	       : x->leaf != y->leaf
		       ? (x->leaf < y->leaf ? -1 : 1)
		       : (int) (x->resource > y->resource) - (int) (x->resource < y->resource);
}

static guint part_hash(gconstpointer key)
{
	const struct part *part = key;

	return part->thread * 2654435761u ^ part->leaf * 40503u ^ part->resource;
}

static gboolean part_equal(gconstpointer a, gconstpointer b)
{
	const struct part *x = a, *y = b;

	return x->thread == y->thread && x->leaf == y->leaf && x->resource == y->resource;
}

GArray *parts_of(const struct session *session, const GArray *path)
{
	g_autoptr(GHashTable) met = g_hash_table_new_full(part_hash, part_equal, g_free, NULL);
	GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct part));
	GHashTableIter iter;
	gpointer key;

	for (guint i = 0; i < path->len; i++) {
		const struct new_piece *piece = &g_array_index(path, struct new_piece, i);
		struct part part = {piece->thread, piece->span.leaf, resource_of(session, piece),
				    0};
		struct part *like = g_hash_table_lookup(met, &part);

		if (!like) {
			like = g_memdup2(&part, sizeof part);
			g_hash_table_add(met, like);
		}
		like->ns += piece->end - piece->begin;
	}
	g_hash_table_iter_init(&iter, met);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		g_array_append_vals(parts, key, 1);
	g_array_sort(parts, longest_first);
	return parts;
}
