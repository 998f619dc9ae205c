/* SPDX-License-Identifier: MIT */
/* See page_served.h: what a served page does not have itself is searched here, in the same texts as
 * it has of a state: its key and label, what a wait was for, and who ended it. Letters large and
 * small are the same.
 */
#include <string.h>

#include "page/levels.h"
#include "page/page_cells.h"
#include "page/page_served.h"
#include "report/report.h"

#define HITS_MAX 10000 /* that are told: the longest */

struct hit {
	int64_t begin, ns;
	uint32_t thread;
	guint leaf, text; /* numbers of the answer's; text 0: the state itself has the word */
};

struct page_search {
	struct packer packer;
	char *word; /* owned; in small letters */
	GByteArray *leaves; /* by number: … */
	GByteArray *texts; /* whether it has the word */
	GArray *hits; /* struct hit */
	GHashTable *shown; /* threads that the page has a row for */
	uint64_t count;
};

static bool has_word(const struct page_search *search, const char *text)
{
	g_autofree char *small = g_utf8_strdown(text, -1);

	return strstr(small, search->word) != NULL;
}

static bool leaf_has(struct page_search *search, guint number)
{
	const struct session *session = search->packer.rows->session;

	while (search->leaves->len <= number) {
		uint32_t leaf = g_array_index(search->packer.leaf_list, struct page_leaf,
					      search->leaves->len)
					.leaf;
		g_autofree char *key = leaf_key(session, leaf), *label = leaf_label(session, leaf);
		g_autofree char *both = g_strdup_printf("%s %s", key, label);
		guint8 has = has_word(search, both);

		g_byte_array_append(search->leaves, &has, 1);
	}
	return search->leaves->data[number];
}

