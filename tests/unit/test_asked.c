/* SPDX-License-Identifier: MIT */
/* The same question again after a pause (net/asked_again.h), and what looks alike: a period, one
 * who thinks between two questions, a giving up. Worked out by hand from the events: 5 ("asks")
 * asks on CPU 0, on a connection of its own each time, from a question's begin at `time` until
 * time + 14, and naps by a poll that watches nothing.
 */
#include "feed.h"

#define STREAM 1
#define AGAIN                                                                                      \
	"retry: 10.0.0.9:80 was asked the same again (78 bytes) and answered 2 times alike (130 "  \
	"bytes), then otherwise (113 bytes), pauses of up to 200 ns (inferred: what was said is "  \
	"not recorded)"

static struct feed *start(void)
{
	struct feed *feed = feed_new(1);

	sw(feed, 0, 0, "idle", 0, 0, "asks", 5);
	return feed;
}

static void call(struct feed *feed, int64_t time, const char *name, int32_t fd, int64_t ret)
{
	entry(feed, time, 0, name, fd);
	leave(feed, time + 1, 0, name, ret);
}

/* `in` bytes come for `out`; 3 is closed at its end. */
static void asks(struct feed *feed, int64_t time, int64_t out, int64_t in)
{
	static const uint8_t address[4] = {10, 0, 0, 9};
	struct event event = event_of(feed, time, 0, "syscall_entry_socket");

	event.syscall.family = 2;
	event.syscall.type = STREAM;
	send(feed, &event);
	leave(feed, time + 1, 0, "socket", 3);
	event = event_of(feed, time + 2, 0, "syscall_entry_connect");
	event.syscall.fd = 3;
	event.syscall.port = 80;
	event.syscall.v4 = (struct event_bytes) {address, 4};
	send(feed, &event);
	leave(feed, time + 3, 0, "connect", 0);
	call(feed, time + 4, "sendto", 3, out);
	call(feed, time + 6, "recvfrom", 3, in - 3);
	call(feed, time + 8, "recvfrom", 3, 3);
	call(feed, time + 10, "recvfrom", 3, 0);
	call(feed, time + 12, "close", 3, 0);
}

/* Blocked in poll from time + 1 on, for 200 ns. */
static void naps(struct feed *feed, int64_t time)
{
	struct event event = event_of(feed, time, 0, "syscall_entry_poll");

	event.syscall.watched = 0;
	event.syscall.timeout = 1;
	send(feed, &event);
	sw(feed, time + 1, 0, "asks", 5, SLEEPS, "idle", 0);
	plain(feed, time + 201, 0, "timer_hrtimer_expire_entry");
	waking(feed, time + 201, 0, 5);
	plain(feed, time + 201, 0, "timer_hrtimer_expire_exit");
	sw(feed, time + 202, 0, "idle", 0, 0, "asks", 5);
	leave(feed, time + 203, 0, "poll", 0);
}

/* "KIND: LABEL" of the nth wait; of a timer its resource. */
static const char *wait_at(struct feed *feed, guint nth)
{
	uint32_t thread = life(feed, 5, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	const struct wait *wait = g_ptr_array_index(waits, nth);
	struct cause cause = wait_cause(feed->session, wait);

	g_ptr_array_add(feed->texts,
			g_strdup_printf("%s: %s", cause_kind_text(cause.kind),
					cause.kind == CAUSE_TIMER
						? session_text(feed->session, wait->block->resource)
						: cause.label));
	cause_clear(&cause);
	g_ptr_array_free(waits, TRUE);
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

#define WAIT(nth, expected) g_assert_cmpstr(wait_at(feed, nth), ==, expected)

/* Alike, alike, then another answer, and no more. */
static void test_until_another(void)
{
	FEED_FROM(start());

	asks(feed, 100, 78, 130);
	naps(feed, 200);
	asks(feed, 500, 78, 130);
	naps(feed, 600);
	asks(feed, 900, 78, 113);
	plain(feed, 1000, 0, "other");
	WAIT(0, AGAIN);
	WAIT(1, AGAIN);
}

/* The same, and it goes on asking after its pauses: a period, whatever comes. */
static void test_period(void)
{
	FEED_FROM(start());

	asks(feed, 100, 78, 130);
	naps(feed, 200);
	asks(feed, 500, 78, 130);
	naps(feed, 600);
	asks(feed, 900, 78, 113);
	naps(feed, 1000);
	asks(feed, 1300, 78, 113);
	plain(feed, 1400, 0, "other");
	for (guint i = 0; i < 3; i++)
		WAIT(i, "timer: sleep");
}

/* Another answer each time: one who thinks between two questions. */
static void test_thinks(void)
{
	FEED_FROM(start());

	asks(feed, 100, 78, 130);
	naps(feed, 200);
	asks(feed, 500, 78, 131);
	naps(feed, 600);
	asks(feed, 900, 78, 113);
	plain(feed, 1000, 0, "other");
	WAIT(0, "timer: sleep");
	WAIT(1, "timer: sleep");
}

/* Another question in the end. */
static void test_asks_another(void)
{
	FEED_FROM(start());

	asks(feed, 100, 78, 130);
	naps(feed, 200);
	asks(feed, 500, 78, 130);
	naps(feed, 600);
	asks(feed, 900, 60, 113);
	plain(feed, 1000, 0, "other");
	WAIT(0, "timer: sleep");
	WAIT(1, "timer: sleep");
}

/* The answer stays the same: what it was asked for never came. */
static void test_never(void)
{
	FEED_FROM(start());

	asks(feed, 100, 78, 130);
	naps(feed, 200);
	asks(feed, 500, 78, 130);
	naps(feed, 600);
	asks(feed, 900, 78, 130);
	entry(feed, 1000, 0, "exit_group", -1);
	plain(feed, 1001, 0, "other");
	WAIT(0, "timer: sleep");
	WAIT(1, "timer: sleep");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/asked/until-another", test_until_another);
	g_test_add_func("/asked/period", test_period);
	g_test_add_func("/asked/thinks", test_thinks);
	g_test_add_func("/asked/asks-another", test_asks_another);
	g_test_add_func("/asked/never", test_never);
	return g_test_run();
}
