/* SPDX-License-Identifier: MIT */
/* Requests on connections that were there before the trace: which two ends are one, and who asks,
 * by what is written in turn; see src/tracking/old_connections.c.
 */
#include "request_feed.h"

/* a (on CPU 0) has 4, b (on CPU 1) has 6: the ends of a pair of sockets, of one inode each. */
static void pair(struct feed *feed)
{
	for (int i = 0; i < 2; i++) {
		struct event event = event_of(feed, 3, 0, "lttng_statedump_file_descriptor");

		event.file.pid = i ? 6 : 5;
		event.file.fd = i ? 6 : 4;
		event.file.filename = i ? "socket:[72]" : "socket:[71]";
		send(feed, &event);
	}
}

static const char *name_of(uint32_t cpu)
{
	return cpu ? "b" : "a";
}

/* The thread of that CPU begins to read from its end, and sleeps. */
static void waits(struct feed *feed, int64_t time, uint32_t cpu)
{
	entry(feed, time, cpu, "read", cpu ? 6 : 4);
	sw(feed, time + 1, cpu, name_of(cpu), 5 + (int32_t) cpu, SLEEPS, "swapper", 0);
}

/* The other one writes 10 bytes, which wakes it: it has read them 4 later. */
static void says(struct feed *feed, int64_t time, uint32_t cpu)
{
	uint32_t other = !cpu;

	entry(feed, time, cpu, "write", cpu ? 6 : 4);
	waking(feed, time + 1, cpu, 5 + (int32_t) other);
	leave(feed, time + 2, cpu, "write", 10);
	sw(feed, time + 3, other, "swapper", 0, 0, name_of(other), 5 + (int32_t) other);
	leave(feed, time + 4, other, "read", 10);
}

/* b waits; a asks after 1000, and waits; b takes 50 for each answer, a 100 until it asks again. */
static void three_questions(struct feed *feed)
{
	pair(feed);
	waits(feed, 10, 1);
	for (int64_t at = 1000; at < 1600; at += 200) {
		says(feed, at, 0);
		waits(feed, at + 10, 0);
		says(feed, at + 54, 1);
		waits(feed, at + 60, 1);
	}
	plain(feed, 2000, 0, "other");
}

static void test_server(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));
	struct user_requests *requests;

	three_questions(feed);
	/* from where b has read to where it has written */
	g_assert_cmpstr(found(feed), ==, "1004-1056 6; 1204-1256 6; 1404-1456 6");
	requests = requests_of(feed);
	g_assert_cmpuint(requests->inferred, ==, 1);
	g_assert_cmpuint(requests->undecided, ==, 0);
	g_assert_cmpuint(requests->unknown_ends, ==, 0);
	user_requests_free(requests);
}

static void test_client(void)
{
	FEED_FROM(feed_requests(PRESET_CLIENT));

	three_questions(feed);
	/* from where a writes to where it has read */
	g_assert_cmpstr(found(feed), ==, "1000-1058 5; 1200-1258 5; 1400-1458 5");
	/* the two ends are one: b works on what a asked until it asks for the next; and a that long
	 */
	g_assert_cmpstr(working(feed), ==,
			"5 1000-1058 #1; 5 1200-1258 #2; 5 1400-1458 #3; "
			"6 1004-1058 #1; 6 1204-1258 #2; 6 1404-1458 #3");
}

/* Of both presets: none is made; returns how many connections are told to be undecided. */
static guint without_requests(void (*happens)(struct feed *feed))
{
	guint count = 0;

	for (int i = 0; i < 2; i++) {
		FEED_FROM(feed_requests(i ? PRESET_CLIENT : PRESET_SERVER));
		struct user_requests *requests;

		happens(feed);
		requests = requests_of(feed);
		g_assert_cmpuint(requests->inferred, ==, 0);
		g_assert_cmpuint(requests->list.used, ==, 0);
		count = requests->undecided;
		user_requests_free(requests);
	}
	return count;
}

/* a writes a log, b reads it. */
static void logs(struct feed *feed)
{
	pair(feed);
	waits(feed, 10, 1);
	for (int64_t at = 1000; at < 1600; at += 200) {
		says(feed, at, 0);
		waits(feed, at + 10, 1);
	}
	plain(feed, 2000, 0, "other");
}

static void test_log(void)
{
	g_assert_cmpuint(without_requests(logs), ==, 0);
}

/* b answers a, and some time after tells it something that a has not asked for. */
static void chats(struct feed *feed)
{
	pair(feed);
	waits(feed, 10, 1);
	for (int64_t at = 1000; at < 1600; at += 200) {
		says(feed, at, 0);
		waits(feed, at + 10, 0);
		says(feed, at + 54, 1);
		waits(feed, at + 60, 0);
		entry(feed, at + 64, 1, "nanosleep", -1);
		sw(feed, at + 65, 1, "b", 6, SLEEPS, "swapper", 0);
		waking(feed, at + 90, 1, 6);
		sw(feed, at + 91, 1, "swapper", 0, 0, "b", 6);
		leave(feed, at + 92, 1, "nanosleep", 0);
		says(feed, at + 100, 1);
		waits(feed, at + 110, 1);
	}
	plain(feed, 2000, 0, "other");
}

static void test_chatty(void)
{
	g_assert_cmpuint(without_requests(chats), ==, 1);
}

/* The trace begins while b, which takes 50 for each, works on an answer: it writes first, and in
 * turn, but does not ask. */
static void is_under_way(struct feed *feed)
{
	pair(feed);
	waits(feed, 10, 0);
	for (int64_t at = 54; at < 454; at += 100) {
		says(feed, at, 1);
		waits(feed, at + 6, 1);
		says(feed, at + 46, 0);
		waits(feed, at + 52, 0);
	}
	plain(feed, 2000, 0, "other");
}

static void test_under_way(void)
{
	g_assert_cmpuint(without_requests(is_under_way), ==, 1);
}

/* As three_questions(), but once a reads what was written on a third socket. */
static void contradicts(struct feed *feed)
{
	struct event event = event_of(feed, 4, 0, "lttng_statedump_file_descriptor");

	event.file.pid = 7;
	event.file.fd = 8;
	event.file.filename = "socket:[73]";
	send(feed, &event);
	three_questions(feed);
	waits(feed, 2100, 0);
	entry(feed, 2200, 2, "write", 8);
	waking(feed, 2201, 2, 5);
	leave(feed, 2202, 2, "write", 10);
	sw(feed, 2203, 0, "swapper", 0, 0, "a", 5);
	leave(feed, 2204, 0, "read", 10);
	plain(feed, 3000, 0, "other");
}

static void test_contradicted(void)
{
	g_assert_cmpuint(without_requests(contradicts), ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/old-connections/server", test_server);
	g_test_add_func("/old-connections/client", test_client);
	g_test_add_func("/old-connections/log", test_log);
	g_test_add_func("/old-connections/chatty", test_chatty);
	g_test_add_func("/old-connections/under-way", test_under_way);
	g_test_add_func("/old-connections/contradicted", test_contradicted);
	return g_test_run();
}
