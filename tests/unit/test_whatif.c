/* SPDX-License-Identifier: MIT */
/* What if: lines, rules, and re-timed runs, worked out by hand from semantics.md, "What if". */
#include "one_waits.h"
#include "whatif/best.h"
#include "whatif/lines.h"
#include "whatif/new_path.h"
#include "whatif/retime.h"
#include "whatif/what_if.h"
#include "whatif_invariants.h"

/* Asks for one scenario of these rules; index 1 has free CPUs. */
struct asked {
	struct rules *rules;
	struct retimed *retimed;
};

static struct asked ask(struct feed *feed, const char *rule, const char *other)
{
	static const struct scenario scenarios[] = {{ALL_RULES, 0}, {ALL_RULES, FREE_CPUS}};
	const char *texts[] = {rule, other};
	struct asked asked;

	finish(feed);
	asked.rules = rules_new(feed->session, texts, rule ? other ? 2 : 1 : 0);
	asked.retimed = retime(feed->session, asked.rules, scenarios, 2, feed->session->asked.from,
			       feed->session->asked.to);
	return asked;
}

static void asked_clear(struct asked *asked)
{
	retimed_free(asked->retimed);
	rules_free(asked->rules);
}

#define ASKED(feed, rule, other)                                                                   \
	struct asked asked __attribute__((cleanup(asked_clear))) = ask(feed, rule, other)

/* N(tid, time) */
static int64_t at(struct feed *feed, const struct asked *asked, guint scenario, int32_t tid,
		  int64_t time)
{
	return retimed_at(asked->retimed, scenario, life(feed, tid, 0), time);
}

static void test_no_rule(void)
{
	FEED_FROM(one_waits());
	ASKED(feed, NULL, NULL);

	for (int64_t time = 0; time <= 100; time++) {
		g_assert_cmpint(at(feed, &asked, 0, 1, time), ==, time);
		g_assert_cmpint(at(feed, &asked, 0, 2, time), ==, time);
	}
	/* with free CPUs T begins to run at 60 */
	g_assert_cmpint(at(feed, &asked, 1, 1, 60), ==, 60);
	g_assert_cmpint(at(feed, &asked, 1, 1, 70), ==, 60);
	g_assert_cmpint(at(feed, &asked, 1, 1, 80), ==, 70);
}

/* W is twice as fast: it wakes T at 30, which is ready for 10 as before. */
static void test_led(void)
{
	FEED_FROM(one_waits());
	ASKED(feed, "thread=W leaf=working/*: x0.5", NULL);

	g_assert_cmpint(at(feed, &asked, 0, 2, 60), ==, 30);
	g_assert_cmpint(at(feed, &asked, 0, 2, 20), ==, 10); /* in the midst, in proportion */
	g_assert_cmpint(at(feed, &asked, 0, 1, 12), ==, 12);
	g_assert_cmpint(at(feed, &asked, 0, 1, 60), ==, 30);
	g_assert_cmpint(at(feed, &asked, 0, 1, 70), ==, 40);
	g_assert_cmpint(at(feed, &asked, 0, 1, 80), ==, 50);
}

/* W is there before T asks: the wait is gone, and no more than that. */
static void test_gone(void)
{
	FEED_FROM(one_waits());
	ASKED(feed, "thread=W: 0", NULL);

	g_assert_cmpint(at(feed, &asked, 0, 2, 60), ==, 0);
	g_assert_cmpint(at(feed, &asked, 0, 1, 60), ==, 12);
	g_assert_cmpint(at(feed, &asked, 0, 1, 80), ==, 32);
}

/* The other way: three times as slow. */
static void test_slower(void)
{
	FEED_FROM(one_waits());
	ASKED(feed, "thread=W: x3", NULL);

	g_assert_cmpint(at(feed, &asked, 0, 1, 60), ==, 180);
	g_assert_cmpint(at(feed, &asked, 0, 1, 80), ==, 200);
}

/* What is picked is the wait: half of what it would then take, 18 where W is done at 30. */
static void test_wait_picked(void)
{
	FEED_FROM(one_waits());
	ASKED(feed, "thread=T leaf=blocked/*: x0.5", "thread=W: x0.5");

	g_assert_cmpint(at(feed, &asked, 0, 1, 60), ==, 12 + 9);
}

