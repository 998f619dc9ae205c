/* SPDX-License-Identifier: MIT */
/* What sets slow requests apart, of requests as literals: how many have what is counted while they
 * are made; see traits/requests_apart.h. */
#include "request_feed.h"

#include "traits/request_known.h"
#include "traits/requests_apart.h"

#define FAST 2000 /* ns from the read that begins it to the write that ends it */
#define SLOW 400000

enum deed {
	DEED_SYNCS = 1, /* it called fsync */
	DEED_SHORT = 2, /* 4 bytes were asked, of others 100 */
};

/* A server, thread 5, answers a request on a connection that it has accepted; returns when. */
static int64_t serve(struct feed *feed, int64_t time, int64_t ns, int32_t fd, unsigned deeds)
{
	moves(feed, time - 1, 0, "recvfrom", fd, deeds & DEED_SHORT ? 4 : 100);
	if (deeds & DEED_SYNCS)
		moves(feed, time + 100, 0, "fsync", 9, 0);
	moves(feed, time + ns - 1, 0, "sendto", fd, 50);
	return time + ns;
}

/* "TITLE: SENTENCE | SENTENCE; …", of the groups about which something is told. */
static const char *told(struct feed *feed)
{
	struct user_requests *requests = requests_of(feed);
	struct requests_apart *apart = requests_apart_new(requests);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < apart->groups->len; i++) {
		const struct request_group *at =
			&g_array_index(apart->groups, struct request_group, i);
		g_autofree char *title = request_group_title(at);

		if (at->traits->outcome == SEARCH_TOO_FEW)
			g_string_append_printf(text, "%s: too few; ", title);
		if (!at->traits->told->len)
			continue;
		g_string_append(text, title);
		for (guint k = 0; k < at->traits->told->len; k++)
			g_string_append_printf(
				text, "%s%s", k ? " | " : ": ",
				((struct trait_told *) at->traits->told->pdata[k])->sentence);
		g_string_append(text, "; ");
	}
	requests_apart_free(apart);
	user_requests_free(requests);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* Every fourth request or so is slow, 10 of 40: these sync, and three others. */
static void test_synced(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));
	static const char places[] = "s..s....s.xs...s..s.x...s...x..s..s...s.";
	int64_t time = 1000;

	accepts(feed, 500, 0, 4, 3456);
	for (guint i = 0; places[i]; i++)
		time = 3000 + serve(feed, time, places[i] == 's' ? SLOW + i : FAST + i, 4,
				    places[i] == '.' ? 0 : DEED_SYNCS);
	plain(feed, time, 0, "other");
	g_assert_cmpstr(told(feed), ==,
			"Peak 2: 10 of 40 requests, 400.0 µs: 10 of 10 called fsync; of the 30 "
			"others 3 did; ");
}

/* The same ones sync, whether they are slow or not. */
static void test_unrelated(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));
	static const char slow[] = "s..s....s..s...s..s.....s......s..s...s.",
			  syncs[] = ".x.x..x.x..x..x.......x..x....x.x..x..x.";
	int64_t time = 1000;

	accepts(feed, 500, 0, 4, 3456);
	for (guint i = 0; slow[i]; i++)
		time = 3000 + serve(feed, time, slow[i] == 's' ? SLOW + i : FAST + i, 4,
				    syncs[i] == '.' ? 0 : DEED_SYNCS);
	plain(feed, time, 0, "other");
	g_assert_cmpstr(told(feed), ==, "");
}

/* Slow ones take 200 times as long: that more of them meet a call which is made once in a while,
 * whatever the server does, says nothing. 12 of 30 fast ones, 18 of 20 slow ones. */
static void test_met(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));
	g_autoptr(GRand) random = g_rand_new_with_seed(5);
	int64_t time = 1000;
	guint seen[2] = {0, 0};

	accepts(feed, 500, 0, 4, 3456);
	for (guint i = 0; i < 150; i++) {
		bool slow = g_rand_int_range(random, 0, 5) < 2;
		guint nth = seen[slow]++;

		time = 3000 + serve(feed, time, slow ? SLOW + i : FAST + i, 4,
				    slow          ? nth % 10 ? DEED_SYNCS : 0
				    : nth % 5 < 2 ? DEED_SYNCS
						  : 0);
	}
	plain(feed, time, 0, "other");
	g_assert_cmpstr(told(feed), ==, "");
}

