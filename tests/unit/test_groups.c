/* SPDX-License-Identifier: MIT */
/* Groups of numbers whose order is known: p is counted by hand. */
#include "apart/groups.h"

#include <math.h>

/* 6 and 6, all of one above all of the other: of 12! / (6! 6!) = 924 arrangements two part the
 * ranks as well, this one and its mirror image. */
static void test_parted(void)
{
	static const double values[] = {10, 90, 11, 91, 12, 92, 13, 93, 14, 94, 15, 95};
	static const guint group[] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
	double least, p = groups_apart(values, group, 12, 2, &least);

	g_assert_cmpfloat(fabs(p - 2.0 / 924), <, 1e-12);
	g_assert_cmpfloat(fabs(least - 2.0 / 924), <, 1e-12);
}

/* One that is far out changes its rank alone: 2 and 2 of ranks {0, 2} and {1, 3}; of the six
 * arrangements all but {0, 3} and {1, 2} part them as well. */
static void test_far_out(void)
{
	static const double values[] = {1, 2, 3, 1e12};
	static const guint group[] = {0, 1, 0, 1};
	double least, p = groups_apart(values, group, 4, 2, &least);

	g_assert_cmpfloat(fabs(p - 4.0 / 6), <, 1e-12);
	g_assert_cmpfloat(fabs(least - 2.0 / 6), <, 1e-12);
}

static void test_same(void)
{
	static const double values[] = {5, 5, 5, 5, 5, 5};
	static const guint group[] = {0, 1, 2, 0, 1, 2}, one[6] = {0};
	double least;

	g_assert_cmpfloat(groups_apart(values, group, 6, 3, &least), ==, 1);
	g_assert_cmpfloat(groups_apart(values, one, 6, 1, &least), ==, 1);
	g_assert_cmpfloat(least, ==, 1);
}

/* Of 500 tables without anything in them at most about one in twenty has a p below 0.05, whether
 * all arrangements are tried (10) or some (40). */
static void test_chance(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(4);

	for (guint count = 10; count <= 40; count += 30) {
		guint below = 0;

		for (guint turn = 0; turn < 500; turn++) {
			double values[40], least;
			guint group[40];

			for (guint i = 0; i < count; i++) {
				values[i] = exp(5 * g_rand_double(random));
				group[i] = i % 2;
			}
			below += groups_apart(values, group, count, 2, &least) < 0.05;
		}
		/* 25 are expected, with a standard deviation of 5 */
		g_assert_cmpuint(below, <, 40);
	}
}

static void test_many(void)
{
	double values[60], least;
	guint group[60];

	for (guint i = 0; i < 60; i++) {
		group[i] = i % 3;
		values[i] = group[i] * 100.0 + i;
	}
	g_assert_cmpfloat(groups_apart(values, group, 60, 3, &least), <, 0.0001);
	g_assert_cmpfloat(least, <, 0.0001);
}

/* Holm 1979: 0.01 · 4, 0.02 · 3, then never less than the one before. */
static void test_holm(void)
{
	double p[] = {0.03, 0.01, 0.5, 0.02};

	holm(p, 4);
	g_assert_cmpfloat(fabs(p[1] - 0.04), <, 1e-12);
	g_assert_cmpfloat(fabs(p[3] - 0.06), <, 1e-12);
	g_assert_cmpfloat(fabs(p[0] - 0.06), <, 1e-12);
	g_assert_cmpfloat(fabs(p[2] - 0.5), <, 1e-12);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/groups/parted", test_parted);
	g_test_add_func("/groups/far-out", test_far_out);
	g_test_add_func("/groups/same", test_same);
	g_test_add_func("/groups/chance", test_chance);
	g_test_add_func("/groups/many", test_many);
	g_test_add_func("/groups/holm", test_holm);
	return g_test_run();
}
