/* SPDX-License-Identifier: MIT */
/* Of a whole system most threads only sleep: where there is no room for all, as in the text and on
 * the page, those come first that did most. What is not known is nothing done. */
#include "delay/delay.h"

#include "timeline/leaf.h"

struct active {
	struct stretch stretch;
	int64_t ns; /* on a CPU, or waiting for one, in the stretch */
};

static int most_active(gconstpointer a, gconstpointer b)
{
	const struct active *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->stretch.thread < y->stretch.thread ? -1 : x->stretch.thread > y->stretch.thread;
}

static struct active active_in(const struct session *session, const struct stretch *stretch)
{
	struct active active = {*stretch, 0};
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, stretch->thread, stretch->begin, stretch->end);
	while (spans_next(&spans, &span))
		if (!leaf_is_blocked(span.leaf) && PACK_KIND(span.leaf) != LEAF_UNKNOWN)
			active.ns += span.end - span.begin;
	return active;
}

GArray *delay_most_active(const struct delay *delay)
{
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(struct active));
	GArray *threads = g_array_new(FALSE, FALSE, sizeof(struct stretch));

	for (guint i = 0; i < delay->threads->len; i++) {
		struct active one = active_in(delay->session,
					      &g_array_index(delay->threads, struct stretch, i));

		g_array_append_val(list, one);
	}
	g_array_sort(list, most_active);
	for (guint i = 0; i < list->len; i++)
		g_array_append_val(threads, g_array_index(list, struct active, i).stretch);
	return threads;
}
