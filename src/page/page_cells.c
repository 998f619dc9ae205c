/* SPDX-License-Identifier: MIT */
/* Packing cells; see page_cells.h. Cells come from levels.h, all levels from one pass over a
 * thread's states: each is made of the cells of the next finer one.
 * A level that would be larger than LEVEL_BYTES is left out, and so are all finer ones; the page
 * then has exact states only where the report speaks of (struct mention).
 */
#include "page/page_cells.h"

#include <inttypes.h>

#include "imposed/waiting.h"
#include "page/levels.h"

#define LEVELS 16
#define LEVEL_BYTES (360u << 10)   /* of the finest level at most; coarser ones are smaller */
#define SERVED_BYTES (640u << 10) /* … of a page that is served: half of a window needs no answer */
#define MENTION_BYTES (200u << 10) /* exact states around what the report speaks of */
#define MENTION_CELLS 3000 /* … of one thread in one of them */
#define MENTIONS_MAX 400
#define COARSE_CELLS 40000 /* of all rows, in the coarsest level, if all is merged */
#define FINER 4 /* each level than the one before */

struct level {
	struct packer *packer;
	struct level *coarser; /* borrowed; made of this one's cells; NULL */
	struct merger merger;
	GByteArray *bytes; /* NULL: given up */
	GArray *rows; /* gsize: where each row begins */
	uint64_t cells, merged;
	gsize limit; /* bytes; more: given up */
};

void packer_init(struct packer *packer, const struct page_rows *rows)
{
	*packer = (struct packer) {.rows = rows};
	idmap_init(&packer->leaves);
	packer->texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	lanes_init(&packer->lanes, rows);
	packer->tracers = session_tracers(rows->session);
	packer->strings = g_ptr_array_new();
	packer->leaf_list = g_array_new(FALSE, FALSE, sizeof(struct page_leaf));
	text_number(packer, "");
}

void packer_clear(struct packer *packer)
{
	idmap_clear(&packer->leaves);
	lanes_clear(&packer->lanes);
	g_free(packer->tracers);
	g_ptr_array_free(packer->strings, TRUE);
	g_hash_table_destroy(packer->texts);
	g_array_free(packer->leaf_list, TRUE);
}

/* --- numbers and texts ------------------------------------------------------ */

void pack_number(GByteArray *bytes, uint64_t number)
{
	guint8 byte;

	do {
		byte = (guint8) (number & 0x7f);
		number >>= 7;
		if (number)
			byte |= 0x80;
		g_byte_array_append(bytes, &byte, 1);
	} while (number);
}

guint text_number(struct packer *packer, const char *text)
{
	gpointer number;
	char *copy;

	if (g_hash_table_lookup_extended(packer->texts, text, NULL, &number))
		return GPOINTER_TO_UINT(number);
	copy = g_strdup(text);
	g_hash_table_insert(packer->texts, copy, GUINT_TO_POINTER(packer->strings->len));
	g_ptr_array_add(packer->strings, copy);
	return packer->strings->len - 1;
}

guint packer_leaf(struct packer *packer, const struct page_leaf *leaf)
{
	uint64_t key = (uint64_t) leaf->leaf * CLASS_COUNT + (uint64_t) leaf->class;
	uint32_t number = idmap_get(&packer->leaves, key);

	if (number != IDMAP_NONE)
		return number;
	number = packer->leaf_list->len;
	g_array_append_vals(packer->leaf_list, leaf, 1);
	idmap_set(&packer->leaves, key, number);
	return number;
}

/* --- how waits ended -------------------------------------------------------- */

static char *waker_text(const struct session *session, const struct block *block)
{
	g_autofree char *context = frame_text(session, block->context, false);
	const char *label = block->label ? session_text(session, block->label) : NULL;

	switch (block->kind) {
	case WAKER_NONE:
		return g_strdup("not woken");
	case WAKER_UNKNOWN:
		return g_strdup("woken by what is not known");
	case WAKER_THREAD:
		if (!is_thread(block->waker))
			return g_strdup("woken by a thread that is not known");
		return g_strdup_printf("woken by %s (%d) in %s%s%s",
				       session_thread_name(session, block->waker),
				       model_thread(&session->trace.model, block->waker)->tid,
				       context, label ? " on " : "", label ? label : "");
	default:
		return g_strdup_printf("woken in %s%s%s%s", context, label ? " [" : "",
				       label ? label : "", label ? "]" : "");
	}
}

