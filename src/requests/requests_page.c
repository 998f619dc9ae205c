/* SPDX-License-Identifier: MIT */
/* See requests_page.h. Besides the report's JSON the page has:
 *
 *   kinds       names of the causes' kinds, and how much of each there is
 *   points      [id, begin, ns, [kind, value, …]] of each request that is drawn; the slowest
 *               COSTS_OF_PAGE have their causes by kind
 *   points_left how many are not drawn: of more than POINTS_MAX, faster ones, evenly
 *   waterfalls  [id, [row, begin, ns, kind, text]…] of the slowest: their ways, step by step
 *   ways        the lattice of ways, with so few nodes that it can be drawn
 */
#include "requests/requests_page.h"

#include <string.h>

#include "page/page.h"
#include "page/page_cells.h"
#include "requests/lattice.h"
#include "run/command.h"

#define POINTS_MAX 6000
#define WATERFALLS_MAX 20
#define WATERFALL_STEPS 600  /* of one: of more, the longest */
#define LONGEST_DRAWN 7     /* nodes on a way of the drawing */

struct drawn {
	const struct requests_report *made;
	GArray *order;       /* guint: places in `listed`, the slowest first */
	GPtrArray *kinds;    /* static strings, in order of being met */
	GPtrArray *waterfalls; /* GArray of struct step, of the first of `order` */
};

static guint kind_number(struct drawn *drawn, const char *kind)
{
	for (guint i = 0; i < drawn->kinds->len; i++)
		if (strcmp(g_ptr_array_index(drawn->kinds, i), kind) == 0)
			return i;
	g_ptr_array_add(drawn->kinds, (gpointer) kind);
	return drawn->kinds->len - 1;
}

static void find_kinds(struct drawn *drawn)
{
	const GArray *causes = drawn->made->costs->causes; /* largest first */

	for (guint i = 0; i < causes->len; i++)
		kind_number(drawn, g_array_index(causes, struct user_cause, i).kind);
}

/* --- points ------------------------------------------------------------------------------- */

static void put_kinds(struct drawn *drawn, guint listed, struct output *output)
{
	const struct costs *costs = drawn->made->costs;
	g_autofree int64_t *sums = g_new0(int64_t, drawn->kinds->len + 1);
	guint first, end;

	costs_of(costs, listed, &first, &end);
	for (guint i = first; i < end; i++) {
		const struct cost *cost = &g_array_index(costs->costs, struct cost, i);

		sums[kind_number(drawn, g_array_index(costs->causes, struct user_cause, cost->cause)
						.kind)] += cost->value;
	}
	json_begin(output, NULL, '[', LINES_NOT);
	for (guint i = 0; i < drawn->kinds->len; i++)
		if (sums[i]) {
			json_put_whole(output, NULL, i);
			json_put_whole(output, NULL, sums[i]);
		}
	json_end(output, ']');
}

static void put_point(struct drawn *drawn, guint place, struct output *output)
{
	guint listed = g_array_index(drawn->order, guint, place);
	const struct user_request *request = listed_request(drawn->made->costs, listed);

	json_begin(output, NULL, '[', LINES_NOT);
	json_put_whole(output, NULL, request->id);
	json_put_whole(output, NULL, request->begin - drawn->made->requests->session->asked.from);
	json_put_whole(output, NULL, request->end - request->begin);
	if (place < COSTS_OF_PAGE)
		put_kinds(drawn, listed, output);
	json_end(output, ']');
}

/* The slowest, and of the others as many as there is room for, evenly. */
static void put_points(struct drawn *drawn, struct output *output)
{
	guint count = drawn->order->len, step = 1, left = 0;

	if (count > POINTS_MAX)
		step = (count - COSTS_OF_PAGE + POINTS_MAX - COSTS_OF_PAGE - 1) /
		       (POINTS_MAX - COSTS_OF_PAGE);
	json_begin(output, "points", '[', LINES_NOT);
	for (guint i = 0; i < count; i++)
		if (i < COSTS_OF_PAGE || (i - COSTS_OF_PAGE) % step == 0)
			put_point(drawn, i, output);
		else
			left++;
	json_end(output, ']');
	json_put_whole(output, "points_left", left);
}

/* --- waterfalls --------------------------------------------------------------------------- */

static int longest_step(gconstpointer a, gconstpointer b, gpointer data)
{
	const GArray *steps = data;
	const struct step *x = &g_array_index(steps, struct step, *(const guint *) a),
			  *y = &g_array_index(steps, struct step, *(const guint *) b);
	int64_t ns_x = x->end - x->begin, ns_y = y->end - y->begin;

	return ns_x != ns_y                              ? (ns_x > ns_y ? -1 : 1)
	       : *(const guint *) a < *(const guint *) b ? -1
							 : 1;
}

/* The longest, in order of time: the places of steps. */
static GArray *longest_steps(const GArray *steps)
{
	GArray *order = g_array_new(FALSE, FALSE, sizeof(guint));

	for (guint i = 0; i < steps->len; i++)
		g_array_append_val(order, i);
	if (order->len > WATERFALL_STEPS) {
		g_array_sort_with_data(order, longest_step, (gpointer) steps);
		g_array_set_size(order, WATERFALL_STEPS);
		g_array_sort(order, ascending);
	}
	return order;
}

