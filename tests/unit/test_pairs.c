/* SPDX-License-Identifier: MIT */
/* Which packet is which, of two hosts: ambiguous, lost, cut and joined ones, and
 * nonsense. Rules: pairs.h; expectations by hand from the true times (hosts.h).
 */
#include "hosts.h"

/* The client waits at 1000 for what came; 20 is the way, there and back, of the
 * packets that give the clocks: exactly AHEAD, ±20. */
static void client_waits(struct feed *feed)
{
	on(feed, CLIENT);
	runs(feed, 0, "client", 5);
	SENT(100, CLIENT, SERVER, .seq = 1, .length = 1, .id = 900);
	RECEIVED(220, SERVER, CLIENT, .seq = 7, .length = 1, .id = 901);
	entry(feed, 900, 0, "recvfrom", 3);
	sleeps(feed, 1000, "client", 5);
}

static void client_ends(struct feed *feed)
{
	runs(feed, 9000, "client", 5);
	plain(feed, 10000, 0, "other");
	on(feed, SERVER);
	runs(feed, 0, "server", 6);
	RECEIVED(120, CLIENT, SERVER, .seq = 1, .length = 1, .id = 900);
	SENT(200, SERVER, CLIENT, .seq = 7, .length = 1, .id = 901);
}

static void other_sends(struct feed *feed, int64_t time)
{
	sw(feed, time + ahead, 0, "server", 6, SLEEPS, "other", 7);
}

/* How long the packet that ended the nth wait was on its way. */
static int64_t way_of_packet(struct feed *feed, int32_t tid, guint nth)
{
	uint32_t omitted;
	GPtrArray *waits =
		causality_new(feed->session, life(feed, tid, 0), feed->session->asked.from,
			      feed->session->asked.to, 0, &omitted);
	const struct wait *wait = g_ptr_array_index(waits, nth);
	int64_t way = block_detail(feed->session, wait->block)->way;

	g_ptr_array_free(waits, TRUE);
	return way;
}

/* The first was lost, the second is the same again, whoever's context queues it: the bytes are
 * those that were written for the first. By the header's number it is the second that came,
 * after 100 on its way; without, the first that was not received. */
static void test_retransmission(void)
{
	for (int ids = 0; ids < 2; ids++) {
		FEED_FROM(two_hosts());

		client_waits(feed);
		DELIVERED(5000, SERVER, CLIENT, 5, .seq = 100, .length = 9, .id = ids ? 12 : 0);
		client_ends(feed);
		SENT(2000, SERVER, CLIENT, .seq = 100, .length = 9, .id = ids ? 11 : 0);
		other_sends(feed, 3000);
		SENT(4900, SERVER, CLIENT, .seq = 100, .length = 9, .id = ids ? 12 : 0);
		g_assert_cmpstr(leads(feed, 5, 0), ==, "6 sent 2000");
		g_assert_cmpint(way_of_packet(feed, 5, 0), ==, ids ? 100 : 3000);
	}
}

/* A repeated acknowledgement, and then data with the same numbers. */
static void test_ack_then_data(void)
{
	FEED_FROM(two_hosts());

	client_waits(feed);
	RECEIVED(2100, SERVER, CLIENT, .seq = 100, .ack = 5, .flags = 16);
	RECEIVED(2200, SERVER, CLIENT, .seq = 100, .ack = 5, .flags = 16);
	DELIVERED(5000, SERVER, CLIENT, 5, .seq = 100, .ack = 5, .length = 9, .flags = 16);
	client_ends(feed);
	SENT(2000, SERVER, CLIENT, .seq = 100, .ack = 5, .flags = 16);
	SENT(2050, SERVER, CLIENT, .seq = 100, .ack = 5, .flags = 16);
	SENT(4900, SERVER, CLIENT, .seq = 100, .ack = 5, .length = 9, .flags = 16);
	g_assert_cmpstr(leads(feed, 5, 0), ==, "6 sent 4900");
	g_assert_cmpint(clock_of(feed, SERVER)->packets, ==, 5);
	g_assert_cmpint(clock_of(feed, SERVER)->contradicting, ==, 0);
}

