/* SPDX-License-Identifier: MIT */
/* What causes of requests would be worth if they were gone, worked out by hand.
 *
 *   a  20 reads a question 21 ── 30 read 32 waits for b ── 60 ready 62 64 ── 80 answers 81
 *   b  2 user code ──────────────────────────────────────── 60 wakes a ──
 */
#include "request_feed.h"
#include "requests/requests_worth.h"

static void asks(struct feed *feed)
{
	accepts(feed, 10, 0, 4, 1000);
	moves(feed, 20, 0, "recvfrom", 4, 100);
	entry(feed, 30, 0, "read", 9);
	sw(feed, 32, 0, "a", 5, SLEEPS, "idle", 0);
}

static void answers(struct feed *feed)
{
	waking(feed, 60, 1, 5);
	sw(feed, 62, 0, "idle", 0, 0, "a", 5);
	leave(feed, 64, 0, "read", 1);
	moves(feed, 80, 0, "sendto", 4, 10);
	plain(feed, 200, 0, "other");
}

struct told {
	struct user_requests *requests;
	struct costs *costs;
};

static struct told tell(struct feed *feed)
{
	struct told told = {requests_of(feed), NULL};

	told.costs = costs_new_with_stretches(told.requests);
	requests_add_worth(told.costs);
	g_assert_null(told.costs->stretches);
	return told;
}

static void forget(struct told *told)
{
	costs_free(told->costs);
	user_requests_free(told->requests);
}

static const struct user_cause *cause_of(const struct told *told, const char *label)
{
	for (guint i = 0; i < told->costs->causes->len; i++) {
		const struct user_cause *cause =
			&g_array_index(told->costs->causes, struct user_cause, i);

		if (strcmp(cause->label, label) == 0)
			return cause;
	}
	g_test_message("no cause %s", label);
	g_assert_not_reached();
}

static const struct saving *saving_of(const struct told *told, guint listed, const char *label)
{
	guint cause = (guint) (cause_of(told, label) -
			       &g_array_index(told->costs->causes, struct user_cause, 0));
	guint first, end;

	costs_of(told->costs, listed, &first, &end);
	for (; first < end; first++) {
		const struct cost *cost = &g_array_index(told->costs->costs, struct cost, first);

		if (cost->cause == cause)
			return &cost->saving;
	}
	g_assert_not_reached();
}

/* b's work while a waited for it is gone: so is the wait, all 28. a's own work of 25: what it did
 * before the wait saves nothing, as b takes as long; what it did behind it, 16. */
static void test_one(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));
	struct told told;

	asks(feed);
	answers(feed);
	told = tell(feed);
	g_assert_cmpuint(told.requests->listed->len, ==, 1);
	g_assert_cmpint(cause_of(&told, "b, user code")->value, ==, 28);
	g_assert_cmpint(saving_of(&told, 0, "b, user code")->ns, ==, 28);
	g_assert_cmpint(cause_of(&told, "a, user code")->value, ==, 25);
	g_assert_true(saving_of(&told, 0, "a, user code")->known);
	g_assert_cmpint(saving_of(&told, 0, "a, user code")->ns, ==, 16);
	g_assert_cmpint(saving_of(&told, 0, "a, user code")->to, ==, 16);
	g_assert_cmpint(cause_of(&told, "a, user code")->mean.ns, ==, 16);
	forget(&told);
}

/* c answers another one meanwhile, 21 to 41: the mean is of both, half of what one saves. */
static void test_mean(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));
	struct told told;

	accepts(feed, 8, 2, 4, 2000);
	asks(feed);
	moves(feed, 33, 2, "recvfrom", 4, 100);
	moves(feed, 40, 2, "sendto", 4, 10);
	answers(feed);
	told = tell(feed);
	g_assert_cmpuint(told.requests->listed->len, ==, 2);
	g_assert_cmpint(cause_of(&told, "b, user code")->mean.ns, ==, 14);
	g_assert_cmpint(cause_of(&told, "a, user code")->mean.ns, ==, 8);
	g_assert_cmpint(saving_of(&told, 0, "a, user code")->ns, ==, 16);
	/* from 34 to 40 */
	g_assert_cmpint(cause_of(&told, "c, user code")->mean.ns, ==, 3);
	g_assert_cmpint(saving_of(&told, 1, "c, user code")->ns, ==, 6);
	forget(&told);
}

/* a answers another one before it waits: had it done that later, the first one might have saved all
 * that it was worked on, so that is the most. */
static void test_turns(void)
{
	FEED_FROM(feed_requests(PRESET_SERVER));
	const struct saving *saving;
	struct told told;

	accepts(feed, 8, 0, 7, 2000);
	accepts(feed, 10, 0, 4, 1000);
	moves(feed, 12, 0, "recvfrom", 4, 100);
	moves(feed, 20, 0, "recvfrom", 7, 100);
	moves(feed, 26, 0, "sendto", 7, 10);
	entry(feed, 30, 0, "read", 4);
	sw(feed, 32, 0, "a", 5, SLEEPS, "idle", 0);
	answers(feed);
	told = tell(feed);
	g_assert_cmpuint(told.requests->listed->len, ==, 2);
	saving = saving_of(&told, 0, "a, user code");
	g_assert_cmpint(saving->ns, ==, 16);
	g_assert_cmpint(saving->to, ==, 26); /* 13 to 20, 27 to 30, 64 to 80 */
	forget(&told);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/request-worth/one", test_one);
	g_test_add_func("/request-worth/mean", test_mean);
	g_test_add_func("/request-worth/turns", test_turns);
	return g_test_run();
}
