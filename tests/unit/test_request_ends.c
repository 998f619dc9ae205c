/* SPDX-License-Identifier: MIT */
/* When requests end that nobody answers: with the last thread of the process that worked on them,
 * and not before; see tracking/following.h.
 */
#include "request_feed.h"

/* d reads a question and ends; c, of the same process, lives on and knows nothing of it. */
static void test_thread_ends(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));

	accepts(feed, 10, 3, 4, 1000);
	moves(feed, 20, 3, "recvfrom", 4, 100); /* from 21 */
	sw(feed, 60, 3, "d", 8, DEAD, "swapper", 0);
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "21-60 8 open");
	g_assert_cmpstr(working(feed), ==, "8 21-60 #1");
	g_assert_cmpstr(causes(feed, 0), ==, "39 cpu d, user code");
}

/* c reads on from the same connection: it has taken the request over. */
static void test_another_reads_on(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));

	accepts(feed, 10, 3, 4, 1000);
	moves(feed, 20, 3, "recvfrom", 4, 100);
	sw(feed, 60, 3, "d", 8, DEAD, "swapper", 0);
	moves(feed, 80, 2, "recvfrom", 4, 10);
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "21-200 7 open");
}

/* c answers what d had read. */
static void test_another_answers(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));

	accepts(feed, 10, 3, 4, 1000);
	moves(feed, 20, 3, "recvfrom", 4, 100);
	sw(feed, 60, 3, "d", 8, DEAD, "swapper", 0);
	moves(feed, 80, 2, "sendto", 4, 10);
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "21-81 7");
}

/* Both ends of a pipe are in each process. */
static void open_pipe(struct feed *feed, int process)
{
	struct event event = event_of(feed, 3, 0, "lttng_statedump_file_descriptor");

	event.file.pid = process;
	event.file.fd = 10;
	event.file.filename = "pipe:[7]";
	send(feed, &event);
}

/* d gives it to c through a pipe, and ends: c has it, and ends at 90. */
static void test_given_to_another(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));

	open_pipe(feed, 7);
	accepts(feed, 10, 3, 4, 1000);
	moves(feed, 20, 3, "recvfrom", 4, 100);
	moves(feed, 30, 3, "write", 10, 5);
	moves(feed, 40, 2, "read", 10, 5);
	sw(feed, 60, 3, "d", 8, DEAD, "swapper", 0);
	sw(feed, 90, 2, "c", 7, DEAD, "swapper", 0);
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "21-90 7 open");
}

/* a, another process, was told of it, and writes a log: it answers nobody. */
static void test_told_to_a_log(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));

	open_pipe(feed, 5);
	open_pipe(feed, 7);
	accepts(feed, 10, 3, 4, 1000);
	moves(feed, 20, 3, "recvfrom", 4, 100);
	moves(feed, 30, 3, "write", 10, 5);
	moves(feed, 40, 0, "read", 10, 5);
	sw(feed, 60, 3, "d", 8, DEAD, "swapper", 0);
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "21-60 8 open");
	g_assert_cmpstr(working(feed), ==, "5 41-60 #1; 8 21-60 #1");
}

/* The same of who asks. */
static void test_client(void)
{
	FEED_FROM(feed_requests(PRESET_CLIENT));

	moves(feed, 10, 3, "socket", -1, 4);
	connects(feed, 20, 3, 4, 5000);
	moves(feed, 30, 3, "sendto", 4, 10);
	sw(feed, 60, 3, "d", 8, DEAD, "swapper", 0);
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "20-60 8 open");
}

/* The process 20 makes thread 21; its first thread ends in `call` at 40, the other one at 90. */
static void two_threads(struct feed *feed, const char *call)
{
	forks(feed, 10, 0, 5, 20, 20);
	sw(feed, 20, 1, "b", 6, SLEEPS, "child", 20);
	forks(feed, 30, 1, 20, 21, 20);
	entry(feed, 38, 1, call, -1);
	sw(feed, 40, 1, "child", 20, DEAD, "child", 21);
	sw(feed, 90, 1, "child", 21, DEAD, "swapper", 0);
	plain(feed, 200, 0, "other");
}

/* exit ends a thread: the process lasts as long as its last one, whichever that is. */
static void test_process(void)
{
	FEED_FROM(feed_requests(PRESET_PROCESS));

	two_threads(feed, "exit");
	g_assert_cmpstr(found(feed), ==, "10-90 21");
	/* 10 ready while b runs; 10 its own, up to the fork; 10 that its new thread was ready while
	 * it ran on itself; 50 that one's */
	g_assert_cmpstr(causes(feed, 0), ==,
			"60 cpu child, user code; 10 wait-cpu CPU taken by b; 10 wait-cpu CPU "
			"taken by child");
}

/* exit_group ends all: what the kernel takes to end the others is nothing that was asked for. */
static void test_process_group(void)
{
	FEED_FROM(feed_requests(PRESET_PROCESS));

	two_threads(feed, "exit_group");
	g_assert_cmpstr(found(feed), ==, "10-40 20");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/request-ends/thread-ends", test_thread_ends);
	g_test_add_func("/request-ends/another-reads-on", test_another_reads_on);
	g_test_add_func("/request-ends/another-answers", test_another_answers);
	g_test_add_func("/request-ends/given-to-another", test_given_to_another);
	g_test_add_func("/request-ends/told-to-a-log", test_told_to_a_log);
	g_test_add_func("/request-ends/client", test_client);
	g_test_add_func("/request-ends/process", test_process);
	g_test_add_func("/request-ends/process-group", test_process_group);
	return g_test_run();
}