static bool text_has(struct page_search *search, guint number)
{
	while (search->texts->len <= number) {
		guint8 has = has_word(search, g_ptr_array_index(search->packer.strings,
								search->texts->len));

		g_byte_array_append(search->texts, &has, 1);
	}
	return number && search->texts->data[number];
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct hit *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int first_first(gconstpointer a, gconstpointer b)
{
	const struct hit *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void cut(struct page_search *search)
{
	if (search->hits->len <= HITS_MAX)
		return;
	g_array_sort(search->hits, longest_first);
	g_array_set_size(search->hits, HITS_MAX);
}

static void look_at(struct page_search *search, const struct span *span)
{
	struct packer *packer = &search->packer;
	struct page_leaf leaf = {span->leaf, packer_class(packer, span)};
	struct hit hit = {span->begin, span->end - span->begin, packer->thread,
			  packer_leaf(packer, &leaf), 0};
	bool found = leaf_has(search, hit.leaf);

	if (leaf_is_blocked(span->leaf)) {
		const struct cell cell = {.begin = span->begin,
					  .end = span->end,
					  .leaf = span->leaf,
					  .ref = span->ref};

		packer_find_ending(packer, &cell);
		if (text_has(search, packer->ending.resource))
			hit.text = packer->ending.resource;
		else if (text_has(search, packer->ending.waker))
			hit.text = packer->ending.waker;
	}
	if (!found && !hit.text)
		return;
	search->count++;
	g_array_append_val(search->hits, hit);
	if (search->hits->len >= 4 * HITS_MAX)
		cut(search);
}

/* The whole of a thread, where its name has the word. */
static void look_at_name(struct page_search *search, const struct stretch *row)
{
	const struct session *session = search->packer.rows->session;
	struct hit hit = {row->begin, row->end - row->begin, row->thread, 0, 0};
	g_autofree char *name =
		g_strdup_printf("%s (%d)", session_thread_name(session, row->thread),
				model_thread(&session->trace.model, row->thread)->tid);

	if (!has_word(search, name))
		return;
	hit.text = text_number(&search->packer, name);
	hit.leaf = packer_leaf(&search->packer,
			       &(struct page_leaf) {PACK(LEAF_UNKNOWN, 0), CLASS_UNKNOWN});
	search->count++;
	g_array_append_val(search->hits, hit);
}

static void search_row(struct page_search *search, uint32_t thread, const struct shown_part *part)
{
	struct packer *packer = &search->packer;
	struct stretch row = row_stretch(packer->rows, thread);
	struct spans spans;
	struct span span;

	if (track_empty(&model_thread(&packer->rows->session->trace.model, thread)->track) ||
	    row.begin >= part->to || row.end <= part->from || row.begin >= row.end)
		return;
	/* of those with a row the page looks itself */
	if (!g_hash_table_contains(search->shown, GUINT_TO_POINTER(thread)))
		look_at_name(search, &row);
	packer->thread = row.thread;
	packer->until = row.end;
	spans_begin(&spans, packer->rows->session, row.thread, row.begin, row.end);
	while (spans_next(&spans, &span) && span.begin < part->to)
		if (span.end > part->from)
			look_at(search, &span);
	timeline_ease(&packer->rows->session->trace.timeline);
}

/* Those that the page has no row for: it knows nothing of them. */
static void put_threads(const struct page_search *search, struct output *output)
{
	const struct session *session = search->packer.rows->session;
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

	json_begin(output, "threads", '[', LINES_NOT);
	for (guint i = 0; i < search->hits->len; i++) {
		uint32_t number = g_array_index(search->hits, struct hit, i).thread;
		const struct thread *thread = model_thread(&session->trace.model, number);

		if (g_hash_table_contains(search->shown, GUINT_TO_POINTER(number)) ||
		    !g_hash_table_add(seen, GUINT_TO_POINTER(number)))
			continue;
		json_begin(output, NULL, '[', LINES_NOT);
		json_put_whole(output, NULL, number);
		json_put_whole(output, NULL, thread->host);
		json_put_whole(output, NULL, thread->tid);
		json_put_text(output, NULL, session_thread_name(session, number));
		json_end(output, ']');
	}
	json_end(output, ']');
}

static void put_hits(const struct page_search *search, int64_t base, struct output *output)
{
	json_put_whole(output, "count", (int64_t) search->count);
	json_begin(output, "hits", '[', LINES_NOT);
	for (guint i = 0; i < search->hits->len; i++) {
		const struct hit *hit = &g_array_index(search->hits, struct hit, i);

		json_begin(output, NULL, '[', LINES_NOT);
		json_put_whole(output, NULL, hit->thread);
		json_put_whole(output, NULL, hit->begin - base);
		json_put_whole(output, NULL, hit->ns);
		json_put_whole(output, NULL, hit->leaf);
		json_put_whole(output, NULL, hit->text);
		json_end(output, ']');
	}
	json_end(output, ']');
}

void page_search(const struct session *session, const struct shown_part *part,
		 struct output *output)
{
	struct page_rows rows;
	struct page_search search = {.word = g_utf8_strdown(part->word, -1),
				     .leaves = g_byte_array_new(),
				     .texts = g_byte_array_new(),
				     .hits = g_array_new(FALSE, FALSE, sizeof(struct hit))};

	page_rows_shown(&rows, session, part);
	packer_init(&search.packer, &rows);
	search.shown = g_hash_table_new(NULL, NULL);
	for (guint i = 0; i < rows.threads->len; i++)
		g_hash_table_add(search.shown,
				 GUINT_TO_POINTER(g_array_index(rows.threads, uint32_t, i)));
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		search_row(&search, i, part);
	cut(&search);
	g_array_sort(search.hits, first_first);
	put_hits(&search, part->base, output);
	put_threads(&search, output);
	write_texts(&search.packer, output);
	packer_clear(&search.packer);
	page_rows_clear(&rows);
	g_hash_table_destroy(search.shown);
	g_array_unref(search.hits);
	g_byte_array_unref(search.texts);
	g_byte_array_unref(search.leaves);
	g_free(search.word);
}
