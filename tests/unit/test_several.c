/* SPDX-License-Identifier: MIT */
/* Waits for any of several things: which ends were steps on the way, and which led to nothing.
 * Expectations are worked out by hand from semantics.md, "Waiting for any of several"; the
 * comments draw the time lines. Times are nanoseconds.
 */
#include "feed.h"

#include "imposed/waiting.h"
#include "path/path.h"
#include "path/several.h"

/* Whose the way to `to` is: "TID BEGIN-END; …". */
static const char *way(struct feed *feed, int32_t tid, int64_t to)
{
	struct path *path = path_new(feed->session, life(feed, tid, 0), 0, to);
	GString *text = g_string_new(NULL);
	int64_t begin = 0, end = 0;

	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);
		const struct piece *next = piece + 1;

		g_assert_cmpint(piece->begin, ==, end); /* they tile the window */
		end = piece->end;
		if (i + 1 < path->pieces->len && next->thread == piece->thread)
			continue;
		g_string_append_printf(
			text, "%s%d %" G_GINT64_FORMAT "-%" G_GINT64_FORMAT, text->len ? "; " : "",
			model_thread(&feed->session->trace.model, piece->thread)->tid, begin, end);
		begin = end;
	}
	g_assert_cmpint(end, ==, to);
	path_free(path);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

static const char *verdict(struct feed *feed, int32_t tid, int64_t to)
{
	struct path *path = path_new(feed->session, life(feed, tid, 0), 0, to);
	g_autoptr(GPtrArray) sentences = verdict_new(feed->session, path, 0, to, NULL);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < sentences->len; i++)
		g_string_append(text, g_ptr_array_index(sentences, i));
	path_free(path);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

static void ends(struct feed *feed, int64_t time, uint32_t cpu, const char *name, int32_t tid)
{
	waking(feed, time, cpu, 5); /* its parent */
	sw(feed, time + 5, cpu, name, tid, DEAD, "idle", 0);
}

/*   make 5 ─┤ wait4       500├510 515├ wait4  700├710 fork d ├ wait4   900├ 950
 *   c 7    ────────────────500
 *   a 6    ───────────────────────────────────700
 *   d 8                                                720 ──────────900
 * `between`: whom make forks at 513, 0; `next`: who ends its second wait. */
static void makes(struct feed *feed, int32_t between, int32_t next)
{
	plain(feed, 0, 1, "other");
	plain(feed, 0, 2, "other");
	plain(feed, 0, 3, "other");
	sw(feed, 0, 0, "idle", 0, 0, "make", 5);
	forks(feed, 1, 0, 5, 6, 6);
	forks(feed, 2, 0, 5, 7, 7);
	sw(feed, 3, 1, "idle", 0, 0, "a", 6);
	sw(feed, 4, 2, "idle", 0, 0, "c", 7);
	entry(feed, 10, 0, "wait4", -1);
	sw(feed, 20, 0, "make", 5, SLEEPS, "idle", 0);
	ends(feed, 500, 2, "c", 7);
	sw(feed, 510, 0, "idle", 0, 0, "make", 5);
	leave(feed, 512, 0, "wait4", 7);
	if (between)
		forks(feed, 513, 0, 5, between, between);
	if (between)
		sw(feed, 514, 3, "idle", 0, 0, "e", between);
	entry(feed, 515, 0, "wait4", -1);
	sw(feed, 520, 0, "make", 5, SLEEPS, "idle", 0);
	ends(feed, 700, next == 6 ? 1 : 3, "x", next);
	sw(feed, 710, 0, "idle", 0, 0, "make", 5);
	leave(feed, 715, 0, "wait4", next);
	forks(feed, 720, 0, 5, 8, 8);
	sw(feed, 725, 2, "idle", 0, 0, "d", 8);
	entry(feed, 730, 0, "wait4", -1);
	sw(feed, 740, 0, "make", 5, SLEEPS, "idle", 0);
	ends(feed, 900, 2, "d", 8);
	sw(feed, 910, 0, "idle", 0, 0, "make", 5);
	leave(feed, 915, 0, "wait4", 8);
	sw(feed, 950, 0, "make", 5, DEAD, "idle", 0);
	plain(feed, 960, 0, "other");
}

/* c's end led to nothing but the next wait: a is the way from 20 to 700. */
static void test_led_to_nothing(void)
{
	FEED(4);

	makes(feed, 0, 6);
	g_assert_cmpstr(way(feed, 5, 950), ==, "5 0-20; 6 20-700; 5 700-740; 8 740-900; 5 900-950");
	g_assert_nonnull(strstr(verdict(feed, 5, 950), "changed nothing: the end of c (7)."));
	g_assert_null(strstr(verdict(feed, 5, 950), "Not sure:"));
}

/* e, forked between, is not on the way to the end. */
static void test_child_beside(void)
{
	FEED(4);

	makes(feed, 9, 6);
	g_assert_cmpstr(way(feed, 5, 950), ==, "5 0-20; 6 20-700; 5 700-740; 8 740-900; 5 900-950");
}

/* The opposite: e was forked once c had ended, and ends the next wait. */
static void test_child_on_the_way(void)
{
	FEED(4);

	makes(feed, 9, 9);
	g_assert_cmpstr(way(feed, 5, 950), ==,
			"5 0-20; 7 20-500; 5 500-520; 9 520-700; 5 700-740; 8 740-900; 5 900-950");
	g_assert_null(strstr(verdict(feed, 5, 950), "changed nothing"));
}