void packer_find_ending(struct packer *packer, const struct cell *cell)
{
	const struct session *session = packer->rows->session;
	struct span span = {cell->begin, cell->end, cell->leaf, cell->ref};
	struct wait wait = wait_of(session, packer->thread, &span);
	struct ending *ending = &packer->ending;
	uint32_t resource = session_resource(session, wait.block);
	uint32_t waits_for = block_waits_for(session, wait.block);
	g_autofree char *waker = NULL;
	struct lead lead;

	wait_cut_at(&wait, session, packer->until);
	waker = wait.woken ? waker_text(session, wait.block) : g_strdup("not woken");
	if (wait.woken && waits_for && waits_for != resource) {
		char *text = g_strdup_printf("%s, for %s", waker, session_text(session, waits_for));

		g_free(waker);
		waker = text;
	}
	*ending = (struct ending) {.begin = cell->begin, .waker = text_number(packer, waker)};
	ending->resource = resource ? text_number(packer, session_text(session, resource)) : 0;
	if (!wait_lead(session, &wait, &lead))
		return;
	ending->row = page_row_number(packer->rows, lead.thread);
	ending->before = lead.handed_over ? MAX(cell->end - lead.until, 0) : 0;
}

/* Strong colours are for what others imposed: the rest of the waits are apart. */
enum state_class packer_class(const struct packer *packer, const struct span *span)
{
	const struct session *session = packer->rows->session;

	if (leaf_is_blocked(span->leaf) &&
	    (packer->tracers[packer->thread] ||
	     thread_is_kernel(&session->trace.model,
			      model_thread(&session->trace.model, packer->thread)) ||
	     !wait_is_imposed(session, packer->thread, span)))
		return CLASS_IDLE;
	return leaf_class(span->leaf);
}

/* --- cells ------------------------------------------------------------------ */

static void put_exact(struct packer *packer, const struct cell *cell, GByteArray *bytes)
{
	pack_number(bytes, (uint64_t) (cell->end - cell->begin) << 1);
	pack_number(bytes, packer_leaf(packer, &(struct page_leaf) {cell->leaf, cell->class}));
	if (!leaf_is_blocked(cell->leaf))
		return;
	if (packer->ending.begin != cell->begin)
		packer_find_ending(packer, cell);
	pack_number(bytes, packer->ending.resource);
	pack_number(bytes, packer->ending.waker);
	pack_number(bytes, packer->ending.row);
	if (packer->ending.row)
		pack_number(bytes, (uint64_t) packer->ending.before);
}

static void put_merged(const struct cell *cell, GByteArray *bytes)
{
	int64_t ns = cell->end - cell->begin;
	guint8 present = 0, share;
	int last = 0;

	pack_number(bytes, (uint64_t) ns << 1 | 1);
	pack_number(bytes, cell->intervals);
	for (int i = 0; i < CLASS_COUNT; i++)
		if (cell->by[i]) {
			present |= (guint8) (1u << i);
			last = i;
		}
	g_byte_array_append(bytes, &present, 1);
	for (int i = 0; i < last; i++) {
		if (!cell->by[i])
			continue;
		share = (guint8) ((double) cell->by[i] / (double) ns * 255 + 0.5);
		g_byte_array_append(bytes, &share, 1);
	}
}

static void put_cell(const struct cell *cell, void *data)
{
	struct level *level = data;

	if (level->coarser)
		merger_add_cell(&level->coarser->merger, cell);
	if (!level->bytes)
		return;
	if (cell->intervals == 1)
		put_exact(level->packer, cell, level->bytes);
	else
		put_merged(cell, level->bytes);
	level->cells++;
	level->merged += cell->intervals > 1;
	if (level->bytes->len > level->limit) {
		g_byte_array_free(level->bytes, TRUE);
		level->bytes = NULL;
	}
}

