/* SPDX-License-Identifier: MIT */
/* What TCP did between the call that wrote and the wait that it ended, and what looks alike but
 * is something else. Times are in ms, of a connection of 127.0.0.1:5000 (a, 5, on CPU 0) to port
 * 80 (b, 6, on CPU 1); expectations are worked out by hand. Rules: net/transport.c.
 */
#include "feed.h"

#define MS(time) ((int64_t) ((time) * 1000000))
#define TIMER 1
#define NET_RX 3
#define SYN 2
#define PUSH 24
#define ACK 16

struct segment {
	uint32_t seq, ack, length, flags;
	int32_t window;
	uint64_t skb;
	bool back; /* from b to a */
};

static void packet(struct feed *feed, double time, uint32_t cpu, const char *name,
		   const struct segment *segment)
{
	static const uint8_t here[4] = {127, 0, 0, 1};
	struct event event = event_of(feed, MS(time), cpu, name);

	event.net.saddr = event.net.daddr = (struct event_bytes) {here, 4};
	event.net.source_port = segment->back ? 80 : 5000;
	event.net.dest_port = segment->back ? 5000 : 80;
	event.net.skb = segment->skb ? segment->skb : segment->seq + 7 * segment->back;
	event.net.device = "lo";
	event.net.tcp = true;
	event.net.seq = segment->seq;
	event.net.ack_seq = segment->ack;
	event.net.length = segment->length;
	event.net.flags = (uint16_t) (segment->flags ? segment->flags : PUSH);
	event.net.window = segment->window ? MAX(segment->window, 0) : 500;
	send(feed, &event);
}

#define QUEUED(time, cpu, ...)                                                                     \
	packet(feed, time, cpu, "net_dev_queue", &(struct segment) {__VA_ARGS__})
#define CAME(time, cpu, ...)                                                                       \
	packet(feed, time, cpu, "net_if_receive_skb", &(struct segment) {__VA_ARGS__})
#define CLOSED (-1) /* window */

static void left(struct feed *feed, double time, uint32_t cpu, uint64_t skb)
{
	struct event event = event_of(feed, MS(time), cpu, "net_dev_xmit");

	event.net.skb = skb;
	event.net.device = "lo";
	send(feed, &event);
}

static void soft(struct feed *feed, double time, uint32_t cpu, uint32_t vec)
{
	softirq(feed, MS(time), cpu, "irq_softirq_entry", vec);
}

static void soft_ends(struct feed *feed, double time, uint32_t cpu, uint32_t vec)
{
	softirq(feed, MS(time), cpu, "irq_softirq_exit", vec);
}

static void calls(struct feed *feed, double time, uint32_t cpu, const char *call)
{
	entry(feed, MS(time), cpu, call, 4);
}

static void returns(struct feed *feed, double time, uint32_t cpu, const char *call, int64_t ret)
{
	leave(feed, MS(time), cpu, call, ret);
}

static void sleeps(struct feed *feed, double time, uint32_t cpu)
{
	sw(feed, MS(time), cpu, cpu ? "b" : "a", cpu ? 6 : 5, SLEEPS, "idle", 0);
}

static void runs(struct feed *feed, double time, uint32_t cpu)
{
	sw(feed, MS(time), cpu, "idle", 0, 0, cpu ? "b" : "a", cpu ? 6 : 5);
}

