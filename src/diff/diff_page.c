/* SPDX-License-Identifier: MIT */
/* `diff` as a page for browsers. Besides the report's JSON it has, of each side:
 *
 *   latencies   ns of its requests, ascending; of more than LATENCIES_MAX every n-th
 *   steps       of the request that is aligned: [begin, ns, kind, text, thread, place of the
 *               divergence that it is in, or -1]; or of the way to the target, without a
 *               divergence, short ones together
 */
#include <string.h>

#include "diff/diff_columns.h"
#include "page/levels.h"
#include "page/page.h"
#include "page/page_cells.h"
#include "path/path.h"

#define LATENCIES_MAX 3000
#define STEPS_MAX 500 /* of a side: of more, the longest */
#define NARROW 1000 /* th of the way to a target: what is shorter is drawn with its neighbours */

struct drawn_step {
	int64_t begin, ns;
	const char *kind; /* static: of a cause, or "state:CLASS" */
	guint text, thread;
	int divergence;
};

/* --- latencies ------------------------------------------------------------------------------ */

static int ascending_ns(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return x < y ? -1 : x > y;
}

static void put_latencies(const struct side *side, struct output *output)
{
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(int64_t));
	guint step;

	for (guint i = 0; side->costs && i < side->requests->listed->len; i++) {
		const struct user_request *request = listed_request(side->costs, i);
		int64_t ns = request->end - request->begin;

		g_array_append_val(all, ns);
	}
	g_array_sort(all, ascending_ns);
	step = MAX((all->len + LATENCIES_MAX - 1) / LATENCIES_MAX, 1);
	json_begin(output, "latencies", '[', LINES_NOT);
	for (guint i = 0; i < all->len; i += step)
		json_put_whole(output, NULL, g_array_index(all, int64_t, i));
	json_end(output, ']');
	json_put_whole(output, "latencies_step", step);
}

/* --- steps ---------------------------------------------------------------------------------- */

