/* SPDX-License-Identifier: MIT */
/* Several hosts: what their clocks' relation is, and where a wait for another
 * host leads. Expectations are worked out by hand from the true times (hosts.h),
 * and from the rules in semantics.md ("Blocking causality", 1) and corridor.h.
 */
#include "hosts.h"
#include "run/finish.h"

#include <math.h>

/* A client asks, a server's thread works 50,000 ns and answers; the way takes
 * 200 ns there and 400 back. With one packet each way the difference is between
 * -AHEAD - 200 and -AHEAD + 400: the middle is 100 too much. */
#define MIDDLE (-AHEAD + 100)

static void ask(struct feed *feed)
{
	on(feed, CLIENT);
	runs(feed, 0, "client", 5);
	entry(feed, 90000, 0, "recvfrom", 3);
	SENT(100000, CLIENT, SERVER, .seq = 1, .length = 10);
	sleeps(feed, 101000, "client", 5);
	DELIVERED(150600, SERVER, CLIENT, 5, .seq = 1, .ack = 11, .length = 20);
	runs(feed, 151000, "client", 5);
	plain(feed, 200000, 0, "other");
	on(feed, SERVER);
	runs(feed, 0, "server", 6);
	entry(feed, 10 + ahead, 0, "recvfrom", 4);
	sleeps(feed, 20, "server", 6);
	DELIVERED(100200, CLIENT, SERVER, 6, .seq = 1, .length = 10);
	runs(feed, 100300, "server", 6);
	SENT(150200, SERVER, CLIENT, .seq = 1, .ack = 11, .length = 20);
	plain(feed, 200000 + AHEAD, 0, "other");
}

static void test_request(void)
{
	const struct host_clock *clock;
	const struct wake_detail *detail;
	struct wait *wait;
	GPtrArray *waits;
	uint32_t omitted;

	FEED_FROM(two_hosts());
	ask(feed);
	clock = clock_of(feed, SERVER);
	g_assert_cmpint(clock->known, ==, CLOCK_PACKETS);
	g_assert_cmpint(clock->line.offset, ==, MIDDLE);
	g_assert_cmpfloat(clock->line.drift, ==, 0);
	g_assert_cmpint(clock->packets, ==, 2);
	/* half of 600, and what a drift of up to 1 ‰ may do in the 50,000 ns between */
	g_assert_cmpint(clock->error, >=, 300);
	g_assert_cmpint(clock->error, <=, 300 + 50 + 2);
	g_assert_cmpstr(leads(feed, 5, 0), ==, "6 sent 150300");
	/* the request was sent after the server's wait began: up to then it was the
	 * client's to send it */
	g_assert_cmpstr(leads(feed, 6, 0), ==, "5 sent 100000");
	/* everything of the server is in the client's time */
	g_assert_cmpstr(
		states(feed, 6), ==,
		"100 working/user, 110 working/syscall:recvfrom, 120 blocked/syscall:recvfrom, "
		"100301 interrupted/wait-cpu, 100400 working/syscall:recvfrom, 200100");
	waits = causality_new(feed->session, life(feed, 5, 0), 0, 200000, 0, &omitted);
	wait = g_ptr_array_index(waits, 0);
	detail = detail_at(&feed->session->trace.timeline, wait->block->detail);
	g_assert_cmpint(detail->served, ==, 300); /* 150600 - 150300: shorter than the error */
	g_assert_true(packet_is_undecidable(detail));
	/* the server's share is its work: the whole wait but the two ways */
	g_assert_cmpint(wait->lead.until - wait->begin, ==, 150300 - 101000);
	g_assert_cmpint(wait->working + wait->interrupted + wait->blocked, ==, 150300 - 101000);
	g_ptr_array_free(waits, TRUE);
}

/* The critical path goes through the other host and tiles the window. */
static void test_path(void)
{
	FEED_FROM(two_hosts());
	struct path *path;
	int64_t at = 0, server = 0;

	ask(feed);
	path = path_new(feed->session, life(feed, 5, 0), 0, 200000);
	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);

		g_assert_cmpint(piece->begin, ==, at);
		g_assert_cmpint(piece->end, >, piece->begin);
		at = piece->end;
		if (piece->thread == life(feed, 6, 0))
			server += piece->end - piece->begin;
	}
	g_assert_cmpint(at, ==, 200000);
	g_assert_cmpint(server, ==, 150300 - 101000);
	path_free(path);
}