static void level_init(struct level *level, struct packer *packer, int64_t tolerance, gsize limit)
{
	*level = (struct level) {.packer = packer, .limit = limit};
	level->merger = (struct merger) {.tolerance = tolerance, .visit = put_cell, .data = level};
	level->bytes = g_byte_array_new();
	level->rows = g_array_new(FALSE, FALSE, sizeof(gsize));
}

static void level_clear(struct level *level)
{
	if (level->bytes)
		g_byte_array_free(level->bytes, TRUE);
	g_array_free(level->rows, TRUE);
}

/* --- the levels of all rows --------------------------------------------------- */

struct stretch row_stretch(const struct page_rows *rows, uint32_t thread)
{
	const struct thread *life = model_thread(&rows->session->trace.model, thread);

	return (struct stretch) {thread, MAX(life->begin, rows->from), MIN(life->end, rows->to)};
}

/* Of an imposed wait, or of a time ready without a CPU: an interned key, 0: not known. What the
 * wait's block request shows of its device's queue is added, too. */
static uint32_t waited_for(struct packer *packer, const struct span *span)
{
	const struct session *session = packer->rows->session;
	struct wait wait;

	if (!leaf_is_blocked(span->leaf))
		return intern_id(session->trace.model.names, "cpu:waiting");
	wait = wait_of(session, packer->thread, span);
	lanes_add_request(&packer->lanes, packer->thread, wait.block->detail);
	return block_waits_for(session, wait.block);
}

static void add_to_lanes(struct packer *packer, const struct span *span, enum state_class class)
{
	if (class == CLASS_BLOCKED || class == CLASS_READY)
		lanes_add(&packer->lanes, waited_for(packer, span), span->begin, span->end);
	else if (class == CLASS_INTERRUPT)
		lanes_add_interrupt(&packer->lanes, span->leaf, span->begin, span->end);
}

static void pack_row(struct packer *packer, const struct stretch *row, struct level *levels,
		     guint count)
{
	const struct session *session = packer->rows->session;
	struct level *finest = &levels[count - 1];
	struct spans spans;
	struct span span;

	packer->thread = row->thread;
	packer->until = row->end;
	packer->ending.begin = INT64_MIN;
	for (guint i = 0; i < count; i++) {
		gsize at = levels[i].bytes->len;

		g_array_append_val(levels[i].rows, at);
	}
	if (row->begin >= row->end)
		return;
	spans_begin(&spans, session, row->thread, row->begin, row->end);
	while (spans_next(&spans, &span)) {
		enum state_class class = packer_class(packer, &span);

		add_to_lanes(packer, &span, class);
		merger_add(&finest->merger, &span, class);
		while (!finest->bytes) /* given up, and nothing is left in it */
			finest = finest->coarser;
	}
	for (; finest; finest = finest->coarser)
		merger_end(&finest->merger);
}

static void put_base64(struct output *output, const char *key, const GByteArray *bytes)
{
	g_autofree char *text = g_base64_encode(bytes->data, bytes->len);

	json_put_text(output, key, text);
}

static void write_level(const struct level *level, struct output *output)
{
	json_begin(output, NULL, '{', LINES_BETWEEN);
	json_put_whole(output, "tolerance_ns", level->merger.tolerance);
	json_put_bool(output, "exact", !level->merged);
	json_put_whole(output, "cells", (int64_t) level->cells);
	json_begin(output, "rows", '[', LINES_NOT);
	for (guint i = 0; i < level->rows->len; i++)
		json_put_whole(output, NULL, (int64_t) g_array_index(level->rows, gsize, i));
	json_end(output, ']');
	put_base64(output, "data", level->bytes);
	json_end(output, '}');
}

/* A level with nearly as many cells as the next finer one says nothing that that does not. */
static bool is_of_use(const struct level *level, const struct level *finer)
{
	return !finer || !finer->bytes || level->cells * 5 < finer->cells * 4;
}

