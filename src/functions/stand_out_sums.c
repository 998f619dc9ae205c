/* SPDX-License-Identifier: MIT */
/* Adding them up; see stand_out_sums.h. */
#include "functions/stand_out_sums.h"

#include "timeline/operation.h"
#include "timeline/timeline.h"

static void sum_clear(gpointer sum)
{
	g_hash_table_destroy(((struct stand_out_sum *) sum)->spent);
}

/* Turns are of their program: those of another are no others of theirs. */
static struct stand_out_sum *sum_of(GArray *sums, const struct stand_out *one)
{
	uint32_t what = one->what, root = PACK_KIND(what) == OPERATION_BUSY ? one->root : 0;
	struct stand_out_sum fresh = {.what = what,
				      .root = root,
				      .thread = NO_THREAD,
				      .last = NO_THREAD,
				      .shortest = INT64_MAX};

	for (guint i = 0; i < sums->len; i++)
		if (g_array_index(sums, struct stand_out_sum, i).what == what &&
		    g_array_index(sums, struct stand_out_sum, i).root == root)
			return &g_array_index(sums, struct stand_out_sum, i);
	fresh.spent = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_array_append_val(sums, fresh);
	return &g_array_index(sums, struct stand_out_sum, sums->len - 1);
}

static int most_excess_first(gconstpointer a, gconstpointer b)
{
	const struct stand_out_sum *x = a, *y = b;

	if (x->excess != y->excess)
		return x->excess > y->excess ? -1 : 1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	return x->root < y->root ? -1 : x->root > y->root;
}

GArray *stand_out_sums_new(const GArray *list)
{
	GArray *sums = g_array_new(FALSE, FALSE, sizeof(struct stand_out_sum));

	g_array_set_clear_func(sums, sum_clear);
	for (guint i = 0; i < list->len; i++) {
		const struct stand_out *one = &g_array_index(list, struct stand_out, i);
		struct stand_out_sum *sum = sum_of(sums, one);
		int64_t ns = one->excess + one->median;

		sum->threads += sum->last != one->thread;
		sum->last = one->thread;
		sum->count++;
		sum->excess += one->excess;
		sum->shortest = MIN(sum->shortest, ns);
		if (ns <= sum->longest)
			continue;
		sum->longest = ns;
		sum->median = one->median;
		sum->thread = one->thread;
	}
	g_array_sort(sums, most_excess_first);
	return sums;
}

void stand_out_sums_explain(GArray *sums, const struct stand_out *one)
{
	struct stand_out_sum *sum = sum_of(sums, one);

	sum->explained += one->excess;
	for (guint i = 0; i < one->differences->len; i++) {
		const struct instance_difference *at = g_ptr_array_index(one->differences, i);
		int64_t *ns = g_hash_table_lookup(sum->spent, at->what);

		if (at->kind != DIFFERENCE_TIME)
			continue;
		if (!ns) {
			ns = g_new0(int64_t, 1);
			g_hash_table_insert(sum->spent, g_strdup(at->what), ns);
		}
		*ns += at->ns;
	}
}
