/* SPDX-License-Identifier: MIT */
/* Where requests begin and end, who works on them, and what their time is put down to.
 * Expectations are worked out by hand from the rules in tracking/requests.h and request_costs.h.
 *
 * Threads 5 to 8, named a to d, each run on a CPU of their own (0 to 3) unless they sleep;
 * 5 and 6 are processes by themselves, 8 is a thread of process 7.
 */
#include "request_feed.h"

/* "Begins where the read that got its first bytes returns, and ends where the last write to that
 * connection before the next read or close returns." */
static void test_kept_alive(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));

	accepts(feed, 10, 0, 4, 1000);
	moves(feed, 20, 0, "recvfrom", 4, -11); /* nothing there yet */
	moves(feed, 30, 0, "recvfrom", 4, 100); /* first bytes: 31 */
	moves(feed, 40, 0, "read", 4, 50);      /* its body */
	moves(feed, 50, 0, "writev", 4, 10);
	moves(feed, 60, 0, "sendto", 4, 10);    /* last write: 61 */
	moves(feed, 70, 0, "write", 4, -32);    /* failed: none */
	moves(feed, 80, 0, "recvfrom", 4, 100); /* the next one: 81 */
	moves(feed, 90, 0, "sendto", 4, 10);
	moves(feed, 95, 0, "close", 4, 0);
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "31-61 5; 81-91 5");
	g_assert_cmpstr(working(feed), ==, "5 31-61 #1; 5 81-91 #2");
}

/* The client sends no more; its answer comes all the same. */
static void test_half_closed(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));

	accepts(feed, 10, 0, 4, 1000);
	moves(feed, 30, 0, "recvfrom", 4, 100);
	moves(feed, 40, 0, "recvfrom", 4, 0);
	moves(feed, 50, 0, "sendto", 4, 10);
	moves(feed, 60, 0, "close", 4, 0);
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "31-51 5");
}

/* Without an answer: up to the close, the process's end, or the trace's. */
static void test_unanswered(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));

	accepts(feed, 10, 0, 4, 1000);
	moves(feed, 20, 0, "recvfrom", 4, 100);
	moves(feed, 30, 0, "close", 4, 0);
	accepts(feed, 40, 0, 5, 1001);
	moves(feed, 50, 0, "recvfrom", 5, 100);
	accepts(feed, 60, 1, 4, 1002);
	moves(feed, 70, 1, "recvfrom", 4, 100);
	sw(feed, 90, 1, "b", 6, DEAD, "swapper", 0);
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "21-30 5 open; 51-200 5 open; 71-90 6 open");
}

/* What is read again later (MSG_PEEK) was not read. */
static void test_peek(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));
	struct event event;

	accepts(feed, 10, 0, 4, 1000);
	event = event_of(feed, 20, 0, "syscall_entry_recvfrom");
	event.syscall.fd = 4;
	event.syscall.flags = 2;
	send(feed, &event);
	leave(feed, 21, 0, "recvfrom", 1);
	moves(feed, 30, 0, "recvfrom", 4, 100);
	moves(feed, 40, 0, "sendto", 4, 10);
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "31-41 5");
}

/* a proxies two requests at once to b: connects for the first, takes up the second, and writes
 * to the first's connection only then. "An accept that this request's own connection causes
 * is part of it." */
static void test_event_loop(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));

	accepts(feed, 10, 0, 4, 1000);
	accepts(feed, 12, 0, 5, 1001);
	moves(feed, 20, 0, "recvfrom", 4, 100); /* #1: from 21 */
	moves(feed, 22, 0, "socket", -1, 8);
	connects(feed, 24, 0, 8, 5000);
	moves(feed, 30, 0, "recvfrom", 5, 100); /* #2: from 31 */
	moves(feed, 32, 0, "socket", -1, 9);
	connects(feed, 34, 0, 9, 5001);
	moves(feed, 40, 0, "sendto", 8, 70);    /* for #1 */
	moves(feed, 42, 0, "sendto", 9, 70);    /* for #2 */
	accepts_client(feed, 44, 1, 4, 5000);
	accepts_client(feed, 46, 1, 5, 5001);
	moves(feed, 50, 1, "recvfrom", 4, 70);  /* #3, in #1 */
	moves(feed, 60, 1, "sendto", 4, 10);
	moves(feed, 62, 1, "recvfrom", 5, 70);  /* #4, in #2 */
	moves(feed, 70, 0, "recvfrom", 8, 10);
	moves(feed, 72, 0, "sendto", 4, 10);    /* #1: until 73 */
	moves(feed, 80, 1, "sendto", 5, 10);
	moves(feed, 90, 0, "recvfrom", 9, 10);
	moves(feed, 92, 0, "sendto", 5, 10);    /* #2: until 93 */
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "21-73 5; 31-93 5; 51-61 6 in 1; 63-81 6 in 2");
	/* a: for #1 until its next call for #2, and so on; what it writes it had taken up again */
	g_assert_cmpstr(working(feed), ==,
			"5 21-30 #1; 5 31-40 #2; 5 40-42 #1; 5 42-70 #2; 5 71-73 #1; "
			"5 91-93 #2; 6 51-61 #3; 6 63-81 #4");
	/* #2's way back from 93, 62 ns. a from 91, when it had read the answer: 1 of its own, 1
	 * writing. b wrote that at 80; a from there to 91: 10, and 1 reading. b from 63, when it
	 * had read the question, to 80: 17. a wrote that at 42; b from there to 63: 10 of it for
	 * #3, 2 in accept4, 2 reading, 7 of its own. a from 31 to 42: 2 of it for #1, 2 to connect,
	 * 1 for the socket, 6 of its own. */
	g_assert_cmpstr(causes(feed, 1), ==,
			"24 cpu b, user code; 17 cpu a, user code; 10 other-request b busy with "
			"another request; 2 other-request a busy with another request; 2 cpu a, "
			"syscall:connect; 2 cpu b, syscall:accept4; 2 cpu b, syscall:recvfrom; "
			"1 cpu a, syscall:recvfrom; 1 cpu a, syscall:sendto; 1 cpu a, "
			"syscall:socket");
}

