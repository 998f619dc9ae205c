/* SPDX-License-Identifier: MIT */
/* What a page has of --what-if: the recorded critical path and the re-timed one, to be drawn one
 * above the other, each from its own begin on, and their sums. Source: semantics.md, "What if".
 *
 *   pieces   |A user|A user|B disk    |A|B|A|B user      |   those of one thread, state and
 *   tiles    |A user       |B disk    |A    |B user      |   resource in a row are one; narrow
 *                                      A, B, A: of which most is, A
 *
 * Sums are of the pieces themselves. Rejected: drawing from the report's lists, of which a page
 * has no room for more than some thousand rows.
 */
#include "delay/delay.h"

#include "page/page_cells.h"
#include "whatif/new_path.h"

#define NARROW 1500 /* th of the longer path: narrower tiles in a row are told as one */
#define MIXED 8     /* tiles unlike each other in such a row that are told apart */
#define SUMS_MAX 16 /* sums that are told; the page says how much the rest is */

struct tile {
	uint32_t thread, leaf, resource;
	int64_t begin, end;
};

/* Of a thread's state on a resource, how much either path has. */
struct sum {
	struct tile of;
	int64_t recorded, retimed;
};

static bool is_alike(const struct tile *a, const struct tile *b)
{
	return a->thread == b->thread && a->leaf == b->leaf && a->resource == b->resource;
}

static void add_tile(GArray *tiles, const struct tile *tile)
{
	struct tile *last = tiles->len ? &g_array_index(tiles, struct tile, tiles->len - 1) : NULL;

	if (tile->begin >= tile->end)
		return;
	if (last && is_alike(last, tile) && last->end == tile->begin)
		last->end = tile->end;
	else
		g_array_append_vals(tiles, tile, 1);
}

static uint32_t resource_of(const struct session *session, uint32_t leaf, const struct block *block)
{
	return leaf_is_blocked(leaf) && block ? block_waits_for(session, block) : 0;
}

/* The recorded path, from what is re-timed on: a thread's life may begin behind the window's. */
static GArray *recorded_tiles(const struct delay *delay)
{
	const struct what_if *what_if = delay->what_if;
	GArray *tiles = g_array_new(FALSE, FALSE, sizeof(struct tile));

	for (guint i = 0; i < delay->path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(delay->path->pieces, struct piece, i);

		add_tile(tiles,
			 &(struct tile) {piece->thread, piece->leaf,
					 resource_of(delay->session, piece->leaf, piece->block),
					 MAX(piece->begin, what_if->recorded_begin),
					 MIN(piece->end, what_if->recorded_end)});
	}
	return tiles;
}

static GArray *retimed_tiles(const struct delay *delay)
{
	const GArray *path = delay->what_if->path;
	GArray *tiles = g_array_new(FALSE, FALSE, sizeof(struct tile));

	for (guint i = 0; i < path->len; i++) {
		const struct new_piece *piece = &g_array_index(path, struct new_piece, i);
		const struct block *block =
			leaf_is_blocked(piece->span.leaf)
				? block_at(&delay->session->trace.timeline, piece->span.ref)
				: NULL;

		add_tile(tiles,
			 &(struct tile) {piece->thread, piece->span.leaf,
					 resource_of(delay->session, piece->span.leaf, block),
					 piece->begin, piece->end});
	}
	return tiles;
}

/* --- narrow ones, as one ------------------------------------------------------------- */

struct mixed {
	struct tile of[MIXED]; /* each moved to where it would be, were it the first */
	guint count;
	int64_t begin, end;
};

static void mixed_add(struct mixed *mixed, const struct tile *tile)
{
	guint i = 0;

	if (!mixed->count)
		mixed->begin = tile->begin;
	mixed->end = tile->end;
	while (i < mixed->count && !is_alike(&mixed->of[i], tile))
		i++;
	if (i == mixed->count && i < MIXED)
		mixed->of[mixed->count++] = *tile;
	else if (i < MIXED)
		mixed->of[i].end += tile->end - tile->begin;
}

static void mixed_end(struct mixed *mixed, GArray *tiles)
{
	const struct tile *most = mixed->of;
	struct tile whole;

	if (!mixed->count)
		return;
	for (guint i = 1; i < mixed->count; i++)
		if (mixed->of[i].end - mixed->of[i].begin > most->end - most->begin)
			most = &mixed->of[i];
	whole = *most;
	whole.begin = mixed->begin;
	whole.end = mixed->end;
	add_tile(tiles, &whole);
	mixed->count = 0;
}

static GArray *wide_tiles(const GArray *tiles, int64_t narrow)
{
	GArray *wide = g_array_new(FALSE, FALSE, sizeof(struct tile));
	struct mixed mixed = {.count = 0};

	for (guint i = 0; i < tiles->len; i++) {
		const struct tile *tile = &g_array_index(tiles, struct tile, i);

		if (tile->end - tile->begin >= narrow) {
			mixed_end(&mixed, wide);
			add_tile(wide, tile);
			continue;
		}
		mixed_add(&mixed, tile);
		if (mixed.end - mixed.begin >= narrow)
			mixed_end(&mixed, wide);
	}
	mixed_end(&mixed, wide);
	return wide;
}

