/* SPDX-License-Identifier: MIT */
/* Reports while the trace goes on (run/stretches.h) and what is forgotten of it
 * (flow/forget.h): when reports come, of what, and that an endless stream costs no more
 * memory after hours than after minutes. That nothing is forgotten that is still needed
 * is tested on random events (test_random.c) and on recorded traces (tests/live.t).
 */
#include "commands/commands.h"
#include "feed.h"
#include "run/stretches.h"

#include "flow/forget.h"

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)
#define HOUR (3600 * SECOND)

static GString *reports; /* "FROM-TO:EVENTS " in ms */

static bool note_report(struct session *session, int64_t from, int64_t to, void *data,
			GError **error)
{
	(void) data;
	(void) error;
	g_string_append_printf(reports, "%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT ":%u ", from / MS,
			       to / MS, (unsigned) session->trace.events);
	return true;
}

static struct feed *feed_every(int64_t every, const char *from, const char *to)
{
	struct feed *feed = g_new0(struct feed, 1);

	command_options(&feed->options, &overview_command);
	feed->options.every = every;
	if (from)
		options_set(&feed->options, "from", from, NULL);
	if (to)
		options_set(&feed->options, "to", to, NULL);
	feed_start(feed, 1, "6.1.0", 2, 13);
	feed->session->asked.stretches.report = note_report;
	g_string_truncate(reports, 0);
	return feed;
}

static void switches(struct feed *feed, const int *ms, int count)
{
	for (int i = 0; i < count; i++)
		sw(feed, ms[i] * MS, 0, "a", 5 + i % 2, SLEEPS, "b", 5 + (i + 1) % 2);
}

static void ends(struct feed *feed, const char *expected)
{
	GError *error = NULL;

	g_assert_true(stretches_end(feed->session, &error));
	g_assert_no_error(error);
	g_assert_cmpstr(reports->str, ==, expected);
	feed_free(feed);
}

/* Stretches count from the first event; the last is shorter; an event at a stretch's end
 * is the next one's; none is reported in which nothing was recorded. */
static void test_stretches(void)
{
	static const int ms[] = {1005, 1007, 1014, 1015, 1016, 1060, 1061};
	struct feed *feed = feed_every(10 * MS, NULL, NULL);

	switches(feed, ms, G_N_ELEMENTS(ms));
	ends(feed, "1005-1015:3 1015-1025:2 1055-1061:2 ");
}

/* --from and --to: from where they are counted, and where the last one ends. */
static void test_window(void)
{
	static const int ms[] = {1000, 1005, 1012, 1018, 1024, 1031, 1040};
	struct feed *feed = feed_every(10 * MS, "+4ms", "+22ms");

	switches(feed, ms, G_N_ELEMENTS(ms));
	g_assert_true(feed->session->asked.stretches.done);
	ends(feed, "1004-1014:2 1014-1024:1 1024-1026:1 ");
}

/* A live trace's time goes by without events: the report does not wait for one. */
static void test_live(void)
{
	static const int ms[] = {1000, 1005};
	struct feed *feed = feed_every(10 * MS, NULL, NULL);

	switches(feed, ms, G_N_ELEMENTS(ms));
	stretches_pass(feed->session, 1009 * MS);
	g_assert_cmpstr(reports->str, ==, "");
	stretches_pass(feed->session, 1010 * MS);
	g_assert_cmpstr(reports->str, ==, "1000-1010:2 ");
	stretches_pass(feed->session, 1055 * MS);
	ends(feed, "1000-1010:2 ");
}

/* Times beyond all bounds end stretches, and never the program. */
static void test_wild_times(void)
{
	struct feed *feed = feed_every(10 * MS, NULL, NULL);

	sw(feed, 5, 0, "a", 5, SLEEPS, "b", 6);
	sw(feed, INT64_MAX - 5, 0, "b", 6, SLEEPS, "a", 5);
	sw(feed, 7, 0, "a", 5, SLEEPS, "b", 6);
	sw(feed, INT64_MAX, 0, "b", 6, SLEEPS, "a", 5);
	stretches_end(feed->session, NULL);
	feed_free(feed);
}

