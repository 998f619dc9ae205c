/* SPDX-License-Identifier: MIT */
/* Levels of detail: merging intervals to cells (levels.h), by hand and on random spans. */
#include "page/levels.h"

struct result {
	GArray *cells; /* struct cell */
};

static void keep(const struct cell *cell, void *data)
{
	g_array_append_val(((struct result *) data)->cells, *cell);
}

static GArray *merged(const struct span *spans, guint count, int64_t tolerance)
{
	struct result result = {g_array_new(FALSE, FALSE, sizeof(struct cell))};
	struct merger merger = {.tolerance = tolerance, .visit = keep, .data = &result};

	for (guint i = 0; i < count; i++)
		merger_add(&merger, &spans[i], leaf_class(spans[i].leaf));
	merger_end(&merger);
	return result.cells;
}

/* The level made of a finer one's cells. */
static GArray *coarser(const GArray *cells, int64_t tolerance)
{
	struct result result = {g_array_new(FALSE, FALSE, sizeof(struct cell))};
	struct merger merger = {.tolerance = tolerance, .visit = keep, .data = &result};

	for (guint i = 0; i < cells->len; i++)
		merger_add_cell(&merger, &g_array_index(cells, struct cell, i));
	merger_end(&merger);
	return result.cells;
}

static const struct cell *cell_at(const GArray *cells, guint index)
{
	return &g_array_index(cells, struct cell, index);
}

#define USER PACK(LEAF_WORK_USER, 0)
#define CALL PACK(LEAF_WORK_SYSCALL, 7)
#define IRQ PACK(LEAF_INT_IRQ, 25)
#define WAIT PACK(LEAF_BLOCK_SYSCALL, 7)

/* Tolerance 10. [0, 12) is as long: kept. 3 + 4 + 2 + 5 = 14 ns of shorter ones reach 10 with the
 * fourth: one cell of four. 6 alone before a long one: by itself, exact. [32, 72) is kept. Then
 * 2 + 3, which nothing follows: one cell of two. */
static void test_by_hand(void)
{
	static const struct span spans[] = {
		{0, 12, USER, 0},  {12, 15, CALL, 0}, {15, 19, IRQ, 0},
		{19, 21, CALL, 0}, {21, 26, USER, 0}, {26, 32, CALL, 0},
		{32, 72, WAIT, 3}, {72, 74, CALL, 0}, {74, 77, USER, 0}};
	g_autoptr(GArray) cells = merged(spans, G_N_ELEMENTS(spans), 10);
	g_autoptr(GArray) all = merged(spans, G_N_ELEMENTS(spans), 0);
	const struct cell *four;

	g_assert_cmpuint(cells->len, ==, 5);
	g_assert_cmpint(cell_at(cells, 0)->end, ==, 12);
	g_assert_cmpuint(cell_at(cells, 0)->intervals, ==, 1);
	four = cell_at(cells, 1);
	g_assert_cmpint(four->begin, ==, 12);
	g_assert_cmpint(four->end, ==, 26);
	g_assert_cmpuint(four->intervals, ==, 4);
	g_assert_cmpint(four->by[CLASS_SYSCALL], ==, 5);
	g_assert_cmpint(four->by[CLASS_INTERRUPT], ==, 4);
	g_assert_cmpint(four->by[CLASS_USER], ==, 5);
	g_assert_cmpuint(cell_at(cells, 2)->intervals, ==, 1);
	g_assert_cmpuint(cell_at(cells, 2)->leaf, ==, CALL);
	g_assert_cmpuint(cell_at(cells, 3)->leaf, ==, WAIT);
	g_assert_cmpuint(cell_at(cells, 3)->ref, ==, 3);
	g_assert_cmpint(cell_at(cells, 3)->by[CLASS_BLOCKED], ==, 40);
	g_assert_cmpuint(cell_at(cells, 4)->intervals, ==, 2);
	g_assert_cmpint(cell_at(cells, 4)->end, ==, 77);
	g_assert_cmpuint(all->len, ==, G_N_ELEMENTS(spans));
}

