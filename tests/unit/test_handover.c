/* SPDX-License-Identifier: MIT */
/* Hand-overs: what woke is only the messenger of a thread. Expectations are
 * worked out by hand from semantics.md, "Blocking causality", rule 1: "name the
 * messenger, and continue with that thread up to the time it sent".
 */
#include "causes.h"

static const uint8_t here[4] = {127, 0, 0, 1}, there[4] = {10, 0, 0, 2};

/* A packet in buffer `skb`, from `from`'s port to `port`. */
static void packet(struct feed *feed, int64_t time, uint32_t cpu, const char *name, uint64_t skb,
		   const uint8_t *from, uint32_t port)
{
	struct event event = event_of(feed, time, cpu, name);

	event.net.saddr = (struct event_bytes) {from, 4};
	event.net.daddr = (struct event_bytes) {here, 4};
	event.net.source_port = 5555;
	event.net.dest_port = port;
	event.net.skb = skb;
	send(feed, &event);
}

/* "TID until TIME" of each wait of `tid` that is handed over or woken by a
 * thread; "-" for the others. */
static const char *leads(struct feed *feed, int32_t tid)
{
	uint32_t thread = life(feed, tid, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < waits->len; i++) {
		const struct wait *wait = g_ptr_array_index(waits, i);

		if (wait->has_share)
			g_string_append_printf(
				text, "%s%d until %d%s", i ? ", " : "",
				model_thread(&feed->session->trace.model, wait->lead.thread)->tid,
				(int) wait->lead.until, wait->lead.handed_over ? " sent" : "");
		else
			g_string_append_printf(text, "%s-", i ? ", " : "");
	}
	g_ptr_array_free(waits, TRUE);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* 5 sleeps in a read on CPU 0; 6 runs on CPU 1. */
static void reader_sleeps(struct feed *feed)
{
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	entry(feed, 10, 0, "recvfrom", 3);
	sw(feed, 20, 0, "a", 5, SLEEPS, "idle", 0);
}

static void deliver(struct feed *feed, int64_t time, uint32_t cpu, uint64_t skb,
		    const uint8_t *from, uint32_t port)
{
	softirq(feed, time, cpu, "irq_softirq_entry", 3);
	packet(feed, time + 1, cpu, "net_if_receive_skb", skb, from, port);
	waking(feed, time + 2, cpu, 5);
	softirq(feed, time + 3, cpu, "irq_softirq_exit", 3);
}

static void reader_runs(struct feed *feed, int64_t time)
{
	sw(feed, time, 0, "idle", 0, 0, "a", 5);
	leave(feed, time + 5, 0, "recvfrom", 1);
	plain(feed, time + 10, 0, "other");
}

/* Over loopback the softIRQ runs in whatever context; the buffer says who sent. */
static void test_loopback(void)
{
	FEED(2);

	reader_sleeps(feed);
	entry(feed, 90, 1, "sendto", 4);
	packet(feed, 100, 1, "net_dev_queue", 0xf00, here, 80);
	leave(feed, 110, 1, "sendto", 1);
	sw(feed, 120, 1, "b", 6, SLEEPS, "c", 7);
	deliver(feed, 200, 1, 0xf00, here, 80); /* 7 is interrupted by it */
	reader_runs(feed, 300);
	g_assert_cmpstr(leads(feed, 5), ==, "6 until 100 sent");
	/* the critical path: 5 until it slept, 6 until it sent, the way, 5 */
	struct path *path = path_new(feed->session, life(feed, 5, 0), 0, 310);
	const struct piece *piece = &g_array_index(path->pieces, struct piece, 2);
	int64_t at = 0;

	for (guint i = 0; i < path->pieces->len; i++) {
		g_assert_cmpint(g_array_index(path->pieces, struct piece, i).begin, ==, at);
		at = g_array_index(path->pieces, struct piece, i).end;
		if (g_array_index(path->pieces, struct piece, i).block)
			piece = &g_array_index(path->pieces, struct piece, i);
	}
	g_assert_cmpint(at, ==, 310);
	g_assert_cmpint(piece->begin, ==, 100);
	g_assert_cmpint(piece->end, ==, 202);
	path_free(path);
}

/* The same buffer again, for a packet from outside: the flow is another. */
static void test_buffer_again(void)
{
	FEED(2);

	reader_sleeps(feed);
	packet(feed, 100, 1, "net_dev_queue", 0xf00, here, 80);
	deliver(feed, 200, 1, 0xf00, there, 80);
	reader_runs(feed, 300);
	g_assert_cmpstr(leads(feed, 5), ==, "-");
}

/* Where the headers were not recorded, the buffer's address alone proves nothing. */
static void test_no_headers(void)
{
	FEED(2);
	struct event event;

	reader_sleeps(feed);
	event = event_of(feed, 100, 1, "net_dev_queue");
	event.net.skb = 0xf00;
	send(feed, &event);
	softirq(feed, 200, 1, "irq_softirq_entry", 3);
	event = event_of(feed, 201, 1, "net_if_receive_skb");
	event.net.skb = 0xf00;
	send(feed, &event);
	waking(feed, 202, 1, 5);
	softirq(feed, 203, 1, "irq_softirq_exit", 3);
	reader_runs(feed, 300);
	g_assert_cmpstr(leads(feed, 5), ==, "-");
}

/* A packet is received once: a copy of an old one says nothing new. */
static void test_received_once(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	entry(feed, 10, 0, "recvfrom", 3);
	sw(feed, 20, 0, "a", 5, SLEEPS, "idle", 0);
	packet(feed, 100, 1, "net_dev_queue", 0xf00, here, 80);
	deliver(feed, 200, 1, 0xf00, here, 80);
	sw(feed, 220, 0, "idle", 0, 0, "a", 5);
	leave(feed, 230, 0, "recvfrom", 1);
	entry(feed, 240, 0, "recvfrom", 3);
	sw(feed, 250, 0, "a", 5, SLEEPS, "idle", 0);
	deliver(feed, 270, 1, 0xf00, here, 80);
	reader_runs(feed, 300);
	g_assert_cmpstr(leads(feed, 5), ==, "6 until 100 sent, -");
}

/* It was on its way when the wait began: nobody was waited for but the network. */
static void test_sent_before(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	packet(feed, 5, 1, "net_dev_queue", 0xf00, here, 80);
	entry(feed, 10, 0, "recvfrom", 3);
	sw(feed, 20, 0, "a", 5, SLEEPS, "idle", 0);
	deliver(feed, 200, 1, 0xf00, here, 80);
	reader_runs(feed, 300);
	g_assert_cmpstr(leads(feed, 5), ==, "-");
}

/* The rest of a long message is queued by a softIRQ: it is of the thread that
 * sent last on that flow, and nothing is known where nobody was seen to. */
static void test_sent_in_softirq(void)
{
	FEED(2);

	reader_sleeps(feed);
	packet(feed, 100, 1, "net_dev_queue", 0xf00, here, 80);
	sw(feed, 110, 1, "b", 6, SLEEPS, "c", 7);
	softirq(feed, 120, 1, "irq_softirq_entry", 3);
	packet(feed, 121, 1, "net_dev_queue", 0xf01, here, 80);
	packet(feed, 122, 1, "net_dev_queue", 0xf02, here, 81);
	softirq(feed, 130, 1, "irq_softirq_exit", 3);
	deliver(feed, 200, 1, 0xf01, here, 80);
	sw(feed, 220, 0, "idle", 0, 0, "a", 5);
	sw(feed, 230, 0, "a", 5, SLEEPS, "idle", 0);
	deliver(feed, 240, 1, 0xf02, here, 81);
	reader_runs(feed, 300);
	g_assert_cmpstr(leads(feed, 5), ==, "6 until 100 sent, -");
}

/* A request that another thread issued while we waited: that thread until then,
 * the device after it. Without the issue, or issued before: the device alone. */
static void test_request(void)
{
	FEED(2);

	reader_sleeps(feed);
	request(feed, 100, 1, "block_rq_issue", 6);
	irq(feed, 200, 1, "irq_handler_entry", 9);
	request(feed, 201, 1, "block_rq_complete", -1);
	waking(feed, 202, 1, 5);
	irq(feed, 203, 1, "irq_handler_exit", 9);
	sw(feed, 210, 0, "idle", 0, 0, "a", 5);
	request(feed, 220, 1, "block_rq_issue", 6);
	sw(feed, 230, 0, "a", 5, SLEEPS, "idle", 0);
	irq(feed, 240, 1, "irq_handler_entry", 9);
	request(feed, 241, 1, "block_rq_complete", -1);
	waking(feed, 242, 1, 5);
	irq(feed, 243, 1, "irq_handler_exit", 9);
	sw(feed, 250, 0, "idle", 0, 0, "a", 5);
	sw(feed, 260, 0, "a", 5, SLEEPS, "idle", 0);
	irq(feed, 270, 1, "irq_handler_entry", 9);
	request(feed, 271, 1, "block_rq_complete", -1); /* its issue was not recorded */
	waking(feed, 272, 1, 5);
	irq(feed, 273, 1, "irq_handler_exit", 9);
	reader_runs(feed, 300);
	g_assert_cmpstr(leads(feed, 5), ==, "6 until 100 sent, -, -");
}

static void work(struct feed *feed, int64_t time, uint32_t cpu, const char *name, uint64_t item)
{
	struct event event = event_of(feed, time, cpu, name);

	event.work.item = item;
	event.work.function = 0xabc;
	send(feed, &event);
}

/* A kernel worker does what somebody queued: who, while it does it; an item of
 * which that was not seen; nothing after its end. */
static void test_work(void)
{
	FEED(2);

	reader_sleeps(feed);
	work(feed, 100, 1, "workqueue_queue_work", 0x77);
	sw(feed, 110, 1, "b", 6, SLEEPS, "kworker/1:1", 7);
	work(feed, 120, 1, "workqueue_execute_start", 0x77);
	waking(feed, 130, 1, 5);
	sw(feed, 140, 0, "idle", 0, 0, "a", 5);
	sw(feed, 150, 0, "a", 5, SLEEPS, "idle", 0);
	work(feed, 160, 1, "workqueue_execute_end", 0x77);
	work(feed, 170, 1, "workqueue_execute_start", 0x77); /* not queued again */
	waking(feed, 180, 1, 5);
	work(feed, 185, 1, "workqueue_execute_end", 0x77);
	sw(feed, 190, 0, "idle", 0, 0, "a", 5);
	sw(feed, 200, 0, "a", 5, SLEEPS, "idle", 0);
	waking(feed, 210, 1, 5);
	reader_runs(feed, 300);
	g_assert_cmpstr(leads(feed, 5), ==, "7 until 130, 7 until 180, 7 until 210");
	g_assert_cmpstr(cause_of(feed, 5, 0), ==,
			"process: kworker/1:1 (7), doing 0xabc queued by b (6)");
	g_assert_cmpstr(
		cause_of(feed, 5, 1), ==,
		"process: kworker/1:1 (7), doing 0xabc, by whom it was queued is not known");
	g_assert_cmpstr(cause_of(feed, 5, 2), ==, "process: kworker/1:1 (7)");
}

/* A nested interrupt does not make the one around it forget its packet. */
static void test_nested(void)
{
	FEED(2);

	reader_sleeps(feed);
	packet(feed, 100, 1, "net_dev_queue", 0xf00, here, 80);
	softirq(feed, 200, 1, "irq_softirq_entry", 3);
	packet(feed, 201, 1, "net_if_receive_skb", 0xf00, here, 80);
	irq(feed, 202, 1, "irq_handler_entry", 9);
	irq(feed, 203, 1, "irq_handler_exit", 9);
	waking(feed, 204, 1, 5);
	softirq(feed, 205, 1, "irq_softirq_exit", 3);
	reader_runs(feed, 300);
	g_assert_cmpstr(leads(feed, 5), ==, "6 until 100 sent");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/handover/loopback", test_loopback);
	g_test_add_func("/handover/buffer-again", test_buffer_again);
	g_test_add_func("/handover/no-headers", test_no_headers);
	g_test_add_func("/handover/received-once", test_received_once);
	g_test_add_func("/handover/sent-before", test_sent_before);
	g_test_add_func("/handover/sent-in-softirq", test_sent_in_softirq);
	g_test_add_func("/handover/request", test_request);
	g_test_add_func("/handover/work", test_work);
	g_test_add_func("/handover/nested", test_nested);
	return g_test_run();
}
