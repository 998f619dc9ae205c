/* SPDX-License-Identifier: MIT */
/* Waiting without sleeping: tries of a PI mutex with naps between, and sched_yield again and again
 * (locks/futex_tries.h, path/spins.h), and their opposites. Worked out by hand from the events:
 * 5 on CPU 0, 6 of the same process on CPU 1.
 */
#include "feed.h"

#include "path/spins.h"
#include "state/stacks.h"

#define TRY_AGAIN (-11)
#define UNLOCK_PI_PRIVATE (7 | 128)
#define TRYLOCK_PI_PRIVATE (8 | 128)

static struct feed *start(void)
{
	struct feed *feed = feed_new(2);

	sw(feed, 0, 0, "idle", 0, 0, "shell", 4);
	forks(feed, 1, 0, 4, 5, 5);
	sw(feed, 2, 0, "shell", 4, SLEEPS, "tries", 5);
	forks(feed, 3, 0, 5, 6, 5);
	sw(feed, 4, 1, "idle", 0, 0, "holds", 6);
	leave(feed, 5, 0, "clone", 6);
	return feed;
}

static void futex(struct feed *feed, int64_t time, uint32_t cpu, int32_t op, int64_t ret)
{
	struct event event = event_of(feed, time, cpu, "syscall_entry_futex");

	event.syscall.flags = 0x1000; /* the word's address */
	event.syscall.op = op;
	send(feed, &event);
	leave(feed, time + 1, cpu, "futex", ret);
}

static void nap_begins(struct feed *feed, int64_t time)
{
	entry(feed, time, 0, "clock_nanosleep", -1);
	sw(feed, time + 1, 0, "tries", 5, SLEEPS, "idle", 0);
}

static void nap_ends(struct feed *feed, int64_t time)
{
	plain(feed, time, 0, "timer_hrtimer_expire_entry");
	waking(feed, time, 0, 5);
	plain(feed, time, 0, "timer_hrtimer_expire_exit");
	sw(feed, time + 1, 0, "idle", 0, 0, "tries", 5);
	leave(feed, time + 2, 0, "clock_nanosleep", 0);
}

/* The nth wait of 5: "KIND TID FROM-UNTIL: LABEL". */
static const char *wait_at(struct feed *feed, guint nth)
{
	uint32_t thread = life(feed, 5, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	const struct wait *wait = g_ptr_array_index(waits, nth);
	struct cause cause = wait_cause(feed->session, wait);
	GString *text = g_string_new(cause_kind_text(cause.kind));
	struct lead lead;

	if (wait_lead(feed->session, wait, &lead))
		g_string_append_printf(text, " %d %" G_GINT64_FORMAT "-%" G_GINT64_FORMAT ": %s",
				       model_thread(&feed->session->trace.model, lead.thread)->tid,
				       lead.from, lead.until, cause.label);
	cause_clear(&cause);
	g_ptr_array_free(waits, TRUE);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

#define WAIT(nth, expected) g_assert_cmpstr(wait_at(feed, nth), ==, expected)
#define HELD ": held by holds (6); futex failed 2 times with EAGAIN, pauses of up to 99 ns"

/* The try that succeeds is not seen: without waiters the mutex is taken in user space. */
static void test_trylock(void)
{
	FEED_FROM(start());

	futex(feed, 10, 0, TRYLOCK_PI_PRIVATE, TRY_AGAIN);
	nap_begins(feed, 20);
	nap_ends(feed, 120);
	futex(feed, 130, 0, TRYLOCK_PI_PRIVATE, TRY_AGAIN);
	nap_begins(feed, 140);
	futex(feed, 200, 1, UNLOCK_PI_PRIVATE, 0);
	nap_ends(feed, 220);
	plain(feed, 300, 0, "other");
	WAIT(0, "lock-owner 6 21-120" HELD);
	WAIT(1, "lock-owner 6 141-201" HELD);
}

/* Tried once, and then it did something else: it may not want the lock any more. */
static void test_trylock_once(void)
{
	FEED_FROM(start());

	futex(feed, 10, 0, TRYLOCK_PI_PRIVATE, TRY_AGAIN);
	nap_begins(feed, 20);
	futex(feed, 60, 1, UNLOCK_PI_PRIVATE, 0);
	nap_ends(feed, 120);
	plain(feed, 300, 0, "other");
	WAIT(0, "timer");
}

static const char *spinning(struct feed *feed)
{
	GString *text = g_string_new(NULL);
	uint32_t name = intern_id(feed->session->trace.model.names, "sched_yield");

	finish(feed);
	append_spinning(text, feed->session, life(feed, 5, 0), PACK(LEAF_WORK_SYSCALL, name));
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* `calls` calls of 2 ns, `between` ns between each two. */
static void yields(struct feed *feed, int64_t time, int calls, int64_t between)
{
	for (int i = 0; i < calls; i++, time += 2 + between) {
		entry(feed, time, 0, "sched_yield", -1);
		leave(feed, time + 2, 0, "sched_yield", 0);
	}
}

/* 20 calls of 2 ns with 1 ns between: 100 to 159; 6 ran for 30 ns of these. */
static void test_yields(void)
{
	FEED_FROM(start());

	yields(feed, 100, 10, 1);
	sw(feed, 130, 1, "holds", 6, SLEEPS, "idle", 0);
	yields(feed, 130, 10, 1);
	plain(feed, 300, 0, "other");
	g_assert_cmpstr(spinning(feed), ==,
			" 20 times with next to nothing between, 59 ns in all: it spins until "
			"another thread does something in memory (inferred), which no event shows; "
			"of its process holds (6) ran most meanwhile, 30 ns");
}

/* 7, of another process, has the CPU of 6 from 110 on: 6 was ready for 49 of the 59 ns. Not if 6
 * had gone to sleep then. */
static void test_yields_for_who_cannot_run(void)
{
	for (int ready = 0; ready < 2; ready++) {
		FEED_FROM(start());

		yields(feed, 100, 3, 1);
		sw(feed, 110, 1, "holds", 6, ready ? 0 : SLEEPS, "other", 7);
		yields(feed, 109 + 1, 17, 1);
		plain(feed, 300, 0, "other");
		g_assert_cmpstr(
			strstr(spinning(feed), "; of its process") + strlen("; of its process "),
			==,
			ready ? "holds (6) was ready meanwhile, but kept off the CPU for 50 ns: "
				"most likely it has what is waited for"
			      : "holds (6) ran most meanwhile, 10 ns");
	}
}

/* It works, and lets others run now and then. */
static void test_yields_politely(void)
{
	FEED_FROM(start());

	yields(feed, 100, 20, 10);
	plain(feed, 500, 0, "other");
	g_assert_cmpstr(spinning(feed), ==, "");
}

/* A few calls are none. */
static void test_yields_some(void)
{
	FEED_FROM(start());

	yields(feed, 100, 10, 1);
	plain(feed, 300, 0, "other");
	g_assert_cmpstr(spinning(feed), ==, "");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/spins/trylock", test_trylock);
	g_test_add_func("/spins/trylock-once", test_trylock_once);
	g_test_add_func("/spins/yields", test_yields);
	g_test_add_func("/spins/yields for who cannot run", test_yields_for_who_cannot_run);
	g_test_add_func("/spins/yields-politely", test_yields_politely);
	g_test_add_func("/spins/yields-some", test_yields_some);
	return g_test_run();
}