/* A length of its own; and only what is longer. */
static void test_length(void)
{
	FEED_FROM(one_waits());
	ASKED(feed, "thread=T longer=20ns: 5ns", NULL);

	g_assert_cmpint(at(feed, &asked, 0, 1, 60), ==, 17);
	g_assert_cmpint(at(feed, &asked, 0, 1, 80), ==, 37);
}

/* Shorter work before the wait changes nothing for who is waited for all the same. */
static void test_off_path(void)
{
	FEED_FROM(one_waits());
	ASKED(feed, "thread=T leaf=working/user: 0", NULL);

	g_assert_cmpint(at(feed, &asked, 0, 1, 10), ==, 0);
	g_assert_cmpint(at(feed, &asked, 0, 1, 60), ==, 60);
}

/* A child begins when its parent starts it. */
static void test_birth(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "P", 1);
	entry(feed, 50, 0, "clone", -1);
	forks(feed, 54, 0, 1, 7, 7);
	wake(feed, 56, 0, "sched_wakeup_new", 7);
	sw(feed, 60, 1, "idle", 0, 0, "child", 7);
	plain(feed, 100, 1, "sched_other");
	{
		ASKED(feed, "thread=P leaf=working/user: 0", NULL);

		g_assert_cmpint(at(feed, &asked, 0, 1, 54), ==, 4);
		g_assert_cmpint(at(feed, &asked, 0, 7, 54), ==, 4);
		g_assert_cmpint(at(feed, &asked, 0, 7, 100), ==, 50);
	}
}

/* T is kept off the CPU by X; what X does there takes half of the time. */
static void test_ready(void)
{
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "T", 1);
	sw(feed, 20, 0, "T", 1, PREEMPTED, "X", 2);
	sw(feed, 60, 0, "X", 2, SLEEPS, "T", 1);
	plain(feed, 100, 0, "sched_other");
	{
		ASKED(feed, "thread=X leaf=working/*: x0.5", NULL);

		g_assert_cmpint(at(feed, &asked, 0, 1, 60), ==, 40);
		g_assert_cmpint(at(feed, &asked, 1, 1, 60), ==, 20);
		g_assert_cmpint(at(feed, &asked, 1, 1, 100), ==, 60);
	}
}

/* The re-timed path of test_led(): T's own until it asks, W from then on, T again. */
static void test_path(void)
{
	FEED_FROM(one_waits());
	ASKED(feed, "thread=W leaf=working/*: x0.5", NULL);
	uint32_t t = life(feed, 1, 0), w = life(feed, 2, 0);
	g_autoptr(GArray) path = new_path(feed->session, asked.retimed, 0, t, 0, 80);
	static const int64_t ends[] = {10, 12, 30, 40, 50};
	int64_t before = 0;

	g_assert_cmpuint(path->len, ==, G_N_ELEMENTS(ends));
	for (guint i = 0; i < path->len; i++) {
		const struct new_piece *piece = &g_array_index(path, struct new_piece, i);

		g_assert_cmpint(piece->begin, ==, before);
		g_assert_cmpint(piece->end, ==, ends[i]);
		g_assert_cmpuint(piece->thread, ==, i == 2 ? w : t);
		before = piece->end;
	}
}

/* Points lie where a shift changes; between them in proportion; and back. */
static void test_lines(void)
{
	struct line line = {0};

	g_assert_cmpint(line_at(&line, 7), ==, 7);
	line_add(&line, (struct point) {0, 0}, (struct point) {10, 10});
	g_assert_cmpuint(line.count, ==, 0);
	line_add(&line, (struct point) {10, 10}, (struct point) {20, 15});
	line_add(&line, (struct point) {20, 15}, (struct point) {30, 25});
	line_add(&line, (struct point) {30, 25}, (struct point) {40, 25});
	g_assert_cmpuint(line.count, ==, 4);
	g_assert_cmpint(line_at(&line, 5), ==, 5);
	g_assert_cmpint(line_at(&line, 14), ==, 12);
	g_assert_cmpint(line_at(&line, 25), ==, 20);
	g_assert_cmpint(line_at(&line, 36), ==, 25);
	g_assert_cmpint(line_at(&line, 50), ==, 35);
	g_assert_cmpint(line_when(&line, 4), ==, 4);
	g_assert_cmpint(line_when(&line, 12), ==, 14);
	g_assert_cmpint(line_when(&line, 25), ==, 40); /* the last that is there by then */
	g_assert_cmpint(line_when(&line, 35), ==, 50);
	line_clear(&line);
}

