/* SPDX-License-Identifier: MIT */
/* See groups.h. */
#include "apart/groups.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define ARRANGED_MAX 20000 /* arrangements that are all tried, or so many random ones */
#define GROUPS_HITS 20
#define ALIKE (1 - 1e-9) /* of sums of the same ranks in another order */

struct ranked {
	double *ranks; /* owned */
	guint count, groups;
	double *sums; /* owned; of each group, while they are added up */
	guint *sizes; /* owned */
};

static int by_value(const void *a, const void *b, void *data)
{
	const double *values = data;
	double x = values[*(const guint *) a], y = values[*(const guint *) b];

	return x < y ? -1 : x > y;
}

/* Those that are equal have the middle of their ranks. */
static void rank(struct ranked *ranked, const double *values)
{
	g_autofree guint *order = g_new(guint, ranked->count + 1);

	for (guint i = 0; i < ranked->count; i++)
		order[i] = i;
	qsort_r(order, ranked->count, sizeof *order, by_value, (void *) values);
	for (guint i = 0, j; i < ranked->count; i = j) {
		for (j = i; j < ranked->count && values[order[j]] <= values[order[i]]; j++)
			;
		for (guint k = i; k < j; k++)
			ranked->ranks[order[k]] = (i + j - 1) / 2.0;
	}
}

static double parted(struct ranked *ranked, const guint *group)
{
	double sum = 0;

	for (guint g = 0; g < ranked->groups; g++)
		ranked->sums[g] = 0;
	for (guint i = 0; i < ranked->count; i++)
		ranked->sums[group[i]] += ranked->ranks[i] - (ranked->count - 1) / 2.0;
	for (guint g = 0; g < ranked->groups; g++)
		sum += ranked->sums[g] * ranked->sums[g] / ranked->sizes[g];
	return sum;
}

/* The labels in their next order; false: there is none. */
static bool next_arrangement(guint *group, guint count)
{
	guint i = count - 1, j = count - 1, held;

	while (i > 0 && group[i - 1] >= group[i])
		i--;
	if (i == 0)
		return false;
	while (group[j] <= group[i - 1])
		j--;
	held = group[i - 1];
	group[i - 1] = group[j];
	group[j] = held;
	for (j = count - 1; i < j; i++, j--) {
		held = group[i];
		group[i] = group[j];
		group[j] = held;
	}
	return true;
}

static void shuffle(guint *group, guint count, GRand *random)
{
	for (guint i = count; i > 1; i--) {
		guint j = (guint) g_rand_int_range(random, 0, (gint32) i), held = group[i - 1];

		group[i - 1] = group[j];
		group[j] = held;
	}
}

static double of_all(struct ranked *ranked, guint *group, double found)
{
	double as_well = 0, tried = 0;

	for (guint g = 0, at = 0; g < ranked->groups; g++)
		for (guint k = 0; k < ranked->sizes[g]; k++)
			group[at++] = g;
	do {
		tried++;
		as_well += parted(ranked, group) >= found * ALIKE;
	} while (next_arrangement(group, ranked->count));
	return as_well / tried;
}

static double of_some(struct ranked *ranked, guint *group, double found)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(1);
	guint as_well = 0, tried = 0;

	while (tried < ARRANGED_MAX && as_well < GROUPS_HITS) {
		shuffle(group, ranked->count, random);
		as_well += parted(ranked, group) >= found * ALIKE;
		tried++;
	}
	return as_well < GROUPS_HITS ? (as_well + 1.0) / (tried + 1.0) : (double) as_well / tried;
}

/* n! / (a! b! ...) */
static double arrangements(const struct ranked *ranked)
{
	double log_of = lgamma(ranked->count + 1.0);

	for (guint g = 0; g < ranked->groups; g++)
		log_of -= lgamma(ranked->sizes[g] + 1.0);
	return round(exp(MIN(log_of, 50)));
}

double groups_apart(const double *values, const guint *group, guint count, guint groups,
		    double *least)
{
	g_autofree double *ranks = g_new(double, count + 1), *sums = g_new(double, groups + 1);
	g_autofree guint *sizes = g_new0(guint, groups + 1), *labels = g_new(guint, count + 1);
	struct ranked ranked = {
		.ranks = ranks, .count = count, .groups = groups, .sums = sums, .sizes = sizes};
	double all, found;

	*least = 1;
	if (count < 2 || groups < 2)
		return 1;
	for (guint i = 0; i < count; i++) {
		labels[i] = group[i];
		sizes[group[i]]++;
	}
	rank(&ranked, values);
	all = arrangements(&ranked);
	found = parted(&ranked, group);
	/* the highest ranks to one group or to the other: two do as well */
	*least = MIN(1, all <= ARRANGED_MAX ? 2 / all : 1.0 / (ARRANGED_MAX + 1));
	return all <= ARRANGED_MAX ? of_all(&ranked, labels, found)
				   : of_some(&ranked, labels, found);
}

void holm(double *p, guint count)
{
	g_autofree guint *order = g_new(guint, count + 1);
	double least = 0;

	for (guint i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof *order, by_value, p);
	for (guint i = 0; i < count; i++) {
		least = MAX(least, MIN(p[order[i]] * (count - i), 1));
		p[order[i]] = least;
	}
}