static int longest_drawn(gconstpointer a, gconstpointer b)
{
	const struct drawn_step *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_begin(gconstpointer a, gconstpointer b)
{
	const struct drawn_step *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void put_steps(GArray *steps, struct output *output)
{
	guint all = steps->len;

	if (steps->len > STEPS_MAX) {
		g_array_sort(steps, longest_drawn);
		g_array_set_size(steps, STEPS_MAX);
		g_array_sort(steps, by_begin);
	}
	json_begin(output, "steps", '[', LINES_NOT);
	for (guint i = 0; i < steps->len; i++) {
		const struct drawn_step *step = &g_array_index(steps, struct drawn_step, i);

		json_begin(output, NULL, '[', LINES_NOT);
		json_put_whole(output, NULL, step->begin);
		json_put_whole(output, NULL, step->ns);
		json_put_text(output, NULL, step->kind);
		json_put_whole(output, NULL, step->text);
		json_put_whole(output, NULL, step->thread);
		json_put_whole(output, NULL, step->divergence);
		json_end(output, ']');
	}
	json_end(output, ']');
	json_put_whole(output, "steps_left", all - steps->len);
}

static int divergence_of(const struct alignment *alignment, int side, guint place)
{
	for (guint i = 0; i < alignment->divergences->len; i++) {
		const struct divergence *at =
			&g_array_index(alignment->divergences, struct divergence, i);

		if (place >= at->from[side] && place < at->until[side])
			return (int) i;
	}
	return -1;
}

/* Of the aligned request. */
static void add_aligned(GArray *list, struct packer *packer, const struct diff *diff, int side)
{
	const GArray *steps = diff->alignment->steps[side];

	for (guint i = 0; i < steps->len; i++) {
		const struct step *step = &g_array_index(steps, struct step, i);
		int64_t base = g_array_index(steps, struct step, 0).begin;
		struct drawn_step drawn = {step->begin - base,
					   step->end - step->begin,
					   step->kind,
					   text_number(packer, step->label),
					   text_number(packer, step->name),
					   divergence_of(diff->alignment, side, i)};

		g_array_append_val(list, drawn);
	}
}

/* What is too short to be seen in a picture of the whole way, together: as what most of it was. */
struct mixed {
	int64_t begin, end;
	int64_t by[CLASS_COUNT];
};

static const char *state_kind(enum state_class class)
{
	static const char *const names[CLASS_COUNT] = {
		"state:user",    "state:syscall", "state:interrupt", "state:ready",
		"state:blocked", "state:unknown", "state:idle"};

	return names[class];
}

static void append_step(GArray *list, const struct drawn_step *step)
{
	struct drawn_step *last =
		list->len ? &g_array_index(list, struct drawn_step, list->len - 1) : NULL;

	if (last && last->thread == step->thread && last->text == step->text &&
	    strcmp(last->kind, step->kind) == 0 && last->begin + last->ns == step->begin)
		last->ns += step->ns;
	else
		g_array_append_vals(list, step, 1);
}

static void mixed_end(struct mixed *mixed, GArray *list, struct packer *packer)
{
	enum state_class most = CLASS_USER;

	if (mixed->begin == mixed->end)
		return;
	for (int i = 0; i < CLASS_COUNT; i++)
		if (mixed->by[i] > mixed->by[most])
			most = (enum state_class) i;
	append_step(list,
		    &(struct drawn_step) {mixed->begin, mixed->end - mixed->begin, state_kind(most),
					  text_number(packer, "short states"),
					  text_number(packer, "several"), -1});
	*mixed = (struct mixed) {0};
}

/* Of the way to the target: what follows in one thread in one state is one. */
static void add_way(GArray *list, struct packer *packer, const struct diff *diff,
		    const struct target *target, int side)
{
	const struct session *session = diff->sides[side].session;
	int64_t from = target->from[side], narrow = target_ns(target, side) / NARROW;
	struct path *path = path_new(session, target->thread[side], from, target->to[side]);
	struct mixed mixed = {0};

	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);
		enum state_class class = leaf_class(piece->leaf);

		if (piece->end - piece->begin >= narrow) {
			g_autofree char *label = leaf_label(session, piece->leaf);
			struct drawn_step step = {
				piece->begin - from,
				piece->end - piece->begin,
				state_kind(class),
				text_number(packer, label),
				text_number(packer, session_thread_name(session, piece->thread)),
				-1};

			mixed_end(&mixed, list, packer);
			append_step(list, &step);
			continue;
		}
		if (mixed.begin == mixed.end)
			mixed.begin = piece->begin - from;
		mixed.end = piece->end - from;
		mixed.by[class] += piece->end - piece->begin;
		if (mixed.end - mixed.begin >= narrow)
			mixed_end(&mixed, list, packer);
	}
	mixed_end(&mixed, list, packer);
	path_free(path);
}

static void put_side(struct packer *packer, const struct diff *diff, int side,
		     struct output *output)
{
	const struct target *target = diff->target ? diff->target : diff->most;
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(struct drawn_step));

	json_begin(output, NULL, '{', LINES_BETWEEN);
	put_latencies(&diff->sides[side], output);
	if (diff->alignment)
		add_aligned(steps, packer, diff, side);
	else if (target && is_thread(target->thread[side]))
		add_way(steps, packer, diff, target, side);
	put_steps(steps, output);
	json_end(output, '}');
}

static void put_more(struct packer *packer, const void *data, struct output *output)
{
	json_begin(output, "sides", '[', LINES_EACH);
	put_side(packer, data, 0, output);
	put_side(packer, data, 1, output);
	json_end(output, ']');
}

void diff_page(const struct diff *diff, struct output *output)
{
	struct page page;

	page_begin(&page, diff->sides[0].session, output);
	diff_json(diff, &page.json);
	page_end(&page, &(struct page_parts) {.more = put_more, .data = diff});
}