/* What was asked tells them apart: 4 bytes. One peak alone: slow is twice the median. */
static void test_bytes(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));
	static const char places[] = "s..s....s..s...s..s.....s......s..s...s.";
	int64_t time = 1000;

	accepts(feed, 500, 0, 4, 3456);
	for (guint i = 0; places[i]; i++)
		time = 3000 + serve(feed, time, places[i] == 's' ? 7000 : FAST + 50 * i, 4,
				    places[i] == 's' ? DEED_SHORT : 0);
	plain(feed, time, 0, "other");
	g_assert_cmpstr(told(feed), ==,
			"Slow ones: 10 of 40 requests, 7.000 µs: 10 of 10 read 4 bytes; of the 30 "
			"others none did; ");
}

/* 4 slow ones are too few, whatever they did. */
static void test_few(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));
	int64_t time = 1000;

	accepts(feed, 500, 0, 4, 3456);
	for (guint i = 0; i < 40; i++)
		time = 3000 + serve(feed, time, i % 10 == 3 ? SLOW : FAST, 4,
				    i % 10 == 3 ? DEED_SYNCS : 0);
	plain(feed, time, 0, "other");
	g_assert_cmpstr(told(feed), ==, "Peak 2: 4 of 40 requests, 400.0 µs: too few; ");
}

static int64_t value_of(const struct request_known *known, guint row, enum request_field field)
{
	return g_array_index(known->rows, struct request_row, row).values[field];
}

/* Two connections: on 4 two requests, the second 1,000 ns after the first ended, and on 6, accepted
 * while the first of 4 is under way; thread 5 serves 4, thread 6 serves 6. */
static void test_known(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));
	struct user_requests *requests;
	struct request_known *known;
	const struct request_row *row;
	const char *from;

	accepts(feed, 500, 0, 4, 3456);
	moves(feed, 999, 0, "recvfrom", 4, 70); /* 1000: #1 */
	accepts(feed, 1100, 1, 6, 3457);
	moves(feed, 1499, 1, "recvfrom", 6, 30); /* 1500: #2 */
	moves(feed, 1999, 1, "sendto", 6, 8); /* to 2000 */
	moves(feed, 2999, 0, "sendto", 4, 20); /* to 3000 */
	moves(feed, 3499, 0, "sendto", 4, 5); /* … 3500 */
	moves(feed, 4499, 0, "recvfrom", 4, 1); /* 4500: #3 */
	moves(feed, 4999, 0, "sendto", 4, 2);
	plain(feed, 6000, 0, "other");
	requests = requests_of(feed);
	g_assert_cmpuint(requests->listed->len, ==, 3);
	known = request_known_new((const struct user_requests *const[]) {requests}, 1);
	g_assert_cmpint(value_of(known, 0, REQUEST_BYTES_IN), ==, 70);
	g_assert_cmpint(value_of(known, 0, REQUEST_BYTES_OUT), ==, 25);
	g_assert_cmpint(value_of(known, 0, REQUEST_NTH_ON), ==, 1);
	g_assert_cmpint(value_of(known, 0, REQUEST_SINCE_ON), ==, FIELD_NONE);
	g_assert_cmpint(value_of(known, 0, REQUEST_IN_FLIGHT), ==, 0);
	g_assert_cmpint(value_of(known, 1, REQUEST_BYTES_IN), ==, 30);
	g_assert_cmpint(value_of(known, 1, REQUEST_NTH), ==, 1);
	g_assert_cmpint(value_of(known, 1, REQUEST_CPU), ==, 1);
	g_assert_cmpint(value_of(known, 2, REQUEST_NTH_ON), ==, 2);
	g_assert_cmpint(value_of(known, 2, REQUEST_NTH), ==, 2);
	g_assert_cmpint(value_of(known, 2, REQUEST_SINCE_ON), ==, 1000);
	g_assert_cmpint(value_of(known, 2, REQUEST_SINCE), ==, 1000);
	g_assert_cmpint(value_of(known, 2, REQUEST_CPU), ==, 0);
	g_assert_cmpint(value_of(known, 2, REQUEST_MIGRATED), ==, 0);
	row = &g_array_index(known->rows, struct request_row, 2);
	from = intern_text(known->names, (uint32_t) row->values[REQUEST_FROM]);
	g_assert_cmpstr(from, ==, "10.0.0.9");
	request_known_free(known);
	user_requests_free(requests);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/requests-apart/synced", test_synced);
	g_test_add_func("/requests-apart/unrelated", test_unrelated);
	g_test_add_func("/requests-apart/met", test_met);
	g_test_add_func("/requests-apart/bytes", test_bytes);
	g_test_add_func("/requests-apart/few", test_few);
	g_test_add_func("/requests-apart/known", test_known);
	return g_test_run();
}
