/* SPDX-License-Identifier: MIT */
/* Connections that TCP gives up (net/given_up.h), and ends of waits that look alike. Worked out by
 * hand from the events: 5 ("a") talks to 10.0.0.9:80 on CPU 0, in recvfrom it is blocked from 32 to
 * 131, when a timer of the kernel's ends it.
 */
#include "feed.h"

#define TIMED_OUT (-110)
#define RESET (-104)
#define REFUSED (-111)
#define UNREACHABLE (-113)
#define TIMER 1

static void call(struct feed *feed, int64_t time, const char *name, int32_t fd, int64_t ret)
{
	entry(feed, time, 0, name, fd);
	leave(feed, time + 1, 0, name, ret);
}

static void begins_to_connect(struct feed *feed, int64_t time)
{
	static const uint8_t address[4] = {10, 0, 0, 9};
	struct event event = event_of(feed, time, 0, "syscall_entry_connect");

	event.syscall.fd = 3;
	event.syscall.port = 80;
	event.syscall.v4 = (struct event_bytes) {address, 4};
	send(feed, &event);
}

static struct feed *start(void)
{
	struct feed *feed = feed_new(1);
	struct event event = event_of(feed, 10, 0, "syscall_entry_socket");

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	event.syscall.family = 2;
	event.syscall.type = 1;
	send(feed, &event);
	leave(feed, 11, 0, "socket", 3);
	return feed;
}

static void ends(struct feed *feed, const char *name, int64_t ret)
{
	sw(feed, 32, 0, "a", 5, SLEEPS, "idle", 0);
	softirq(feed, 130, 0, "irq_softirq_entry", TIMER);
	waking(feed, 131, 0, 5);
	softirq(feed, 132, 0, "irq_softirq_exit", TIMER);
	sw(feed, 133, 0, "idle", 0, 0, "a", 5);
	leave(feed, 134, 0, name, ret);
	plain(feed, 200, 0, "other");
}

/* "KIND: LABEL" of the only wait. */
static const char *cause(struct feed *feed)
{
	uint32_t thread = life(feed, 5, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	struct cause cause = wait_cause(feed->session, g_ptr_array_index(waits, 0));

	g_assert_cmpuint(waits->len, ==, 1);
	g_ptr_array_add(feed->texts,
			g_strdup_printf("%s: %s", cause_kind_text(cause.kind), cause.label));
	cause_clear(&cause);
	g_ptr_array_free(waits, TRUE);
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* All that it asked had been answered. */
static void test_idle(void)
{
	FEED_FROM(start());

	begins_to_connect(feed, 12);
	leave(feed, 13, 0, "connect", 0);
	call(feed, 20, "sendto", 3, 8);
	call(feed, 22, "recvfrom", 3, 8);
	entry(feed, 30, 0, "recvfrom", 3);
	ends(feed, "recvfrom", TIMED_OUT);
	g_assert_cmpstr(cause(feed), ==,
			"timeout: TCP's time limit (ETIMEDOUT): 10.0.0.9:80 did "
			"not answer keep-alive probes");
}

/* What it asked last was not. */
static void test_unacknowledged(void)
{
	FEED_FROM(start());

	begins_to_connect(feed, 12);
	leave(feed, 13, 0, "connect", 0);
	call(feed, 20, "sendto", 3, 8);
	entry(feed, 30, 0, "recvfrom", 3);
	ends(feed, "recvfrom", TIMED_OUT);
	g_assert_cmpstr(cause(feed), ==,
			"timeout: TCP's time limit (ETIMEDOUT): 10.0.0.9:80 did "
			"not acknowledge what was sent");
}

/* The attempt to connect, from 12 to 134. */
static void test_connect(void)
{
	FEED_FROM(start());

	begins_to_connect(feed, 12);
	ends(feed, "connect", TIMED_OUT);
	g_assert_cmpstr(cause(feed), ==,
			"timeout: TCP's time limit (ETIMEDOUT): 10.0.0.9:80 did not "
			"answer the attempt to connect in 122 ns");
}

/* Nobody has the address. */
static void test_unreachable(void)
{
	FEED_FROM(start());

	begins_to_connect(feed, 12);
	ends(feed, "connect", UNREACHABLE);
	g_assert_cmpstr(cause(feed), ==,
			"timeout: the error EHOSTUNREACH: no host was found at 10.0.0.9:80 (ARP "
			"unanswered, or a router said so)");
}

/* Somebody is there, and refuses. */
static void test_refused(void)
{
	FEED_FROM(start());

	begins_to_connect(feed, 12);
	ends(feed, "connect", REFUSED);
	g_assert_null(strstr(cause(feed), "no host"));
}

/* Data come in the end: the timer's softIRQ only happened to run there. */
static void test_answered(void)
{
	FEED_FROM(start());

	begins_to_connect(feed, 12);
	leave(feed, 13, 0, "connect", 0);
	call(feed, 20, "sendto", 3, 8);
	entry(feed, 30, 0, "recvfrom", 3);
	ends(feed, "recvfrom", 8);
	g_assert_cmpstr(cause(feed), ==,
			"timer: timer (softIRQ TIMER; which one was not recorded)");
}

/* Its peer gives it up, and says so. */
static void test_reset(void)
{
	FEED_FROM(start());

	begins_to_connect(feed, 12);
	leave(feed, 13, 0, "connect", 0);
	entry(feed, 30, 0, "recvfrom", 3);
	ends(feed, "recvfrom", RESET);
	g_assert_cmpstr(cause(feed), ==,
			"timer: timer (softIRQ TIMER; which one was not recorded)");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/given-up/idle", test_idle);
	g_test_add_func("/given-up/unacknowledged", test_unacknowledged);
	g_test_add_func("/given-up/connect", test_connect);
	g_test_add_func("/given-up/unreachable", test_unreachable);
	g_test_add_func("/given-up/refused", test_refused);
	g_test_add_func("/given-up/answered", test_answered);
	g_test_add_func("/given-up/reset", test_reset);
	return g_test_run();
}