bool write_levels(struct packer *packer, struct output *output)
{
	const struct session *session = packer->rows->session;
	const GArray *threads = packer->rows->threads;
	struct level levels[LEVELS];
	int64_t tolerance =
		(session->asked.to - session->asked.from) / COARSE_CELLS * MAX(threads->len, 1);
	gsize limit = session->asked.options->served ? SERVED_BYTES : LEVEL_BYTES;
	guint count = 0, kept;
	bool exact;

	tolerance = MAX(tolerance, (session->asked.to - session->asked.from) / 1000);
	for (; count < LEVELS - 1 && tolerance > 0; tolerance /= FINER, count++)
		level_init(&levels[count], packer, tolerance, count ? limit : SIZE_MAX);
	level_init(&levels[count++], packer, 0, limit);
	for (guint i = 1; i < count; i++)
		levels[i].coarser = &levels[i - 1];
	for (guint i = 0; i < threads->len && !session_interrupted(session); i++) {
		struct stretch row = row_stretch(packer->rows, g_array_index(threads, uint32_t, i));

		/* coarse to fine: the first that is given up gives up all behind it */
		for (kept = 0; kept < count && levels[kept].bytes; kept++)
			;
		pack_row(packer, &row, levels, kept);
	}
	for (kept = 0; kept < count && levels[kept].bytes && (!kept || levels[kept - 1].merged);
	     kept++)
		;
	exact = !levels[kept - 1].merged;
	json_begin(output, "levels", '[', LINES_EACH);
	for (guint i = 0; i < kept; i++)
		if (is_of_use(&levels[i], i + 1 < kept ? &levels[i + 1] : NULL))
			write_level(&levels[i], output);
	json_end(output, ']');
	for (guint i = 0; i < count; i++)
		level_clear(&levels[i]);
	return exact;
}

/* --- what the report speaks of, exactly ---------------------------------------- */

/* Exact states of a mention and a little around it, up to a number of cells. They are whole
 * intervals: the first, which may have been cut, is left out. */
static void pack_mention(struct packer *packer, struct level *level, const struct mention *mention,
			 struct output *output, guint *count)
{
	const struct session *session = packer->rows->session;
	struct stretch row = row_stretch(packer->rows, mention->thread);
	int64_t around = (mention->end - mention->begin) / 4;
	int64_t begin = MAX(row.begin, mention->begin - around), done;
	uint64_t cells = level->cells;
	gsize at = level->bytes->len;
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, mention->thread, begin, row.end);
	if (begin > row.begin) {
		if (!spans_next(&spans, &span))
			return;
		begin = span.end;
	}
	done = begin;
	packer->thread = mention->thread;
	packer->until = row.end;
	packer->ending.begin = INT64_MIN;
	while (level->cells - cells < MENTION_CELLS && done < mention->end + around &&
	       spans_next(&spans, &span)) {
		merger_add(&level->merger, &span, packer_class(packer, &span));
		done = span.end;
	}
	if (done <= begin)
		return;
	json_begin(output, NULL, '[', LINES_NOT);
	json_put_whole(output, NULL, page_row_number(packer->rows, mention->thread) - 1);
	json_put_whole(output, NULL, begin - session->asked.from);
	json_put_whole(output, NULL, done - session->asked.from);
	json_put_whole(output, NULL, (int64_t) at);
	json_end(output, ']');
	++*count;
}

void write_mentions(struct packer *packer, struct output *output)
{
	const GArray *mentions = packer->rows->mentions;
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct level level;
	guint count = 0;

	level_init(&level, packer, 0, SIZE_MAX);
	json_begin(output, "exact", '{', LINES_BETWEEN);
	json_begin(output, "parts", '[', LINES_NOT);
	for (guint i = 0;
	     i < mentions->len && count < MENTIONS_MAX && level.bytes->len < MENTION_BYTES; i++) {
		const struct mention *mention = &g_array_index(mentions, struct mention, i);
		char *key = g_strdup_printf("%u %" PRId64 " %" PRId64, mention->thread,
					    mention->begin, mention->end);

		if (g_hash_table_add(seen, key) && page_row_number(packer->rows, mention->thread))
			pack_mention(packer, &level, mention, output, &count);
	}
	json_end(output, ']');
	put_base64(output, "data", level.bytes);
	json_end(output, '}');
	level_clear(&level);
}

