/* SPDX-License-Identifier: MIT */
/* Requests by datagrams: a server's one socket has many peers, each question and answer is of
 * its own. Expectations are worked out by hand from objects/datagrams.h.
 *
 * Thread 6 ("dns") serves port 53 on CPU 1; packets come on CPU 0.
 */
#include "commands/commands.h"
#include "feed.h"

#include "request_invariants.h"

static struct feed *feed_server(void)
{
	struct feed *feed = g_new0(struct feed, 1);

	command_options(&feed->options, &requests_command);
	feed_start(feed, 2, "6.1.0", 2, 13);
	sw(feed, 0, 0, "swapper", 0, 0, "a", 5);
	sw(feed, 0, 1, "swapper", 0, 0, "dns", 6);
	return feed;
}

static void packet(struct feed *feed, int64_t time, uint32_t cpu, const char *name, uint32_t from,
		   uint32_t to, bool tcp)
{
	static const uint8_t client[4] = {10, 0, 0, 2}, server[4] = {10, 0, 0, 1};
	struct event event = event_of(feed, time, cpu, name);

	event.net.saddr = (struct event_bytes) {to == 53 ? client : server, 4};
	event.net.daddr = (struct event_bytes) {to == 53 ? server : client, 4};
	event.net.source_port = from;
	event.net.dest_port = to;
	event.net.skb = 0x1000 + (uint64_t) time;
	event.net.tcp = tcp;
	send(feed, &event);
}

/* 6 sleeps in recvfrom(3) from 12 on; the packets of two clients come, the first wakes it. */
static void two_come(struct feed *feed)
{
	entry(feed, 10, 1, "recvfrom", 3);
	sw(feed, 12, 1, "dns", 6, SLEEPS, "swapper", 0);
	softirq(feed, 20, 0, "irq_softirq_entry", 3);
	packet(feed, 21, 0, "net_if_receive_skb", 1000, 53, false);
	waking(feed, 22, 0, 6);
	packet(feed, 23, 0, "net_if_receive_skb", 9999, 53, true); /* no datagram */
	packet(feed, 24, 0, "net_if_receive_skb", 2000, 53, false);
	softirq(feed, 25, 0, "irq_softirq_exit", 3);
	sw(feed, 30, 1, "swapper", 0, 0, "dns", 6);
	leave(feed, 31, 1, "recvfrom", 20);
}

static void answers(struct feed *feed, int64_t time, uint32_t port)
{
	entry(feed, time, 1, "sendto", 3);
	packet(feed, time + 1, 1, "net_dev_queue", 53, port, false);
	leave(feed, time + 2, 1, "sendto", 40);
}

/* "BEGIN-END LABEL[ open]; …" of all, in order. */
static const char *found(struct feed *feed)
{
	g_autoptr(GPtrArray) none = g_ptr_array_new();
	struct request_scope scope;
	struct user_requests *requests;
	GString *text = g_string_new(NULL);

	finish(feed);
	scope = (struct request_scope) {none, "pick", feed->session->asked.from,
					feed->session->asked.to};
	check_requests(feed->session);
	requests = user_requests_new(feed->session, &scope, NULL);
	for (guint i = 0; i < requests->list.used; i++) {
		const struct user_request *at = user_request_at(requests, i);
		g_autofree char *label = user_request_label(requests, at);

		g_string_append_printf(text, "%s%d-%d %s%s", i ? "; " : "", (int) at->begin,
				       (int) at->end, label, at->unfinished ? " open" : "");
	}
	user_requests_free(requests);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

static void test_in_turn(void)
{
	FEED_FROM(feed_server());

	two_come(feed);
	answers(feed, 40, 1000);
	entry(feed, 50, 1, "recvfrom", 3);
	leave(feed, 51, 1, "recvfrom", 20);
	answers(feed, 60, 2000);
	g_assert_cmpstr(found(feed), ==,
			"31-42 dns (6), asked by 10.0.0.2:1000; 51-62 dns (6), asked by "
			"10.0.0.2:2000");
}

/* The second is answered first. */
static void test_crossed(void)
{
	FEED_FROM(feed_server());

	two_come(feed);
	entry(feed, 40, 1, "recvfrom", 3);
	leave(feed, 41, 1, "recvfrom", 20);
	answers(feed, 50, 2000);
	answers(feed, 60, 1000);
	g_assert_cmpstr(found(feed), ==,
			"31-62 dns (6), asked by 10.0.0.2:1000; 41-52 dns (6), asked by "
			"10.0.0.2:2000");
}

/* The first is not answered; it is no part of the second. */
static void test_ignored(void)
{
	FEED_FROM(feed_server());

	two_come(feed);
	entry(feed, 40, 1, "recvfrom", 3);
	leave(feed, 41, 1, "recvfrom", 20);
	answers(feed, 50, 2000);
	plain(feed, 90, 1, "other");
	g_assert_cmpstr(found(feed), ==,
			"31-90 dns (6), asked by 10.0.0.2:1000 open; 41-52 dns (6), asked by "
			"10.0.0.2:2000");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/datagrams/in-turn", test_in_turn);
	g_test_add_func("/datagrams/crossed", test_crossed);
	g_test_add_func("/datagrams/ignored", test_ignored);
	return g_test_run();
}