/* Its sending was not recorded: it leads to nobody, not even to an equal one
 * that was sent later. */
static void test_unseen(void)
{
	FEED_FROM(two_hosts());

	client_waits(feed);
	DELIVERED(5000, SERVER, CLIENT, 5, .seq = 100, .length = 9, .id = 11);
	client_ends(feed);
	SENT(8000, SERVER, CLIENT, .seq = 100, .length = 9, .id = 12);
	g_assert_cmpstr(leads(feed, 5, 0), ==, "-");
	g_assert_cmpint(clock_of(feed, SERVER)->packets, ==, 2);
	g_assert_cmpint(clock_of(feed, SERVER)->contradicting, ==, 0);
}

/* The same where the headers have no numbers: it is taken for the later one, and
 * that contradicts all others. It spoils neither the clocks nor the causes. */
static void test_contradiction(void)
{
	FEED_FROM(two_hosts());

	on(feed, CLIENT);
	runs(feed, 0, "client", 5);
	for (uint32_t i = 0; i < 4; i++) {
		SENT(100 + 200 * i, CLIENT, SERVER, .seq = 10 + i, .length = 1);
		RECEIVED(220 + 200 * i, SERVER, CLIENT, .seq = 10 + i, .length = 1);
	}
	sleeps(feed, 1000, "client", 5);
	DELIVERED(5000, SERVER, CLIENT, 5, .seq = 100, .length = 9);
	client_ends(feed);
	for (uint32_t i = 0; i < 4; i++) {
		RECEIVED(320 + 200 * i, CLIENT, SERVER, .seq = 11 + i, .length = 1);
		SENT(400 + 200 * i, SERVER, CLIENT, .seq = 11 + i, .length = 1);
	}
	SENT(8000, SERVER, CLIENT, .seq = 100, .length = 9);
	g_assert_cmpint(clock_of(feed, SERVER)->packets, ==, 6);
	g_assert_cmpint(clock_of(feed, SERVER)->contradicting, ==, 1);
	g_assert_cmpint(llabs(clock_of(feed, SERVER)->line.offset + AHEAD), <=, 20);
	g_assert_cmpstr(leads(feed, 5, 0), ==, "-");
}

/* Fewer sent than received, and nothing to tell them by: left out. */
static void test_ambiguous(void)
{
	FEED_FROM(two_hosts());

	client_waits(feed);
	RECEIVED(2100, SERVER, CLIENT, .seq = 100, .ack = 5, .flags = 16);
	DELIVERED(5000, SERVER, CLIENT, 5, .seq = 100, .ack = 5, .flags = 16);
	client_ends(feed);
	SENT(4900, SERVER, CLIENT, .seq = 100, .ack = 5, .flags = 16);
	g_assert_cmpstr(leads(feed, 5, 0), ==, "-");
	g_assert_cmpint(clock_of(feed, SERVER)->packets, ==, 2);
}

/* One send of 3000 bytes, cut into two packets by the network card. */
static void test_cut(void)
{
	FEED_FROM(two_hosts());

	client_waits(feed);
	DELIVERED(3000, SERVER, CLIENT, 5, .seq = 100, .length = 1500, .flags = 16, .id = 11);
	runs(feed, 3100, "client", 5);
	sleeps(feed, 3200, "client", 5);
	DELIVERED(3300, SERVER, CLIENT, 5, .seq = 1600, .length = 1500, .id = 12);
	client_ends(feed);
	SENT(2000, SERVER, CLIENT, .seq = 100, .length = 3000, .id = 11);
	/* the second half was on its way already when the second wait began */
	g_assert_cmpstr(leads(feed, 5, 0), ==, "6 sent 2000, -");
	g_assert_cmpint(clock_of(feed, SERVER)->packets, ==, 4);
}