/* Given by hand: taken as it is, and its error is not known. Too much, and the
 * packet is received before it was sent: no negative time. */
static void test_given(void)
{
	FEED_FROM(two_hosts());
	GError *error = NULL;
	const struct wake_detail *detail;
	struct wait *wait;
	GPtrArray *waits;
	uint32_t omitted;

	g_assert_true(options_set(&feed->options, "clock-offset", "server=-999999000ns", &error));
	ask(feed);
	g_assert_cmpint(clock_of(feed, SERVER)->line.offset, ==, -AHEAD + 1000);
	g_assert_cmpint(clock_of(feed, SERVER)->error, ==, -1);
	g_assert_cmpint(clock_of(feed, SERVER)->too_early, ==, 1);
	/* sent at 151200 by that clock, woken at 150601: until it was received */
	g_assert_cmpstr(leads(feed, 5, 0), ==, "6 sent 150600");
	waits = causality_new(feed->session, life(feed, 5, 0), 0, 200000, 0, &omitted);
	wait = g_ptr_array_index(waits, 0);
	detail = detail_at(&feed->session->trace.timeline, wait->block->detail);
	g_assert_cmpint(detail->served, ==, 0);
	g_ptr_array_free(waits, TRUE);
}

static void test_given_wrong(void)
{
	static const char *const bad[] = {"server",      "server=",  "=1s", "server=5x",
					  "server=--1s", "1000000h", ""};
	static const char *const nobody[] = {"h=1s", "other=1s"};

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		FEED_FROM(two_hosts());
		GError *error = NULL;

		g_assert_false(options_set(&feed->options, "clock-offset", bad[i], &error));
		g_assert_nonnull(strstr(error->message, "--clock-offset"));
		g_error_free(error);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(nobody); i++) {
		FEED_FROM(two_hosts());
		GError *error = NULL;

		g_assert_true(options_set(&feed->options, "clock-offset", nobody[i], &error));
		ask(feed);
		g_assert_false(session_finish(feed->session, &error));
		g_assert_nonnull(strstr(error->message, "server")); /* says which there are */
		g_error_free(error);
	}
}

/* Nothing matches: each host stays as it was, and it is said. */
static void test_nothing_matches(void)
{
	FEED_FROM(two_hosts());
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	on(feed, CLIENT);
	runs(feed, 0, "client", 5);
	sleeps(feed, 10, "client", 5);
	DELIVERED(500, SERVER, CLIENT, 5, .seq = 100, .length = 9);
	runs(feed, 600, "client", 5);
	on(feed, SERVER);
	runs(feed, 0, "server", 6);
	SENT(100, SERVER, CLIENT, .seq = 200, .length = 9);
	g_assert_cmpstr(leads(feed, 5, 0), ==, "-");
	g_assert_cmpint(clock_of(feed, SERVER)->line.offset, ==, 0);
	g_assert_cmpint(clock_of(feed, SERVER)->known, ==, CLOCK_OWN);
	g_assert_cmpint(clocks_error(&feed->session->trace, CLIENT, SERVER), ==, -1);
	clocks_warnings(&feed->session->trace, lines);
	g_assert_cmpint(lines->len, ==, 1);
	g_assert_nonnull(strstr(g_ptr_array_index(lines, 0), "h and server: none match"));
	g_ptr_array_free(lines, TRUE);
}

/* Of one direction only: what was sent was not received earlier, and that is all
 * that is known. */
static void test_one_direction(void)
{
	FEED_FROM(two_hosts());

	on(feed, CLIENT);
	runs(feed, 0, "client", 5);
	sleeps(feed, 10, "client", 5);
	DELIVERED(500, SERVER, CLIENT, 5, .seq = 100, .length = 9);
	runs(feed, 600, "client", 5);
	on(feed, SERVER);
	runs(feed, 0, "server", 6);
	SENT(100, SERVER, CLIENT, .seq = 100, .length = 9);
	g_assert_cmpint(clock_of(feed, SERVER)->line.offset, ==, -AHEAD + 400);
	g_assert_cmpint(clock_of(feed, SERVER)->error, ==, -1);
	g_assert_cmpstr(leads(feed, 5, 0), ==, "6 sent 500");
}

/* Three hosts in a row: the third is compared with the second only, whose clock
 * is known, and its error is that of both. */