/* All of make's waits are a's and d's: 480 + 180 and 160. */
static void test_imposed(void)
{
	FEED(4);
	struct waiting *waiting;

	makes(feed, 0, 6);
	finish(feed);
	waiting = waiting_new(feed->session);
	for (guint i = 0; i < waiting->imposers->len; i++) {
		const struct imposer *at = &g_array_index(waiting->imposers, struct imposer, i);
		int32_t tid = at->thread == NO_THREAD
				      ? 0
				      : model_thread(&feed->session->trace.model, at->thread)->tid;

		g_assert_cmpint(tid, !=, 7);
		if (tid == 6)
			g_assert_cmpint(at->ns, ==, 480 + 180);
		if (tid == 8)
			g_assert_cmpint(at->ns, ==, 160);
	}
	waiting_free(waiting);
}

/* Events were lost while make ran: what it did there is not known, and c's end stays a step. */
static void test_gap(void)
{
	FEED(4);

	makes(feed, 0, 6);
	lost(feed, 3, 513, 514);
	g_assert_cmpstr(way(feed, 5, 950), ==,
			"5 0-20; 7 20-500; 5 500-520; 6 520-700; 5 700-740; 8 740-900; 5 900-950");
}

/*   loop 5 ─fork─┤ epoll_wait ├timer, works 5 ├ epoll_wait     ├woken by x─ ends
 *   x 6      ─────────────────────────────────────────────────600
 * `writes`: loop wakes x from its read in between. */
static void loops(struct feed *feed, bool writes)
{
	plain(feed, 0, 1, "other");
	sw(feed, 0, 0, "idle", 0, 0, "loop", 5);
	forks(feed, 1, 0, 5, 6, 6);
	sw(feed, 3, 1, "idle", 0, 0, "x", 6);
	entry(feed, 4, 1, "read", 3);
	if (writes)
		sw(feed, 5, 1, "x", 6, SLEEPS, "idle", 0);
	entry(feed, 10, 0, "epoll_wait", 7);
	sw(feed, 20, 0, "loop", 5, SLEEPS, "idle", 0);
	plain(feed, 299, 0, "timer_hrtimer_expire_entry");
	waking(feed, 300, 0, 5);
	plain(feed, 301, 0, "timer_hrtimer_expire_exit");
	sw(feed, 305, 0, "idle", 0, 0, "loop", 5);
	leave(feed, 307, 0, "epoll_wait", 0);
	if (writes) {
		waking(feed, 308, 0, 6);
		sw(feed, 309, 1, "idle", 0, 0, "x", 6);
	}
	entry(feed, 310, 0, "epoll_wait", 7);
	sw(feed, 312, 0, "loop", 5, SLEEPS, "idle", 0);
	waking(feed, 600, 1, 5);
	sw(feed, 610, 0, "idle", 0, 0, "loop", 5);
	leave(feed, 615, 0, "epoll_wait", 1);
	sw(feed, 620, 0, "loop", 5, DEAD, "idle", 0);
	plain(feed, 630, 0, "other");
}

/* A heartbeat's timer is not why x was late. */
static void test_timer_beside(void)
{
	FEED(2);

	loops(feed, false);
	g_assert_cmpstr(way(feed, 5, 620), ==, "5 0-20; 6 20-600; 5 600-620");
}

/* The opposite: at that time it asked x, which slept until then. */
static void test_timer_on_the_way(void)
{
	FEED(2);

	loops(feed, true);
	g_assert_cmpstr(way(feed, 5, 620), ==, "5 0-312; 6 312-600; 5 600-620");
}

/* Two waits of a server that goes on living are ended by two clients: what it did for the first
 * counts, as nobody asked for what the second led to.
 *   s 5 ─┤ poll     200├─ works ─┤ poll    400├─ …
 *   a 6 ────────────200      b 7 ─────────400 */
static void test_server(void)
{
	FEED(3);

	sw(feed, 0, 0, "idle", 0, 0, "s", 5);
	sw(feed, 0, 1, "idle", 0, 0, "a", 6);
	sw(feed, 0, 2, "idle", 0, 0, "b", 7);
	entry(feed, 10, 0, "poll", -1);
	sw(feed, 20, 0, "s", 5, SLEEPS, "idle", 0);
	waking(feed, 200, 1, 5);
	sw(feed, 205, 0, "idle", 0, 0, "s", 5);
	leave(feed, 210, 0, "poll", 1);
	entry(feed, 220, 0, "poll", -1);
	sw(feed, 225, 0, "s", 5, SLEEPS, "idle", 0);
	waking(feed, 400, 2, 5);
	sw(feed, 405, 0, "idle", 0, 0, "s", 5);
	leave(feed, 410, 0, "poll", 1);
	plain(feed, 500, 0, "other");
	g_assert_cmpstr(way(feed, 5, 500), ==, "5 0-20; 6 20-200; 5 200-225; 7 225-400; 5 400-500");
}

int main(int argc, char *argv[])
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/several/led-to-nothing", test_led_to_nothing);
	g_test_add_func("/several/child-beside", test_child_beside);
	g_test_add_func("/several/child-on-the-way", test_child_on_the_way);
	g_test_add_func("/several/imposed", test_imposed);
	g_test_add_func("/several/gap", test_gap);
	g_test_add_func("/several/timer-beside", test_timer_beside);
	g_test_add_func("/several/timer-on-the-way", test_timer_on_the_way);
	g_test_add_func("/several/server", test_server);
	return g_test_run();
}