/* At 1 to 2 ms a connects; its numbers are from 100 on, those of b from 500. */
static struct feed *connected(void)
{
	struct feed *feed = feed_new(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	calls(feed, 1, 0, "connect");
	QUEUED(1, 0, .seq = 99, .flags = SYN);
	soft(feed, 1.1, 0, NET_RX);
	CAME(1.1, 0, .seq = 99, .flags = SYN);
	QUEUED(1.2, 0, .seq = 499, .ack = 100, .flags = SYN | ACK, .back = true);
	CAME(1.3, 0, .seq = 499, .ack = 100, .flags = SYN | ACK, .back = true);
	QUEUED(1.4, 0, .seq = 100, .ack = 500, .flags = ACK);
	CAME(1.5, 0, .seq = 100, .ack = 500, .flags = ACK);
	soft_ends(feed, 1.6, 0, NET_RX);
	returns(feed, 2, 0, "connect", 0);
	return feed;
}

/* a asked 8 bytes, which b acknowledged; then a waits in recvfrom from 20 on, and TCP asks twice
 * whether b is still there; at 50 it gives b up. `arrive`: the probes come to b. */
static struct feed *kept_alive(bool arrive)
{
	static const uint8_t here[4] = {127, 0, 0, 1};
	struct feed *feed = feed_new(2);
	struct event event = event_of(feed, MS(0.5), 0, "syscall_entry_socket");

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	event.syscall.family = 2;
	event.syscall.type = 1;
	send(feed, &event);
	returns(feed, 0.6, 0, "socket", 4);
	event = event_of(feed, MS(1), 0, "syscall_entry_connect");
	event.syscall.fd = 4;
	event.syscall.port = 80;
	event.syscall.v4 = (struct event_bytes) {here, 4};
	send(feed, &event);
	QUEUED(1, 0, .seq = 99, .flags = SYN);
	soft(feed, 1.1, 0, NET_RX);
	CAME(1.1, 0, .seq = 99, .flags = SYN);
	QUEUED(1.2, 0, .seq = 499, .ack = 100, .flags = SYN | ACK, .back = true);
	CAME(1.3, 0, .seq = 499, .ack = 100, .flags = SYN | ACK, .back = true);
	soft_ends(feed, 1.6, 0, NET_RX);
	returns(feed, 2, 0, "connect", 0);
	calls(feed, 10, 0, "sendto");
	QUEUED(10.1, 0, .seq = 100, .ack = 500, .length = 8);
	soft(feed, 10.2, 0, NET_RX);
	CAME(10.2, 0, .seq = 100, .ack = 500, .length = 8);
	QUEUED(10.3, 0, .seq = 500, .ack = 108, .flags = ACK, .back = true);
	CAME(10.4, 0, .seq = 500, .ack = 108, .flags = ACK, .back = true);
	soft_ends(feed, 10.5, 0, NET_RX);
	returns(feed, 11, 0, "sendto", 8);
	calls(feed, 19, 0, "recvfrom");
	sleeps(feed, 20, 0);
	for (int time = 30; time < 50; time += 10) {
		soft(feed, time, 0, TIMER);
		QUEUED(time + 0.1, 0, .seq = 107, .ack = 500, .flags = ACK);
		soft_ends(feed, time + 0.2, 0, TIMER);
		if (arrive)
			CAME(time + 0.3, 1, .seq = 107, .ack = 500, .flags = ACK);
	}
	soft(feed, 50, 0, TIMER);
	waking(feed, MS(50.1), 0, 5);
	soft_ends(feed, 50.2, 0, TIMER);
	runs(feed, 50.3, 0);
	returns(feed, 50.4, 0, "recvfrom", -110);
	return feed;
}

/* b waits for bytes from 10 on. */
static void b_waits(struct feed *feed)
{
	calls(feed, 9, 1, "recvfrom");
	sleeps(feed, 10, 1);
}

/* "KIND: LABEL" of the nth wait of `tid`; then to whom it is led, up to when in ms. */
static const char *cause_and_lead(struct feed *feed, int32_t tid, guint nth)
{
	uint32_t thread, omitted;
	GPtrArray *waits;
	const struct wait *wait;
	struct cause cause;
	GString *text = g_string_new(NULL);

	finish(feed);
	thread = life(feed, tid, 0);
	waits = causality_new(feed->session, thread, feed->session->asked.from,
			      feed->session->asked.to, 0, &omitted);
	wait = g_ptr_array_index(waits, nth);
	cause = wait_cause(feed->session, wait);
	g_string_printf(text, "%s: %s", cause_kind_text(cause.kind), cause.label);
	if (wait->has_share)
		g_string_append_printf(
			text, " | %d until %g",
			model_thread(&feed->session->trace.model, wait->lead.thread)->tid,
			(double) wait->lead.until / 1e6);
	cause_clear(&cause);
	g_ptr_array_free(waits, TRUE);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* a writes 20 bytes at 20, which b gets at once. */
static void first_piece(struct feed *feed)
{
	calls(feed, 20, 0, "sendto");
	QUEUED(20, 0, .seq = 100, .ack = 500, .length = 20);
	left(feed, 20.05, 0, 100);
	soft(feed, 20.1, 0, NET_RX);
	CAME(20.1, 0, .seq = 100, .ack = 500, .length = 20);
	waking(feed, MS(20.2), 0, 6);
	soft_ends(feed, 20.3, 0, NET_RX);
	returns(feed, 20.4, 0, "sendto", 20);
	runs(feed, 21, 1);
	returns(feed, 22, 1, "recvfrom", 20);
	calls(feed, 23, 1, "recvfrom");
	sleeps(feed, 24, 1);
}

/* What b sends in softIRQ `vec` at 60 acknowledges it; the second piece goes then. */
static void acknowledged(struct feed *feed, uint32_t vec)
{
	soft(feed, 60, 1, vec);
	QUEUED(60.1, 1, .seq = 500, .ack = 120, .flags = ACK, .back = true);
	soft_ends(feed, 60.2, 1, vec);
	soft(feed, 60.3, 1, NET_RX);
	CAME(60.4, 1, .seq = 500, .ack = 120, .flags = ACK, .back = true);
	QUEUED(60.5, 1, .seq = 120, .ack = 500, .length = 100);
	CAME(60.6, 1, .seq = 120, .ack = 500, .length = 100);
	waking(feed, MS(61), 1, 6);
	soft_ends(feed, 61.1, 1, NET_RX);
	runs(feed, 62, 1);
	plain(feed, MS(70), 1, "other");
}

/* The second piece is written at 22, kept, and goes when the timer of b's kernel acknowledges the
 * first one, 40 ms after that came. */
static void test_delayed_ack(void)
{
	FEED_FROM(connected());

	b_waits(feed);
	first_piece(feed);
	calls(feed, 24.5, 0, "sendto");
	returns(feed, 25, 0, "sendto", 100);
	acknowledged(feed, TIMER);
	g_assert_cmpstr(cause_and_lead(feed, 6, 1), ==,
			"delayed-ack: a (5) writes in small pieces without TCP_NODELAY, so TCP "
			"(Nagle) kept the last one 35.50 ms until the one before was "
			"acknowledged, which the kernel of b (6) delayed by 40.00 ms | 5 until 25");
}

/* The same without a timer: b's kernel acknowledged as other packets came. */
static void test_nagle(void)
{
	FEED_FROM(connected());

	b_waits(feed);
	first_piece(feed);
	calls(feed, 24.5, 0, "sendto");
	returns(feed, 25, 0, "sendto", 100);
	acknowledged(feed, NET_RX);
	g_assert_cmpstr(cause_and_lead(feed, 6, 1), ==,
			"send-queue: a (5) writes in small pieces without TCP_NODELAY, so TCP "
			"(Nagle) kept the last one 35.50 ms until b (6) acknowledged the one "
			"before | 5 until 25");
}

/* It was late itself: the same acknowledgement by the timer, but a writes only then. */
static void test_written_late(void)
{
	FEED_FROM(connected());

	b_waits(feed);
	first_piece(feed);
	soft(feed, 60, 1, TIMER);
	QUEUED(60.1, 1, .seq = 500, .ack = 120, .flags = ACK, .back = true);
	soft_ends(feed, 60.2, 1, TIMER);
	soft(feed, 60.3, 1, NET_RX);
	CAME(60.4, 1, .seq = 500, .ack = 120, .flags = ACK, .back = true);
	soft_ends(feed, 60.5, 1, NET_RX);
	calls(feed, 61, 0, "sendto");
	QUEUED(61, 0, .seq = 120, .ack = 500, .length = 100);
	soft(feed, 61.1, 0, NET_RX);
	CAME(61.2, 0, .seq = 120, .ack = 500, .length = 100);
	waking(feed, MS(61.3), 0, 6);
	soft_ends(feed, 61.4, 0, NET_RX);
	runs(feed, 62, 1);
	plain(feed, MS(70), 1, "other");
	g_assert_cmpstr(
		cause_and_lead(feed, 6, 1), ==,
		"network: packet from 127.0.0.1:5000, sent by a (5) in sendto | 5 until 61");
}

static void again(struct feed *feed, double time, uint32_t vec)
{
	soft(feed, time, 0, vec);
	QUEUED(time, 0, .seq = 100, .ack = 500, .length = 20, .skb = 0xabc);
	soft_ends(feed, time + 0.1, 0, vec);
}

static void comes_at_last(struct feed *feed, double time)
{
	soft(feed, time, 0, NET_RX);
	CAME(time, 0, .seq = 100, .ack = 500, .length = 20, .skb = 0xabc);
	waking(feed, MS(time + 0.1), 0, 6);
	soft_ends(feed, time + 0.2, 0, NET_RX);
	runs(feed, time + 1, 1);
	plain(feed, MS(time + 10), 1, "other");
}

/* Queued at 20 and lost; again at 224, in softIRQ TIMER: the time-out. */
static void test_timeout(void)
{
	FEED_FROM(connected());

	b_waits(feed);
	calls(feed, 20, 0, "sendto");
	QUEUED(20, 0, .seq = 100, .ack = 500, .length = 20);
	returns(feed, 20.4, 0, "sendto", 20);
	again(feed, 224, TIMER);
	comes_at_last(feed, 224.5);
	g_assert_cmpstr(
		cause_and_lead(feed, 6, 0), ==,
		"retransmission: bytes from a (5) to b (6) were sent again after 204.0 ms "
		"by TCP's retransmission time-out; the trace cannot tell where they were lost "
		"| 5 until 20");
}

/* Where drivers are seen to take packets, one that never took it tells where it was lost. */
static void test_lost_in_queue(void)
{
	FEED_FROM(connected());

	b_waits(feed);
	first_piece(feed);
	calls(feed, 30, 0, "sendto");
	QUEUED(30, 0, .seq = 120, .ack = 500, .length = 10, .skb = 0xaaa);
	returns(feed, 30.4, 0, "sendto", 10);
	soft(feed, 234, 0, TIMER);
	QUEUED(234, 0, .seq = 120, .ack = 500, .length = 10, .skb = 0xabc);
	left(feed, 234.1, 0, 0xabc);
	soft_ends(feed, 234.2, 0, TIMER);
	soft(feed, 234.3, 0, NET_RX);
	CAME(234.4, 0, .seq = 120, .ack = 500, .length = 10, .skb = 0xabc);
	waking(feed, MS(234.5), 0, 6);
	soft_ends(feed, 234.6, 0, NET_RX);
	runs(feed, 235, 1);
	plain(feed, MS(240), 1, "other");
	g_assert_cmpstr(cause_and_lead(feed, 6, 1), ==,
			"retransmission: bytes from a (5) to b (6) were sent again after 204.0 ms "
			"by TCP's retransmission time-out; the queueing discipline of lo dropped "
			"them | 5 until 30");
}

/* Not by a timer, after three acknowledgements of the same. */
static void test_fast(void)
{
	FEED_FROM(connected());

	b_waits(feed);
	calls(feed, 20, 0, "sendto");
	QUEUED(20, 0, .seq = 100, .ack = 500, .length = 20);
	for (uint32_t i = 0; i < 3; i++)
		QUEUED(20 + 0.1 * (i + 1), 0, .seq = 120 + 10 * i, .ack = 500, .length = 10);
	returns(feed, 20.4, 0, "sendto", 50);
	soft(feed, 25, 0, NET_RX);
	for (uint32_t i = 0; i < 3; i++) {
		CAME(25 + i, 0, .seq = 120 + 10 * i, .ack = 500, .length = 10);
		QUEUED(25.1 + i, 0, .seq = 500, .ack = 100, .flags = ACK, .back = true);
		CAME(25.2 + i, 0, .seq = 500, .ack = 100, .flags = ACK, .back = true);
	}
	soft_ends(feed, 27.9, 0, NET_RX);
	again(feed, 28, NET_RX);
	comes_at_last(feed, 28.5);
	g_assert_cmpstr(cause_and_lead(feed, 6, 0), ==,
			"retransmission: bytes from a (5) to b (6) were sent again after 8.000 ms "
			"when acknowledgements showed the hole (fast retransmission); the trace "
			"cannot tell where they were lost | 5 until 20");
}

/* The same bytes in the queue of a second device at once (a tunnel, a bond): nothing was lost. */
static void test_second_device(void)
{
	FEED_FROM(connected());

	b_waits(feed);
	calls(feed, 20, 0, "sendto");
	QUEUED(20, 0, .seq = 100, .ack = 500, .length = 20, .skb = 0xabc);
	QUEUED(20.01, 0, .seq = 100, .ack = 500, .length = 20, .skb = 0xabc);
	returns(feed, 20.4, 0, "sendto", 20);
	comes_at_last(feed, 21);
	g_assert_cmpstr(
		cause_and_lead(feed, 6, 0), ==,
		"network: packet from 127.0.0.1:5000, sent by a (5) in sendto | 5 until 20");
}

/* From the queue at 20 to the driver at 60. */
static void test_queue(void)
{
	FEED_FROM(connected());

	b_waits(feed);
	calls(feed, 20, 0, "sendto");
	QUEUED(20, 0, .seq = 100, .ack = 500, .length = 20, .skb = 0xabc);
	returns(feed, 20.4, 0, "sendto", 20);
	left(feed, 60, 0, 0xabc);
	comes_at_last(feed, 61);
	g_assert_cmpstr(cause_and_lead(feed, 6, 0), ==,
			"send-queue: packets were 40.00 ms in the queueing discipline of lo (its "
			"shaper; net_dev_queue to net_dev_xmit) | 5 until 20");
}

/* The driver had it at once; it lay with the CPU from 20.1 to 61.1, when it is
 * taken, and wakes. */
static void test_no_queue(void)
{
	FEED_FROM(connected());

	b_waits(feed);
	calls(feed, 20, 0, "sendto");
	QUEUED(20, 0, .seq = 100, .ack = 500, .length = 20, .skb = 0xabc);
	left(feed, 20.1, 0, 0xabc);
	returns(feed, 20.4, 0, "sendto", 20);
	comes_at_last(feed, 61);
	g_assert_cmpstr(cause_and_lead(feed, 6, 0), ==,
			"network: packet from 127.0.0.1:5000, sent by a (5) in sendto; for 41.00 "
			"ms of it the "
			"packet lay in the receive queue of CPU 0, until its softIRQ NET_RX took "
			"it | 5 until 20");
}

/* The same, as the call was interrupted on the way to the driver: it was in no queue. */
static void test_interrupted(void)
{
	FEED_FROM(connected());

	b_waits(feed);
	calls(feed, 20, 0, "sendto");
	QUEUED(20, 0, .seq = 100, .ack = 500, .length = 20, .skb = 0xabc);
	soft(feed, 21, 0, TIMER);
	soft_ends(feed, 59, 0, TIMER);
	left(feed, 60, 0, 0xabc);
	returns(feed, 60.4, 0, "sendto", 20);
	comes_at_last(feed, 61);
	g_assert_cmpstr(cause_and_lead(feed, 6, 0), ==,
			"network: packet from 127.0.0.1:5000, sent by a (5) in sendto; for 1.100 "
			"ms of it the "
			"packet lay in the receive queue of CPU 0, until its softIRQ NET_RX took "
			"it | 5 until 20");
}

/* Of a connection that was there before, the first call is known only by its packet: what it wrote
 * is counted once, so the second one's bytes are its own, and were not kept. */
static void test_joined(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	b_waits(feed);
	first_piece(feed);
	soft(feed, 25, 1, NET_RX);
	QUEUED(25.1, 1, .seq = 500, .ack = 120, .flags = ACK, .back = true);
	CAME(25.2, 1, .seq = 500, .ack = 120, .flags = ACK, .back = true);
	soft_ends(feed, 25.3, 1, NET_RX);
	calls(feed, 60, 0, "sendto");
	QUEUED(60, 0, .seq = 120, .ack = 500, .length = 20);
	soft(feed, 60.1, 0, NET_RX);
	CAME(60.2, 0, .seq = 120, .ack = 500, .length = 20);
	waking(feed, MS(60.3), 0, 6);
	soft_ends(feed, 60.4, 0, NET_RX);
	returns(feed, 60.5, 0, "sendto", 20);
	runs(feed, 62, 1);
	plain(feed, MS(70), 1, "other");
	g_assert_cmpstr(
		cause_and_lead(feed, 6, 1), ==,
		"network: packet from 127.0.0.1:5000, sent by a (5) in sendto | 5 until 60");
}

/* A card joins two segments and cuts them elsewhere: ranges tell whose they are. */
static void test_cut(void)
{
	FEED_FROM(connected());

	b_waits(feed);
	calls(feed, 20, 0, "sendto");
	QUEUED(20, 0, .seq = 100, .ack = 500, .length = 2000, .skb = 0xabc);
	returns(feed, 20.4, 0, "sendto", 2000);
	left(feed, 60, 0, 0x111);
	soft(feed, 61, 0, NET_RX);
	CAME(61, 0, .seq = 100, .ack = 500, .length = 1000, .skb = 0x111);
	waking(feed, MS(61.1), 0, 6);
	soft_ends(feed, 61.2, 0, NET_RX);
	runs(feed, 62, 1);
	plain(feed, MS(70), 1, "other");
	g_assert_cmpstr(cause_and_lead(feed, 6, 0), ==,
			"send-queue: packets were 40.00 ms in the queueing discipline of lo (its "
			"shaper; net_dev_queue to net_dev_xmit) | 5 until 20");
}

/* a fills the buffers and blocks at 30; b, which does something else, reads at 90. */
static void test_window(void)
{
	FEED_FROM(connected());

	calls(feed, 20, 0, "sendto");
	QUEUED(20, 0, .seq = 100, .ack = 500, .length = 5000);
	soft(feed, 21, 0, NET_RX);
	CAME(21, 0, .seq = 100, .ack = 500, .length = 5000);
	QUEUED(21.1, 0, .seq = 500, .ack = 5100, .flags = ACK, .window = CLOSED, .back = true);
	CAME(21.2, 0, .seq = 500, .ack = 5100, .flags = ACK, .window = CLOSED, .back = true);
	soft_ends(feed, 21.3, 0, NET_RX);
	sleeps(feed, 30, 0);
	calls(feed, 90, 1, "recvfrom");
	QUEUED(90.1, 1, .seq = 500, .ack = 5100, .flags = ACK, .back = true);
	soft(feed, 90.2, 1, NET_RX);
	CAME(90.3, 1, .seq = 500, .ack = 5100, .flags = ACK, .back = true);
	waking(feed, MS(90.4), 1, 5);
	soft_ends(feed, 90.5, 1, NET_RX);
	returns(feed, 90.6, 1, "recvfrom", 5000);
	runs(feed, 91, 0);
	plain(feed, MS(95), 0, "other");
	g_assert_cmpstr(cause_and_lead(feed, 5, 0), ==,
			"send-queue: b (6) did not read: its receive window was closed for "
			"60.30 ms (rwnd_limited) | 6 until 90.1");
}

/* Another connection: its SYN comes to a host where nobody answers it until it is sent again. */
static void first_syn(struct feed *feed, bool arrives)
{
	calls(feed, 100, 0, "connect");
	QUEUED(100, 0, .seq = 9000, .flags = SYN);
	soft(feed, 100.1, 0, NET_RX);
	if (arrives)
		CAME(100.1, 0, .seq = 9000, .flags = SYN);
	soft_ends(feed, 100.2, 0, NET_RX);
	sleeps(feed, 101, 0);
	soft(feed, 1120, 0, TIMER);
	QUEUED(1120, 0, .seq = 9000, .flags = SYN, .skb = 0xabc);
	soft_ends(feed, 1120.1, 0, TIMER);
	soft(feed, 1120.2, 0, NET_RX);
	CAME(1120.2, 0, .seq = 9000, .flags = SYN, .skb = 0xabc);
	QUEUED(1120.3, 0, .seq = 7000, .ack = 9001, .flags = SYN | ACK, .back = true);
	CAME(1120.4, 0, .seq = 7000, .ack = 9001, .flags = SYN | ACK, .back = true);
	waking(feed, MS(1121), 0, 5);
	soft_ends(feed, 1121.1, 0, NET_RX);
	runs(feed, 1122, 0);
	plain(feed, MS(1130), 0, "other");
}

static void accepts_one(struct feed *feed)
{
	static const uint8_t here[4] = {127, 0, 0, 1};
	struct event event;

	calls(feed, 3, 1, "accept");
	event = event_of(feed, MS(4), 1, "syscall_exit_accept");
	event.syscall.ret = 9;
	event.syscall.port = 5000;
	event.syscall.v4 = (struct event_bytes) {here, 4};
	send(feed, &event);
}

/* b has accepted before, so it listens: it dropped what had come. */
static void test_syn_dropped(void)
{
	FEED_FROM(connected());

	accepts_one(feed);
	first_syn(feed, true);
	g_assert_cmpstr(cause_and_lead(feed, 5, 0), ==,
			"retransmission: b (6), which listens on 127.0.0.1:80, dropped the SYN, "
			"which was sent again 1.019 s later: its listen queue was full, as it "
			"accepts too slowly (inferred)");
}

/* b waits in accept all the while, as it has since before: nobody is in its queue. */
static void test_syn_awaited(void)
{
	FEED_FROM(connected());

	accepts_one(feed);
	calls(feed, 5, 1, "accept");
	sleeps(feed, 6, 1);
	first_syn(feed, true);
	g_assert_cmpstr(cause_and_lead(feed, 5, 0), ==,
			"retransmission: no answer to the SYN to 127.0.0.1:80, which had come to "
			"the host and was sent again 1.019 s later: b (6) waited for connections, "
			"so something before it dropped the SYN, as a firewall does (inferred)");
}

/* In poll it may wait for anything: its queue may be full. */
static void test_syn_polled(void)
{
	FEED_FROM(connected());

	accepts_one(feed);
	calls(feed, 5, 1, "poll");
	sleeps(feed, 6, 1);
	first_syn(feed, true);
	g_assert_nonnull(strstr(cause_and_lead(feed, 5, 0), "its listen queue was full"));
}

/* It had never come: nobody's queue is to blame. */
static void test_syn_lost(void)
{
	FEED_FROM(connected());

	first_syn(feed, false);
	g_assert_cmpstr(cause_and_lead(feed, 5, 0), ==,
			"retransmission: 127.0.0.1:80 did not answer the SYN, which was sent again "
			"1.019 s later (the trace cannot tell where it was lost)");
}

/* The first one never left lo, whose driver took the second. */
static void test_syn_in_queue(void)
{
	FEED_FROM(connected());

	calls(feed, 100, 0, "connect");
	QUEUED(100, 0, .seq = 9000, .flags = SYN, .skb = 0xaaa);
	sleeps(feed, 101, 0);
	soft(feed, 1120, 0, TIMER);
	QUEUED(1120, 0, .seq = 9000, .flags = SYN, .skb = 0xabc);
	left(feed, 1120.05, 0, 0xabc);
	soft_ends(feed, 1120.1, 0, TIMER);
	soft(feed, 1120.2, 0, NET_RX);
	CAME(1120.2, 0, .seq = 9000, .flags = SYN, .skb = 0xabc);
	QUEUED(1120.3, 0, .seq = 7000, .ack = 9001, .flags = SYN | ACK, .back = true);
	CAME(1120.4, 0, .seq = 7000, .ack = 9001, .flags = SYN | ACK, .back = true);
	waking(feed, MS(1121), 0, 5);
	soft_ends(feed, 1121.1, 0, NET_RX);
	runs(feed, 1122, 0);
	plain(feed, MS(1130), 0, "other");
	g_assert_cmpstr(cause_and_lead(feed, 5, 0), ==,
			"retransmission: the queueing discipline of lo dropped the SYN to "
			"127.0.0.1:80, which was sent again 1.019 s later");
}

/* What had come is sent again by the loss probe, as its acknowledgement is put off: a's buffer was
 * full, and nothing was lost. */
static void test_probe_of_what_came(void)
{
	FEED_FROM(connected());

	calls(feed, 20, 0, "sendto");
	QUEUED(20, 0, .seq = 100, .ack = 500, .length = 5000);
	soft(feed, 21, 0, NET_RX);
	CAME(21, 0, .seq = 100, .ack = 500, .length = 5000);
	soft_ends(feed, 21.3, 0, NET_RX);
	sleeps(feed, 30, 0);
	soft(feed, 42, 0, TIMER);
	QUEUED(42, 0, .seq = 100, .ack = 500, .length = 5000, .skb = 0xabc);
	soft_ends(feed, 42.1, 0, TIMER);
	soft(feed, 42.2, 0, NET_RX);
	CAME(42.3, 0, .seq = 100, .ack = 500, .length = 5000, .skb = 0xabc);
	QUEUED(61, 0, .seq = 500, .ack = 5100, .flags = ACK, .back = true);
	CAME(61.1, 0, .seq = 500, .ack = 5100, .flags = ACK, .back = true);
	waking(feed, MS(61.2), 0, 5);
	soft_ends(feed, 61.3, 0, NET_RX);
	runs(feed, 62, 0);
	plain(feed, MS(65), 0, "other");
	g_assert_null(strstr(cause_and_lead(feed, 5, 0), "sent again"));
	g_assert_true(g_str_has_prefix(cause_and_lead(feed, 5, 0), "send-queue: "));
}

/* Both probes were queued in softIRQ TIMER; the last that a heard of b is what it acknowledged at
 * 10.4. */
static void test_probes_on_their_way(void)
{
	FEED_FROM(kept_alive(false));

	g_assert_cmpstr(cause_and_lead(feed, 5, 0), ==,
			"timeout: TCP's time limit (ETIMEDOUT): 127.0.0.1:80 did not answer "
			"keep-alive probes (2 sent: none came there); its last packet had come "
			"40.00 ms before TCP gave up");
}

/* b's host got them, and kept silent. */
static void test_probes_unanswered(void)
{
	FEED_FROM(kept_alive(true));

	g_assert_cmpstr(cause_and_lead(feed, 5, 0), ==,
			"timeout: TCP's time limit (ETIMEDOUT): 127.0.0.1:80 did not answer "
			"keep-alive probes (2 sent); its last packet had come 40.00 ms before TCP "
			"gave up");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/transport/delayed-ack", test_delayed_ack);
	g_test_add_func("/transport/nagle", test_nagle);
	g_test_add_func("/transport/written-late", test_written_late);
	g_test_add_func("/transport/timeout", test_timeout);
	g_test_add_func("/transport/lost-in-queue", test_lost_in_queue);
	g_test_add_func("/transport/fast", test_fast);
	g_test_add_func("/transport/second-device", test_second_device);
	g_test_add_func("/transport/queue", test_queue);
	g_test_add_func("/transport/no-queue", test_no_queue);
	g_test_add_func("/transport/interrupted", test_interrupted);
	g_test_add_func("/transport/joined", test_joined);
	g_test_add_func("/transport/cut", test_cut);
	g_test_add_func("/transport/window", test_window);
	g_test_add_func("/transport/syn-dropped", test_syn_dropped);
	g_test_add_func("/transport/syn-awaited", test_syn_awaited);
	g_test_add_func("/transport/syn-polled", test_syn_polled);
	g_test_add_func("/transport/syn-lost", test_syn_lost);
	g_test_add_func("/transport/syn-in-queue", test_syn_in_queue);
	g_test_add_func("/transport/probe-of-what-came", test_probe_of_what_came);
	g_test_add_func("/transport/probes-on-their-way", test_probes_on_their_way);
	g_test_add_func("/transport/probes-unanswered", test_probes_unanswered);
	return g_test_run();
}