static void test_three(void)
{
	FEED_FROM(two_hosts());
	const struct host_clock *middle, *far;

	add_host(feed, "far", 2 * AHEAD);
	on(feed, CLIENT);
	runs(feed, 0, "client", 5);
	SENT(100, CLIENT, SERVER, .seq = 1, .length = 1);
	RECEIVED(400, SERVER, CLIENT, .seq = 7, .length = 1);
	on(feed, SERVER);
	runs(feed, 0, "server", 6);
	RECEIVED(200, CLIENT, SERVER, .seq = 1, .length = 1);
	SENT(300, SERVER, CLIENT, .seq = 7, .length = 1);
	SENT(500, SERVER, 2, .seq = 3, .length = 1);
	RECEIVED(800, 2, SERVER, .seq = 4, .length = 1);
	on(feed, 2);
	runs(feed, 0, "far", 8);
	RECEIVED(510, SERVER, 2, .seq = 3, .length = 1);
	SENT(790, 2, SERVER, .seq = 4, .length = 1);
	middle = clock_of(feed, SERVER);
	far = clock_of(feed, 2);
	g_assert_cmpint(middle->line.offset, ==, -AHEAD);
	g_assert_cmpint(far->line.offset, ==, -2 * AHEAD);
	g_assert_cmpint(far->neighbour, ==, SERVER);
	g_assert_cmpint(middle->error, >=, 100);
	g_assert_cmpint(middle->error, <=, 103);
	g_assert_cmpint(far->error, >=, middle->error + 10);
	g_assert_cmpint(far->error, <=, middle->error + 13);
	g_assert_cmpint(clocks_error(&feed->session->trace, SERVER, 2), ==,
			middle->error + far->error);
}

/* The nth match of all hosts is that by the common time, whatever their clocks
 * say; with --host, that of one. */
static void test_matches(void)
{
	static const struct {
		const char *target, *host;
		int64_t time;
	} cases[] = {{"other", NULL, 300},       {"other nth=2", NULL, 400},
		     {"other nth=3", NULL, 500}, {"other nth=last", NULL, 600},
		     {"other", "h", 400},        {"other nth=last", "server", 500}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		FEED_FROM(two_hosts());
		GError *error = NULL;

		g_assert_true(options_set(&feed->options, "target", cases[i].target, &error));
		if (cases[i].host)
			options_set(&feed->options, "host", cases[i].host, &error);
		feed->session->asked.matches[MATCH_TARGET].filter = feed->options.target;
		for (int host = CLIENT; host <= SERVER; host++) {
			on(feed, (uint32_t) host);
			runs(feed, 0, host ? "server" : "client", 5 + host);
			if (host == CLIENT) {
				SENT(100, CLIENT, SERVER, .seq = 1, .length = 1);
				RECEIVED(220, SERVER, CLIENT, .seq = 7, .length = 1);
			} else {
				RECEIVED(120, CLIENT, SERVER, .seq = 1, .length = 1);
				SENT(200, SERVER, CLIENT, .seq = 7, .length = 1);
			}
			for (int n = 0; n < 2; n++) { /* h: 400, 600; server: 300, 500 */
				struct event event =
					event_of(feed, 400 - 100 * host + 200 * n + ahead, 0,
						 "other");

				event.matches = 1;
				send(feed, &event);
			}
		}
		finish(feed);
		g_assert_cmpint(feed->session->asked.matches[MATCH_TARGET].time, ==, cases[i].time);
	}
}

/* Of a clock that is too fast all is set right: states still tile, and are where
 * they truly were. */