/* One second of a busy machine: a daemon that wakes twenty short-lived processes, each in
 * a call on a lock, a timer, a request, packets; TIDs come round again. */
static void busy_second(struct feed *feed, int64_t begin)
{
	static int32_t next = 100;

	for (int i = 0; i < 20; i++) {
		int64_t t = begin + i * 50 * MS;
		int32_t tid = next = next < 32768 ? next + 1 : 100;
		struct event event;

		sw(feed, t, 0, "swapper/0", 0, 0, "daemon", 50);
		forks(feed, t + 1, 0, 50, tid, tid);
		wake(feed, t + 2, 0, "sched_wakeup_new", tid);
		entry(feed, t + 3, 0, "read", 5);
		sw(feed, t + 4, 0, "daemon", 50, SLEEPS, "job", tid);
		event = event_of(feed, t + 5, 0, "timer_hrtimer_start");
		event.timer.timer = (uint64_t) begin + (uint64_t) i;
		event.timer.expires = t + 1000;
		send(feed, &event);
		event = event_of(feed, t + 6, 0, "syscall_entry_futex");
		event.syscall.uaddr = 64 + (uint64_t) begin + (uint64_t) i;
		event.syscall.op = 0;
		event.syscall.val = 2;
		send(feed, &event);
		request(feed, t + 7, 0, "block_rq_issue", tid);
		sw(feed, t + 8, 0, "job", tid, SLEEPS, "swapper/0", 0);
		irq(feed, t + 9, 0, "irq_handler_entry", 25);
		request(feed, t + 10, 0, "block_rq_complete", tid);
		waking(feed, t + 11, 0, tid);
		irq(feed, t + 12, 0, "irq_handler_exit", 25);
		sw(feed, t + 13, 0, "swapper/0", 0, 0, "job", tid);
		leave(feed, t + 14, 0, "futex", 0);
		waking(feed, t + 15, 0, 50);
		sw(feed, t + 16, 0, "job", tid, DEAD, "daemon", 50);
		leave(feed, t + 17, 0, "read", 1);
		sw(feed, t + 18, 0, "daemon", 50, SLEEPS, "swapper/0", 0);
	}
}

/* Six hours at 20 processes a second: 432,000 lives, 8 million events. */
static void test_endless(void)
{
	struct feed *feed = feed_every(10 * SECOND, NULL, NULL);
	const struct flow *flow = &feed->session->trace.flow;
	uint64_t most_early = 0, most_late = 0;
	uint32_t threads = 0, locks = 0;
	int hours = g_test_quick() ? 1 : 6;

	for (int64_t t = SECOND; t < hours * HOUR; t += SECOND) {
		uint64_t *most = t < 600 * SECOND ? &most_early : &most_late;

		busy_second(feed, t);
		*most = MAX(*most, flow_records(flow));
		if (t == 600 * SECOND) {
			threads = feed->session->trace.model.thread_count;
			locks = flow->locks->len;
		}
		g_string_truncate(reports, 0);
	}
	g_assert_cmpuint(feed->session->asked.stretches.reported, ==, hours * 360 - 1);
	/* nothing is longer than in the first ten minutes: stores, numbers given */
	g_assert_cmpuint(most_late, <=, most_early + most_early / 10);
	g_assert_cmpuint(feed->session->trace.model.thread_count, <=, threads + threads / 10);
	g_assert_cmpuint(flow->locks->len, <=, locks + locks / 10);
	/* the daemon has lived from the begin, and its wait is known since then */
	g_assert_cmpint(model_thread(&feed->session->trace.model,
				     session_thread_at(feed->session, 0, 50, hours * HOUR - SECOND))
				->begin,
			==, SECOND);
	feed_free(feed);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	reports = g_string_new(NULL);
	g_test_add_func("/forget/stretches", test_stretches);
	g_test_add_func("/forget/window", test_window);
	g_test_add_func("/forget/live", test_live);
	g_test_add_func("/forget/wild-times", test_wild_times);
	g_test_add_func("/forget/endless", test_endless);
	return g_test_run();
}
