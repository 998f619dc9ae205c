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

GArray *parts_of(const struct session *session, const GArray *path)
{
	GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct part));

	for (guint i = 0; i < path->len; i++) {
		const struct new_piece *piece = &g_array_index(path, struct new_piece, i);
		struct part part = {piece->thread, piece->span.leaf, resource_of(session, piece),
				    piece->end - piece->begin};
		guint at = 0;

		for (; at < parts->len; at++) {
			struct part *like = &g_array_index(parts, struct part, at);

			if (like->thread == part.thread && like->leaf == part.leaf &&
			    like->resource == part.resource)
				break;
		}
		if (at < parts->len)
			g_array_index(parts, struct part, at).ns += part.ns;
		else
			g_array_append_val(parts, part);
	}
	g_array_sort(parts, longest_first);
	return parts;
}