/* A timer's event: of the hrtimer at `timer`. */
static void timer(struct feed *feed, int64_t time, uint32_t cpu, const char *name, uint64_t timer)
{
	struct event event = event_of(feed, time, cpu, name);

	event.timer.timer = timer;
	event.timer.expires = time;
	send(feed, &event);
}

static void entry_with_flags(struct feed *feed, int64_t time, const char *call, int32_t fd,
			     uint64_t flags)
{
	g_autofree char *name = g_strconcat("syscall_entry_", call, NULL);
	struct event event = event_of(feed, time, 0, name);

	event.syscall.fd = fd;
	event.syscall.flags = flags;
	send(feed, &event);
}

/* T waits on CPU 0 over [time, 100); hrtimer 7 ends that, or where there is none an interrupt. */
static void waits_until_100(struct feed *feed, int64_t time, bool by_timer)
{
	sw(feed, time, 0, "T", 1, SLEEPS, "idle", 0);
	if (by_timer)
		timer(feed, 100, 0, "timer_hrtimer_expire_entry", 7);
	else
		irq(feed, 100, 0, "irq_handler_entry", 9);
	waking(feed, 100, 0, 1);
	if (by_timer)
		timer(feed, 101, 0, "timer_hrtimer_expire_exit", 7);
	else
		irq(feed, 101, 0, "irq_handler_exit", 9);
	sw(feed, 104, 0, "idle", 0, 0, "T", 1);
	plain(feed, 110, 0, "sched_other");
}

/* What T's wait until 100 becomes once its own code, [0, 10) and [12, 20), takes no time. */
static int64_t without_own_code(struct feed *feed)
{
	ASKED(feed, "thread=T leaf=working/user: 0", NULL);

	return at(feed, &asked, 0, 1, 100);
}

/* A sleep [22, 100) in a call since 20 keeps its length, 78, after 4 in two calls; one until a
 * deadline ends at 100. */
static void test_sleeps(void)
{
	for (uint64_t flags = 0; flags <= 1; flags++) {
		FEED(1);

		sw(feed, 0, 0, "idle", 0, 0, "T", 1);
		entry(feed, 10, 0, "getpid", -1);
		leave(feed, 12, 0, "getpid", 1);
		entry_with_flags(feed, 20, "clock_nanosleep", -1, flags);
		timer(feed, 21, 0, "timer_hrtimer_start", 7);
		waits_until_100(feed, 22, true);
		g_assert_cmpint(without_own_code(feed), ==, flags ? 100 : 82);
	}
}

/* T sleeps three times until a deadline, from `begin` to `end`, on the CPU before each and last. */
static int64_t end_of_sleeps(const int64_t (*sleeps)[2], int64_t own)
{
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "T", 1);
	for (int i = 0; i < 3; i++) {
		entry_with_flags(feed, sleeps[i][0] - 2, "clock_nanosleep", -1, 1);
		timer(feed, sleeps[i][0] - 1, 0, "timer_hrtimer_start", 7);
		sw(feed, sleeps[i][0], 0, "T", 1, SLEEPS, "idle", 0);
		timer(feed, sleeps[i][1], 0, "timer_hrtimer_expire_entry", 7);
		waking(feed, sleeps[i][1], 0, 1);
		timer(feed, sleeps[i][1] + 1, 0, "timer_hrtimer_expire_exit", 7);
		sw(feed, sleeps[i][1] + 2, 0, "idle", 0, 0, "T", 1);
		leave(feed, sleeps[i][1] + 3, 0, "clock_nanosleep", 0);
	}
	plain(feed, sleeps[2][1] + own, 0, "sched_other");
	{
		ASKED(feed, "thread=T leaf=working/user: 0", NULL);

		return at(feed, &asked, 0, 1, sleeps[2][1]);
	}
}

/* Deadlines made from "now" (1 ms each, at no regular distance) keep their lengths: without its own
 * code T is done after 3 ms and three calls. Those of a period (one each 4 ms) keep their times. */