/* --- what is shown of a trace that is served ------------------------------------------------- */

/* Places the spans at the one that holds `time`. */
static void spans_go_to(struct spans *spans, int64_t time)
{
	if (time > spans->from)
		track_find(&spans->session->trace.timeline, &spans->thread->track, time,
			   &spans->pos);
}

static void pack_cells(struct packer *packer, struct level *level, const struct stretch *row,
		       int64_t from, int64_t to, struct output *output)
{
	const struct session *session = packer->rows->session;
	gsize at = level->bytes->len;
	int64_t begin = INT64_MAX;
	struct spans spans;
	struct span span;

	packer->thread = row->thread;
	packer->until = row->end;
	packer->ending.begin = INT64_MIN;
	spans_begin(&spans, session, row->thread, row->begin, row->end);
	spans_go_to(&spans, from);
	while (spans_next(&spans, &span) && span.begin < to) {
		if (span.end <= from)
			continue;
		begin = MIN(begin, span.begin);
		merger_add(&level->merger, &span, packer_class(packer, &span));
	}
	merger_end(&level->merger);
	json_begin(output, NULL, '[', LINES_NOT);
	json_put_whole(output, NULL, row->thread);
	json_put_whole(output, NULL, begin == INT64_MAX ? 0 : begin - packer->rows->from);
	json_put_whole(output, NULL, (int64_t) at);
	json_end(output, ']');
}

void write_cells(struct packer *packer, int64_t from, int64_t to, int64_t tolerance,
		 struct output *output)
{
	const GArray *threads = packer->rows->threads;
	struct level level;

	level_init(&level, packer, tolerance, SIZE_MAX);
	json_begin(output, "rows", '[', LINES_NOT);
	for (guint i = 0; i < threads->len; i++) {
		struct stretch row = row_stretch(packer->rows, g_array_index(threads, uint32_t, i));

		if (row.begin >= to || row.end <= from || row.begin >= row.end)
			continue;
		pack_cells(packer, &level, &row, from, to, output);
		timeline_ease(&packer->rows->session->trace.timeline);
	}
	json_end(output, ']');
	put_base64(output, "data", level.bytes);
	level_clear(&level);
}

void add_waits(struct packer *packer, int64_t from, int64_t to)
{
	const GArray *threads = packer->rows->threads;

	for (guint i = 0; i < threads->len; i++) {
		struct stretch row = row_stretch(packer->rows, g_array_index(threads, uint32_t, i));
		struct spans spans;
		struct span span;

		if (row.begin >= to || row.end <= from || row.begin >= row.end)
			continue;
		packer->thread = row.thread;
		spans_begin(&spans, packer->rows->session, row.thread, row.begin, row.end);
		spans_go_to(&spans, from);
		while (spans_next(&spans, &span) && span.begin < to)
			add_to_lanes(packer, &span, packer_class(packer, &span));
		timeline_ease(&packer->rows->session->trace.timeline);
	}
}

/* --- texts ----------------------------------------------------------------------------------- */

static void put_leaves(const struct packer *packer, struct output *output)
{
	const struct session *session = packer->rows->session;

	json_begin(output, "leaves", '[', LINES_NOT);
	for (guint i = 0; i < packer->leaf_list->len; i++) {
		struct page_leaf at = g_array_index(packer->leaf_list, struct page_leaf, i);
		g_autofree char *key = leaf_key(session, at.leaf);
		g_autofree char *label = leaf_label(session, at.leaf);

		json_begin(output, NULL, '[', LINES_NOT);
		json_put_text(output, NULL, key);
		json_put_text(output, NULL, label);
		json_put_whole(output, NULL, at.class);
		json_end(output, ']');
	}
	json_end(output, ']');
}

static void put_strings(const struct packer *packer, struct output *output)
{
	json_begin(output, "strings", '[', LINES_NOT);
	for (guint i = 0; i < packer->strings->len; i++)
		json_put_text(output, NULL, g_ptr_array_index(packer->strings, i));
	json_end(output, ']');
}

void write_texts(const struct packer *packer, struct output *output)
{
	put_leaves(packer, output);
	put_strings(packer, output);
}
