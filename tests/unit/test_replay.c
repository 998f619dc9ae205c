/* SPDX-License-Identifier: MIT */
/* What if, of operations: their latencies in the re-timed run, worked out by hand. */
#include "profile/profile_what_if.h"
#include "profile_feed.h"
#include "whatif/best.h"

/*   T (1)  0 user 10 read 12 waits for W ── 60 ready 70 read 80 read 84 user
 *   W (2)  0 user ───────────────────────── 60 wakes T, goes on until 100
 */
static struct feed *reads(const char *rule)
{
	struct feed *feed = profile_feed(2, "syscall:read");

	set(feed, "what-if", rule);
	sw(feed, 0, 0, "idle", 0, 0, "T", 1);
	sw(feed, 0, 1, "idle", 0, 0, "W", 2);
	entry(feed, 10, 0, "read", 3);
	sw(feed, 12, 0, "T", 1, SLEEPS, "idle", 0);
	waking(feed, 60, 1, 1);
	sw(feed, 70, 0, "idle", 0, 0, "T", 1);
	leave(feed, 80, 0, "read", 1);
	entry(feed, 80, 0, "read", 3);
	leave(feed, 84, 0, "read", 1);
	plain(feed, 100, 1, "sched_other");
	return feed;
}

static void what_if_clear(struct profile_what_if **what_if)
{
	profile_what_if_free(*what_if);
}

static void profiles_clear(struct profiles **profiles)
{
	profiles_free(*profiles);
}

#define PROFILED(rule)                                                                             \
	FEED_FROM(reads(rule));                                                                    \
	GError *error = NULL;                                                                      \
	struct profiles *profiles __attribute__((cleanup(profiles_clear))) = profiles_of(feed);    \
	struct profile_what_if *what_if                                                            \
		__attribute__((cleanup(what_if_clear))) = profile_what_if_new(profiles, &error)

/* W wakes T at 30, which is ready for 10 and runs for 10: of 70 ns 40 are left, of the other read
 * 4. With a free CPU T were not ready for 10. */
static void test_half(void)
{
	PROFILED("thread=W leaf=working/*: x0.5");
	const struct profile_change *change;

	g_assert_no_error(error);
	g_assert_cmpuint(what_if->changes->len, ==, 1);
	change = &g_array_index(what_if->changes, struct profile_change, 0);
	g_assert_cmpuint(change->recorded->count, ==, 2);
	g_assert_cmpint(change->recorded->sum, ==, 74);
	g_assert_cmpint(change->gain.recorded, ==, 74);
	g_assert_cmpint(change->changed->sum, ==, 44);
	g_assert_cmpint(change->changed->max, ==, 40);
	g_assert_cmpint(change->changed->percentiles[0], ==, 4);
	g_assert_cmpint(change->changed->percentiles[2], ==, 40);
	g_assert_cmpuint(change->changed->counts[2], ==, 1); /* 4 to 7 ns */
	g_assert_cmpuint(change->changed->counts[5], ==, 1); /* 32 to 63 */
	g_assert_cmpint(change->gain.saved, ==, 30);
	g_assert_cmpint(change->gain.from, ==, 30);
	g_assert_cmpint(change->gain.to, ==, 30);
	g_assert_cmpint(change->gain.at_most, ==, 40);
	g_assert_true(profile_then(what_if, change->recorded) == change->changed);
}

/* T's own code before the first read is not in it: both reads take as long as they did, but that
 * the first one begins 10 sooner and waits for W as late as before. */
static void test_before(void)
{
	PROFILED("thread=T leaf=working/user: 0");
	const struct profile_change *change;

	g_assert_no_error(error);
	change = &g_array_index(what_if->changes, struct profile_change, 0);
	g_assert_cmpint(change->gain.saved, ==, -10);
	g_assert_cmpint(change->changed->max, ==, 80);
}

/* What T does in the calls, but its wait: 2 and 10 of the first one, the other one whole. W comes
 * when it came. */
static void test_own(void)
{
	PROFILED("thread=T leaf=working/syscall:read: 0");
	const struct profile_change *change;

	g_assert_no_error(error);
	change = &g_array_index(what_if->changes, struct profile_change, 0);
	g_assert_cmpint(change->changed->sum, ==, 60); /* from 10 to 60, and ready for 10 */
	g_assert_cmpint(change->changed->min, ==, 0);
}

/* All of T, of whose calls it is told; and what is to be sooner is known: the reads. */
static void test_refused(void)
{
	PROFILED("thread=T: 0");

	g_assert_null(what_if);
	g_assert_nonnull(strstr(error->message, "picks all that T (1) itself did"));
	g_clear_error(&error);
}

static void test_best(void)
{
	PROFILED("best");
	const struct best *best;

	g_assert_no_error(error);
	best = &g_array_index(what_if->replay->best, struct best, 0);
	g_assert_cmpstr(best->rules->pdata[0], ==, "thread=W leaf=working/user: 0");
	g_assert_cmpint(best->saved, ==, 48); /* T waits for nobody from 12 to 60 */
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/replay/half", test_half);
	g_test_add_func("/replay/before", test_before);
	g_test_add_func("/replay/own", test_own);
	g_test_add_func("/replay/refused", test_refused);
	g_test_add_func("/replay/best", test_best);
	return g_test_run();
}