/* --- written ------------------------------------------------------------------------- */

/* Its row, or -1, state and resource, as the page numbers them. */
static void put_what(struct packer *packer, const struct tile *tile, struct output *output)
{
	const struct session *session = packer->rows->session;
	const struct page_leaf leaf = {tile->leaf, leaf_class(tile->leaf)};

	json_put_whole(output, NULL, (int64_t) page_row_number(packer->rows, tile->thread) - 1);
	json_put_whole(output, NULL, packer_leaf(packer, &leaf));
	json_put_whole(output, NULL,
		       tile->resource ? text_number(packer, session_text(session, tile->resource))
				      : 0);
}

static void put_tiles(struct packer *packer, const char *key, const GArray *tiles, int64_t begin,
		      int64_t narrow, struct output *output)
{
	g_autoptr(GArray) wide = wide_tiles(tiles, narrow);

	json_begin(output, key, '[', LINES_NOT);
	for (guint i = 0; i < wide->len; i++) {
		const struct tile *tile = &g_array_index(wide, struct tile, i);

		json_begin(output, NULL, '[', LINES_NOT);
		put_what(packer, tile, output);
		json_put_whole(output, NULL, tile->begin - begin);
		json_put_whole(output, NULL, tile->end - tile->begin);
		json_end(output, ']');
	}
	json_end(output, ']');
}

static guint sum_hash(gconstpointer key)
{
	const struct sum *sum = key;

	return sum->of.thread * 2654435761u ^ sum->of.leaf * 40503u ^ sum->of.resource;
}

static gboolean sum_equal(gconstpointer a, gconstpointer b)
{
	return is_alike(&((const struct sum *) a)->of, &((const struct sum *) b)->of);
}

static void add_sums(GHashTable *sums, const GArray *tiles, bool retimed)
{
	for (guint i = 0; i < tiles->len; i++) {
		struct sum key = {.of = g_array_index(tiles, struct tile, i)};
		struct sum *sum = g_hash_table_lookup(sums, &key);

		if (!sum) {
			sum = g_memdup2(&key, sizeof key);
			g_hash_table_add(sums, sum);
		}
		*(retimed ? &sum->retimed : &sum->recorded) += key.of.end - key.of.begin;
	}
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct sum *x = *(struct sum *const *) a, *y = *(struct sum *const *) b;
	int64_t ns_x = MAX(x->recorded, x->retimed), ns_y = MAX(y->recorded, y->retimed);

	return ns_x != ns_y                   ? (ns_x > ns_y ? -1 : 1)
	       : x->of.thread != y->of.thread ? (x->of.thread < y->of.thread ? -1 : 1)
	       : x->of.leaf != y->of.leaf     ? (x->of.leaf < y->of.leaf ? -1 : 1)
					      : (int) (x->of.resource > y->of.resource) -
						    (int) (x->of.resource < y->of.resource);
}

static void put_sums(struct packer *packer, const GArray *recorded, const GArray *retimed,
		     struct output *output)
{
	g_autoptr(GHashTable) sums = g_hash_table_new_full(sum_hash, sum_equal, g_free, NULL);
	g_autoptr(GPtrArray) order = g_ptr_array_new();
	GHashTableIter iter;
	gpointer key;

	add_sums(sums, recorded, false);
	add_sums(sums, retimed, true);
	g_hash_table_iter_init(&iter, sums);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		g_ptr_array_add(order, key);
	g_ptr_array_sort(order, longest_first);
	json_begin(output, "sums", '[', LINES_NOT);
	for (guint i = 0; i < order->len && i < SUMS_MAX; i++) {
		const struct sum *sum = g_ptr_array_index(order, i);

		json_begin(output, NULL, '[', LINES_NOT);
		put_what(packer, &sum->of, output);
		json_put_whole(output, NULL, sum->recorded);
		json_put_whole(output, NULL, sum->retimed);
		json_end(output, ']');
	}
	json_end(output, ']');
}

void delay_page_rows(const struct delay *delay, struct page_rows *rows)
{
	for (guint i = 0; delay->what_if && i < delay->what_if->path->len; i++)
		page_rows_add(rows,
			      g_array_index(delay->what_if->path, struct new_piece, i).thread);
}

void delay_page_what_if(struct packer *packer, const void *data, struct output *output)
{
	const struct delay *delay = data;
	const struct what_if *what_if = delay->what_if;
	g_autoptr(GArray) recorded = NULL, retimed = NULL;
	int64_t narrow;

	if (!what_if)
		return;
	recorded = recorded_tiles(delay);
	retimed = retimed_tiles(delay);
	narrow = MAX(what_if->recorded_end - what_if->recorded_begin,
		     what_if->time - what_if->begin) /
		 NARROW;
	json_begin(output, "what_if", '{', LINES_NOT);
	put_tiles(packer, "recorded", recorded, what_if->recorded_begin, narrow, output);
	put_tiles(packer, "retimed", retimed, what_if->begin, narrow, output);
	put_sums(packer, recorded, retimed, output);
	json_end(output, '}');
}
