/* SPDX-License-Identifier: MIT */
/* Rhythms: what is there by construction is found, with its numbers; where slow ones were picked
 * at random, of a thousand runs ten at most may say anything.
 */
#include "latencies/rhythm.h"

#include <stdlib.h>

#define MS INT64_C(1000000)
#define OPERATIONS 600
#define RUNS 1000
#define CHANCE 0.005 /* of each of the two */

static uint64_t seed = 88172645463325252u;

static int64_t random_to(int64_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (int64_t) (seed % (uint64_t) limit);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return (x > y) - (x < y);
}

/* Every 500 ms two slow ones, 3 ms apart; among others each 10 ms. The median gap is 500 ms, all
 * are. */
static void test_period(void)
{
	int64_t slow[20], all[OPERATIONS];
	struct period period;

	for (int i = 0; i < OPERATIONS; i++)
		all[i] = i * 10 * MS;
	for (int i = 0; i < 10; i++) {
		slow[2 * i] = (7 + 500 * i) * MS;
		slow[2 * i + 1] = slow[2 * i] + 3 * MS;
	}
	g_assert_true(period_find(slow, 20, all, OPERATIONS, CHANCE, &period));
	g_assert_cmpint(period.ns, ==, 500 * MS);
	g_assert_cmpint(period.least, ==, 500 * MS);
	g_assert_cmpint(period.most, ==, 500 * MS);
	g_assert_cmpuint(period.times, ==, 10);
}

/* One that drifts, as a thread that sleeps 500 ms between turns of 5 to 60 ms: gaps of 505 to 560,
 * sorted 505, 512, 520, 530, 541, 560; the fourth of them is the median. */
static void test_drift(void)
{
	static const int gaps[] = {560, 505, 530, 512, 541, 520};
	int64_t slow[7] = {11 * MS}, all[OPERATIONS];
	struct period period;

	for (int i = 0; i < OPERATIONS; i++)
		all[i] = random_to(4000 * MS);
	qsort(all, OPERATIONS, sizeof *all, by_value);
	for (int i = 0; i < 6; i++)
		slow[i + 1] = slow[i] + gaps[i] * MS;
	g_assert_true(period_find(slow, 7, all, OPERATIONS, CHANCE, &period));
	g_assert_cmpint(period.ns, ==, 530 * MS);
	g_assert_cmpint(period.least, ==, 505 * MS);
	g_assert_cmpint(period.most, ==, 560 * MS);
}

/* All are periodic, each 10 ms; which are slow is not. */
static void test_all_periodic(void)
{
	static const int which[] = {3, 40, 41, 97, 180, 222, 223, 301, 388, 402, 555};
	int64_t slow[G_N_ELEMENTS(which)], all[OPERATIONS];
	struct period period;

	for (int i = 0; i < OPERATIONS; i++)
		all[i] = i * 10 * MS;
	for (size_t i = 0; i < G_N_ELEMENTS(which); i++)
		slow[i] = all[which[i]];
	g_assert_false(period_find(slow, G_N_ELEMENTS(which), all, OPERATIONS, CHANCE, &period));
}

/* Nine slow ones at no period, each 400 µs after another's: of the two streams the second. The
 * first is as frequent, and never near. */
static void test_lag(void)
{
	static const int at[] = {10, 130, 190, 420, 555, 610, 777, 850, 980};
	int64_t slow[9], near[9], far[9], all[OPERATIONS];
	struct stream streams[] = {{far, 9, slow, 9, all, OPERATIONS},
				   {near, 9, slow, 9, all, OPERATIONS}};
	struct lag lag;

	for (int i = 0; i < 9; i++) {
		near[i] = at[i] * MS;
		slow[i] = near[i] + 400000;
		far[i] = (at[i] + 20 + 3 * i) * MS;
	}
	for (int i = 0; i < OPERATIONS; i++)
		all[i] = random_to(1100 * MS);
	qsort(far, 9, sizeof *far, by_value);
	g_assert_true(lag_find(streams, 2, 0, 1100 * MS, CHANCE, &lag));
	g_assert_cmpuint(lag.stream, ==, 1);
	g_assert_cmpint(lag.least, ==, 400000);
	g_assert_cmpint(lag.most, ==, 400000);
	g_assert_cmpuint(lag.hits, ==, 9);
	/* … but not where quick ones follow the other's as closely */
	for (int i = 0; i < OPERATIONS; i++)
		all[i] = slow[i % 9];
	g_assert_false(lag_find(streams, 2, 0, 1100 * MS, CHANCE, &lag));
	for (int i = 0; i < OPERATIONS; i++)
		all[i] = random_to(1100 * MS);
	/* 67 ms are not soon, of 110 */
	for (int i = 0; i < 9; i++)
		far[i] = slow[i] - 200 * MS / 3;
	qsort(far, 9, sizeof *far, by_value);
	g_assert_false(lag_find(streams, 1, 0, 1100 * MS, CHANCE, &lag));
}

