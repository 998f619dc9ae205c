/* SPDX-License-Identifier: MIT */
/* `functions` as a page for browsers. Besides the report's JSON it has the calls over time, as
 * nested rectangles (the picture of spTracer): of all threads the CALLS_MAX longest. A call is at
 * least as long as what it calls, so none is there without those around it.
 *
 *   calls   [row, depth, begin, ns, 0 program | 1 kernel | 2 interrupt, text]
 */
#include "functions/call_timeline.h"
#include "functions/functions_report.h"
#include "page/page.h"
#include "page/page_cells.h"

#define CALLS_MAX 5000
#define TOGETHER (CALLS_MAX * 8) /* so many are gathered until the shorter ones go */

struct drawn_call {
	guint row;
	struct rectangle rectangle;
};

struct drawn_calls {
	const struct functions *functions; /* borrowed */
	GArray *list;    /* struct drawn_call */
	uint64_t omitted;
};

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct drawn_call *x = a, *y = b;
	int64_t ns_x = x->rectangle.end - x->rectangle.begin,
		ns_y = y->rectangle.end - y->rectangle.begin;

	if (ns_x != ns_y)
		return ns_x > ns_y ? -1 : 1;
	if (x->rectangle.depth != y->rectangle.depth)
		return x->rectangle.depth < y->rectangle.depth ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->rectangle.begin < y->rectangle.begin ? -1
						       : x->rectangle.begin > y->rectangle.begin;
}

static void keep_longest(struct drawn_calls *calls, guint most)
{
	if (calls->list->len <= most)
		return;
	g_array_sort(calls->list, longest_first);
	calls->omitted += calls->list->len - CALLS_MAX;
	g_array_set_size(calls->list, CALLS_MAX);
}

static void add_thread(struct drawn_calls *calls, guint row, uint32_t thread)
{
	g_autoptr(GArray) list = call_timeline_new(calls->functions->tree, thread);

	for (guint i = 0; i < list->len; i++) {
		struct drawn_call call = {row, g_array_index(list, struct rectangle, i)};

		if (rectangle_is_call(&call.rectangle))
			g_array_append_val(calls->list, call);
	}
	keep_longest(calls, TOGETHER);
	call_tree_let_go(calls->functions->tree, NO_THREAD);
}

static void each_thread(const struct functions *functions,
			void (*visit)(uint32_t thread, void *data), void *data)
{
	const GPtrArray *all = functions->tree->threads;

	for (guint i = 0; i < all->len; i++) {
		const GArray *threads = g_ptr_array_index(all, i);

		for (guint k = 0; threads && k < threads->len; k++)
			visit(g_array_index(threads, uint32_t, k), data);
	}
}

struct adding {
	struct drawn_calls *calls;
	const struct page_rows *rows;
};

static void add_if_drawn(uint32_t thread, void *data)
{
	const struct adding *adding = data;
	guint row = page_row_number(adding->rows, thread);

	if (row && !session_interrupted(adding->rows->session))
		add_thread(adding->calls, row - 1, thread);
}

static void add_row(uint32_t thread, void *rows)
{
	page_rows_add(rows, thread);
}

static int in_order(gconstpointer a, gconstpointer b)
{
	const struct drawn_call *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->rectangle.begin != y->rectangle.begin)
		return x->rectangle.begin < y->rectangle.begin ? -1 : 1;
	return x->rectangle.depth < y->rectangle.depth ? -1
						       : x->rectangle.depth > y->rectangle.depth;
}

static void put_call(struct packer *packer, const struct drawn_call *call, struct output *output)
{
	const struct session *session = packer->rows->session;
	const struct rectangle *at = &call->rectangle;
	g_autofree char *name = frame_name(session, at->what);
	int64_t begin = MAX(at->begin, session->asked.from), end = MIN(at->end, session->asked.to);
	bool program = PACK_KIND(at->what) == OPERATION_USER;

	json_begin(output, NULL, '[', LINES_NOT);
	json_put_whole(output, NULL, call->row);
	json_put_whole(output, NULL, at->depth);
	json_put_whole(output, NULL, begin - session->asked.from);
	json_put_whole(output, NULL, end - begin);
	json_put_whole(output, NULL, at->kind == RECTANGLE_INTERRUPT ? 2 : program ? 0 : 1);
	json_put_whole(output, NULL, text_number(packer, name));
	json_end(output, ']');
}

static void put_more(struct packer *packer, const void *data, struct output *output)
{
	struct drawn_calls calls = {data, g_array_new(FALSE, FALSE, sizeof(struct drawn_call)), 0};

	each_thread(calls.functions, add_if_drawn, &(struct adding) {&calls, packer->rows});
	keep_longest(&calls, CALLS_MAX);
	g_array_sort(calls.list, in_order);
	json_begin(output, "calls", '[', LINES_NOT);
	for (guint i = 0; i < calls.list->len; i++)
		put_call(packer, &g_array_index(calls.list, struct drawn_call, i), output);
	json_end(output, ']');
	json_put_whole(output, "calls_left", (int64_t) calls.omitted);
	g_array_free(calls.list, TRUE);
}

void functions_page(const struct functions_report *made, struct output *output)
{
	struct page page;

	page_begin(&page, made->functions->session, output);
	page.has_leads = true;
	each_thread(made->functions, add_row, &page.rows);
	functions_json(made, &page.json);
	page_end(&page, &(struct page_parts) {.more = put_more, .data = made->functions});
}
