/* SPDX-License-Identifier: MIT */
/* What things would be worth if they were gone, worked out by hand. */
#include "one_waits.h"
#include "path/path.h"
#include "whatif/worth.h"

static void count(GArray *counts, guint place, uint32_t thread, int64_t begin, int64_t end)
{
	struct counted part = {place, thread, begin, end};

	g_array_append_val(counts, part);
}

/* Of T, from 0 to 80. */
static GArray *worths_of(struct feed *feed, const GArray *counts)
{
	g_autoptr(GArray) ways = g_array_new(FALSE, FALSE, sizeof(struct way));
	uint32_t thread = life(feed, 1, 0);
	struct way way = {thread, thread, 0, 80};

	g_array_append_val(ways, way);
	return worths_new(feed->session, counts, ways);
}

static void expect(const GArray *worths, guint place, int64_t ns, int64_t saved)
{
	const struct worth *worth = worth_at(worths, place);

	g_assert_nonnull(worth);
	g_assert_cmpint(worth->ns, ==, ns);
	g_assert_cmpint(worth->saved, ==, saved);
}

/* W gone: T has no wait, 48 sooner. T's own work gone: it waits for W until 60 all the same, only
 * what it does afterwards is saved. Of a part of a stretch
 * that part is gone. */
static void test_gone(void)
{
	FEED_FROM(one_waits());
	g_autoptr(GArray) counts = g_array_new(FALSE, FALSE, sizeof(struct counted));
	g_autoptr(GArray) worths = NULL;
	uint32_t t, w;

	finish(feed);
	t = life(feed, 1, 0);
	w = life(feed, 2, 0);
	count(counts, 0, w, 12, 60);
	count(counts, 1, t, 0, 12);
	count(counts, 1, t, 70, 80);
	count(counts, 2, t, 60, 70);
	count(counts, 4, t, 72, 73);
	count(counts, WORTHS_MAX, t, 0, 80); /* there are not so many */
	worths = worths_of(feed, counts);
	g_assert_cmpuint(worths->len, ==, 4);
	expect(worths, 0, 48, 48);
	expect(worths, 1, 22, 10);
	expect(worths, 2, 10, 10);
	expect(worths, 4, 1, 1);
	g_assert_null(worth_at(worths, 3));
}

/* Parts that overlap, and the same ones again, as paths of several threads give them. */
static void test_overlap(void)
{
	FEED_FROM(one_waits());
	g_autoptr(GArray) counts = g_array_new(FALSE, FALSE, sizeof(struct counted));
	g_autoptr(GArray) worths = NULL;
	uint32_t t;

	finish(feed);
	t = life(feed, 1, 0);
	count(counts, 0, t, 70, 80);
	count(counts, 1, t, 60, 75);
	count(counts, 0, t, 60, 65);
	count(counts, 1, t, 60, 75);
	count(counts, 2, t, 0, 8);
	worths = worths_of(feed, counts);
	expect(worths, 0, 15, 15);
	expect(worths, 1, 30, 15); /* twice, but there is no more of it */
	expect(worths, 2, 8, 0);
}

/* The verdict says what it counts: all of each sentence's time; not of an idle wait. */
static void test_verdict(void)
{
	FEED_FROM(one_waits());
	g_autoptr(GArray) counts = g_array_new(FALSE, FALSE, sizeof(struct counted));
	g_autoptr(GArray) worths = NULL;
	g_autoptr(GPtrArray) verdict = NULL;
	struct path *path;

	finish(feed);
	path = path_new(feed->session, life(feed, 1, 0), 0, 80);
	verdict = verdict_new(feed->session, path, 0, 80, counts);
	worths = worths_of(feed, counts);
	path_free(path);
	/* 12.5 % T was ready; 60 % T waited for W: idle, as its life began with it; 27.5 % T ran */
	g_assert_cmpuint(worths->len, ==, 2);
	expect(worths, 0, 10, 10);
	expect(worths, 2, 22, 10);
}

static void test_words(void)
{
	struct worth all = {0, 100, 90, 90, 90}, part = {0, 100, 20, 20, 20};
	struct worth nothing = {0, 100, 0, 0, 0}, range = {0, 100, 30, 20, 40};
	g_autofree char *a = worth_words(&all), *b = worth_words(&part);
	g_autofree char *c = worth_words(&nothing), *d = worth_words(&range);

	g_assert_cmpstr(a, ==, "Without it, 90 ns sooner.");
	g_assert_cmpstr(b, ==, "Without it, only 20 ns sooner.");
	g_assert_cmpstr(d, ==, "Without it, 20 ns to 40 ns sooner.");
	g_assert_cmpstr(c, ==, "Without it, no sooner: something else takes as long.");
}

/* Most worth first; who has none stays behind these. */
static void test_sort(void)
{
	g_autoptr(GArray) worths = g_array_new(FALSE, FALSE, sizeof(struct worth));
	g_autoptr(GPtrArray) sentences = g_ptr_array_new();
	struct worth list[] = {{0, 50, 5, 5, 5}, {2, 30, 30, 30, 30}, {3, 10, 10, 10, 10}};
	static const char *const text[] = {"a", "b", "c", "d"};

	g_array_append_vals(worths, list, 3);
	for (int i = 0; i < 4; i++)
		g_ptr_array_add(sentences, (gpointer) text[i]);
	worths_sort(worths, sentences);
	g_assert_cmpstr(sentences->pdata[0], ==, "c");
	g_assert_cmpstr(sentences->pdata[1], ==, "d");
	g_assert_cmpstr(sentences->pdata[2], ==, "a");
	g_assert_cmpstr(sentences->pdata[3], ==, "b");
	g_assert_cmpint(worth_at(worths, 0)->saved, ==, 30);
	g_assert_cmpint(worth_at(worths, 1)->saved, ==, 10);
	g_assert_cmpint(worth_at(worths, 2)->saved, ==, 5);
	g_assert_null(worth_at(worths, 3));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/worth/gone", test_gone);
	g_test_add_func("/worth/overlap", test_overlap);
	g_test_add_func("/worth/verdict", test_verdict);
	g_test_add_func("/worth/words", test_words);
	g_test_add_func("/worth/sort", test_sort);
	return g_test_run();
}