/* d, a thread of c's process, is woken by c and answers what c had read. */
static void test_pool(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));

	entry(feed, 4, 3, "futex", -1);
	sw(feed, 5, 3, "d", 8, SLEEPS, "swapper", 0);
	accepts(feed, 10, 2, 4, 1000);
	moves(feed, 20, 2, "recvfrom", 4, 100);
	waking(feed, 30, 2, 8);
	wakeup(feed, 31, 2, 8);
	sw(feed, 35, 3, "swapper", 0, 0, "d", 8);
	leave(feed, 36, 3, "futex", 0);
	moves(feed, 50, 3, "sendto", 4, 10);
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "21-51 8");
	/* c goes on with whatever it does, until the answer is there */
	g_assert_cmpstr(working(feed), ==, "7 21-51 #1; 8 30-51 #1");
	/* d was woken by c at 30: c's time before, ready for 5, then d's own */
	g_assert_cmpstr(causes(feed, 0), ==,
			"14 cpu d, user code; 9 cpu c, user code; 5 wait-cpu CPU idle: slow "
			"wake-up from idle; 1 cpu d, syscall:futex; 1 cpu d, syscall:sendto");
}

/* Through a pipe to another process and back: the way goes where the bytes were. */
static void test_pipes(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));
	static const char *const names[] = {"pipe:[7]", "pipe:[8]"};

	for (int process = 5; process <= 6; process++)
		for (int i = 0; i < 2; i++) {
			struct event event =
				event_of(feed, 3, 0, "lttng_statedump_file_descriptor");

			event.file.pid = process;
			event.file.fd = 10 + i;
			event.file.filename = names[i];
			send(feed, &event);
		}
	accepts(feed, 10, 0, 4, 1000);
	moves(feed, 20, 0, "recvfrom", 4, 100); /* from 21 */
	moves(feed, 30, 0, "write", 10, 5);
	moves(feed, 40, 1, "read", 10, 5); /* b takes it up at 41 */
	moves(feed, 60, 1, "write", 11, 5);
	moves(feed, 70, 0, "read", 11, 5);
	moves(feed, 80, 0, "sendto", 4, 10);
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "21-81 5");
	g_assert_cmpstr(working(feed), ==, "5 21-81 #1; 6 41-81 #1");
	/* back from 81: a to 71, when it had read: 9, and 1 writing; a to 60, when b wrote that:
	 * 10, and 1 reading; b to 41: 19; b to 30, when a wrote: 10, and 1 reading; a to 21: 9 */
	g_assert_cmpstr(causes(feed, 0), ==,
			"29 cpu b, user code; 28 cpu a, user code; 1 cpu a, syscall:read; "
			"1 cpu a, syscall:sendto; 1 cpu b, syscall:read");
}

/* A client's: "from the first write to the return of the last read"; the first one from the connect
 * on, as the connection was made for it. */
static void test_client(void)
{
	FEED_FROM(feed_requests(PRESET_CLIENT));

	moves(feed, 10, 0, "socket", -1, 4);
	connects(feed, 20, 0, 4, 5000); /* begins: 20 */
	moves(feed, 30, 0, "sendto", 4, 10);
	moves(feed, 32, 0, "sendto", 4, 10);
	moves(feed, 40, 0, "recvfrom", 4, 10);
	moves(feed, 50, 0, "recvfrom", 4, 10); /* until 51 */
	moves(feed, 60, 0, "sendto", 4, 10); /* the next: 60 */
	moves(feed, 70, 0, "recvfrom", 4, 0); /* the server went away */
	moves(feed, 80, 0, "close", 4, 0);
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "20-51 5; 60-80 5 open");
}

