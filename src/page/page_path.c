/* SPDX-License-Identifier: MIT */
/* See page_path.h. The path is told as hops: stretches of one thread after the other, its
 * neighbouring pieces merged. Hops that would be too narrow to be seen in the whole picture (NARROW
 * of the window) are told together with their neighbours, as those of the thread that had most of
 * them; whoever zooms in on a short path has its steps from the report.
 *
 *   pieces  |A user|A read|B disk|B user|C|B|C|A user        |
 *   hops    |A            |B            |B    |A             |   [row, begin, ns]
 *                                        C, B, C are narrow: of who had most, B
 *
 * The waits that it went through are told besides, each with the one around it: so the page knows
 * for whom a thread of the path did what it did.
 *
 *   through |      A waits in poll                    |          [row, begin, ns, leaf, resource,
 *           |      |B waits in read       |           |           place of the wait around, or -1]
 */
#include "page/page_path.h"

#include "page/page_cells.h"
#include "path/path.h"
#include "report/columns.h"

#define NARROW 2000        /* th of the window */
#define MIXED 8            /* threads of a merged hop that are told apart */
#define PIECES_MAX 400     /* of a sentence, the first; neighbours are merged */
#define THROUGH_MAX 3000   /* waits that the path went through; of more, the longest */

struct hop {
	uint32_t thread;
	int64_t begin, end;
};

/* Narrow hops in a row: who had how much of them. */
struct mixed {
	int64_t begin, end;
	struct {
		uint32_t thread;
		int64_t ns;
	} of[MIXED];
	guint count;
};

static GArray *hops_new(const GArray *pieces)
{
	GArray *hops = g_array_new(FALSE, FALSE, sizeof(struct hop));

	for (guint i = 0; i < pieces->len; i++) {
		const struct piece *piece = &g_array_index(pieces, struct piece, i);
		struct hop hop = {piece->thread, piece->begin, piece->end};
		struct hop *last =
			hops->len ? &g_array_index(hops, struct hop, hops->len - 1) : NULL;

		if (last && last->thread == hop.thread && last->end == hop.begin)
			last->end = hop.end;
		else if (hop.begin < hop.end)
			g_array_append_val(hops, hop);
	}
	return hops;
}

static void mixed_add(struct mixed *mixed, const struct hop *hop)
{
	guint i = 0;

	if (mixed->begin == mixed->end)
		*mixed = (struct mixed) {.begin = hop->begin};
	mixed->end = hop->end;
	while (i < mixed->count && mixed->of[i].thread != hop->thread)
		i++;
	if (i == MIXED)
		return;
	if (i == mixed->count)
		mixed->of[mixed->count++].thread = hop->thread;
	mixed->of[i].ns += hop->end - hop->begin;
}

static void append_hop(GArray *hops, const struct hop *hop)
{
	struct hop *last = hops->len ? &g_array_index(hops, struct hop, hops->len - 1) : NULL;

	if (last && last->thread == hop->thread && last->end == hop->begin)
		last->end = hop->end;
	else
		g_array_append_vals(hops, hop, 1);
}

static void mixed_end(struct mixed *mixed, GArray *hops)
{
	guint most = 0;

	if (mixed->begin == mixed->end)
		return;
	for (guint i = 1; i < mixed->count; i++)
		if (mixed->of[i].ns > mixed->of[most].ns)
			most = i;
	append_hop(hops, &(struct hop) {mixed->of[most].thread, mixed->begin, mixed->end});
	*mixed = (struct mixed) {0};
}

static GArray *wide_hops(const GArray *hops, int64_t narrow)
{
	GArray *wide = g_array_new(FALSE, FALSE, sizeof(struct hop));
	struct mixed mixed = {0};

	for (guint i = 0; i < hops->len; i++) {
		const struct hop *hop = &g_array_index(hops, struct hop, i);

		if (hop->end - hop->begin >= narrow) {
			mixed_end(&mixed, wide);
			append_hop(wide, hop);
			continue;
		}
		mixed_add(&mixed, hop);
		if (mixed.end - mixed.begin >= narrow)
			mixed_end(&mixed, wide);
	}
	mixed_end(&mixed, wide);
	return wide;
}

static void put_hop(const struct page_rows *rows, const struct hop *hop, struct output *output)
{
	guint row = page_row_number(rows, hop->thread);

	if (!row)
		return;
	json_begin(output, NULL, '[', LINES_NOT);
	json_put_whole(output, NULL, row - 1);
	json_put_whole(output, NULL, hop->begin - rows->session->asked.from);
	json_put_whole(output, NULL, hop->end - hop->begin);
	json_end(output, ']');
}

static void put_hops(const struct page_rows *rows, const GArray *pieces, struct output *output)
{
	const struct session *session = rows->session;
	g_autoptr(GArray) hops = hops_new(pieces);
	g_autoptr(GArray)
		wide = wide_hops(hops, (session->asked.to - session->asked.from) / NARROW);

	json_begin(output, "path", '[', LINES_NOT);
	for (guint i = 0; i < wide->len; i++)
		put_hop(rows, &g_array_index(wide, struct hop, i), output);
	json_end(output, ']');
}

