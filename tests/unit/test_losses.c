/* SPDX-License-Identifier: MIT */
/* A loss between two traced hosts is the reason of the wait on the other (trace/losses.h).
 * Expectations by hand from the true times (hosts.h): "client" (5) waits from 1,000 ns on for what
 * "server" (6) writes at 40 ms; the clocks are told by two packets before, to 20 ns.
 */
#include "hosts.h"

#define MS INT64_C(1000000)
#define TIMER 1

/* The client waits until the packet with that number comes at 300 ms. */
static void client_waits(struct feed *feed, uint16_t id)
{
	on(feed, CLIENT);
	runs(feed, 0, "client", 5);
	SENT(100, CLIENT, SERVER, .seq = 1, .length = 1, .id = 900);
	RECEIVED(220, SERVER, CLIENT, .seq = 7, .length = 1, .id = 901);
	entry(feed, 900, 0, "recvfrom", 3);
	sleeps(feed, 1000, "client", 5);
	DELIVERED(300 * MS, SERVER, CLIENT, 5, .seq = 8, .length = 9, .id = id);
	runs(feed, 300 * MS + 10, "client", 5);
	plain(feed, 301 * MS, 0, "other");
}

static void server_writes(struct feed *feed)
{
	on(feed, SERVER);
	runs(feed, 0, "server", 6);
	RECEIVED(120, CLIENT, SERVER, .seq = 1, .length = 1, .id = 900);
	SENT(200, SERVER, CLIENT, .seq = 7, .length = 1, .id = 901);
	entry(feed, 40 * MS - 1 + ahead, 0, "sendto", 3);
	SENT(40 * MS, SERVER, CLIENT, .seq = 8, .length = 9, .id = 11);
	leave(feed, 40 * MS + 1 + ahead, 0, "sendto", 9);
}

/* "KIND: LABEL" of the client's wait. */
static const char *cause(struct feed *feed)
{
	uint32_t thread = life(feed, 5, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	struct cause cause = wait_cause(feed->session, g_ptr_array_index(waits, 0));

	g_ptr_array_add(feed->texts,
			g_strdup_printf("%s: %s", cause_kind_text(cause.kind), cause.label));
	cause_clear(&cause);
	g_ptr_array_free(waits, TRUE);
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* Sent again by a timer at 299 ms: the second one comes. */
static void test_lost(void)
{
	FEED_FROM(two_hosts());

	client_waits(feed, 12);
	server_writes(feed);
	softirq(feed, 298 * MS + ahead, 0, "irq_softirq_entry", TIMER);
	SENT(299 * MS, SERVER, CLIENT, .seq = 8, .length = 9, .id = 12);
	softirq(feed, 299 * MS + 1 + ahead, 0, "irq_softirq_exit", TIMER);
	g_assert_cmpstr(cause(feed), ==,
			"retransmission: bytes from server (6) on server to client (5) on h were "
			"sent again after 259.0 ms by TCP's retransmission time-out; they were "
			"lost between these hosts");
	g_assert_cmpstr(leads(feed, 5, 0), ==, "6 sent 40000000");
}

/* Sent once, and 260 ms on its way: a slow network, no loss. */
static void test_slow(void)
{
	FEED_FROM(two_hosts());

	client_waits(feed, 11);
	server_writes(feed);
	g_assert_cmpstr(cause(feed), ==,
			"network: packet from 10.0.0.1:80, sent by server (6) on server in sendto");
}

/* Sent again when the first one had come: that was in vain. */
static void test_needless(void)
{
	FEED_FROM(two_hosts());

	client_waits(feed, 11);
	server_writes(feed);
	softirq(feed, 298 * MS + ahead, 0, "irq_softirq_entry", TIMER);
	SENT(299 * MS, SERVER, CLIENT, .seq = 8, .length = 9, .id = 12);
	softirq(feed, 299 * MS + 1 + ahead, 0, "irq_softirq_exit", TIMER);
	g_assert_cmpstr(cause(feed), ==,
			"network: packet from 10.0.0.1:80, sent by server (6) on server in sendto");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/losses/lost", test_lost);
	g_test_add_func("/losses/slow", test_slow);
	g_test_add_func("/losses/needless", test_needless);
	return g_test_run();
}