static void test_deadlines(void)
{
	static const int64_t from_now[][2] = {
		{2000000, 3000000}, {7000000, 8000000}, {9000000, 10000000}};
	static const int64_t period[][2] = {
		{2000000, 4000000}, {7000000, 8000000}, {9500000, 12000000}};

	g_assert_cmpint(end_of_sleeps(from_now, 10), <, 3000100);
	g_assert_cmpint(end_of_sleeps(period, 10), ==, 12000000);
}

/* A timerfd that was armed at 11, which is 1 then, for a length: 89 after that. For a time of day:
 * then. */
static void test_timerfd(void)
{
	for (uint64_t flags = 0; flags <= 1; flags++) {
		FEED(1);

		sw(feed, 0, 0, "idle", 0, 0, "T", 1);
		entry_with_flags(feed, 10, "timerfd_settime", 5, flags);
		timer(feed, 11, 0, "timer_hrtimer_start", 7);
		leave(feed, 12, 0, "timerfd_settime", 0);
		entry(feed, 20, 0, "read", 5);
		waits_until_100(feed, 22, true);
		g_assert_cmpint(without_own_code(feed), ==, flags ? 100 : 90);
	}
}

/* A period's next turn is armed when the timerfd is read: it keeps its time of day. What reading
 * anything else arms, a poll of a device say, does not. */
static void test_period(void)
{
	for (int is_timerfd = 0; is_timerfd <= 1; is_timerfd++) {
		FEED(1);

		sw(feed, 0, 0, "idle", 0, 0, "T", 1);
		entry(feed, 2, 0, is_timerfd ? "timerfd_create" : "eventfd2", -1);
		leave(feed, 4, 0, is_timerfd ? "timerfd_create" : "eventfd2", 5);
		entry(feed, 10, 0, "read", 5);
		timer(feed, 11, 0, "timer_hrtimer_start", 7);
		leave(feed, 12, 0, "read", 8);
		entry(feed, 20, 0, "read", 5);
		waits_until_100(feed, 22, true);
		/* 2 in the first call, 1 up to the arming */
		g_assert_cmpint(without_own_code(feed), ==, is_timerfd ? 100 : 3 + 89);
	}
}

/* What an interrupt brings keeps its time of day; but where T had sent something there, at 10 that
 * is 0 now, it is an answer, 90 after that. Nothing was sent where the call failed. */
static void test_answer(void)
{
	static const struct {
		const char *call;
		int64_t ret, end;
	} cases[] = {{"getpid", 1, 100}, {"sendto", 1, 90}, {"sendto", -11, 100}};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		FEED(1);

		sw(feed, 0, 0, "idle", 0, 0, "T", 1);
		entry(feed, 10, 0, cases[i].call, 3);
		leave(feed, 12, 0, cases[i].call, cases[i].ret);
		entry(feed, 20, 0, "recvfrom", 3);
		waits_until_100(feed, 22, false);
		g_assert_cmpint(without_own_code(feed), ==, cases[i].end);
	}
}

/* The same, with a wait for something else between: [13, 16), for the disk. */
static void test_answer_after_wait(void)
{
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "T", 1);
	entry(feed, 10, 0, "sendto", 3);
	leave(feed, 12, 0, "sendto", 1);
	entry(feed, 12, 0, "read", 4);
	sw(feed, 13, 0, "T", 1, SLEEPS, "idle", 0);
	irq(feed, 15, 0, "irq_handler_entry", 8);
	waking(feed, 16, 0, 1);
	irq(feed, 16, 0, "irq_handler_exit", 8);
	sw(feed, 17, 0, "idle", 0, 0, "T", 1);
	leave(feed, 18, 0, "read", 1);
	entry(feed, 20, 0, "recvfrom", 3);
	waits_until_100(feed, 22, false);
	g_assert_cmpint(without_own_code(feed), ==, 90);
}

/* T waits for L until 60, and then for R, which is there at 66. L gone: R limits, nothing saved. R
 * gone: 2. Both gone: both waits are, 48 and 2. */