static int longest_through(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct through *x =
		&g_array_index((const GArray *) data, struct through, *(const guint *) a);
	const struct through *y =
		&g_array_index((const GArray *) data, struct through, *(const guint *) b);
	int64_t ns_x = x->end - x->begin, ns_y = y->end - y->begin;

	return ns_x != ns_y                              ? (ns_x > ns_y ? -1 : 1)
	       : *(const guint *) a < *(const guint *) b ? -1
							 : 1;
}

/* Of each wait its place in what is written, -1: left out. Who is left out is so with all in it,
 * which are shorter. */
static int32_t *places_of_waits(const GArray *waits)
{
	g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(guint));
	int32_t *places = g_new(int32_t, waits->len + 1), count = 0;

	for (guint i = 0; i < waits->len; i++) {
		g_array_append_val(order, i);
		places[i] = -1;
	}
	g_array_sort_with_data(order, longest_through, (gpointer) waits);
	for (guint i = 0; i < order->len && i < THROUGH_MAX; i++)
		places[g_array_index(order, guint, i)] = 0;
	for (guint i = 0; i < waits->len; i++)
		places[i] = places[i] ? -1 : count++;
	return places;
}

static void put_through(struct packer *packer, const struct through *wait, int32_t around,
			struct output *output)
{
	const struct page_rows *rows = packer->rows;
	const struct session *session = rows->session;
	uint32_t resource = wait->block ? block_waits_for(session, wait->block) : 0;

	json_begin(output, NULL, '[', LINES_NOT);
	json_put_whole(output, NULL, (int64_t) page_row_number(rows, wait->thread) - 1);
	json_put_whole(output, NULL, wait->begin - session->asked.from);
	json_put_whole(output, NULL, wait->end - wait->begin);
	json_put_whole(output, NULL,
		       packer_leaf(packer, &(struct page_leaf) {wait->leaf, CLASS_BLOCKED}));
	json_put_whole(output, NULL,
		       resource ? text_number(packer, session_text(session, resource)) : 0);
	json_put_whole(output, NULL, around);
	json_end(output, ']');
}

static void put_waits(struct packer *packer, const GArray *waits, struct output *output)
{
	g_autofree int32_t *places = places_of_waits(waits);

	json_begin(output, "through", '[', LINES_NOT);
	for (guint i = 0; i < waits->len; i++) {
		const struct through *wait = &g_array_index(waits, struct through, i);

		if (places[i] >= 0)
			put_through(packer, wait, wait->behalf < 0 ? -1 : places[wait->behalf],
				    output);
	}
	json_end(output, ']');
}

/* The pieces that sentence number `sentence` counts, neighbours merged. */
static void put_sentence(const struct page_rows *rows, const GArray *counts, guint sentence,
			 struct output *output)
{
	struct hop hop = {.thread = NO_THREAD};
	guint count = 0;

	json_begin(output, NULL, '[', LINES_NOT);
	for (guint i = 0; i < counts->len && count < PIECES_MAX; i++) {
		const struct counted *one = &g_array_index(counts, struct counted, i);

		if (one->sentence != sentence)
			continue;
		if (hop.thread == one->thread && hop.end == one->begin) {
			hop.end = one->end;
			continue;
		}
		if (hop.thread != NO_THREAD && ++count)
			put_hop(rows, &hop, output);
		hop = (struct hop) {one->thread, one->begin, one->end};
	}
	if (hop.thread != NO_THREAD)
		put_hop(rows, &hop, output);
	json_end(output, ']');
}

static guint sentences_of(const GArray *counts)
{
	guint sentences = 0;

	for (guint i = 0; i < counts->len; i++)
		sentences = MAX(sentences, g_array_index(counts, struct counted, i).sentence + 1);
	return sentences;
}

void page_path_rows(struct page_rows *rows, const struct page_parts *parts)
{
	for (guint i = 0; parts->path && i < parts->path->pieces->len; i++)
		page_rows_add(rows, g_array_index(parts->path->pieces, struct piece, i).thread);
	for (guint i = 0; parts->path && i < parts->path->waits->len; i++)
		page_rows_add(rows, g_array_index(parts->path->waits, struct through, i).thread);
}

void page_path(struct packer *packer, const struct page_parts *parts, struct output *output)
{
	const struct page_rows *rows = packer->rows;
	guint sentences = parts->counts ? sentences_of(parts->counts) : 0;

	if (parts->path) {
		put_hops(rows, parts->path->pieces, output);
		put_waits(packer, parts->path->waits, output);
	}
	if (!sentences)
		return;
	json_begin(output, "sentences", '[', LINES_BETWEEN);
	for (guint i = 0; i < sentences; i++)
		put_sentence(rows, parts->counts, i, output);
	json_end(output, ']');
}
