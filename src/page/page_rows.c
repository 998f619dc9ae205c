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

/* The guest whose virtual CPU the thread runs, or whose thread it is; NULL: of none. */
static const struct host *guest_of(const struct model *model, uint32_t thread)
{
	const struct thread *at = model_thread(model, thread);
	const struct host *own = model_host(model, at->host);

	for (guint i = 0; at->vcpu && i < model->hosts->len; i++) {
		const struct host *host = model_host(model, i);

		for (guint k = 0; k < host->cpus->len; k++)
			if (((const struct cpu *) g_ptr_array_index(host->cpus, k))->vcpu == thread)
				return host;
	}
	return is_thread(own->guest.machine) ? own : NULL;
}

static void place(struct page_rows *rows, uint32_t thread)
{
	gpointer known;

	if (g_hash_table_lookup_extended(rows->numbers, GUINT_TO_POINTER(thread), NULL, &known) &&
	    known)
		return;
	g_array_append_val(rows->threads, thread);
	g_hash_table_insert(rows->numbers, GUINT_TO_POINTER(thread),
			    GUINT_TO_POINTER(rows->threads->len));
}

void page_rows_settle(struct page_rows *rows)
{
	const struct model *model = &rows->session->trace.model;
	g_autoptr(GArray) before = NULL;
	bool any = false;

	for (guint i = 0; i < model->hosts->len; i++)
		any |= is_thread(model_host(model, i)->guest.machine);
	if (!any)
		return;
	before = rows->threads;
	rows->threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = 0; i < before->len; i++)
		g_hash_table_remove(rows->numbers,
				    GUINT_TO_POINTER(g_array_index(before, uint32_t, i)));
	for (guint i = 0; i < before->len; i++) {
		uint32_t thread = g_array_index(before, uint32_t, i);
		const struct host *guest = guest_of(model, thread);

		for (guint k = 0; guest && k < guest->cpus->len; k++) {
			uint32_t vcpu =
				((const struct cpu *) g_ptr_array_index(guest->cpus, k))->vcpu;

			if (is_thread(vcpu))
				place(rows, vcpu);
		}
		for (guint k = i; guest && k < before->len; k++) {
			uint32_t other = g_array_index(before, uint32_t, k);

			if (model_host(model, model_thread(model, other)->host) == guest)
				place(rows, other);
		}
		place(rows, thread);
	}
}

guint page_row_number(const struct page_rows *rows, uint32_t thread)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(rows->numbers, GUINT_TO_POINTER(thread)));
}
