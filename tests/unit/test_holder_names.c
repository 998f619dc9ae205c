/* SPDX-License-Identifier: MIT */
/* Who is named as a lock's holder: one thread where calls are told, those of one name where
 * requests are. A mutex is handed from one thread of a process to another of the same name, while
 * another process has that name too: its process's number would name the wrong thread.
 *
 * Threads 5 to 8, all called player, each run on a CPU of their own; 7 is a process by itself.
 */
#include "locks.h"

#include "tracking/piece_cause.h"

static struct feed *players(void)
{
	struct feed *feed = feed_new(4);

	sw(feed, 0, 0, "idle", 0, 0, "player", 5);
	for (int i = 1; i < 4; i++)
		forks(feed, i, 0, 5, 5 + i, i == 2 ? 7 : 5);
	for (uint32_t i = 1; i < 4; i++)
		sw(feed, 4 + i, i, "idle", 0, 0, "player", (int32_t) (5 + i));
	/* 5 waits from 12 on for what 8 has until 50 */
	futex(feed, 10, 0, L, WAIT, 2);
	sw(feed, 12, 0, "player", 5, SLEEPS, "idle", 0);
	wakes(feed, 50, 3, L, 5);
	sw(feed, 60, 0, "idle", 0, 0, "player", 5);
	done(feed, 61, 0, 0);
	plain(feed, 100, 0, "other");
	return feed;
}

static char *label_of(struct feed *feed, bool of_requests)
{
	uint32_t thread = life(feed, 5, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	const struct wait *wait = g_ptr_array_index(waits, 0);
	struct piece_namer *namer = piece_namer_new(feed->session, NULL);
	GString *label = g_string_new(NULL);

	namer->of_requests = of_requests;
	g_assert_true(lock_holder_label(namer, wait->block, thread, wait->begin, wait->end, label));
	piece_namer_free(namer);
	g_ptr_array_free(waits, TRUE);
	return g_string_free(label, FALSE);
}

static void test_one_thread(void)
{
	FEED_FROM(players());
	g_autofree char *label = label_of(feed, false);

	g_assert_cmpstr(label, ==, "mutex 0x1000, held by player (8)");
}

static void test_of_requests(void)
{
	FEED_FROM(players());
	g_autofree char *label = label_of(feed, true);

	g_assert_cmpstr(label, ==, "mutex 0x1000, held by another thread of player (5)");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/holder-names/one-thread", test_one_thread);
	g_test_add_func("/holder-names/of-requests", test_of_requests);
	return g_test_run();
}
