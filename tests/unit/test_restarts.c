/* SPDX-License-Identifier: MIT */
/* Services that are started again: who was there before, how that ended, and whom a wait is led to
 * before the next one is there (lives/restarts.h). Worked out by hand from the events.
 *
 *   CPU 0  tries (5)    refused 10 ─ nap 21-119 ─ refused 130 ─ nap 141-240 ─ connected 250
 *   CPU 1  superv (4)   forks srv (20) at 2, which is gone at 9; forks srv (21) at 150
 *   CPU 2  other (7)
 */
#include "feed.h"

#include "lives/restarts.h"
#include "parts/make_parts.h"

#define REFUSED (-111)
#define KILL 9
#define OF_KERNEL 0x80

static void signalled(struct feed *feed, int64_t time, uint32_t cpu, int32_t sig, int32_t code,
		      int32_t tid)
{
	struct event event = event_of(feed, time, cpu, "signal_generate");

	event.signal.sig = sig;
	event.signal.tid = tid;
	event.signal.code = code;
	send(feed, &event);
}

static const uint8_t address[4] = {127, 0, 0, 1};

static void connects(struct feed *feed, int64_t time, int64_t ret)
{
	struct event event = event_of(feed, time, 0, "syscall_entry_connect");

	event.syscall.fd = 3;
	event.syscall.v4 = (struct event_bytes) {address, 4};
	event.syscall.port = 80;
	send(feed, &event);
	leave(feed, time + 1, 0, "connect", ret);
}

/* superv starts srv, which listens if `listens`, and waits for it. */
static struct feed *served(bool listens)
{
	struct feed *feed = feed_new(3);

	sw(feed, 0, 0, "idle", 0, 0, "tries", 5);
	sw(feed, 0, 1, "idle", 0, 0, "superv", 4);
	sw(feed, 0, 2, "idle", 0, 0, "other", 7);
	forks(feed, 2, 1, 4, 20, 20);
	entry(feed, 2, 1, "wait4", -1);
	sw(feed, 3, 1, "superv", 4, SLEEPS, "srv", 20);
	leave(feed, 4, 1, "clone", 0);
	if (listens) {
		entry(feed, 5, 1, "listen", 3);
		leave(feed, 6, 1, "listen", 0);
	}
	return feed;
}

/* srv is gone at 9; the other things happen as above. */
static void started_again(struct feed *feed)
{
	signalled(feed, 8, 1, 17, 1, 4);
	waking(feed, 8, 1, 4);
	sw(feed, 9, 1, "srv", 20, DEAD, "superv", 4);
	leave(feed, 9, 1, "wait4", 20);
	connects(feed, 10, REFUSED);
	timed_sleep(feed, 20, 119, "tries");
	connects(feed, 130, REFUSED);
	entry(feed, 140, 0, "clock_nanosleep", -1);
	sw(feed, 141, 0, "tries", 5, SLEEPS, "idle", 0);
	forks(feed, 150, 1, 4, 21, 21);
	sw(feed, 151, 1, "superv", 4, SLEEPS, "srv", 21);
	leave(feed, 152, 1, "clone", 0);
	entry(feed, 200, 1, "listen", 3);
	leave(feed, 201, 1, "listen", 0);
	plain(feed, 240, 0, "timer_hrtimer_expire_entry");
	waking(feed, 240, 0, 5);
	plain(feed, 240, 0, "timer_hrtimer_expire_exit");
	sw(feed, 241, 0, "idle", 0, 0, "tries", 5);
	leave(feed, 242, 0, "clock_nanosleep", 0);
	connects(feed, 250, 0);
	plain(feed, 300, 0, "other");
}

