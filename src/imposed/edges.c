/* SPDX-License-Identifier: MIT */
/* The wait-for graph's edges: who waited for whom, for what, how long in all.
 *
 * Place: imposed/, of the waits that waiting.c has led to threads. One edge a waiter, lead
 * and resource, the most time first: what a picture of the graph shows (page/page.h).
 */
#include "imposed/imposers.h"

static int by_ends(gconstpointer a, gconstpointer b)
{
	const struct direct *x = a, *y = b;

	if (x->waiter != y->waiter)
		return x->waiter < y->waiter ? -1 : 1;
	if (x->lead != y->lead)
		return x->lead < y->lead ? -1 : 1;
	return x->resource < y->resource ? -1 : x->resource > y->resource;
}

static int most_time(gconstpointer a, gconstpointer b)
{
	const struct waited_for *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->waiter != y->waiter)
		return x->waiter < y->waiter ? -1 : 1;
	if (x->lead != y->lead)
		return x->lead < y->lead ? -1 : 1;
	return x->resource < y->resource ? -1 : x->resource > y->resource;
}

/* Sorts `directs`. */
GArray *edges_new(GArray *directs)
{
	GArray *edges = g_array_new(FALSE, FALSE, sizeof(struct waited_for));

	g_array_sort(directs, by_ends);
	for (guint i = 0; i < directs->len; i++) {
		const struct direct *at = &g_array_index(directs, struct direct, i);
		struct waited_for edge = {at->waiter, at->lead, at->resource, 0, 0};
		struct waited_for *last =
			edges->len ? &g_array_index(edges, struct waited_for, edges->len - 1)
				   : NULL;

		if (!is_thread(at->lead))
			continue;
		if (!last || last->waiter != at->waiter || last->lead != at->lead ||
		    last->resource != at->resource) {
			g_array_append_val(edges, edge);
			last = &g_array_index(edges, struct waited_for, edges->len - 1);
		}
		last->ns += at->ns;
		last->count++;
	}
	g_array_sort(edges, most_time);
	return edges;
}