/* The same where the numbers begin anew in the middle of the first half. */
static void test_cut_at_wrap(void)
{
	FEED_FROM(two_hosts());

	client_waits(feed);
	DELIVERED(3000, SERVER, CLIENT, 5, .seq = UINT32_MAX - 999, .length = 1500, .flags = 16);
	runs(feed, 3100, "client", 5);
	sleeps(feed, 3200, "client", 5);
	DELIVERED(5300, SERVER, CLIENT, 5, .seq = 500, .length = 1500);
	client_ends(feed);
	SENT(2000, SERVER, CLIENT, .seq = UINT32_MAX - 999, .length = 2000);
	other_sends(feed, 3000);
	SENT(5000, SERVER, CLIENT, .seq = 1000, .length = 1000);
	g_assert_cmpstr(leads(feed, 5, 0), ==, "6 sent 2000, 7 sent 5000");
}

/* Two sends that arrive as one: the later one has what ended the wait. */
static void test_joined(void)
{
	FEED_FROM(two_hosts());

	client_waits(feed);
	DELIVERED(5000, SERVER, CLIENT, 5, .seq = UINT32_MAX - 99, .length = 3000, .id = 11);
	client_ends(feed);
	SENT(2000, SERVER, CLIENT, .seq = UINT32_MAX - 99, .length = 1500, .flags = 16, .id = 11);
	other_sends(feed, 3000);
	SENT(4000, SERVER, CLIENT, .seq = 1400, .length = 1500, .id = 12);
	g_assert_cmpstr(leads(feed, 5, 0), ==, "7 sent 4000");
}

/* The same buffer on both hosts means nothing; nor does an old one of the
 * client's own that was never received there. */
static void test_buffers(void)
{
	FEED_FROM(two_hosts());

	client_waits(feed);
	DELIVERED(5000, SERVER, CLIENT, 5, .seq = 100, .length = 9, .skb = 0xabc);
	client_ends(feed);
	SENT(3000, SERVER, CLIENT, .seq = 50, .length = 5, .skb = 0xabc);
	other_sends(feed, 4000);
	SENT(4900, SERVER, CLIENT, .seq = 100, .length = 9, .skb = 0xdef);
	g_assert_cmpstr(leads(feed, 5, 0), ==, "7 sent 4900");
}

/* Queued in a softIRQ, after an acknowledgement: of the thread that sent last on
 * that flow, when it did. */
static void test_ack_clocked(void)
{
	FEED_FROM(two_hosts());

	client_waits(feed);
	DELIVERED(5000, SERVER, CLIENT, 5, .seq = 101, .length = 9);
	client_ends(feed);
	SENT(2000, SERVER, CLIENT, .seq = 100, .length = 1);
	other_sends(feed, 3000);
	softirq(feed, 4000 + ahead, 0, "irq_softirq_entry", 3);
	SENT(4900, SERVER, CLIENT, .seq = 101, .length = 9);
	softirq(feed, 4950 + ahead, 0, "irq_softirq_exit", 3);
	g_assert_cmpstr(leads(feed, 5, 0), ==, "6 sent 2000");
}

/* Nonsense in every order: packets with a few numbers only, sent and received on
 * three hosts by threads that sleep and wake. Nothing crashes; states tile, and
 * leads and paths stay inside. */
static void random_story(struct feed *feed, GRand *random, int host)
{
	int64_t time = 0, running = 0;

	on(feed, (uint32_t) host);
	for (int i = 0; i < 300; i++) {
		struct segment segment = {.seq = (uint32_t) g_rand_int_range(random, 0, 40) * 10,
					  .ack = (uint32_t) g_rand_int_range(random, 0, 2),
					  .length = (uint32_t) g_rand_int_range(random, 0, 4) * 10,
					  .flags = (uint16_t) g_rand_int_range(random, 16, 18),
					  .id = (uint16_t) g_rand_int_range(random, 0, 5),
					  .skb = (uint64_t) g_rand_int_range(random, 1, 9)};
		int32_t tid = g_rand_int_range(random, 0, 3), full = tid ? 10 * host + tid : 0;
		int other = g_rand_int_range(random, 0, 3);

		time += g_rand_int_range(random, 0, 50);
		switch (g_rand_int_range(random, 0, 5)) {
		case 0:
			sw(feed, time + ahead, 0, "p", (int32_t) running,
			   g_rand_int_range(random, 0, 2), "n", full);
			running = full;
			break;
		case 1:
			SENT(time, host, other, .seq = segment.seq, .ack = segment.ack,
			     .length = segment.length, .flags = segment.flags, .id = segment.id,
			     .skb = segment.skb);
			break;
		case 2:
			RECEIVED(time, other, host, .seq = segment.seq, .ack = segment.ack,
				 .length = segment.length, .id = segment.id);
			break;
		default:
			DELIVERED(time + 1, other, host, 10 * host + tid, .seq = segment.seq,
				  .ack = segment.ack, .length = segment.length,
				  .flags = segment.flags, .id = segment.id, .skb = segment.skb);
			time += 5;
			break;
		}
	}
}