/* What a state looks like, for each kind that there is (the legend of the page). */
static void test_classes(void)
{
	static const struct {
		uint32_t kind;
		enum state_class is;
	} known[] = {{LEAF_UNKNOWN, CLASS_UNKNOWN},       {LEAF_WORK_USER, CLASS_USER},
		     {LEAF_WORK_KTHREAD, CLASS_USER},     {LEAF_WORK_SOFTIRQ, CLASS_USER},
		     {LEAF_WORK_SYSCALL, CLASS_SYSCALL},  {LEAF_INT_IRQ, CLASS_INTERRUPT},
		     {LEAF_INT_VECTOR, CLASS_INTERRUPT},  {LEAF_INT_SOFTIRQ, CLASS_INTERRUPT},
		     {LEAF_INT_HRTIMER, CLASS_INTERRUPT}, {LEAF_PREEMPTED, CLASS_READY},
		     {LEAF_WAIT_CPU, CLASS_READY},        {LEAF_BLOCK_STOPPED, CLASS_BLOCKED},
		     {LEAF_BLOCK_KTHREAD, CLASS_BLOCKED}, {LEAF_BLOCK_SYSCALL, CLASS_BLOCKED},
		     {LEAF_BLOCK_FAULT, CLASS_BLOCKED},   {LEAF_BLOCK_UNKNOWN, CLASS_BLOCKED}};

	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		g_assert_cmpint(leaf_class(PACK(known[i].kind, 1)), ==, known[i].is);
}

/* What holds for any spans: cells tile them, times of classes are kept, what is as long as the
 * tolerance is exact, and there are no more than 2 T/t + 1. */
static void expect_level(const struct span *spans, guint count, const GArray *cells,
			 int64_t tolerance, const int64_t *by)
{
	int64_t sums[CLASS_COUNT] = {0}, at = spans[0].begin, whole = spans[count - 1].end - at;
	uint64_t intervals = 0, exact = 0;

	for (guint i = 0; i < count; i++)
		exact += spans[i].end - spans[i].begin >= tolerance;
	for (guint i = 0; i < cells->len; i++) {
		const struct cell *cell = cell_at(cells, i);

		exact -= cell->intervals == 1 && cell->end - cell->begin >= tolerance;
		g_assert_cmpint(cell->begin, ==, at);
		at = cell->end;
		intervals += cell->intervals;
		g_assert_true(cell->intervals == 1 || cell->end - cell->begin < 2 * tolerance);
		for (int c = 0; c < CLASS_COUNT; c++)
			sums[c] += cell->by[c];
	}
	g_assert_cmpint(at, ==, spans[count - 1].end);
	g_assert_cmpuint(intervals, ==, count);
	g_assert_cmpuint(exact, ==, 0);
	g_assert_cmpmem(sums, sizeof sums, by, sizeof sums);
	if (tolerance)
		g_assert_cmpint(cells->len, <=, 2 * whole / tolerance + 1);
	else
		g_assert_cmpuint(cells->len, ==, count);
}

/* The same of levels that are each made of the one before. */
static void expect_levels(const struct span *spans, guint count, const int64_t *by)
{
	GArray *cells = merged(spans, count, 0);

	for (int64_t tolerance = 1; tolerance < 1 << 22; tolerance *= 4) {
		GArray *finer = cells;

		cells = coarser(finer, tolerance);
		g_array_free(finer, TRUE);
		expect_level(spans, count, cells, tolerance, by);
	}
	g_array_free(cells, TRUE);
}

static void test_random_spans(void)
{
	static const uint32_t leaves[] = {
		USER, CALL, IRQ, WAIT, PACK(LEAF_WAIT_CPU, 0), PACK(LEAF_UNKNOWN, 0)};
	static const enum state_class classes[] = {CLASS_USER,    CLASS_SYSCALL, CLASS_INTERRUPT,
						   CLASS_BLOCKED, CLASS_READY,   CLASS_UNKNOWN};

	for (guint seed = 0; seed < 200; seed++) {
		GRand *random = g_rand_new_with_seed(seed);
		guint count = (guint) g_rand_int_range(random, 1, 300);
		struct span *spans = g_new0(struct span, count);
		int64_t by[CLASS_COUNT] = {0}, now = INT64_C(1795253215000000000);

		for (guint i = 0; i < count; i++) {
			int which = g_rand_int_range(random, 0, G_N_ELEMENTS(leaves));
			int64_t ns = 1 + (INT64_C(1) << g_rand_int_range(random, 0, 20)) *
						 g_rand_int_range(random, 0, 9) / 3;

			spans[i] = (struct span) {now, now + ns, leaves[which], 0};
			by[classes[which]] += ns;
			now += ns;
		}
		for (int64_t tolerance = 0; tolerance < 1 << 22; tolerance = tolerance * 4 + 1) {
			g_autoptr(GArray) cells = merged(spans, count, tolerance);

			expect_level(spans, count, cells, tolerance, by);
		}
		expect_levels(spans, count, by);
		g_free(spans);
		g_rand_free(random);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/levels/by-hand", test_by_hand);
	g_test_add_func("/levels/classes", test_classes);
	g_test_add_func("/levels/random-spans", test_random_spans);
	return g_test_run();
}
