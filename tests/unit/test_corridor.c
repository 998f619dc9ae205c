/* SPDX-License-Identifier: MIT */
/* The corridor between two clocks: on a random network whose clocks are known, and
 * by hand. What holds: the truth is no farther from the line than the error says,
 * from the first packet to the last (corridor.h).
 */
#include <math.h>
#include <stdlib.h>

#include "util/corridor.h"

struct truth {
	double offset, drift;
	int64_t base;
};

/* Of the clock to be set right, the difference at its time `time`. */
static double true_difference(const struct truth *truth, int64_t time)
{
	return truth->offset + truth->drift * (double) (time - truth->base);
}

static double exponential(GRand *random, double mean)
{
	return -mean * log(1 - g_rand_double(random));
}

/* A packet at `time` of the clock to be set right: the delay takes the difference
 * away from the true one, to one side. */
static void add_packet(GArray *points, GRand *random, const struct truth *truth, int64_t time,
		       double delay)
{
	struct corridor_point point = {.time = time, .upper = g_rand_boolean(random)};
	double difference = true_difference(truth, time);

	point.difference =
		(int64_t) (point.upper ? ceil(difference + delay) : floor(difference - delay));
	g_array_append_val(points, point);
}

/* A random network, with known clocks: the truth is within the error of the line
 * wherever there were packets. With packets that were taken for others, too. */
static void test_random_network(void)
{
	for (guint seed = 0; seed < 600; seed++) {
		GRand *random = g_rand_new_with_seed(seed);
		GArray *points = g_array_new(FALSE, FALSE, sizeof(struct corridor_point));
		guint count = (guint) g_rand_int_range(random, 2, seed % 3 ? 60 : 1500), wrong = 0;
		int64_t length = (int64_t) pow(10, g_rand_double_range(random, 6, 13));
		double least = g_rand_double_range(random, 0, 1e5);
		double mean = pow(10, g_rand_double_range(random, 3, 7));
		struct truth truth = {.offset = g_rand_double_range(random, -1e15, 1e15),
				      .drift = seed % 2 ? g_rand_double_range(random, -9e-4, 9e-4)
							: 0,
				      .base = INT64_C(1795253215000000000)};
		struct corridor corridor;
		bool sides[2] = {false, false};

		for (guint i = 0; i < count; i++)
			add_packet(points, random, &truth,
				   truth.base + (int64_t) (g_rand_double(random) * (double) length),
				   least + exponential(random, mean));
		for (guint i = 0; seed % 5 == 0 && i < count / 20; i++) { /* before it was sent */
			add_packet(points, random, &truth,
				   truth.base + (int64_t) (g_rand_double(random) * (double) length),
				   -50 * mean - 2e-3 * (double) length);
			wrong++;
		}
		for (guint i = 0; i < points->len; i++)
			sides[g_array_index(points, struct corridor_point, i).upper] = true;
		g_assert_true(corridor_fit(points, &corridor));
		g_assert_cmpint(corridor.rejected, ==, wrong);
		g_assert_cmpint(corridor.used, ==, count);
		g_assert_cmpint(corridor.error >= 0, ==, sides[0] && sides[1]);
		for (guint i = 0; corridor.error >= 0 && i < points->len; i++) {
			int64_t time = g_array_index(points, struct corridor_point, i).time;
			double said = (double) (clock_line_at(&corridor.line, time) - time);

			g_assert_cmpfloat(fabs(said - true_difference(&truth, time)), <=,
					  (double) corridor.error + 1);
		}
		/* it is no empty promise: no wider than the clocks and delays make it */
		if (corridor.error >= 0 && count > 1000)
			g_assert_cmpint(corridor.error, <, (int64_t) (2 * (least + mean)));
		g_array_free(points, TRUE);
		g_rand_free(random);
	}
}

/* By hand: lower points (0, 0) and (100, 0), upper ones (0, 10) and (100, 30), in
 * units of 1000 ns. A line may rise by 30 in 100, or fall by 10: none need rise, so
 * the middle of 0 and 10. At 100 the truth is at most 30 (from 0): 25 from it. */
static void test_corridor_by_hand(void)
{
	static const struct corridor_point flat[] = {
		{0, 0, false}, {100000000, 0, false}, {0, 10000, true}, {100000000, 30000, true}};
	/* … rising by 20 to 25 in 100: (0, 0) to (100, 20) and (100, 25) below and
	 * above, and (0, 5) above, (0, 0) below: from 15 (0..5, 20..25) */
	static const struct corridor_point rising[] = {{0, 0, false},
						       {100000000, 20000, false},
						       {0, 5000, true},
						       {100000000, 25000, true}};
	/* one upper point far below all: three others disagree with it */
	static const struct corridor_point bad[] = {
		{0, 0, false},  {10, 0, false},  {20, 0, false},    {30, 0, false}, {40, 0, false},
		{5, 100, true}, {15, 100, true}, {25, -5000, true}, {35, 100, true}};
	GArray *points = g_array_new(FALSE, FALSE, sizeof flat[0]);
	struct corridor corridor;

	g_array_append_vals(points, flat, G_N_ELEMENTS(flat));
	g_assert_true(corridor_fit(points, &corridor));
	g_assert_cmpint(corridor.line.offset, ==, 5000);
	g_assert_cmpfloat(corridor.line.drift, ==, 0);
	g_assert_cmpint(corridor.error, ==, 25000 + 1);
	g_array_set_size(points, 0);
	g_array_append_vals(points, rising, G_N_ELEMENTS(rising));
	g_assert_true(corridor_fit(points, &corridor));
	g_assert_cmpint(corridor.line.offset, ==, 2500);
	g_assert_cmpfloat(fabs(corridor.line.drift - 2e-4), <, 1e-12);
	g_assert_cmpint(corridor.error, ==, 2500 + 1);
	g_assert_cmpint(clock_line_at(&corridor.line, 100000000), ==, 100000000 + 22500);
	g_array_set_size(points, 0);
	g_array_append_vals(points, bad, G_N_ELEMENTS(bad));
	g_assert_true(corridor_fit(points, &corridor));
	g_assert_cmpint(corridor.rejected, ==, 1);
	g_assert_cmpint(corridor.line.offset, ==, 50);
	/* half of them contradict: nothing can be said */
	g_array_set_size(points, 0);
	for (int64_t i = 0; i < 20; i++) {
		struct corridor_point point = {i, i % 4 < 2 ? 0 : 1000000, i % 2};

		g_array_append_val(points, point);
	}
	g_assert_false(corridor_fit(points, &corridor));
	g_array_free(points, TRUE);
}

/* There and back again is where it was. */
static void test_lines(void)
{
	struct clock_line a = {1000000, -500, 3e-4}, b = {2000000, 70000, -2e-4}, both, back;

	both = clock_line_compose(&a, &b);
	back = clock_line_inverse(&both);
	for (int64_t time = 0; time < INT64_C(10000000000); time += 99999989) {
		int64_t there = clock_line_at(&a, clock_line_at(&b, time));

		g_assert_cmpint(llabs(clock_line_at(&both, time) - there), <=, 2);
		g_assert_cmpint(llabs(clock_line_at(&back, there) - time), <=, 3);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/corridor/random-network", test_random_network);
	g_test_add_func("/corridor/by-hand", test_corridor_by_hand);
	g_test_add_func("/corridor/lines", test_lines);
	return g_test_run();
}
