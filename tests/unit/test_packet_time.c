/* SPDX-License-Identifier: MIT */
/* Whose packets take a softIRQ's time (net/packet_time.h). Worked out by hand: "app" (5) computes
 * on CPU 0, where the packets come; "dns" (6) reads those for port 53 on CPU 1.
 */
#include "feed.h"

#define NET_TX 2
#define NET_RX 3
#define RCU 9

static struct feed *start(void)
{
	struct feed *feed = feed_new(2);

	sw(feed, 0, 0, "idle", 0, 0, "app", 5);
	sw(feed, 0, 1, "idle", 0, 0, "dns", 6);
	entry(feed, 1, 1, "recvfrom", 3);
	sw(feed, 2, 1, "dns", 6, SLEEPS, "idle", 0);
	return feed;
}

static void comes(struct feed *feed, int64_t time, uint32_t from, uint32_t to)
{
	static const uint8_t other[4] = {10, 0, 0, 2}, here[4] = {10, 0, 0, 1};
	struct event event = event_of(feed, time, 0, "net_if_receive_skb");

	event.net.saddr = (struct event_bytes) {other, 4};
	event.net.daddr = (struct event_bytes) {here, 4};
	event.net.source_port = from;
	event.net.dest_port = to;
	event.net.skb = 0x1000 + (uint64_t) time;
	send(feed, &event);
}

/* "LABEL NS; …" of the parts of `node` if it is that softIRQ, "none" for no parts; of what is
 * below it. */
static void append_parts(GString *text, const struct node *node, const char *softirq)
{
	bool is_it = node->element && strcmp(node->element, softirq) == 0;

	if (is_it && !node->children->len)
		g_string_append(text, "none");
	for (guint i = 0; i < node->children->len; i++) {
		const struct node *part = g_ptr_array_index(node->children, i);

		if (is_it)
			g_string_append_printf(text, "%s%s %" G_GINT64_FORMAT, i ? "; " : "",
					       part->label, part->ns);
		append_parts(text, part, softirq);
	}
}

static const char *taken(struct feed *feed, int32_t tid, const char *softirq)
{
	uint32_t thread = life(feed, tid, 0);
	struct node *root = summary_new(feed->session, thread, feed->session->asked.from,
					feed->session->asked.to);
	GString *text = g_string_new(NULL);

	append_parts(text, root, softirq);
	node_free(root);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* Two runs for the name server, one for a page that comes; who reads is known by its wake-up. */
static void test_received(void)
{
	FEED_FROM(start());

	softirq(feed, 20, 0, "irq_softirq_entry", NET_RX);
	comes(feed, 22, 40000, 53);
	waking(feed, 24, 0, 6);
	comes(feed, 26, 40001, 53);
	comes(feed, 28, 80, 50000);
	softirq(feed, 40, 0, "irq_softirq_exit", NET_RX);
	softirq(feed, 50, 0, "irq_softirq_entry", NET_RX);
	comes(feed, 52, 80, 50000);
	softirq(feed, 55, 0, "irq_softirq_exit", NET_RX);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(taken(feed, 5, "softirq:3"), ==,
			"for packets from 10.0.0.2 to port 53 of dns (6) 20; for packets from "
			"10.0.0.2:80 5");
}

/* A run in which nothing came; softIRQs that are no packets'. */
static void test_without(void)
{
	FEED_FROM(start());

	softirq(feed, 20, 0, "irq_softirq_entry", NET_RX);
	comes(feed, 22, 40000, 53);
	softirq(feed, 30, 0, "irq_softirq_exit", NET_RX);
	softirq(feed, 40, 0, "irq_softirq_entry", NET_RX);
	softirq(feed, 47, 0, "irq_softirq_exit", NET_RX);
	softirq(feed, 50, 0, "irq_softirq_entry", RCU);
	softirq(feed, 60, 0, "irq_softirq_exit", RCU);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(taken(feed, 5, "softirq:3"), ==,
			"for packets from 10.0.0.2 to port 53 10; unknown 7");
	g_assert_cmpstr(taken(feed, 5, "softirq:9"), ==, "none");
}

/* What 6 has put into a device's queue leaves it while 5 runs. */
static void test_sent(void)
{
	struct event event;
	FEED_FROM(start());

	waking(feed, 5, 0, 6);
	sw(feed, 6, 1, "idle", 0, 0, "dns", 6);
	leave(feed, 7, 1, "recvfrom", 20);
	entry(feed, 8, 1, "sendto", 3);
	event = event_of(feed, 9, 1, "net_dev_queue");
	event.net.skb = 0x77;
	send(feed, &event);
	leave(feed, 10, 1, "sendto", 20);
	softirq(feed, 20, 0, "irq_softirq_entry", NET_TX);
	event = event_of(feed, 21, 0, "net_dev_xmit");
	event.net.skb = 0x77;
	event.net.device = "eth0";
	send(feed, &event);
	softirq(feed, 30, 0, "irq_softirq_exit", NET_TX);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(taken(feed, 5, "softirq:2"), ==, "sending packets on eth0 of dns (6) 10");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/packet-time/received", test_received);
	g_test_add_func("/packet-time/without", test_without);
	g_test_add_func("/packet-time/sent", test_sent);
	return g_test_run();
}
