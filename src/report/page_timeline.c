/* SPDX-License-Identifier: MIT */
/* The page's second block of data: the timeline of each thread that the report names, and who
 * waited for whom.
 *
 * Place: report/, called by page.c when the report's JSON is written, which has told what it names.
 * The states themselves are packed by page_cells.c. Times of day are text, as JavaScript's numbers
 * hold 53 bits; all else counts from the window's begin.
 */
#include <inttypes.h>
#include <time.h>

#include "report/levels.h"
#include "imposed/waiting.h"
#include "report/page_cells.h"

#define EXPLAINED_MAX 64 /* examples and waits whose causes are looked for here */
#define EDGES_MAX 120

static void mention_waits(struct page *page, const GPtrArray *waits)
{
	for (guint i = 0; waits && i < waits->len; i++) {
		const struct wait *wait = g_ptr_array_index(waits, i);

		if (!wait->has_share)
			continue;
		page->watch.stretch(page, wait->lead.thread, wait->lead.from, wait->lead.until);
		mention_waits(page, wait->children);
	}
}

/* Of examples that a report gives without whom their waits led to, the page looks for them, so
 * that the timeline beside an example has who ended its waits. */
static void explain_mentions(struct page *page)
{
	guint count = MIN(page->mentions->len, EXPLAINED_MAX);

	if (page->has_leads)
		return;
	for (guint i = 0; i < count && !session_interrupted(page->session); i++) {
		struct mention at = g_array_index(page->mentions, struct mention, i);
		uint32_t omitted;
		GPtrArray *waits =
			causality_new(page->session, at.thread, at.begin, at.end, 10, &omitted);

		mention_waits(page, waits);
		g_ptr_array_free(waits, TRUE);
	}
}

static json_t *rows_json(const struct page *page)
{
	json_t *list = json_array();

	for (guint i = 0; i < page->threads->len; i++) {
		uint32_t thread = g_array_index(page->threads, uint32_t, i);
		struct stretch row = row_stretch(page->session, thread);
		const struct thread *life = model_thread(&page->session->trace.model, thread);
		json_t *object = json_thread_head(page->session, thread);

		json_object_set_new(object, "from",
				    json_integer(row.begin - page->session->asked.from));
		json_object_set_new(object, "to",
				    json_integer(row.end - page->session->asked.from));
		json_object_set_new(object, "kernel",
				    json_boolean(
					    thread_is_kernel(&page->session->trace.model, life)));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *edges_json(struct packer *packer, const struct waiting *waiting)
{
	struct page *page = packer->page;
	json_t *list = json_array();

	for (guint i = 0; waiting->edges && i < waiting->edges->len && i < EDGES_MAX; i++) {
		const struct waited_for *edge =
			&g_array_index(waiting->edges, struct waited_for, i);
		guint from = GPOINTER_TO_UINT(
			g_hash_table_lookup(page->rows, GUINT_TO_POINTER(edge->waiter)));
		guint to = GPOINTER_TO_UINT(
			g_hash_table_lookup(page->rows, GUINT_TO_POINTER(edge->lead)));
		const char *resource =
			edge->resource ? session_text(page->session, edge->resource) : "";

		if (from && to)
			json_array_append_new(list, json_pack("[i,i,I,I,i]", (int) from - 1,
							      (int) to - 1, (json_int_t) edge->ns,
							      (json_int_t) edge->count,
							      (int) text_number(packer, resource)));
	}
	return list;
}

static json_t *leaves_json(const struct packer *packer)
{
	const struct session *session = packer->page->session;
	json_t *list = json_array();

	for (guint i = 0; i < packer->leaf_list->len; i++) {
		uint32_t leaf = g_array_index(packer->leaf_list, uint32_t, i);
		g_autofree char *key = leaf_key(session, leaf), *label = leaf_label(session, leaf);

		json_array_append_new(list, json_pack("[o,o,i]", json_text(key), json_text(label),
						      (int) leaf_class(leaf)));
	}
	return list;
}

static json_t *strings_json(const struct packer *packer)
{
	json_t *list = json_array();

	for (guint i = 0; i < packer->strings->len; i++)
		json_array_append_new(list, json_text(g_ptr_array_index(packer->strings, i)));
	return list;
}

/* The clock on the wall at the window's begin, relative to UTC: seconds. */
static json_t *utc_offset(const struct session *session)
{
	time_t seconds = (time_t) (session->asked.from / 1000000000);
	struct tm tm;

	if (session->asked.options->utc || !localtime_r(&seconds, &tm))
		return json_integer(0);
	return json_integer(tm.tm_gmtoff);
}

static void mention_edges(struct page *page, const struct waiting *waiting)
{
	for (guint i = 0; waiting->edges && i < waiting->edges->len && i < EDGES_MAX; i++) {
		const struct waited_for *edge =
			&g_array_index(waiting->edges, struct waited_for, i);

		page->watch.thread(page, edge->waiter);
		page->watch.thread(page, edge->lead);
	}
}

void page_timeline(struct page *page, const struct waiting *waiting, FILE *file)
{
	struct packer packer;
	json_t *edges = NULL;
	char base[24];

	packer_init(&packer, page);
	explain_mentions(page);
	if (waiting)
		mention_edges(page, waiting);
	g_snprintf(base, sizeof base, "%" PRId64, page->session->asked.from);
	fputs("{", file);
	json_member(file, "base", json_text(base), true);
	json_member(file, "length_ns",
		    json_integer(page->session->asked.to - page->session->asked.from), false);
	json_member(file, "utc_offset_s", utc_offset(page->session), false);
	json_member(file, "rows", rows_json(page), false);
	json_member(file, "rows_omitted", json_integer((json_int_t) page->threads_omitted), false);
	if (!write_levels(&packer, file))
		write_mentions(&packer, file);
	if (waiting)
		edges = edges_json(&packer, waiting);
	if (edges)
		json_member(file, "edges", edges, false);
	json_member(file, "leaves", leaves_json(&packer), false);
	json_member(file, "strings", strings_json(&packer), false);
	fputs("}\n", file);
	packer_clear(&packer);
}