static void check_waits(GPtrArray *waits, int64_t begin, int64_t end)
{
	for (guint i = 0; waits && i < waits->len; i++) {
		const struct wait *wait = g_ptr_array_index(waits, i);

		g_assert_cmpint(wait->begin, >=, begin);
		g_assert_cmpint(wait->end, <=, end);
		if (!wait->has_share)
			continue;
		g_assert_cmpint(wait->lead.until, >, wait->begin);
		g_assert_cmpint(wait->lead.until, <=, wait->end);
		g_assert_cmpint(wait->working + wait->interrupted + wait->blocked + wait->unknown,
				<=, wait->lead.until - wait->begin);
		check_waits(wait->children, wait->begin, wait->lead.until);
	}
}

static void check_thread(const struct session *session, uint32_t thread)
{
	uint32_t omitted;
	GPtrArray *waits =
		causality_new(session, thread, session->asked.from, session->asked.to, 0, &omitted);
	struct path *path = path_new(session, thread, session->asked.from, session->asked.to);
	const struct thread *life = model_thread(&session->trace.model, thread);
	int64_t at = session->asked.from, sum = 0;
	struct spans spans;
	struct span span;

	check_waits(waits, session->asked.from, session->asked.to);
	g_ptr_array_free(waits, TRUE);
	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);

		g_assert_cmpint(piece->begin, ==, at);
		g_assert_cmpint(piece->end, >, at);
		at = piece->end;
	}
	g_assert_cmpint(at, ==, session->asked.to);
	path_free(path);
	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next(&spans, &span))
		sum += span.end - span.begin;
	g_assert_cmpint(sum, ==,
			MIN(life->end, session->asked.to) - MAX(life->begin, session->asked.from));
}

static void test_random_packets(void)
{
	guint followed = 0;

	for (guint seed = 0; seed < 200; seed++) {
		FEED_FROM(two_hosts());
		GRand *random = g_rand_new_with_seed(seed);

		add_host(feed, "far", 2 * AHEAD);
		if (seed % 2)
			options_set(&feed->options, "clock-offset", "server=-1000000000ns", NULL);
		for (int host = 0; host < 3; host++)
			random_story(feed, random, host);
		finish(feed);
		for (uint32_t i = 0; i < feed->session->trace.model.thread_count; i++)
			check_thread(feed->session, i);
		for (uint32_t i = 1; i < feed->session->trace.timeline.details.used; i++)
			followed +=
				packet_from_outside(detail_at(&feed->session->trace.timeline, i));
		g_rand_free(random);
	}
	g_assert_cmpint(followed, >, 100); /* it is no test of nothing */
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/pairs/retransmission", test_retransmission);
	g_test_add_func("/pairs/ack-then-data", test_ack_then_data);
	g_test_add_func("/pairs/unseen", test_unseen);
	g_test_add_func("/pairs/contradiction", test_contradiction);
	g_test_add_func("/pairs/ambiguous", test_ambiguous);
	g_test_add_func("/pairs/cut", test_cut);
	g_test_add_func("/pairs/cut-at-wrap", test_cut_at_wrap);
	g_test_add_func("/pairs/joined", test_joined);
	g_test_add_func("/pairs/buffers", test_buffers);
	g_test_add_func("/pairs/ack-clocked", test_ack_clocked);
	g_test_add_func("/pairs/random-packets", test_random_packets);
	return g_test_run();
}
