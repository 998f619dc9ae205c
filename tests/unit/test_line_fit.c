/* SPDX-License-Identifier: MIT */
/* Lines through points whose slope is known. */
#include "apart/line_fit.h"

#include <math.h>

#define COUNT 200

static double noise(GRand *random, double most)
{
	return g_rand_double_range(random, -most, most);
}

/* 2 a step, and a twentieth of what the steps make off it. */
static void line(struct point *points, guint count, guint32 seed)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(seed);

	for (guint i = 0; i < count; i++) {
		points[i].x = (double) g_rand_int_range(random, 0, 100);
		points[i].y = 1000 + 2 * points[i].x + noise(random, 10);
	}
}

static void test_line(void)
{
	struct point points[COUNT];
	struct line_fit fit;

	line(points, COUNT, 1);
	g_assert_true(line_fit(points, COUNT, &fit));
	g_assert_cmpfloat(fabs(fit.slope - 2), <, 0.1);
	g_assert_cmpfloat(fabs(fit.middle - 1000), <, 5);
	g_assert_cmpfloat(fit.share, >, 0.95);
}

/* One that took a thousand times as long changes little. */
static void test_outlier(void)
{
	struct point points[COUNT];
	struct line_fit fit;

	line(points, COUNT, 2);
	points[77].y = 1000000;
	g_assert_true(line_fit(points, COUNT, &fit));
	g_assert_cmpfloat(fabs(fit.slope - 2), <, 0.1);
	g_assert_cmpfloat(fit.share, >, 0.95);
}

/* One far out makes no line of what is none. */
static void test_lever(void)
{
	struct point points[COUNT];
	struct line_fit fit;
	g_autoptr(GRand) random = g_rand_new_with_seed(3);

	for (guint i = 0; i < COUNT; i++)
		points[i] = (struct point) {(double) g_rand_int_range(random, 0, 100),
					    1000 + noise(random, 100)};
	points[5] = (struct point) {1000000, 1000000};
	g_assert_false(line_fit(points, COUNT, &fit));
}

static void test_few(void)
{
	struct point points[COUNT];
	struct line_fit fit;

	line(points, FIT_LEAST - 1, 4);
	g_assert_false(line_fit(points, FIT_LEAST - 1, &fit));
}

/* Both wander, each by itself: of 200 such at most two may be taken for a line. */
static void test_wander(void)
{
	guint claims = 0;

	for (guint32 seed = 1; seed <= 200; seed++) {
		g_autoptr(GRand) random = g_rand_new_with_seed(seed);
		struct point points[COUNT];
		struct line_fit fit;
		double x = 0, y = 0;

		for (guint i = 0; i < COUNT; i++) {
			x = 0.9 * x + noise(random, 10);
			y = 0.9 * y + noise(random, 10);
			points[i] = (struct point) {x, y};
		}
		claims += line_fit(points, COUNT, &fit);
	}
	g_test_message("%u claims", claims);
	g_assert_cmpuint(claims, <=, 2);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/line_fit/line", test_line);
	g_test_add_func("/line_fit/outlier", test_outlier);
	g_test_add_func("/line_fit/lever", test_lever);
	g_test_add_func("/line_fit/few", test_few);
	g_test_add_func("/line_fit/wander", test_wander);
	return g_test_run();
}
