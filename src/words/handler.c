/* SPDX-License-Identifier: MIT */
/* See handler.h. */
#include "words/handler.h"

#include "event/signals.h"

static uint32_t words_of(const struct session *session, uint32_t thread,
			 const struct handling *handling)
{
	g_autoptr(GString) text = g_string_new("its handler of ");

	append_signal(text, (uint64_t) handling->signal);
	if (is_thread(handling->sender) && handling->sender != thread)
		g_string_append_printf(text, ", sent by %s",
				       session_thread_name(session, handling->sender));
	return intern_id(session->trace.model.names, text->str);
}

uint32_t handler_words(const struct session *session, uint32_t thread, int64_t time, int64_t *until)
{
	const GArray *list =
		is_thread(thread) ? model_thread(&session->trace.model, thread)->handlings : NULL;
	guint low = 0, high = list ? list->len : 0;
	const struct handling *next;

	*until = INT64_MAX;
	while (low < high) { /* the first that ends later */
		guint middle = low + (high - low) / 2;

		if (g_array_index(list, struct handling, middle).end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (!list || low == list->len)
		return 0;
	next = &g_array_index(list, struct handling, low);
	*until = next->begin > time ? next->begin : next->end;
	return next->begin > time ? 0 : words_of(session, thread, next);
}

uint32_t handler_most(const struct session *session, uint32_t thread, int64_t from, int64_t to,
		      int64_t *ns)
{
	g_autoptr(GHashTable) sums = NULL;
	uint32_t most = 0;
	struct spans spans;
	struct span span;

	*ns = 0;
	if (!model_thread(&session->trace.model, thread)->handlings)
		return 0;
	sums = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	spans_begin(&spans, session, thread, from, to);
	while (spans_next(&spans, &span))
		for (int64_t at = span.begin, until;
		     PACK_KIND(span.leaf) == LEAF_WORK_USER && at < span.end; at = until) {
			uint32_t words = handler_words(session, thread, at, &until);
			int64_t *sum;

			until = MIN(until, span.end);
			if (!words)
				continue;
			sum = g_hash_table_lookup(sums, GUINT_TO_POINTER(words));
			if (!sum) {
				sum = g_new0(int64_t, 1);
				g_hash_table_insert(sums, GUINT_TO_POINTER(words), sum);
			}
			*sum += until - at;
			if (*sum > *ns) {
				*ns = *sum;
				most = words;
			}
		}
	return most;
}
