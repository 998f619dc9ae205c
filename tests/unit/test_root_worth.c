/* SPDX-License-Identifier: MIT */
/* What the root causes of peaks would be worth if they were gone, worked out by hand. */
#include "profile_feed.h"
#include "profile/profile_worth.h"

static struct profiles *worth_of(struct feed *feed)
{
	struct profiles *profiles = profiles_of(feed);

	profile_add_worth(profiles);
	return profiles;
}

/* The root of the only profile's only peak whose path ends so. */
static const struct root *root_of(const struct profiles *profiles, const char *path)
{
	const struct profile *profile = g_ptr_array_index(profiles->list, 0);
	const struct peak *peak = &g_array_index(profile->peaks, struct peak, 0);

	g_assert_cmpuint(profiles->list->len, ==, 1);
	for (guint i = 0; i < peak->roots->len; i++) {
		const struct root *root = &g_array_index(peak->roots, struct root, i);
		GPtrArray *nodes = root_path(root);
		g_autofree char *text = NULL;

		g_ptr_array_add(nodes, NULL);
		text = g_strjoinv(" > ", (char **) nodes->pdata);
		g_ptr_array_free(nodes, TRUE);
		if (strcmp(text, path) == 0)
			return root;
		g_test_message("there is %s", text);
	}
	g_assert_not_reached();
}

static void expect(const struct root *root, int64_t ns, int64_t saved)
{
	g_assert_cmpint(root->ns, ==, ns);
	g_assert_true(root->saving.known);
	g_assert_cmpint(root->saving.ns, ==, saved);
	g_assert_cmpint(root->saving.from, <=, saved);
	g_assert_cmpint(root->saving.to, >=, saved);
}

/* fsync, 10 to 80: it waits for W's work from 12 to 60; that gone, it has no wait. */
static void test_waker(void)
{
	FEED_FROM(profile_feed(2, "syscall:fsync"));
	struct profiles *profiles;

	sw(feed, 0, 0, "idle", 0, 0, "T", 1);
	sw(feed, 0, 1, "idle", 0, 0, "W", 2);
	entry(feed, 10, 0, "fsync", 3);
	sw(feed, 12, 0, "T", 1, SLEEPS, "idle", 0);
	waking(feed, 60, 1, 1);
	sw(feed, 70, 0, "idle", 0, 0, "T", 1);
	leave(feed, 80, 0, "fsync", 1);
	plain(feed, 100, 1, "sched_other");
	profiles = worth_of(feed);
	expect(root_of(profiles, "syscall:fsync > blocked/fd > by:W > working/user"), 48, 48);
	profiles_free(profiles);
}

/* fsync, 10 to 62: it works until 50, then waits until 60 for W, which does not come sooner if that
 * work is gone: only the 2 behind it are saved. */
static void test_own(void)
{
	FEED_FROM(profile_feed(2, "syscall:fsync"));
	struct profiles *profiles;

	sw(feed, 0, 0, "idle", 0, 0, "T", 1);
	sw(feed, 0, 1, "idle", 0, 0, "W", 2);
	entry(feed, 10, 0, "fsync", 3);
	sw(feed, 50, 0, "T", 1, SLEEPS, "idle", 0);
	waking(feed, 60, 1, 1);
	sw(feed, 60, 0, "idle", 0, 0, "T", 1);
	leave(feed, 62, 0, "fsync", 1);
	plain(feed, 100, 1, "sched_other");
	profiles = worth_of(feed);
	expect(root_of(profiles, "syscall:fsync > working/syscall:fsync"), 42, 2);
	profiles_free(profiles);
}

/* An interrupt inside is not the call's own: what lies around it is. 10 to 50, 20 to 25 not. */
static void test_around(void)
{
	FEED_FROM(profile_feed(1, "syscall:fsync"));
	struct profiles *profiles;
	const struct root *root;

	sw(feed, 0, 0, "idle", 0, 0, "T", 1);
	entry(feed, 10, 0, "fsync", 3);
	irq(feed, 20, 0, "irq_handler_entry", 25);
	irq(feed, 25, 0, "irq_handler_exit", 25);
	leave(feed, 50, 0, "fsync", 1);
	plain(feed, 100, 0, "sched_other");
	profiles = worth_of(feed);
	root = root_of(profiles, "syscall:fsync > working/syscall:fsync");
	expect(root, 35, 35);
	g_assert_cmpint(root->saving.from, ==, 35);
	g_assert_cmpint(root->saving.to, ==, 35);
	profiles_free(profiles);
}

/* Nobody would be faster without a wait for a next request. */
static void test_leisure(void)
{
	FEED_FROM(profile_feed(2, "syscall:read"));
	struct profiles *profiles;

	sw(feed, 0, 0, "idle", 0, 0, "T", 1);
	entry(feed, 10, 0, "read", 3);
	sw(feed, 12, 0, "T", 1, SLEEPS, "idle", 0);
	plain(feed, 100, 1, "sched_other");
	profiles = worth_of(feed);
	for (guint i = 0; i < profiles->list->len; i++) {
		const struct profile *profile = g_ptr_array_index(profiles->list, i);

		for (guint p = 0; p < profile->peaks->len; p++) {
			const GArray *roots = g_array_index(profile->peaks, struct peak, p).roots;

			for (guint k = 0; roots && k < roots->len; k++)
				g_assert_false(g_array_index(roots, struct root, k).saving.known);
		}
	}
	profiles_free(profiles);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/root-worth/waker", test_waker);
	g_test_add_func("/root-worth/own", test_own);
	g_test_add_func("/root-worth/around", test_around);
	g_test_add_func("/root-worth/leisure", test_leisure);
	return g_test_run();
}