/* The nth wait of `tid`: "TID FROM-UNTIL: LABEL", of whom it is led to. */
static const char *wait_of_thread(struct feed *feed, int32_t tid, guint nth)
{
	uint32_t thread = life(feed, tid, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	const struct wait *wait = g_ptr_array_index(waits, nth);
	struct cause cause = wait_cause(feed->session, wait);
	GString *text = g_string_new(NULL);
	struct lead lead;

	if (wait_lead(feed->session, wait, &lead))
		g_string_append_printf(text, "%d %" G_GINT64_FORMAT "-%" G_GINT64_FORMAT ": ",
				       model_thread(&feed->session->trace.model, lead.thread)->tid,
				       lead.from, lead.until);
	g_string_append(text, cause.label);
	cause_clear(&cause);
	g_ptr_array_free(waits, TRUE);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

#define WAIT(tid, nth, expected) g_assert_cmpstr(wait_of_thread(feed, tid, nth), ==, expected)
#define REFUSALS "; connect failed 2 times with ECONNREFUSED, pauses of up to 99 ns"
#define UNTIL "nobody listened at 127.0.0.1:80 until srv (21) did"
#define NEXT ", and superv (4) started the next one 141 ns later"

/* Before the next one is there, its parent is why it is not. */
static void test_killed(void)
{
	FEED_FROM(served(true));

	entry(feed, 6, 2, "kill", -1);
	signalled(feed, 7, 2, KILL, 0, 20);
	started_again(feed);
	WAIT(5, 0,
	     "4 21-119: " UNTIL "; srv (20), there before, was killed by signal 9 (SIGKILL) from "
	     "other (7)" NEXT REFUSALS);
	WAIT(5, 1,
	     "21 141-201: " UNTIL "; srv (20), there before, was killed by signal 9 (SIGKILL) from "
	     "other (7)" NEXT REFUSALS);
	WAIT(4, 0, "20 3-8: srv (20), which was killed by signal 9 (SIGKILL) from other (7)");
}

/* The kernel sends it in the context of whoever wants memory, here of srv itself. */
static void test_out_of_memory(void)
{
	FEED_FROM(served(false));

	signalled(feed, 7, 1, KILL, OF_KERNEL, 20);
	started_again(feed);
	WAIT(5, 0,
	     "4 21-119: " UNTIL "; srv (20), there before, was killed by the kernel to free memory "
	     "(OOM killer, signal 9 (SIGKILL))" NEXT REFUSALS);
}

/* The same signal of one that ends: all in the PID namespace that it led are killed. */
static void test_namespace_ends(void)
{
	FEED_FROM(served(true));

	entry(feed, 6, 2, "exit_group", -1);
	signalled(feed, 7, 2, KILL, OF_KERNEL, 20);
	started_again(feed);
	WAIT(5, 0,
	     "4 21-119: " UNTIL
	     "; srv (20), there before, ended by signal 9 (SIGKILL)" NEXT REFUSALS);
}

static void test_ends_itself(void)
{
	FEED_FROM(served(true));

	entry(feed, 7, 1, "exit_group", -1);
	started_again(feed);
	WAIT(5, 0, "4 21-119: " UNTIL "; srv (20), there before, ended by itself" NEXT REFUSALS);
	WAIT(4, 0, "20 3-8: srv (20)");
}

/* One of that name that did not listen, and ended by itself, is none that was started again: the
 * one that did was begun at 150, after the first try at 11. */
static void test_job(void)
{
	FEED_FROM(served(false));

	entry(feed, 7, 1, "exit_group", -1);
	started_again(feed);
	WAIT(5, 0,
	     "4 21-119: " UNTIL "; superv (4) started it 139 ns after the first try" REFUSALS);
}

/* Killed when the refusals had begun: it was not there for other reasons. There are three: at 4, at
 * 10, and behind the nap. */
static void test_refused_before(void)
{
	FEED_FROM(served(true));

	connects(feed, 4, REFUSED); /* … and again at 10, before the first nap */
	signalled(feed, 7, 2, KILL, 0, 20);
	started_again(feed);
	WAIT(5, 0,
	     "4 21-119: " UNTIL "; superv (4) started it 144 ns after the first try"
	     /* that comes after 6, and counts from then */
	     "; connect failed 3 times with ECONNREFUSED, pauses of up to 99 ns");
}

struct asked {
	uint32_t thread, before;
};

static void asks(const struct session *session, guint part, void *data)
{
	struct asked *asked = data;

	(void) part;
	asked->before = service_before(session, asked->thread, 10);
}

/* What a part was the first to ask for holds when its copy of the session is gone. */
static void test_after_parts(void)
{
	struct asked asked = {.before = NO_THREAD};
	FEED_FROM(served(true));

	signalled(feed, 7, 2, KILL, 0, 20);
	started_again(feed);
	asked.thread = life(feed, 21, 0);
	parts_make(feed->session, 1, asks, &asked);
	g_assert_cmpuint(asked.before, ==, life(feed, 20, 0));
	g_assert_cmpuint(service_before(feed->session, asked.thread, 10), ==, asked.before);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/restarts/killed", test_killed);
	g_test_add_func("/restarts/out-of-memory", test_out_of_memory);
	g_test_add_func("/restarts/namespace-ends", test_namespace_ends);
	g_test_add_func("/restarts/ends-itself", test_ends_itself);
	g_test_add_func("/restarts/job", test_job);
	g_test_add_func("/restarts/refused-before", test_refused_before);
	g_test_add_func("/restarts/after-parts", test_after_parts);
	return g_test_run();
}
