/* SPDX-License-Identifier: MIT */
/* A recording of some threads only, as perf record without -a or lttng track makes: what is not
 * recorded, and that no question is answered. The same switches with those between them are whole.
 *
 *   CPU 0   mine (5) ─ other (6) ─ mine (5) ─ other (6) ─ …
 *   told         ×                      ×                    of some: when mine leaves
 */
#include "commands/commands.h"
#include "coverage/bearing.h"
#include "feed.h"

#define ROUNDS 10

static struct feed *rounds(bool all)
{
	struct feed *feed = feed_new(1);

	for (int64_t i = 0; i < ROUNDS; i++) {
		sw(feed, 20 * i, 0, "mine", 5, 0, "other", 6);
		if (all)
			sw(feed, 20 * i + 10, 0, "other", 6, 0, "mine", 5);
	}
	finish(feed);
	return feed;
}

static bool bears(struct feed *feed, const struct command *command)
{
	return trace_bears_command(feed->session, command);
}

static void test_of_some(void)
{
	g_autoptr(GError) error = NULL;
	struct feed *feed = rounds(false);

	g_assert_false(bears(feed, &delay_command));
	g_assert_false(bears(feed, &overview_command));
	g_assert_false(bears(feed, &functions_command));
	feed->session->asked.options->command = &delay_command;
	g_assert_false(trace_bears_answer(feed->session, &error));
	g_assert_nonnull(strstr(error->message, "sched_switch of all threads"));
	feed->session->asked.options->force = true;
	g_assert_true(trace_bears_answer(feed->session, NULL));
	feed_free(feed);
}

static void test_of_all(void)
{
	struct feed *feed = rounds(true);

	g_assert_true(bears(feed, &delay_command));
	g_assert_true(bears(feed, &overview_command));
	feed_free(feed);
}

/* What was lost between them explains them. */
static void test_of_losses(void)
{
	struct feed *feed = feed_new(1);

	for (int64_t i = 0; i < ROUNDS; i++) {
		sw(feed, 20 * i, 0, "mine", 5, 0, "other", 6);
		lost(feed, 0, 20 * i + 5, 20 * i + 15);
	}
	finish(feed);
	g_assert_true(bears(feed, &delay_command));
	feed_free(feed);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/tracked/of-some", test_of_some);
	g_test_add_func("/tracked/of-all", test_of_all);
	g_test_add_func("/tracked/of-losses", test_of_losses);
	return g_test_run();
}