static void test_drift(void)
{
	const double fast = 2e-4;
	FEED_FROM(two_hosts());
	int64_t step = 100000000; /* 0.1 s: 20,000 ns of drift; ways of 1000 */

	on(feed, CLIENT);
	runs(feed, 0, "client", 5);
	for (uint32_t i = 1; i <= 100; i++) {
		SENT(i * step, CLIENT, SERVER, .seq = i, .length = 1);
		RECEIVED(i * step + 10000, SERVER, CLIENT, .seq = i, .length = 1);
	}
	on(feed, SERVER);
	ahead = 2 * AHEAD * 10;
	sw(feed, ahead, 0, "idle", 0, 0, "server", 6);
	for (uint32_t i = 1; i <= 100; i++) {
		int64_t in = i * step + 1000, out = i * step + 9000;

		RECEIVED(in + (int64_t) (fast * (double) in), CLIENT, SERVER, .seq = i,
			 .length = 1);
		SENT(out + (int64_t) (fast * (double) out), SERVER, CLIENT, .seq = i, .length = 1);
		if (i == 50 || i == 80)
			sw(feed, out + (int64_t) (fast * (double) out) + ahead, 0,
			   i == 50 ? "server" : "idle", i == 50 ? 6 : 0, i == 50 ? SLEEPS : 0,
			   i == 50 ? "idle" : "server", i == 50 ? 0 : 6);
	}
	finish(feed);
	g_assert_cmpint(clock_of(feed, SERVER)->error, <, 1100);
	g_assert_cmpfloat(fabs(clock_of(feed, SERVER)->line.drift + fast), <, 1e-6);
	{
		GPtrArray *waits;
		uint32_t omitted;
		struct wait *wait;
		struct spans spans;
		struct span span;
		int64_t at = INT64_MIN;

		waits = causality_new(feed->session, life(feed, 6, 0), feed->session->asked.from,
				      feed->session->asked.to, 0, &omitted);
		wait = g_ptr_array_index(waits, 0);
		g_assert_cmpint(llabs(wait->begin - (50 * step + 9000)), <, 1100);
		g_assert_cmpint(llabs(wait->end - (80 * step + 9000)), <, 1100);
		g_ptr_array_free(waits, TRUE);
		spans_begin(&spans, feed->session, life(feed, 6, 0), feed->session->asked.from,
			    feed->session->asked.to);
		while (spans_next(&spans, &span)) {
			g_assert_true(at == INT64_MIN || span.begin == at);
			at = span.end;
		}
	}
}

/* Of very many packets only the tightest are looked at: that gives the same line
 * as all of them. Ways take 10,000 to 10,999 ns; the clocks differ by AHEAD alone. */
static void test_many(void)
{
	FEED_FROM(two_hosts());
	GArray *points = g_array_new(FALSE, FALSE, sizeof(struct corridor_point));
	const uint32_t count = 60000;
	struct corridor all;

	on(feed, CLIENT);
	runs(feed, 0, "client", 5);
	for (uint32_t i = 1; i <= count; i++) {
		SENT(i * INT64_C(100000), CLIENT, SERVER, .seq = i, .length = 1);
		RECEIVED(i * INT64_C(100000) + 50000, SERVER, CLIENT, .seq = i, .length = 1);
	}
	on(feed, SERVER);
	ahead = 10 * AHEAD;
	runs(feed, 0, "server", 6);
	for (uint32_t i = 1; i <= count; i++) {
		int64_t sent = i * INT64_C(100000), there = 10000 + i * 7919 % 1000;
		int64_t back = 10000 + i * 104729 % 1000;
		struct corridor_point in = {sent + there + ahead, -there - ahead, false};
		struct corridor_point out = {sent + 50000 - back + ahead, back - ahead, true};

		RECEIVED(sent + there, CLIENT, SERVER, .seq = i, .length = 1);
		SENT(sent + 50000 - back, SERVER, CLIENT, .seq = i, .length = 1);
		g_array_append_val(points, in);
		g_array_append_val(points, out);
	}
	g_assert_true(corridor_fit(points, &all));
	g_assert_cmpint(clock_of(feed, SERVER)->packets, ==, 2 * count);
	g_assert_cmpint(clock_of(feed, SERVER)->line.offset, ==, -10 * AHEAD);
	g_assert_cmpint(clock_of(feed, SERVER)->line.offset, ==, all.line.offset);
	/* never less; a little more, for what was thrown away */
	g_assert_cmpint(clock_of(feed, SERVER)->error, >=, all.error);
	g_assert_cmpint(clock_of(feed, SERVER)->error, <=, all.error + 20);
	g_array_free(points, TRUE);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/hosts/request", test_request);
	g_test_add_func("/hosts/path", test_path);
	g_test_add_func("/hosts/given", test_given);
	g_test_add_func("/hosts/given-wrong", test_given_wrong);
	g_test_add_func("/hosts/nothing-matches", test_nothing_matches);
	g_test_add_func("/hosts/one-direction", test_one_direction);
	g_test_add_func("/hosts/three", test_three);
	g_test_add_func("/hosts/matches", test_matches);
	g_test_add_func("/hosts/many", test_many);
	g_test_add_func("/hosts/drift", test_drift);
	return g_test_run();
}
