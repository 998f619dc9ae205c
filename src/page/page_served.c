/* SPDX-License-Identifier: MIT */
/* See page_served.h. Steps are told one after the other, each as LEB128: its ns, then its thread's
 * number + 1, 0: nobody's.
 */
#include "page/page_served.h"

#include "page/page.h"
#include "page/page_cells.h"
#include "path/path.h"
#include "report/report.h"

#define RESOURCES_MAX 64  /* of lanes: a page has the LANES_MAX of its window */
#define PARTS_MAX 16384   /* of a row, as far as its states are merged */

void page_rows_shown(struct page_rows *rows, const struct session *session,
		     const struct shown_part *part)
{
	page_rows_init(rows, session);
	rows->from = part->base;
	rows->to = part->end;
	if (part->threads)
		g_array_append_vals(rows->threads, part->threads->data, part->threads->len);
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		g_hash_table_insert(rows->numbers, GUINT_TO_POINTER(i), GUINT_TO_POINTER(i + 1));
}

void page_states(const struct session *session, const struct shown_part *part,
		 struct output *output)
{
	int64_t tolerance = MAX(part->tolerance, (part->to - part->from) / PARTS_MAX);
	struct page_rows rows;
	struct packer packer;

	page_rows_shown(&rows, session, part);
	packer_init(&packer, &rows);
	json_put_whole(output, "tolerance_ns", tolerance);
	write_cells(&packer, part->from, part->to, tolerance, output);
	write_texts(&packer, output);
	packer_clear(&packer);
	page_rows_clear(&rows);
}

void page_lanes(const struct session *session, const struct shown_part *part, struct output *output)
{
	struct page_rows rows;
	struct packer packer;

	page_rows_shown(&rows, session, part);
	packer_init(&packer, &rows);
	packer.lanes.from = part->from;
	packer.lanes.to = part->to;
	add_waits(&packer, part->from, part->to);
	lanes_write(&packer.lanes, RESOURCES_MAX, output);
	packer_clear(&packer);
	page_rows_clear(&rows);
}

void page_steps(const struct session *session, const struct shown_part *part, uint32_t thread,
		struct output *output)
{
	struct path *path = path_new(session, thread, part->base, part->end);
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	g_autofree char *text = NULL;
	int64_t at = part->base;

	for (guint i = 0; i < path->pieces->len;) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i++);
		int64_t end = piece->end;

		for (; i < path->pieces->len; i++) { /* neighbours of one thread are one step */
			const struct piece *next = &g_array_index(path->pieces, struct piece, i);

			if (next->thread != piece->thread || next->begin != end)
				break;
			end = next->end;
		}
		if (piece->begin > at) {
			pack_number(bytes, (uint64_t) (piece->begin - at));
			pack_number(bytes, 0);
		}
		pack_number(bytes, (uint64_t) (end - piece->begin));
		pack_number(bytes, is_thread(piece->thread) ? (uint64_t) piece->thread + 1 : 0);
		at = end;
	}
	text = g_base64_encode(bytes->data, bytes->len);
	json_put_text(output, "steps", text);
	path_free(path);
}

/* --- the whole trace ------------------------------------------------------------------------- */

struct size {
	uint32_t thread, chunks;
};

static int largest(gconstpointer a, gconstpointer b)
{
	const struct size *x = a, *y = b;

	if (x->chunks != y->chunks)
		return x->chunks > y->chunks ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* Those whose states changed most often come first. */
static void add_rows(struct page_rows *rows)
{
	const struct model *model = &rows->session->trace.model;
	g_autoptr(GArray) sizes = g_array_new(FALSE, FALSE, sizeof(struct size));

	for (uint32_t i = 0; i < model->thread_count; i++) {
		struct size size = {i, model_thread(model, i)->track.chunks.count};

		if (!track_empty(&model_thread(model, i)->track))
			g_array_append_val(sizes, size);
	}
	g_array_sort(sizes, largest);
	for (guint i = 0; i < sizes->len; i++)
		page_rows_add(rows, g_array_index(sizes, struct size, i).thread);
}

void page_trace(const struct session *session, struct output *output)
{
	struct report report = {session, NULL, NULL};
	struct page page;

	page_begin(&page, session, output);
	report.output = &page.json;
	json_report(&report, "whylate-trace-1", report_head, session);
	page.has_leads = true;
	add_rows(&page.rows);
	page_end(&page, &(struct page_parts) {0});
}
