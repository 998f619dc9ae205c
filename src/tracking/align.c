/* SPDX-License-Identifier: MIT */
/* Aligning two requests; see align.h. */
#include "tracking/align.h"

#include <string.h>

#define ALIGNED_MAX 3000 /* steps of a side: the square of it is a table of bits */

static void step_clear(gpointer data)
{
	g_free(((struct step *) data)->label);
}

static GArray *steps_empty(void)
{
	GArray *steps = g_array_new(FALSE, FALSE, sizeof(struct step));

	g_array_set_clear_func(steps, step_clear);
	return steps;
}

static void add_steps(GArray *steps, const struct costs *costs, const struct user_request *request,
		      const struct path *path, const struct piece *piece, GString *label)
{
	for (int64_t at = piece->begin, until; at < piece->end; at = until) {
		struct step *last =
			steps->len ? &g_array_index(steps, struct step, steps->len - 1) : NULL;
		enum user_change change;
		struct step step = {.thread = piece->thread,
				    .name = thread_names_get(costs->namer->names, piece->thread),
				    .begin = at};

		step.kind = piece_part_put_down_to(costs, request, path, piece, at, &until, label,
						   &change);
		step.end = until;
		if (last && last->thread == step.thread && strcmp(last->kind, step.kind) == 0 &&
		    strcmp(last->label, label->str) == 0) {
			last->end = step.end;
			continue;
		}
		step.label = g_strdup(label->str);
		g_array_append_val(steps, step);
	}
}

GArray *steps_new(const struct costs *costs, const struct user_request *request)
{
	struct path *path = user_request_path(costs->requests, request);
	GArray *steps = steps_empty();
	g_autoptr(GString) label = g_string_new(NULL);

	for (guint i = 0; i < path->pieces->len; i++)
		add_steps(steps, costs, request, path,
			  &g_array_index(path->pieces, struct piece, i), label);
	path_free(path);
	return steps;
}

/* Numbers that are equal where steps are the same. */
static uint32_t *keys_of(const GArray *steps, GHashTable *numbers)
{
	uint32_t *keys = g_new(uint32_t, steps->len + 1);

	for (guint i = 0; i < steps->len; i++) {
		const struct step *step = &g_array_index(steps, struct step, i);
		char *key = g_strdup_printf("%s\n%s\n%s", step->name, step->kind, step->label);
		guint number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, key));

		if (!number) {
			number = g_hash_table_size(numbers) + 1;
			g_hash_table_insert(numbers, key, GUINT_TO_POINTER(number));
		} else {
			g_free(key);
		}
		keys[i] = number;
	}
	return keys;
}

static int shortest_first(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return x < y ? -1 : x > y;
}

/* Where there are too many steps, the shortest ones are not aligned. */
static void leave_out_shortest(struct alignment *alignment, int side)
{
	GArray *steps = alignment->steps[side], *kept;
	g_autofree int64_t *lengths = NULL;
	int64_t least;

	if (steps->len <= ALIGNED_MAX)
		return;
	lengths = g_new(int64_t, steps->len);
	for (guint i = 0; i < steps->len; i++) {
		const struct step *step = &g_array_index(steps, struct step, i);

		lengths[i] = step->end - step->begin;
	}
	qsort(lengths, steps->len, sizeof *lengths, shortest_first);
	least = lengths[steps->len - ALIGNED_MAX];
	kept = steps_empty();
	for (guint i = 0; i < steps->len; i++) {
		struct step *step = &g_array_index(steps, struct step, i);

		if (step->end - step->begin < least || kept->len == ALIGNED_MAX) {
			alignment->left_out[side]++;
			alignment->left_out_ns[side] += step->end - step->begin;
			continue;
		}
		g_array_append_val(kept, *step);
		step->label = NULL;
	}
	g_array_free(steps, TRUE);
	alignment->steps[side] = kept;
}

static int64_t length_of(const GArray *steps, guint from, guint until)
{
	int64_t ns = 0;

	for (guint i = from; i < until; i++)
		ns += g_array_index(steps, struct step, i).end -
		      g_array_index(steps, struct step, i).begin;
	return ns;
}

static void add_divergence(struct alignment *alignment, const guint from[2], const guint until[2])
{
	struct divergence divergence = {{from[0], from[1]}, {until[0], until[1]}, {0, 0}, 0};

	if (from[0] == until[0] && from[1] == until[1])
		return;
	for (int side = 0; side < 2; side++)
		divergence.ns[side] = length_of(alignment->steps[side], from[side], until[side]);
	divergence.difference = divergence.ns[1] - divergence.ns[0];
	g_array_append_val(alignment->divergences, divergence);
}

/* The longest common subsequence, by lengths of the rests: where both directions are as
 * good, the first side goes on. */
static void align(struct alignment *alignment, const uint32_t *a, const uint32_t *b)
{
	guint n = alignment->steps[0]->len, m = alignment->steps[1]->len;
	g_autofree uint16_t *rest = g_new0(uint16_t, (gsize) (n + 1) * (m + 1));
	guint at[2] = {0, 0}, from[2] = {0, 0};

#define REST(i, j) rest[(gsize) (i) * (m + 1) + (j)]
	for (guint i = n; i-- > 0;)
		for (guint j = m; j-- > 0;)
			REST(i, j) = a[i] == b[j] ? (uint16_t) (REST(i + 1, j + 1) + 1)
						  : MAX(REST(i + 1, j), REST(i, j + 1));
	while (at[0] < n && at[1] < m) {
		if (a[at[0]] == b[at[1]]) {
			add_divergence(alignment, from, at);
			alignment->matched++;
			for (int side = 0; side < 2; side++) {
				alignment->matched_ns[side] +=
					length_of(alignment->steps[side], at[side], at[side] + 1);
				from[side] = ++at[side];
			}
		} else if (REST(at[0] + 1, at[1]) >= REST(at[0], at[1] + 1)) {
			at[0]++;
		} else {
			at[1]++;
		}
	}
#undef REST
	at[0] = n;
	at[1] = m;
	add_divergence(alignment, from, at);
}

static int largest_first(gconstpointer a, gconstpointer b)
{
	const struct divergence *x = a, *y = b;
	int64_t size_x = ABS(x->difference), size_y = ABS(y->difference);

	if (size_x != size_y)
		return size_x > size_y ? -1 : 1;
	return x->from[0] < y->from[0] ? -1 : x->from[0] > y->from[0];
}

struct alignment *alignment_new(const struct costs *a, const struct user_request *request_a,
				const struct costs *b, const struct user_request *request_b)
{
	struct alignment *alignment = g_new0(struct alignment, 1);
	g_autoptr(GHashTable)
		numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autofree uint32_t *keys_a = NULL, *keys_b = NULL;

	requests_renew_effort(a->requests);
	requests_renew_effort(b->requests);
	alignment->steps[0] = steps_new(a, request_a);
	alignment->steps[1] = steps_new(b, request_b);
	alignment->divergences = g_array_new(FALSE, FALSE, sizeof(struct divergence));
	leave_out_shortest(alignment, 0);
	leave_out_shortest(alignment, 1);
	keys_a = keys_of(alignment->steps[0], numbers);
	keys_b = keys_of(alignment->steps[1], numbers);
	align(alignment, keys_a, keys_b);
	g_array_sort(alignment->divergences, largest_first);
	return alignment;
}

void alignment_free(struct alignment *alignment)
{
	if (!alignment)
		return;
	g_array_free(alignment->steps[0], TRUE);
	g_array_free(alignment->steps[1], TRUE);
	g_array_free(alignment->divergences, TRUE);
	g_free(alignment);
}
