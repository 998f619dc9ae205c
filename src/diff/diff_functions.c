/* SPDX-License-Identifier: MIT */
/* Functions by samples on both sides: of the ways of requests, or to a target; and threads that ran
 * longer or shorter, by hardware counters (samples/counter_factors.h).
 *
 * Part of diff/. A function's time is that of the samples in which it was innermost, a request; of
 * two sides it is the same by its name and source file. k samples of a state's n are k ± 2 √k about
 * (Poisson: the samples of one function are few of all), so is its time; what a difference is
 * beyond the two sides' errors together is no chance of sampling. */
#include "diff/diff_calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff/thread_match.h"
#include "util/when.h"

#define CHANGE_MIN 0.05 /* of a thread's time on the CPU: less is not told */
#define CHANGE_NS 1000000 /* nor is less than this */
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
		at->caller[side] = total->caller ? total->caller->name : NULL;
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

/* --- the threads of both sides ---------------------------------------------------------- */

static void difference_free(gpointer data)
{
	struct counter_difference *at = data;

	g_free(at->label);
	g_free(at->sentence);
	g_free(at);
}

static int64_t moved_by(const struct counter_difference *at)
{
	return llabs(at->side[1].ns - at->side[0].ns);
}

static int largest_change(gconstpointer a, gconstpointer b)
{
	const struct counter_difference *x = *(struct counter_difference *const *) a,
					*y = *(struct counter_difference *const *) b;

	if (moved_by(x) != moved_by(y))
		return moved_by(x) > moved_by(y) ? -1 : 1;
	return x->thread[0] < y->thread[0] ? -1 : 1;
}

static void add_pair(GPtrArray *list, const struct diff *diff, uint32_t a, uint32_t b)
{
	struct counter_difference at = {.thread = {a, b}}, *kept;
	int64_t most;

	for (int side = 0; side < 2; side++)
		at.side[side] = counters_in(diff->sides[side].session, at.thread[side],
					    diff->sides[side].from, diff->sides[side].to);
	most = MAX(at.side[0].ns, at.side[1].ns);
	if (!counters_compare(&at.side[0]) || !counters_compare(&at.side[1]) ||
	    moved_by(&at) < CHANGE_NS || (double) moved_by(&at) < CHANGE_MIN * (double) most)
		return;
	at.factor = (uint8_t) counted_factor(at.side, &at.share);
	at.label = thread_match_label(diff->match, 0, a);
	kept = g_memdup2(&at, sizeof at);
	g_ptr_array_add(list, kept);
}

static void tell(struct counter_difference *at)
{
	g_autofree char *cause = counted_cause(at->side);
	char a[32], b[32];

	at->sentence = g_strdup_printf("%s ran for %s in A and %s in B: %s.", at->label,
				       when_duration(a, at->side[0].ns),
				       when_duration(b, at->side[1].ns), cause);
}

GPtrArray *diff_counters(const struct diff *diff)
{
	const struct session *session = diff->sides[0].session;
	GPtrArray *list;

	if (diff->retimed || !diff->match || !session || !session->trace.timeline.counts.used ||
	    !diff->sides[1].session || !diff->sides[1].session->trace.timeline.counts.used)
		return NULL;
	list = g_ptr_array_new_with_free_func(difference_free);
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		uint32_t partner = thread_match_partner(diff->match, 0, i);

		if (partner != NO_THREAD)
			add_pair(list, diff, i, partner);
	}
	g_ptr_array_sort(list, largest_change);
	for (guint i = 0; i < list->len; i++)
		tell(g_ptr_array_index(list, i));
	return list;
}