static void put_step(struct drawn *drawn, struct packer *packer, const struct step *step,
		     struct output *output)
{
	json_begin(output, NULL, '[', LINES_NOT);
	json_put_whole(output, NULL, (int64_t) page_row_number(packer->rows, step->thread) - 1);
	json_put_whole(output, NULL, step->begin - packer->rows->session->asked.from);
	json_put_whole(output, NULL, step->end - step->begin);
	json_put_whole(output, NULL, kind_number(drawn, step->kind));
	json_put_whole(output, NULL, text_number(packer, step->label));
	json_end(output, ']');
}

static void put_waterfalls(struct drawn *drawn, struct packer *packer, struct output *output)
{
	json_begin(output, "waterfalls", '[', LINES_EACH);
	for (guint i = 0; i < drawn->waterfalls->len; i++) {
		const GArray *steps = g_ptr_array_index(drawn->waterfalls, i);
		g_autoptr(GArray) order = longest_steps(steps);
		guint listed = g_array_index(drawn->order, guint, i);

		json_begin(output, NULL, '[', LINES_NOT);
		json_put_whole(output, NULL, listed_request(drawn->made->costs, listed)->id);
		for (guint k = 0; k < order->len; k++)
			put_step(drawn, packer,
				 &g_array_index(steps, struct step, g_array_index(order, guint, k)),
				 output);
		json_end(output, ']');
	}
	json_end(output, ']');
}

/* The ways of the slowest; their threads get the first rows. */
static void find_waterfalls(struct drawn *drawn, struct page_rows *rows)
{
	const struct user_requests *requests = drawn->made->requests;
	guint limit = requests->session->asked.options->limit;
	guint count = MIN(drawn->order->len, limit ? MIN(limit, WATERFALLS_MAX) : WATERFALLS_MAX);

	requests_renew_effort(requests);
	for (guint i = 0; i < count && !session_interrupted(requests->session); i++) {
		const struct user_request *request =
			listed_request(drawn->made->costs, g_array_index(drawn->order, guint, i));
		GArray *steps = steps_new(drawn->made->costs, request);

		for (guint k = 0; k < steps->len; k++) {
			const struct step *step = &g_array_index(steps, struct step, k);

			page_rows_mention(rows, step->thread, step->begin, step->end);
		}
		g_ptr_array_add(drawn->waterfalls, steps);
	}
}

/* --- ways --------------------------------------------------------------------------------- */

static void put_lattice(const struct lattice *lattice, struct output *output)
{
	json_begin(output, "nodes", '[', LINES_NOT);
	for (guint i = 0; i < lattice->nodes->len; i++) {
		const struct lattice_node *node =
			&g_array_index(lattice->nodes, struct lattice_node, i);

		json_begin(output, NULL, '[', LINES_NOT);
		json_put_text(output, NULL, node->label);
		json_put_whole(output, NULL, node->requests);
		json_put_whole(output, NULL, node->ns);
		json_end(output, ']');
	}
	json_end(output, ']');
	json_begin(output, "edges", '[', LINES_NOT);
	for (guint i = 0; i < lattice->edges->len; i++) {
		const struct lattice_edge *edge =
			&g_array_index(lattice->edges, struct lattice_edge, i);

		json_begin(output, NULL, '[', LINES_NOT);
		json_put_whole(output, NULL, edge->from);
		json_put_whole(output, NULL, edge->to);
		json_put_whole(output, NULL, edge->requests);
		json_put_whole(output, NULL, edge->cost);
		json_end(output, ']');
	}
	json_end(output, ']');
}

static void put_ways(const struct costs *costs, struct output *output)
{
	struct lattice *lattice = lattice_new(costs, LONGEST_DRAWN);

	json_begin(output, "ways", '{', LINES_BETWEEN);
	json_put_whole(output, "merged", lattice->merged->len);
	put_lattice(lattice, output);
	json_end(output, '}');
	lattice_free(lattice);
}

/* --- the page ------------------------------------------------------------------------------ */

static void put_more(struct packer *packer, const void *data, struct output *output)
{
	struct drawn *drawn = (struct drawn *) data;
	const struct costs *costs = drawn->made->costs;

	put_points(drawn, output);
	put_waterfalls(drawn, packer, output);
	if (metric_of(costs) == METRIC_LATENCY && drawn->order->len)
		put_ways(costs, output);
	json_begin(output, "kinds", '[', LINES_NOT);
	for (guint i = 0; i < drawn->kinds->len; i++)
		json_put_text(output, NULL, g_ptr_array_index(drawn->kinds, i));
	json_end(output, ']');
}

static void steps_free(void *steps)
{
	g_array_free(steps, TRUE);
}

void requests_page(const struct requests_report *made, struct output *output)
{
	struct drawn drawn = {made,
			      requests_by_latency(made->requests, made->requests->listed, true),
			      g_ptr_array_new(), g_ptr_array_new_with_free_func(steps_free)};
	struct page page;

	page_begin(&page, made->requests->session, output);
	page.has_leads = true;
	find_kinds(&drawn);
	find_waterfalls(&drawn, &page.rows);
	requests_json(made, &page.json);
	page_end(&page, &(struct page_parts) {.more = put_more, .data = &drawn});
	g_ptr_array_free(drawn.waterfalls, TRUE);
	g_ptr_array_free(drawn.kinds, TRUE);
	g_array_free(drawn.order, TRUE);
}