static void test_best(void)
{
	FEED(3);

	sw(feed, 0, 0, "idle", 0, 0, "T", 1);
	sw(feed, 0, 1, "idle", 0, 0, "L", 2);
	sw(feed, 0, 2, "idle", 0, 0, "R", 3);
	entry(feed, 10, 0, "read", 3);
	sw(feed, 12, 0, "T", 1, SLEEPS, "idle", 0);
	waking(feed, 60, 1, 1);
	sw(feed, 62, 0, "idle", 0, 0, "T", 1);
	sw(feed, 64, 0, "T", 1, SLEEPS, "idle", 0);
	waking(feed, 66, 2, 1);
	sw(feed, 68, 0, "idle", 0, 0, "T", 1);
	leave(feed, 80, 0, "read", 1);
	plain(feed, 100, 0, "sched_other");
	{
		uint32_t t = life(feed, 1, 0);
		g_autoptr(GArray) ways = g_array_new(FALSE, FALSE, sizeof(struct way));
		g_autoptr(GArray) found = NULL;
		const struct way way = {t, t, 0, 80};
		const struct best *best;

		g_array_append_val(ways, way);
		found = best_find(feed->session, ways);
		best = &g_array_index(found, struct best, 0);

		g_assert_cmpuint(best->rules->len, ==, 2);
		g_assert_cmpstr(best->rules->pdata[0], ==, "thread=L leaf=working/user: 0");
		g_assert_cmpstr(best->rules->pdata[1], ==, "thread=R leaf=working/user: 0");
		g_assert_cmpint(best->saved, ==, 50);
		for (guint i = 1; i < found->len; i++) /* none of the two alone with L's 48 */
			g_assert_cmpint(g_array_index(found, struct best, i).saved, <, 48);
	}
}

static void test_grammar(void)
{
	static const struct {
		const char *text, *part; /* of the error; NULL: good */
	} rules[] = {{"thread=Xorg leaf=*nanosleep: 0", NULL},
		     {"on=socket:10.9.0.1:7000 longer=10ms: 10ms", NULL},
		     {"thread='my app': x0.5", NULL},
		     {"cause=block-device:x2", NULL},
		     {"thread=Xorg", "no colon"},
		     {"thread=Xorg:", "the change"},
		     {"thread=Xorg: -5ms", "negative"},
		     {"thread=Xorg: x-1", "from 0 to 1000"},
		     {"thread=Xorg: xnan", "from 0 to 1000"},
		     {"thread=Xorg: 10", "unit"},
		     {": 0", "names nothing"},
		     {"thred=Xorg: 0", "no selector"},
		     {"thread=: 0", "no selector"},
		     {"thread=a thread=b: 0", "twice"},
		     {"cause=bad: 0", "kind of cause"},
		     {"longer=5: 0", "duration"}};

	for (guint i = 0; i < G_N_ELEMENTS(rules); i++) {
		struct rule rule;
		GError *error = NULL;
		bool good = rule_parse(rules[i].text, &rule, &error);

		g_test_message("%s: %s", rules[i].text, error ? error->message : "good");
		g_assert_true(good == !rules[i].part);
		if (!good)
			g_assert_nonnull(strstr(error->message, rules[i].part));
		g_clear_error(&error);
		rule_clear(&rule);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/whatif/lines", test_lines);
	g_test_add_func("/whatif/grammar", test_grammar);
	g_test_add_func("/whatif/no_rule", test_no_rule);
	g_test_add_func("/whatif/led", test_led);
	g_test_add_func("/whatif/gone", test_gone);
	g_test_add_func("/whatif/slower", test_slower);
	g_test_add_func("/whatif/wait_picked", test_wait_picked);
	g_test_add_func("/whatif/length", test_length);
	g_test_add_func("/whatif/off_path", test_off_path);
	g_test_add_func("/whatif/birth", test_birth);
	g_test_add_func("/whatif/ready", test_ready);
	g_test_add_func("/whatif/path", test_path);
	g_test_add_func("/whatif/best", test_best);
	g_test_add_func("/whatif/sleeps", test_sleeps);
	g_test_add_func("/whatif/deadlines", test_deadlines);
	g_test_add_func("/whatif/timerfd", test_timerfd);
	g_test_add_func("/whatif/period", test_period);
	g_test_add_func("/whatif/answer", test_answer);
	g_test_add_func("/whatif/answer_after_wait", test_answer_after_wait);
	return g_test_run();
}
