/* SPDX-License-Identifier: MIT */
/* What the least and the most of a what-if take to be otherwise, worked out by hand. */
#include "feed.h"
#include "whatif/replay.h"

/* N(tid, time) with these flags, under one rule; `orders`: how many orders it has found another one
 * for, and whether that of the thread's turns is among them. */
static int64_t at(struct feed *feed, const char *rule, unsigned flags, int32_t tid, int64_t time,
		  guint *orders)
{
	const struct scenario scenario = {ALL_RULES, flags};
	struct rules *rules = rules_new(feed->session, &rule, 1);
	struct retimed *retimed = retime(feed->session, rules, &scenario, 1,
					 feed->session->asked.from, feed->session->asked.to);
	uint32_t thread = life(feed, tid, 0);
	int64_t reached = retimed_at(retimed, 0, thread, time);

	*orders = g_hash_table_size(retimed_orders(retimed));
	if (*orders)
		g_assert_true(
			g_hash_table_contains(retimed_orders(retimed), order_of_thread(thread)));
	retimed_free(retimed);
	rules_free(rules);
	return reached;
}

/*   S  12 epoll_wait ── 40 serves A 46 47 epoll_wait ── 60 serves B 70
 *   A  0 ────────────── 40 wakes S
 *   B  0 ─────────────────────────────────────────────── 60 wakes S
 */
static void two_clients(struct feed *feed, const char *call)
{
	sw(feed, 0, 0, "idle", 0, 0, "S", 1);
	sw(feed, 0, 1, "idle", 0, 0, "A", 2);
	sw(feed, 0, 2, "idle", 0, 0, "B", 3);
	entry(feed, 10, 0, call, 3);
	sw(feed, 12, 0, "S", 1, SLEEPS, "idle", 0);
	waking(feed, 40, 1, 1);
	sw(feed, 40, 0, "idle", 0, 0, "S", 1);
	leave(feed, 42, 0, call, 1);
	entry(feed, 46, 0, call, 3);
	sw(feed, 47, 0, "S", 1, SLEEPS, "idle", 0);
	waking(feed, 60, 2, 1);
	sw(feed, 60, 0, "idle", 0, 0, "S", 1);
	leave(feed, 62, 0, call, 1);
	plain(feed, 100, 0, "sched_other");
	finish(feed);
}

/* B is done at once: in the recorded order S serves A until 47 all the same, then B without a wait.
 * Served when it comes, that is at 0. */
static void test_turns(void)
{
	FEED_FROM(feed_new(3));
	guint orders;

	two_clients(feed, "epoll_wait");
	g_assert_cmpint(at(feed, "thread=B leaf=working/user: 0", 0, 1, 60, &orders), ==, 47);
	g_assert_cmpuint(orders, ==, 0);
	g_assert_cmpint(at(feed, "thread=B leaf=working/user: 0", SERVES_AT_ONCE, 1, 60, &orders),
			==, 0);
	g_assert_cmpuint(orders, ==, 1);
	/* it comes later: no other order */
	g_assert_cmpint(at(feed, "thread=B leaf=working/user: x2", SERVES_AT_ONCE, 1, 60, &orders),
			==, 120);
	g_assert_cmpuint(orders, ==, 0);
}

/* Who waits for one thing alone cannot take B's before A's. */
static void test_no_turns(void)
{
	FEED_FROM(feed_new(3));
	guint orders;

	two_clients(feed, "read");
	g_assert_cmpint(at(feed, "thread=B leaf=working/user: 0", SERVES_AT_ONCE, 1, 60, &orders),
			==, 47);
	g_assert_cmpuint(orders, ==, 0);
}

/* T waits for W until 60, then for CPU 0, which X has from `since` to 70. */
static void ready_beside(struct feed *feed, int64_t since)
{
	sw(feed, 0, 0, "idle", 0, 0, "T", 1);
	sw(feed, 0, 1, "idle", 0, 0, "W", 2);
	entry(feed, 10, 0, "read", 3);
	sw(feed, 12, 0, "T", 1, SLEEPS, "idle", 0);
	sw(feed, since, 0, "idle", 0, 0, "X", 3);
	waking(feed, 60, 1, 1);
	sw(feed, 70, 0, "X", 3, PREEMPTED, "T", 1);
	leave(feed, 80, 0, "read", 1);
	plain(feed, 100, 1, "sched_other");
	finish(feed);
}

/* W wakes T at 54. X has the CPU since 50, and may well keep it until 70: that is the least; else T
 * is ready for 10 as recorded, and runs at 64. */
static void test_cpu_taken(void)
{
	FEED_FROM(feed_new(2));
	guint orders;

	ready_beside(feed, 50);
	g_assert_cmpint(at(feed, "thread=W leaf=working/user: x0.9", 0, 1, 70, &orders), ==, 64);
	g_assert_cmpint(at(feed, "thread=W leaf=working/user: x0.9", CPUS_AS_BEFORE, 1, 70,
			   &orders),
			==, 70);
}

/* X comes when T does: who of them would be first then, nothing tells; T is ready as long. */
static void test_cpu_free(void)
{
	FEED_FROM(feed_new(2));
	guint orders;

	ready_beside(feed, 60);
	g_assert_cmpint(at(feed, "thread=W leaf=working/user: x0.9", CPUS_AS_BEFORE, 1, 70,
			   &orders),
			==, 64);
}

/* CPU 0 is idle from 12 to 50, CPU 1 never: but for these 38 all are busy. */
static void test_busy(void)
{
	FEED_FROM(feed_new(2));
	g_autoptr(GArray) ways = g_array_new(FALSE, FALSE, sizeof(struct way));
	GError *error = NULL;
	struct replay *replay;
	struct way way;

	if (!feed->options.what_if)
		feed->options.what_if = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(feed->options.what_if, g_strdup("thread=W leaf=working/user: x0.9"));
	ready_beside(feed, 50);
	way = (struct way) {life(feed, 1, 0), life(feed, 1, 0), 0, 80};
	g_array_append_val(ways, way);
	replay = replay_new(feed->session, ways, true, &error);
	g_assert_no_error(error);
	g_assert_cmpint(replay->all_busy, ==,
			feed->session->asked.to - feed->session->asked.from - 38);
	g_assert_cmpuint(replay->cycles, ==, 0);
	g_assert_cmpuint(replay->orders->len, ==, 0);
	replay_free(replay);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/whatif-range/turns", test_turns);
	g_test_add_func("/whatif-range/no-turns", test_no_turns);
	g_test_add_func("/whatif-range/cpu-taken", test_cpu_taken);
	g_test_add_func("/whatif-range/cpu-free", test_cpu_free);
	g_test_add_func("/whatif-range/busy", test_busy);
	return g_test_run();
}