/* A connection that was made beforehand: its thread slept, or spoke with somebody else, before it
 * asked; then the request begins where it is written. */
static void test_client_connected_before(void)
{
	FEED_FROM(feed_requests(PRESET_CLIENT));

	moves(feed, 10, 0, "socket", -1, 4);
	connects(feed, 20, 0, 4, 5000);
	entry(feed, 24, 0, "nanosleep", -1);
	sw(feed, 25, 0, "a", 5, SLEEPS, "idle", 0);
	waking(feed, 27, 0, 5);
	sw(feed, 28, 0, "idle", 0, 0, "a", 5);
	leave(feed, 29, 0, "nanosleep", 0);
	moves(feed, 30, 0, "sendto", 4, 10); /* begins: 30 */
	moves(feed, 40, 0, "recvfrom", 4, 10);
	moves(feed, 50, 0, "socket", -1, 7);
	connects(feed, 60, 0, 7, 5001);
	moves(feed, 65, 0, "sendto", 4, 10); /* begins: 65 */
	moves(feed, 70, 0, "sendto", 7, 10); /* begins: 70, while it asks the other */
	moves(feed, 80, 0, "recvfrom", 7, 10);
	moves(feed, 85, 0, "recvfrom", 4, 10);
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "30-41 5; 65-86 5; 70-81 5 in 2");
}

/* Addresses of version 6 are not inodes: two connections from one of them are two. */
static void test_version_6(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));
	static const uint8_t peer[16] = {0x20, 1, [15] = 1};

	for (int i = 0; i < 2; i++) {
		struct event event;

		entry(feed, 10 + 50 * i, 0, "accept4", 3);
		event = event_of(feed, 11 + 50 * i, 0, "syscall_exit_accept4");
		event.syscall.ret = 4;
		event.syscall.family = 10;
		event.syscall.port = 1000;
		event.syscall.v6 = (struct event_bytes) {peer, 16};
		send(feed, &event);
		moves(feed, 20 + 50 * i, 0, "recvfrom", 4, 10);
		if (i)
			moves(feed, 30 + 50 * i, 0, "sendto", 4, 10);
		moves(feed, 40 + 50 * i, 0, "close", 4, 0);
	}
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "21-40 5 open; 71-81 5");
}

/* A descriptor that the statedump names only after its first use keeps its connection. */
static void test_named_late(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));
	struct event event;

	accepts(feed, 10, 1, 9, 1000); /* a server's end of a known role, to have something else */
	moves(feed, 20, 0, "recvfrom", 4, 10);
	event = event_of(feed, 25, 1, "lttng_statedump_file_descriptor");
	event.file.pid = 5;
	event.file.fd = 4;
	event.file.filename = "socket:[77]";
	send(feed, &event);
	moves(feed, 30, 0, "sendto", 4, 10);
	plain(feed, 200, 0, "other");
	finish(feed);
	/* ends 1 and 2: what accept made, and this one; no third */
	g_assert_cmpuint(feed->session->trace.timeline.ends.used, ==, 3);
	g_assert_cmpstr(found(feed), ==, ""); /* nothing tells who serves */
}

/* One process's life. */
static void test_process(void)
{
	FEED_FROM(feed_requests(PRESET_PROCESS));

	forks(feed, 10, 0, 5, 20, 20);
	forks(feed, 15, 0, 5, 21, 5); /* a thread: no process */
	sw(feed, 30, 1, "b", 6, SLEEPS, "child", 20);
	sw(feed, 90, 1, "child", 20, DEAD, "swapper", 0);
	plain(feed, 200, 0, "other");
	g_assert_cmpstr(found(feed), ==, "10-90 20");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/requests/kept-alive", test_kept_alive);
	g_test_add_func("/requests/half-closed", test_half_closed);
	g_test_add_func("/requests/unanswered", test_unanswered);
	g_test_add_func("/requests/peek", test_peek);
	g_test_add_func("/requests/event-loop", test_event_loop);
	g_test_add_func("/requests/pool", test_pool);
	g_test_add_func("/requests/pipes", test_pipes);
	g_test_add_func("/requests/client", test_client);
	g_test_add_func("/requests/client-connected-before", test_client_connected_before);
	g_test_add_func("/requests/version-6", test_version_6);
	g_test_add_func("/requests/named-late", test_named_late);
	g_test_add_func("/requests/process", test_process);
	return g_test_run();
}
