/* SPDX-License-Identifier: MIT */
/* Functions by samples on both sides: of the ways of requests, or to a target.
 *
 * Part of diff/. A function's time is that of the samples in which it was innermost, a request; of
 * two sides it is the same by its name and source file. k samples of a state's n are k ± 2 √k about
 * (Poisson: the samples of one function are few of all), so is its time; what a difference is
 * beyond the two sides' errors together is no chance of sampling. */
#include "diff/diff_calls.h"

#include <math.h>
#include <string.h>

#define Z 1.959964 /* of 95 % of a normal distribution */

/* struct function_total of a side; NULL: it has none. */
static const GArray *totals_of(const struct diff *diff, int side)
{
	const struct costs *costs = diff->sides[side].costs;

	if (diff->target)
		return diff->target->functions[side];
	return costs ? costs->functions : NULL;
}

static double requests_of(const struct diff *diff, int side)
{
	const struct user_requests *requests = diff->sides[side].requests;

	return diff->target || !requests ? 1 : MAX(requests->listed->len, 1);
}

static bool is_same(const struct function_difference *at, const struct code_function *function)
{
	return at->name && strcmp(at->name, function->name) == 0 &&
	       g_strcmp0(at->file, function->file) == 0;
}

static struct function_difference *find(GArray *list, const struct code_function *function)
{
	struct function_difference fresh = {.name = function->name, .file = function->file};

	for (guint i = 0; i < list->len; i++) {
		struct function_difference *at =
			&g_array_index(list, struct function_difference, i);

		if (is_same(at, function))
			return at;
	}
	g_array_append_val(list, fresh);
	return &g_array_index(list, struct function_difference, list->len - 1);
}

static void add_side(GArray *list, const struct diff *diff, int side)
{
	const GArray *totals = totals_of(diff, side);
	double count = requests_of(diff, side);

	for (guint i = 0; i < totals->len; i++) {
		const struct function_total *total =
			&g_array_index(totals, struct function_total, i);
		struct function_difference *at;
		double error;

		if (!total->function)
			continue;
		at = find(list, total->function);
		error = Z * (double) total->ns / sqrt(MAX(total->samples, 1)) / count;
		at->samples[side] = total->samples;
		at->mean[side] = (double) total->ns / count;
		at->error = sqrt(at->error * at->error + error * error);
	}
}

static int largest_first(gconstpointer a, gconstpointer b)
{
	const struct function_difference *x = a, *y = b;
	double p = fabs(x->mean[1] - x->mean[0]), q = fabs(y->mean[1] - y->mean[0]);

	if (p != q)
		return p > q ? -1 : 1;
	return strcmp(x->name, y->name);
}

GArray *diff_functions(const struct diff *diff)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct function_difference));
	const GArray *a = totals_of(diff, 0), *b = totals_of(diff, 1);

	if (!a || !b || !a->len || !b->len)
		return list; /* samples on one side alone tell no difference */
	add_side(list, diff, 0);
	add_side(list, diff, 1);
	for (guint i = 0; i < list->len; i++) {
		struct function_difference *at =
			&g_array_index(list, struct function_difference, i);

		at->significant = fabs(at->mean[1] - at->mean[0]) > at->error;
	}
	g_array_sort(list, largest_first);
	return list;
}
