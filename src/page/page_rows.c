/* SPDX-License-Identifier: MIT */
/* See page_rows.h. */
#include "page/page_rows.h"

#define ROWS_MAX 512 /* threads that the page shows, in the order in which the report names them */

void page_rows_init(struct page_rows *rows, const struct session *session)
{
	*rows = (struct page_rows) {.session = session,
				    .from = session->asked.from,
				    .to = session->asked.to,
				    .threads = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
				    .numbers = g_hash_table_new(NULL, NULL),
				    .mentions = g_array_new(FALSE, FALSE, sizeof(struct mention))};
}

void page_rows_clear(struct page_rows *rows)
{
	g_array_free(rows->threads, TRUE);
	g_array_free(rows->mentions, TRUE);
	g_hash_table_destroy(rows->numbers);
}

void page_rows_add(void *data, uint32_t thread)
{
	struct page_rows *rows = data;

	if (!is_thread(thread) || g_hash_table_contains(rows->numbers, GUINT_TO_POINTER(thread)))
		return;
	if (rows->threads->len >= ROWS_MAX) {
		rows->threads_omitted++;
		g_hash_table_insert(rows->numbers, GUINT_TO_POINTER(thread), NULL);
		return;
	}
	g_array_append_val(rows->threads, thread);
	g_hash_table_insert(rows->numbers, GUINT_TO_POINTER(thread),
			    GUINT_TO_POINTER(rows->threads->len));
}

void page_rows_mention(void *data, uint32_t thread, int64_t begin, int64_t end)
{
	struct page_rows *rows = data;
	struct mention mention = {thread, begin, end};

	page_rows_add(rows, thread);
	if (is_thread(thread) && begin < end)
		g_array_append_val(rows->mentions, mention);
}

guint page_row_number(const struct page_rows *rows, uint32_t thread)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(rows->numbers, GUINT_TO_POINTER(thread)));
}
