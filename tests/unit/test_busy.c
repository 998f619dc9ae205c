/* SPDX-License-Identifier: MIT */
/* Busy stretches on small hand-made sequences. Expectations are worked out by hand from
 * semantics.md, "Busy stretches", as latencies/busy.h restates it: a turn begins with the wake-up
 * that ends one wait for what comes next, and ends where the next such wait begins.
 */
#include "profile_feed.h"

static struct feed *busy_feed(int cpus)
{
	struct feed *feed = profile_feed(cpus, "busy");

	set(feed, "per", "thread");
	return feed;
}

/* "a (5): 2 from 31 to 101", of each thread that has turns. */
static const char *turns(struct feed *feed)
{
	struct profiles *profiles = profiles_of(feed);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < profiles->list->len; i++) {
		const struct profile *profile = g_ptr_array_index(profiles->list, i);

		g_assert_cmpstr(profile->operation, ==, "busy");
		g_string_append_printf(text, "%s%s: %u from %d to %d", i ? ", " : "",
				       profile->scope, (unsigned) profile->count,
				       (int) profile->min, (int) profile->max);
	}
	profiles_free(profiles);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

static int64_t ns_of(const struct part *top, const char *node)
{
	for (guint i = 0; i < top->children->len; i++) {
		const struct part *child = g_ptr_array_index(top->children, i);

		if (strcmp(child->node, node) == 0)
			return child->ns;
	}
	return -1;
}

/* Three sleeps, two turns. A wait for the disk is part of the turn that it is in:
 *   100 … 131: 1 waits for the CPU, 28 of its own code, 2 in the call that sleeps
 *   200 … 301: 1 + 3 wait for the CPU, 8 + 34, 2, 10 + 1 in read, 42 blocked for the device */
static void test_sleeper(void)
{
	FEED_FROM(busy_feed(1));
	struct profiles *profiles;
	const struct part *top;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	timed_sleep(feed, 10, 100, "a");
	timed_sleep(feed, 130, 200, "a");
	entry(feed, 210, 0, "read", 3);
	request(feed, 215, 0, "block_rq_insert", 5);
	sw(feed, 220, 0, "a", 5, SLEEPS, "idle", 0);
	request(feed, 225, 0, "block_rq_issue", 5);
	irq(feed, 258, 0, "irq_handler_entry", 9);
	request(feed, 260, 0, "block_rq_complete", -1);
	waking(feed, 262, 0, 5);
	irq(feed, 263, 0, "irq_handler_exit", 9);
	sw(feed, 265, 0, "idle", 0, 0, "a", 5);
	leave(feed, 266, 0, "read", 1);
	timed_sleep(feed, 300, 400, "a");
	plain(feed, 450, 0, "other");
	g_assert_cmpstr(turns(feed), ==, "a (5): 2 from 31 to 101");
	profiles = profiles_new(feed->session, 1, NULL);
	roots_search(profiles);
	top = g_array_index(((const struct profile *) g_ptr_array_index(profiles->list, 0))->peaks,
			    struct peak, 0)
		      .tree;
	g_assert_cmpint(ns_of(top, "working/user"), ==, 28 + 42);
	g_assert_cmpint(ns_of(top, "working/syscall:clock_nanosleep"), ==, 2 + 2);
	g_assert_cmpint(ns_of(top, "working/syscall:read"), ==, 11);
	g_assert_cmpint(ns_of(top, "interrupted/wait-cpu"), ==, 1 + 4);
	g_assert_cmpint(ns_of(top, "blocked/device:device 254:0"), ==, 42);
	profiles_free(profiles);
}

/* b asks a, and waits for its answer; twice, and once more. a's turns are from a question to its
 * next wait for one. b's waits for the answers end no turn: it has none. */
static void test_server(void)
{
	FEED_FROM(busy_feed(2));

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	entry(feed, 10, 0, "read", 3);
	sw(feed, 11, 0, "a", 5, SLEEPS, "idle", 0);
	for (int64_t at = 100; at <= 300; at += 100) {
		entry(feed, at + 50, 1, "write", 4);
		waking(feed, at + 55, 1, 5);
		leave(feed, at + 56, 1, "write", 1);
		entry(feed, at + 57, 1, "read", 5);
		sw(feed, at + 58, 1, "b", 6, SLEEPS, "idle", 0);
		sw(feed, at + 60, 0, "idle", 0, 0, "a", 5);
		leave(feed, at + 61, 0, "read", 1);
		entry(feed, at + 80, 0, "write", 4);
		waking(feed, at + 82, 0, 6);
		leave(feed, at + 83, 0, "write", 1);
		entry(feed, at + 85, 0, "read", 3);
		sw(feed, at + 86 + at / 100, 0, "a", 5, SLEEPS, "idle", 0);
		sw(feed, at + 90, 1, "idle", 0, 0, "b", 6);
		leave(feed, at + 91, 1, "read", 1);
	}
	plain(feed, 450, 1, "other");
	/* 155 … 187, 255 … 288; the third ends with a wait of which nobody knows what it is for */
	g_assert_cmpstr(turns(feed), ==, "a (5): 2 from 32 to 33");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/busy/sleeper", test_sleeper);
	g_test_add_func("/busy/server", test_server);
	return g_test_run();
}
