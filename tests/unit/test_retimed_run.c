/* SPDX-License-Identifier: MIT */
/* The re-timed run as a session: its states, worked out by hand, and what it takes from the
 * recorded one. */
#include "one_waits.h"
#include "ready/cpu_runs.h"
#include "ready/ready.h"
#include "whatif/retimed_run.h"

static void run_clear(struct retimed_run **run)
{
	retimed_run_free(*run);
}

#define RUN(feed, rule)                                                                            \
	struct retimed_run *run __attribute__((cleanup(run_clear))) = run_of(feed, rule)

static struct retimed_run *run_of(struct feed *feed, const char *rule)
{
	GError *error = NULL;
	struct retimed_run *run;

	finish(feed);
	g_ptr_array_add(feed->options.what_if, g_strdup(rule));
	run = retimed_run_new(feed->session, &error);
	g_assert_no_error(error);
	return run;
}

/* The states of `tid` in the re-timed run. */
static const char *states_then(struct feed *feed, const struct retimed_run *run, int32_t tid)
{
	struct session *recorded = feed->session;
	const char *text;

	feed->session = run->session;
	text = states(feed, tid);
	feed->session = recorded;
	return text;
}

#define OF_T "0 working/user, 10 working/syscall:read, "

/* Nothing changes: the same states, and who is ready is so for the same reason. */
static void test_same(void)
{
	FEED_FROM(one_waits());
	RUN(feed, "thread=W leaf=working/user: x1");

	for (int32_t tid = 1; tid <= 2; tid++)
		g_assert_cmpstr(states_then(feed, run, tid), ==, states(feed, tid));
	g_assert_cmpint(run->session->asked.to, ==, feed->session->asked.to);
}

/* W is there at 30; T reads until 50. */
static void test_half(void)
{
	FEED_FROM(one_waits());
	RUN(feed, "thread=W leaf=working/*: x0.5");

	g_assert_cmpstr(states_then(feed, run, 1), ==,
			OF_T "12 blocked/syscall:read, 30 interrupted/wait-cpu, "
			     "40 working/syscall:read, 50 working/user, 70");
	g_assert_cmpstr(states_then(feed, run, 2), ==, "0 working/user, 50");
	g_assert_cmpint(run->session->asked.to, ==, 70);
}

/* W is there before T asks: T waits for nobody. */
static void test_gone(void)
{
	FEED_FROM(one_waits());
	RUN(feed, "thread=W leaf=working/*: x0.1");

	g_assert_cmpstr(states_then(feed, run, 1), ==,
			OF_T "12 interrupted/wait-cpu, 22 working/syscall:read, "
			     "32 working/user, 52");
}

struct seen {
	int64_t begin, end;
	uint32_t thread;
};

static void note(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	*(struct seen *) data = (struct seen) {begin, end, thread};
}

/* Who ran while T was ready is who did then: nobody, on CPU 0. */
static void test_ready(void)
{
	FEED_FROM(one_waits());
	RUN(feed, "thread=W leaf=working/*: x0.5");
	uint32_t t = life(feed, 1, 0);
	struct span span = {30, 40, PACK(LEAF_WAIT_CPU, 0), 0}, was;
	struct seen seen = {0};

	was = run->recorded.span(run, t, &span);
	g_assert_cmpint(was.begin, ==, 60);
	g_assert_cmpint(was.end, ==, 70);
	g_assert_cmpint(ready_of(run->session, t, &span).idle, ==, 10);
	each_run_beside(run->session, t, &span, note, &seen);
	g_assert_cmpint(seen.begin, ==, 30);
	g_assert_cmpint(seen.end, ==, 40);
	g_assert_cmpuint(seen.thread, ==, IDLE_THREAD);
}

/* A wait that is picked is as long as the rule says; whoever is waited for is still known. */
static void test_wait(void)
{
	FEED_FROM(one_waits());
	RUN(feed, "thread=T leaf=blocked/*: x0.5");
	struct spans spans;
	struct span span;
	struct lead lead;

	g_assert_cmpstr(states_then(feed, run, 1), ==,
			OF_T "12 blocked/syscall:read, 36 interrupted/wait-cpu, "
			     "46 working/syscall:read, 56 working/user, 76");
	spans_begin(&spans, run->session, life(feed, 1, 0), 12, 36);
	g_assert_true(spans_next(&spans, &span));
	g_assert_true(wait_lead(
		run->session,
		&(struct wait) {.thread = life(feed, 1, 0),
				.begin = span.begin,
				.end = span.end,
				.leaf = span.leaf,
				.block = block_at(&run->session->trace.timeline, span.ref),
				.woken = true},
		&lead));
	g_assert_cmpuint(lead.thread, ==, life(feed, 2, 0));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/retimed_run/same", test_same);
	g_test_add_func("/retimed_run/half", test_half);
	g_test_add_func("/retimed_run/gone", test_gone);
	g_test_add_func("/retimed_run/ready", test_ready);
	g_test_add_func("/retimed_run/wait", test_wait);
	return g_test_run();
}