/* The times of all operations: at random, periodic, in bursts of ten that are periodic. */
static void make_all(int kind, int64_t *all)
{
	for (int i = 0; i < OPERATIONS; i++)
		all[i] = kind == 0   ? random_to(6000 * MS)
			 : kind == 1 ? i * 10 * MS + random_to(MS / 10)
				     : (i / 10 * 100 + i % 10) * MS + random_to(MS / 2);
	qsort(all, OPERATIONS, sizeof *all, by_value);
}

/* Slow ones picked at random, the others' streams periodic, in bursts, at random, and the
 * operations themselves, as somebody's who comes before each. */
static void test_shuffled(void)
{
	int64_t all[OPERATIONS], slow[60], periodic[12], bursts[60], others[300];
	guint said = 0;

	for (int run = 0; run < RUNS; run++) {
		guint count = 6 + (guint) random_to(50);
		struct stream streams[] = {{periodic, 12, slow, 0, all, OPERATIONS},
					   {bursts, 60, slow, 0, all, OPERATIONS},
					   {others, 300, slow, 0, all, OPERATIONS},
					   {all, OPERATIONS, slow, 0, all, OPERATIONS}};
		struct period period;
		struct lag lag;
		bool has;

		make_all(run % 3, all);
		for (int i = 0; i < 12; i++)
			periodic[i] = (i * 500 + 3) * MS;
		for (int i = 0; i < 60; i++)
			bursts[i] = (i / 10 * 1000 + i % 10) * MS;
		for (int i = 0; i < 300; i++)
			others[i] = random_to(6000 * MS);
		qsort(others, 300, sizeof *others, by_value);
		for (guint i = 0; i < count; i++)
			slow[i] = all[random_to(OPERATIONS)];
		qsort(slow, count, sizeof *slow, by_value);
		has = period_find(slow, count, all, OPERATIONS, CHANCE, &period);
		count = occasions_keep(slow, count);
		for (size_t i = 0; i < G_N_ELEMENTS(streams); i++)
			streams[i].slow_count = count;
		has |= lag_find(streams, G_N_ELEMENTS(streams), 0, 6100 * MS, CHANCE, &lag);
		said += has;
	}
	g_test_message("%u of %d said something", said, RUNS);
	g_assert_cmpuint(said, <=, RUNS / 100);
}

static void test_clusters(void)
{
	int64_t one[] = {0, 2, 3, 100, 101, 205, 300, 303, 404};
	int64_t even[] = {0, 10, 20, 30, 40, 50};
	static const int64_t firsts[] = {0, 100, 205, 300, 404};

	for (size_t i = 0; i < G_N_ELEMENTS(one); i++)
		one[i] *= MS;
	for (size_t i = 0; i < G_N_ELEMENTS(even); i++)
		even[i] *= MS;
	g_assert_cmpuint(occasions_keep(one, G_N_ELEMENTS(one)), ==, 5);
	for (size_t i = 0; i < G_N_ELEMENTS(firsts); i++)
		g_assert_cmpint(one[i], ==, firsts[i] * MS);
	g_assert_cmpuint(occasions_keep(even, G_N_ELEMENTS(even)), ==, 6);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/rhythm/clusters", test_clusters);
	g_test_add_func("/rhythm/period", test_period);
	g_test_add_func("/rhythm/drift", test_drift);
	g_test_add_func("/rhythm/all-periodic", test_all_periodic);
	g_test_add_func("/rhythm/lag", test_lag);
	g_test_add_func("/rhythm/shuffled", test_shuffled);
	return g_test_run();
}
