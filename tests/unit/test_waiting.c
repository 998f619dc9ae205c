/* SPDX-License-Identifier: MIT */
/* Ready but not running, stopped by whom, and the waiting imposed on others.
 * Expectations are worked out by hand from the rules that ready.h, stop.c and
 * waiting.h quote; the comments draw the time lines. Times are nanoseconds.
 */
#include "feed.h"

#include "ready/affinity.h"
#include "ready/ready.h"
#include "imposed/waiting.h"

#define MS INT64_C(1000000)

static void signals(struct feed *feed, int64_t time, uint32_t cpu, int32_t sig, int32_t tid)
{
	struct event event = event_of(feed, time, cpu, "signal_generate");

	event.signal.sig = sig;
	event.signal.tid = tid;
	send(feed, &event);
}

static void idles(struct feed *feed, int64_t time, uint32_t cpu, int64_t state)
{
	struct event event = event_of(feed, time, cpu, "power_cpu_idle");

	event.idle.state = state;
	event.idle.cpu = (int32_t) cpu;
	send(feed, &event);
}

static void migrates(struct feed *feed, int64_t time, uint32_t cpu, const char *name, int32_t tid,
		     int32_t target)
{
	struct event event = event_of(feed, time, cpu, name);

	event.wake.comm = "";
	event.wake.tid = tid;
	event.wake.target_cpu = target;
	send(feed, &event);
}

static void futex(struct feed *feed, int64_t time, uint32_t cpu)
{
	struct event event = event_of(feed, time, cpu, "syscall_entry_futex");

	event.syscall.op = 128; /* FUTEX_WAIT, private */
	event.syscall.uaddr = 0x1000;
	event.syscall.val = 2; /* what a mutex holds while somebody waits for it */
	send(feed, &event);
}

/* The longest stretch of that leaf of `tid`, judged. */
static struct ready judged(struct feed *feed, int32_t tid, enum leaf_kind leaf)
{
	uint32_t thread = life(feed, tid, 0);
	struct span span, best = {0};
	struct spans spans;

	spans_begin(&spans, feed->session, thread, feed->session->asked.from,
		    feed->session->asked.to);
	while (spans_next(&spans, &span))
		if (PACK_KIND(span.leaf) == leaf && span.end - span.begin > best.end - best.begin)
			best = span;
	g_assert_cmpint(best.end, >, best.begin);
	return ready_of(feed->session, thread, &best);
}

/* 6 sleeps on CPU 1 from 20 on, which idles; 5 runs on CPU 0. */
static void sleeper(struct feed *feed)
{
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	entry(feed, 10, 1, "read", 3);
	sw(feed, 20, 1, "b", 6, SLEEPS, "idle", 0);
}

static void runs_again(struct feed *feed, int64_t time)
{
	sw(feed, time, 1, "idle", 0, 0, "b", 6);
	plain(feed, time + 10, 1, "other");
}

/* waking on CPU 0 at 100, sched_wakeup on CPU 1 at 160, switch at 170: the way
 * took 60 of 70. */
static void test_remote(void)
{
	FEED(2);
	struct ready ready;
	g_autofree char *label = NULL;

	sleeper(feed);
	idles(feed, 30, 1, 2);
	waking(feed, 100, 0, 6);
	idles(feed, 150, 1, IDLE_LEFT);
	migrates(feed, 160, 1, "sched_wakeup", 6, 1);
	runs_again(feed, 170);
	ready = judged(feed, 6, LEAF_WAIT_CPU);
	g_assert_cmpint(ready.kind, ==, READY_REMOTE);
	g_assert_cmpint(ready.idle, ==, 70);
	g_assert_cmpint(ready.arrival, ==, 60);
	g_assert_cmpint(ready.waker_cpu, ==, 0);
	g_assert_cmpint(ready.idle_state, ==, 2);
	label = ready_label(&ready);
	g_assert_cmpstr(label, ==,
			"CPU 1 was idle: remote wake-up from CPU 0, which took 60 ns to "
			"arrive (C-state 2)");
}

/* The waker put it there itself at 105; the interrupt came at 165. */
static void test_interrupt_arrives(void)
{
	FEED(2);
	struct ready ready;

	sleeper(feed);
	waking(feed, 100, 0, 6);
	migrates(feed, 105, 0, "sched_wakeup", 6, 1);
	plain(feed, 165, 1, "x86_irq_vectors_reschedule_entry");
	plain(feed, 166, 1, "x86_irq_vectors_reschedule_exit");
	runs_again(feed, 170);
	ready = judged(feed, 6, LEAF_WAIT_CPU);
	g_assert_cmpint(ready.kind, ==, READY_REMOTE);
	g_assert_cmpint(ready.arrival, ==, 65);
	g_assert_cmpint(ready.idle_state, ==, -1); /* not recorded */
}

/* It arrived at 120 of 100 to 170: most went by on the CPU itself. */
static void test_slow(void)
{
	FEED(2);
	struct ready ready;
	g_autofree char *label = NULL;

	sleeper(feed);
	idles(feed, 30, 1, 1);
	idles(feed, 90, 1, IDLE_LEFT); /* it slept before, not then */
	waking(feed, 100, 0, 6);
	migrates(feed, 120, 1, "sched_wakeup", 6, 1);
	runs_again(feed, 170);
	ready = judged(feed, 6, LEAF_WAIT_CPU);
	g_assert_cmpint(ready.kind, ==, READY_SLOW);
	label = ready_label(&ready);
	g_assert_cmpstr(label, ==, "CPU 1 was idle: slow wake-up");
}

/* An older interrupt than the wake-up, and a wake-up on the CPU itself, are no remote one. */
static void test_local(void)
{
	FEED(2);

	sleeper(feed);
	plain(feed, 95, 1, "x86_irq_vectors_reschedule_entry");
	waking(feed, 100, 1, 6);
	plain(feed, 110, 1, "x86_irq_vectors_reschedule_exit");
	migrates(feed, 160, 1, "sched_wakeup", 6, 1);
	runs_again(feed, 170);
	g_assert_cmpint(judged(feed, 6, LEAF_WAIT_CPU).kind, ==, READY_SLOW);
}

/* 7 runs there up to 160: others, and 10 of nobody. */
static void test_busy(void)
{
	FEED(2);
	struct ready ready;
	struct piece piece = {.begin = 100, .end = 170, .leaf = PACK(LEAF_WAIT_CPU, 0), .ref = 1};
	struct cause cause;

	sleeper(feed);
	sw(feed, 90, 1, "idle", 0, 0, "c", 7);
	waking(feed, 100, 0, 6);
	sw(feed, 160, 1, "c", 7, SLEEPS, "idle", 0);
	runs_again(feed, 170);
	ready = judged(feed, 6, LEAF_WAIT_CPU);
	g_assert_cmpint(ready.kind, ==, READY_BUSY);
	g_assert_cmpint(ready.idle, ==, 10);
	piece.thread = life(feed, 6, 0);
	cause = piece_cause(feed->session, &piece);
	g_assert_cmpint(cause.kind, ==, CAUSE_WAIT_CPU);
	/* 60 and 10 of 70 */
	g_assert_cmpstr(cause.label, ==, "c 86 %, nobody 14 % (between others)");
	cause_clear(&cause);
}

/* 5 and 6 of one process (6 is a thread of 5's), on CPUs 0 and 1. */
static void two_threads(struct feed *feed)
{
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	plain(feed, 0, 1, "other");
	forks(feed, 1, 0, 5, 6, 5);
	sw(feed, 2, 1, "idle", 0, 0, "b", 6);
}

/* Both are put off idle CPUs at 1 and come back together at 9, each 10 ms. */
static void kept_off_by_turns(struct feed *feed, int times, int64_t every)
{
	two_threads(feed);
	for (int i = 0; i < times; i++) {
		int64_t at = i * every;

		sw(feed, at + 1 * MS, 0, "a", 5, PREEMPTED, "idle", 0);
		sw(feed, at + 1 * MS + 9, 1, "b", 6, PREEMPTED, "idle", 0);
		sw(feed, at + 9 * MS, 0, "idle", 0, 0, "a", 5);
		sw(feed, at + 9 * MS + 5, 1, "idle", 0, 0, "b", 6);
	}
	plain(feed, times * every, 0, "other");
}

static void test_throttled(void)
{
	FEED(2);
	struct ready ready;

	kept_off_by_turns(feed, 4, 10 * MS);
	ready = judged(feed, 5, LEAF_PREEMPTED);
	g_assert_cmpint(ready.kind, ==, READY_THROTTLED);
	g_assert_cmpint(ready.idle, ==, 8 * MS);
	g_assert_cmpint(ready.period, ==, 10 * MS);
}

/* Three ends one period apart may be chance. */
static void test_throttled_too_few(void)
{
	FEED(2);

	kept_off_by_turns(feed, 3, 10 * MS);
	g_assert_cmpint(judged(feed, 5, LEAF_PREEMPTED).kind, ==, READY_IDLE);
}

/* The ends, at 9, 24, 48, 85 and 131 ms, are not whole periods apart. */
static void test_not_periodic(void)
{
	static const int64_t ends[] = {9 * MS, 24 * MS, 48 * MS, 85 * MS, 131 * MS};
	FEED(2);

	two_threads(feed);
	sw(feed, 3, 1, "b", 6, DEAD, "idle", 0);
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		sw(feed, ends[i] - 8 * MS, 0, "a", 5, PREEMPTED, "idle", 0);
		sw(feed, ends[i], 0, "idle", 0, 0, "a", 5);
	}
	plain(feed, 140 * MS, 0, "other");
	g_assert_cmpint(judged(feed, 5, LEAF_PREEMPTED).kind, ==, READY_IDLE);
}

/* As throttled, but each time the thread was moved to CPU 1, which idled on for 8 ms (a slow
 * wake-up: at exec, on an emulated machine). */
static void test_moved(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	plain(feed, 0, 1, "other");
	for (int i = 0; i < 5; i++) {
		int64_t at = i * 20 * MS;
		uint32_t from = (uint32_t) i % 2;

		sw(feed, at + 1 * MS, from, "a", 5, PREEMPTED, "migration", 90 + i % 2);
		migrates(feed, at + 1 * MS + 10, from, "sched_migrate_task", 5, 1 - (int) from);
		sw(feed, at + 1 * MS + 20, from, "migration", 90 + i % 2, SLEEPS, "idle", 0);
		sw(feed, at + 9 * MS, 1 - from, "idle", 0, 0, "a", 5);
	}
	plain(feed, 100 * MS, 0, "other");
	g_assert_cmpint(judged(feed, 5, LEAF_PREEMPTED).kind, ==, READY_IDLE);
}

/* 6 works on meanwhile: no quota of their group keeps 5 off. */
static void test_not_throttled(void)
{
	FEED(2);

	two_threads(feed);
	sw(feed, 1 * MS, 0, "a", 5, PREEMPTED, "idle", 0);
	sw(feed, 9 * MS, 0, "idle", 0, 0, "a", 5);
	plain(feed, 20 * MS, 0, "other");
	g_assert_cmpint(judged(feed, 5, LEAF_PREEMPTED).kind, ==, READY_IDLE);
}

/* 5 is put off four times, each 10 ms; 6 is woken into the throttled group at 42 ms, and let go
 * with 5 at 49 ms. */
static void woken_meanwhile(struct feed *feed, int64_t other_end)
{
	two_threads(feed);
	entry(feed, 100, 1, "read", 3);
	sw(feed, 200, 1, "b", 6, SLEEPS, "idle", 0);
	for (int i = 0; i < 4; i++) {
		sw(feed, i * 10 * MS + 1 * MS, 0, "a", 5, PREEMPTED, "idle", 0);
		sw(feed, i * 10 * MS + 9 * MS, 0, "idle", 0, 0, "a", 5);
	}
	sw(feed, 41 * MS, 0, "a", 5, PREEMPTED, "idle", 0);
	irq(feed, 42 * MS, 1, "irq_handler_entry", 9);
	waking(feed, 42 * MS + 1, 1, 6);
	irq(feed, 42 * MS + 2, 1, "irq_handler_exit", 9);
	migrates(feed, 42 * MS + 3, 1, "sched_wakeup", 6, 1);
	if (other_end < 49 * MS)
		sw(feed, other_end, 0, "idle", 0, 0, "a", 5);
	sw(feed, 49 * MS, 1, "idle", 0, 0, "b", 6);
	if (other_end >= 49 * MS)
		sw(feed, other_end, 0, "idle", 0, 0, "a", 5);
	plain(feed, 60 * MS, 0, "other");
}

static void pins(struct feed *feed, int64_t time, uint32_t cpu, int32_t tid)
{
	struct event event = event_of(feed, time, cpu, "syscall_entry_sched_setaffinity");

	event.syscall.upid = tid;
	send(feed, &event);
	leave(feed, time + 1, cpu, "sched_setaffinity", 0);
}

/* 5 and 7 take turns of 20 ms on CPU 0; CPU 1 is idle, or runs 8. `pinned`: 5 says that it may
 * run there only, at 5. */
static void turns(struct feed *feed, bool pinned, bool idle, int count)
{
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "d", 8);
	if (pinned)
		pins(feed, 5, 0, 0);
	if (idle)
		sw(feed, 10, 1, "d", 8, SLEEPS, "idle", 0);
	for (int i = 0; i < count; i++) {
		sw(feed, (40 * i + 20) * MS, 0, "a", 5, PREEMPTED, "c", 7);
		sw(feed, (40 * i + 40) * MS, 0, "c", 7, PREEMPTED, "a", 5);
	}
	plain(feed, 40 * count * MS + 10, 0, "other");
}

static void test_pinned(void)
{
	FEED(2);
	struct ready ready;
	struct affinity affinity;
	g_autofree char *words = NULL;

	turns(feed, true, true, 3);
	ready = judged(feed, 5, LEAF_PREEMPTED);
	g_assert_cmpint(ready.kind, ==, READY_PINNED);
	g_assert_cmpint(ready.cpu, ==, 0);
	g_assert_cmpint(ready.free_cpu, ==, 1);
	g_assert_cmpint(ready.free, ==, 20 * MS);
	affinity = affinity_of(feed->session, life(feed, 5, 0));
	words = affinity_words(feed->session, life(feed, 5, 0), &affinity);
	g_assert_nonnull(strstr(words, "pinned to CPU 0 by itself (sched_setaffinity at "));
}

/* Pinned or not, it waits for a CPU when both are taken. */
static void test_pinned_but_all_busy(void)
{
	FEED(2);

	turns(feed, true, false, 3);
	g_assert_cmpint(judged(feed, 5, LEAF_PREEMPTED).kind, ==, READY_BUSY);
}

/* No call was seen: 60 ms are not enough to conclude from, 140 ms are. */
static void test_pinned_inferred(void)
{
	FEED(2);

	turns(feed, false, true, 7);
	g_assert_cmpint(judged(feed, 5, LEAF_PREEMPTED).kind, ==, READY_PINNED);
	g_assert_true(affinity_of(feed->session, life(feed, 5, 0)).inferred);
}

static void test_pinned_too_little(void)
{
	FEED(2);

	turns(feed, false, true, 3);
	g_assert_cmpint(judged(feed, 5, LEAF_PREEMPTED).kind, ==, READY_BUSY);
}

/* After all it moved to CPU 1: it may run there. */
static void test_not_pinned(void)
{
	FEED(2);

	turns(feed, false, true, 7);
	sw(feed, 281 * MS, 0, "a", 5, PREEMPTED, "c", 7);
	migrates(feed, 281 * MS + 5, 0, "sched_migrate_task", 5, 1);
	sw(feed, 282 * MS, 1, "idle", 0, 0, "a", 5);
	plain(feed, 290 * MS, 1, "other");
	g_assert_cmpint(judged(feed, 5, LEAF_PREEMPTED).kind, ==, READY_BUSY);
}

static void test_woken_into_throttled(void)
{
	FEED(2);

	woken_meanwhile(feed, 49 * MS + MS / 2);
	g_assert_cmpint(judged(feed, 6, LEAF_WAIT_CPU).kind, ==, READY_THROTTLED);
}

static void test_woken_alone(void)
{
	FEED(2);

	woken_meanwhile(feed, 45 * MS); /* 5 came back 4 ms before */
	g_assert_cmpint(judged(feed, 6, LEAF_WAIT_CPU).kind, ==, READY_SLOW);
}

/* The cause of the only wait of `tid`: "KIND LABEL". */
static const char *only_cause(struct feed *feed, int32_t tid)
{
	uint32_t thread = life(feed, tid, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	struct cause cause;

	g_assert_cmpuint(waits->len, ==, 1);
	cause = wait_cause(feed->session, g_ptr_array_index(waits, 0));
	g_ptr_array_add(feed->texts,
			g_strdup_printf("%s %s", cause_kind_text(cause.kind), cause.label));
	cause_clear(&cause);
	g_ptr_array_free(waits, TRUE);
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

static void two_run(struct feed *feed)
{
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
}

/* The kernel generates SIGCONT's event after the wake-up. */
static void test_stopped(void)
{
	FEED(2);

	two_run(feed);
	signals(feed, 50, 1, 19, 5);
	signals(feed, 60, 1, 10, 5); /* another signal stops nobody */
	signals(feed, 90, 0, 17, 6); /* its parent is told */
	sw(feed, 100, 0, "a", 5, STOPPED, "idle", 0);
	waking(feed, 200, 1, 5);
	signals(feed, 201, 1, 18, 5);
	sw(feed, 210, 0, "idle", 0, 0, "a", 5);
	plain(feed, 220, 0, "other");
	g_assert_cmpstr(
		only_cause(feed, 5), ==,
		"stopped by b (6), signal 19 (SIGSTOP); continued by b (6), signal 18 (SIGCONT)");
}

static void test_stopped_for_good(void)
{
	FEED(2);

	two_run(feed);
	signals(feed, 50, 1, 20, 5);
	sw(feed, 100, 0, "a", 5, STOPPED, "idle", 0);
	plain(feed, 220, 1, "other");
	g_assert_cmpstr(
		only_cause(feed, 5), ==,
		"still-blocked by b (6), signal 20 (SIGTSTP); not woken before the trace's end");
}

/* Stopped by a signal of which nothing was recorded: an older one, for somebody
 * else, is not taken for it. */
static void test_stopped_unknown(void)
{
	FEED(2);

	two_run(feed);
	signals(feed, 50, 1, 19, 6);
	sw(feed, 100, 0, "a", 5, STOPPED, "idle", 0);
	waking(feed, 200, 1, 5);
	sw(feed, 210, 0, "idle", 0, 0, "a", 5);
	plain(feed, 220, 0, "other");
	g_assert_cmpstr(only_cause(feed, 5), ==,
			"stopped by an unknown thread; continued by b (6)");
}

/* A traced thread tells its tracer, and the tracer lets it go on. */
static void test_traced(void)
{
	FEED(2);

	two_run(feed);
	signals(feed, 90, 0, 17, 6);
	sw(feed, 100, 0, "a", 5, TRACED, "idle", 0);
	waking(feed, 200, 1, 5);
	sw(feed, 210, 0, "idle", 0, 0, "a", 5);
	plain(feed, 220, 0, "other");
	g_assert_cmpstr(only_cause(feed, 5), ==, "stopped by b (6); continued by b (6)");
}

static const struct imposer *imposer_of(const struct feed *feed, const struct waiting *waiting,
					int32_t tid, const char *resource)
{
	for (guint i = 0; i < waiting->imposers->len; i++) {
		const struct imposer *at = &g_array_index(waiting->imposers, struct imposer, i);

		const char *key = session_text(feed->session, at->resource);

		if (resource ? at->resource && g_str_equal(key, resource)
			     : at->thread != NO_THREAD &&
				       model_thread(&feed->session->trace.model, at->thread)->tid ==
					       tid)
			return at;
	}
	g_error("%d %s imposed nothing", tid, resource ? resource : "");
}

static void timer_wakes(struct feed *feed, int64_t time, uint32_t cpu, int32_t tid)
{
	plain(feed, time - 1, cpu, "timer_hrtimer_expire_entry");
	waking(feed, time, cpu, tid);
	plain(feed, time + 1, cpu, "timer_hrtimer_expire_exit");
}

/*    a 5  work 20│ waits for b                                        230│240 work
 *    b 6  work   40│ waits for c                            200│210 work
 *    c 7  work             70│ sleeps          170│180 work
 * each forked the next, so it asks and that one serves */
static void chain(struct feed *feed)
{
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	plain(feed, 0, 1, "other");
	plain(feed, 0, 2, "other");
	forks(feed, 1, 0, 5, 6, 6);
	sw(feed, 2, 1, "idle", 0, 0, "b", 6);
	forks(feed, 3, 1, 6, 7, 7);
	sw(feed, 4, 2, "idle", 0, 0, "c", 7);
	entry(feed, 10, 0, "read", 3);
	sw(feed, 20, 0, "a", 5, SLEEPS, "idle", 0);
	entry(feed, 30, 1, "read", 4);
	sw(feed, 40, 1, "b", 6, SLEEPS, "idle", 0);
	entry(feed, 60, 2, "nanosleep", -1);
	sw(feed, 70, 2, "c", 7, SLEEPS, "idle", 0);
	timer_wakes(feed, 170, 2, 7);
	sw(feed, 180, 2, "idle", 0, 0, "c", 7);
	leave(feed, 190, 2, "nanosleep", 0);
	waking(feed, 200, 2, 6);
	sw(feed, 210, 1, "idle", 0, 0, "b", 6);
	waking(feed, 230, 1, 5);
	sw(feed, 240, 0, "idle", 0, 0, "a", 5);
	plain(feed, 300, 0, "other");
}

/* a's wait [20, 230): b's work [20, 40) and [210, 230), its wait for a CPU [200,
 * 210); the 160 between are c's: 30 + 20 work, 100 sleep, 10 for a CPU. b's own wait
 * [40, 200) is c's once more. */
static void test_chain(void)
{
	FEED(3);
	struct waiting *waiting;
	const struct imposer *b, *c;

	chain(feed);
	finish(feed);
	waiting = waiting_new(feed->session);
	b = imposer_of(feed, waiting, 6, NULL);
	g_assert_cmpint(b->ns, ==, 50);
	g_assert_cmpint(b->by[IMPOSED_WORK], ==, 40);
	g_assert_cmpint(b->by[IMPOSED_CPU], ==, 10);
	g_assert_cmpint(b->through, ==, 210);
	g_assert_cmpint(b->waiters, ==, 1);
	c = imposer_of(feed, waiting, 7, NULL);
	g_assert_cmpint(c->ns, ==, 320);
	g_assert_cmpint(c->by[IMPOSED_WORK], ==, 100);
	g_assert_cmpint(c->by[IMPOSED_SLEEP], ==, 200);
	g_assert_cmpint(c->by[IMPOSED_CPU], ==, 20);
	g_assert_cmpint(c->waiters, ==, 2);
	g_assert_cmpint(c->worst, ==, 160);
	g_assert_cmpint(waiting->by_threads, ==, 370);
	g_assert_cmpint(waiting->own, ==, 100); /* c's sleep */
	g_assert_cmpint(waiting->idle, ==, 0);
	/* nothing flows in a circle; c takes 320 of 370 and what idle CPUs took (10 + 10 + 10 and
	 * births), from two: a bottleneck */
	g_assert_cmpuint(waiting->knots->len, ==, 1);
	g_assert_false(g_array_index(waiting->knots, struct knot, 0).circle);
	g_assert_cmpint(g_array_index(waiting->knots, struct knot, 0).ns, ==, 320);
	waiting_free(waiting);
}

/* The window [100, 205): a still waits at its end; of b's wait 100 are left: c sleeps
 * 70, waits 10 for a CPU, works 20. */
static void test_window(void)
{
	FEED(3);
	struct waiting *waiting;
	const struct imposer *c;

	feed->options.from = (struct when) {.kind = WHEN_ABSOLUTE, .ns = 100};
	feed->options.to = (struct when) {.kind = WHEN_ABSOLUTE, .ns = 205};
	chain(feed);
	finish(feed);
	waiting = waiting_new(feed->session);
	c = imposer_of(feed, waiting, 7, NULL);
	g_assert_cmpint(c->ns, ==, 100);
	g_assert_cmpint(c->by[IMPOSED_SLEEP], ==, 70);
	g_assert_cmpint(c->by[IMPOSED_CPU], ==, 10);
	g_assert_cmpint(c->by[IMPOSED_WORK], ==, 20);
	g_assert_cmpint(waiting->open, ==, 105);
	g_assert_cmpint(waiting->own, ==, 70);
	g_assert_cmpint(waiting->by_threads, ==, 100);
	waiting_free(waiting);
}

/* As the chain, but b sleeps all of a's wait [20, 230): what leads to b goes on to c,
 * and b is owed nothing: it is no imposer, as nobody lost anything to it. */
static void test_led_on(void)
{
	FEED(3);
	struct waiting *waiting;

	plain(feed, 0, 0, "other");
	plain(feed, 0, 1, "other");
	sw(feed, 0, 2, "idle", 0, 0, "a", 5);
	forks(feed, 1, 2, 5, 6, 6);
	sw(feed, 2, 1, "idle", 0, 0, "b", 6);
	forks(feed, 3, 1, 6, 7, 7);
	sw(feed, 4, 0, "idle", 0, 0, "c", 7);
	entry(feed, 10, 1, "read", 4);
	entry(feed, 10, 2, "read", 3);
	sw(feed, 20, 1, "b", 6, SLEEPS, "idle", 0);
	sw(feed, 20, 2, "a", 5, SLEEPS, "idle", 0);
	waking(feed, 230, 0, 6);
	sw(feed, 230, 1, "idle", 0, 0, "b", 6);
	waking(feed, 230, 1, 5);
	sw(feed, 230, 2, "idle", 0, 0, "a", 5);
	plain(feed, 300, 0, "other");
	finish(feed);
	waiting = waiting_new(feed->session);
	g_assert_cmpuint(waiting->imposers->len, ==, 2);
	g_assert_cmpint(imposer_of(feed, waiting, 7, NULL)->ns, ==, 420); /* a's and b's */
	g_assert_cmpint(imposer_of(feed, waiting, 0, "cpu:idle")->ns, ==, 2); /* births */
	waiting_free(waiting);
}

/* a waits from 20 on for d, which b forked at 100: until then it is b's. */
static void test_not_born_yet(void)
{
	FEED(3);
	struct waiting *waiting;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	plain(feed, 0, 1, "other");
	plain(feed, 0, 2, "other");
	forks(feed, 1, 0, 5, 6, 6);
	sw(feed, 2, 1, "idle", 0, 0, "b", 6);
	entry(feed, 10, 0, "flock", 3); /* a wait that is never idle */
	sw(feed, 20, 0, "a", 5, SLEEPS, "idle", 0);
	forks(feed, 100, 1, 6, 8, 8);
	sw(feed, 130, 2, "idle", 0, 0, "d", 8);
	waking(feed, 200, 2, 5);
	sw(feed, 210, 0, "idle", 0, 0, "a", 5);
	plain(feed, 300, 0, "other");
	finish(feed);
	waiting = waiting_new(feed->session);
	g_assert_cmpint(imposer_of(feed, waiting, 6, NULL)->by[IMPOSED_WORK], ==, 80);
	g_assert_cmpint(imposer_of(feed, waiting, 8, NULL)->by[IMPOSED_CPU], ==, 30);
	g_assert_cmpint(imposer_of(feed, waiting, 8, NULL)->by[IMPOSED_WORK], ==, 70);
	waiting_free(waiting);
}

/* s 6 waits for a request before a 5 turns to it for the first time, and again after
 * its answer: 90 + 70 of idle waiting. a's wait for the answer, 70, counts. */
static void test_server(void)
{
	FEED(2);
	struct waiting *waiting;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "s", 6);
	entry(feed, 5, 1, "read", 3);
	sw(feed, 10, 1, "s", 6, SLEEPS, "idle", 0);
	waking(feed, 100, 0, 6);
	sw(feed, 110, 1, "idle", 0, 0, "s", 6);
	leave(feed, 115, 1, "read", 1);
	entry(feed, 120, 0, "read", 4);
	sw(feed, 130, 0, "a", 5, SLEEPS, "idle", 0);
	waking(feed, 200, 1, 5);
	sw(feed, 210, 0, "idle", 0, 0, "a", 5);
	leave(feed, 215, 0, "read", 1);
	entry(feed, 220, 1, "read", 3);
	sw(feed, 230, 1, "s", 6, SLEEPS, "idle", 0);
	waking(feed, 300, 0, 6);
	sw(feed, 310, 1, "idle", 0, 0, "s", 6);
	plain(feed, 320, 1, "other");
	finish(feed);
	waiting = waiting_new(feed->session);
	g_assert_cmpint(waiting->idle, ==, 160);
	g_assert_cmpint(waiting->by_threads, ==, 70);
	g_assert_cmpint(imposer_of(feed, waiting, 6, NULL)->by[IMPOSED_WORK], ==, 70);
	waiting_free(waiting);
}

/* Two threads of one process take turns on a futex: 5 waits [100, 200) for 6, 6 waits
 * [300, 450) for 5. Neither is the other's server. */
static void test_circle(void)
{
	FEED(2);
	struct waiting *waiting;
	const struct knot *knot;

	two_threads(feed);
	futex(feed, 90, 0);
	sw(feed, 100, 0, "a", 5, SLEEPS, "idle", 0);
	waking(feed, 200, 1, 5);
	sw(feed, 201, 0, "idle", 0, 0, "a", 5);
	leave(feed, 205, 0, "futex", 0);
	futex(feed, 290, 1);
	sw(feed, 300, 1, "b", 6, SLEEPS, "idle", 0);
	waking(feed, 450, 0, 6);
	sw(feed, 451, 1, "idle", 0, 0, "b", 6);
	plain(feed, 500, 1, "other");
	finish(feed);
	waiting = waiting_new(feed->session);
	g_assert_cmpint(waiting->idle, ==, 0);
	g_assert_cmpint(imposer_of(feed, waiting, 0, "futex:0x1000")->ns, ==, 250);
	g_assert_cmpint(imposer_of(feed, waiting, 0, "futex:0x1000")->waiters, ==, 2);
	g_assert_cmpint(imposer_of(feed, waiting, 5, NULL)->by[IMPOSED_WORK], ==, 150);
	g_assert_cmpint(imposer_of(feed, waiting, 6, NULL)->by[IMPOSED_WORK], ==, 100);
	knot = &g_array_index(waiting->knots, struct knot, 0);
	g_assert_true(knot->circle);
	g_assert_cmpint(knot->ns, ==, 250);
	g_assert_cmpuint(knot->threads->len, ==, 2);
	g_assert_cmpstr(session_text(feed->session, knot->resource), ==, "futex:0x1000");
	waiting_free(waiting);
}

/* 1 waits for 2, 2 for 3, 3 for 1 and, on something else, for 4, and 4 for 5: one circle of
 * three. 6 waits for 7 and 7, hardly ever, for 6: too little for a circle. */
static void test_circle_of_three(void)
{
	struct waiting waiting = {.imposed = 10000};
	static const struct direct directs[] = {
		{1, 2, 50, true, 0, 300, 0},   {2, 3, 50, true, 300, 200, 0},
		{3, 1, 51, true, 500, 150, 0}, {3, 1, 50, true, 700, 100, 0},
		{3, 4, 52, true, 800, 900, 0}, {4, 5, 53, true, 0, 500, 0},
		{6, 7, 50, true, 0, 4000, 0},  {7, 6, 50, true, 4000, 19, 0}};
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof *directs);
	const struct knot *knot;

	g_array_append_vals(list, directs, G_N_ELEMENTS(directs));
	waiting.imposers = g_array_new(FALSE, FALSE, sizeof(struct imposer));
	waiting.knots = g_array_new(FALSE, FALSE, sizeof(struct knot));
	knots_find(&waiting, list, 8);
	g_assert_cmpuint(waiting.knots->len, ==, 1);
	knot = &g_array_index(waiting.knots, struct knot, 0);
	g_assert_true(knot->circle);
	g_assert_cmpuint(knot->threads->len, ==, 3);
	for (uint32_t i = 0; i < 3; i++)
		g_assert_cmpuint(g_array_index(knot->threads, uint32_t, i), ==, i + 1);
	g_assert_cmpint(knot->ns, ==, 750); /* not the 900 for 4 */
	g_assert_cmpuint(knot->resource, ==, 50); /* 600 of it */
	g_array_free(knot->threads, TRUE);
	g_array_free(waiting.imposers, TRUE);
	g_array_free(waiting.knots, TRUE);
}

/* How many circles there are where 1 waits for 2 and 2 for 1, of 10000 that were imposed. */
static unsigned circles(const struct direct *first, const struct direct *second)
{
	struct waiting waiting = {.imposed = 10000};
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof *first);
	unsigned count = 0;

	g_array_append_vals(list, first, 1);
	g_array_append_vals(list, second, 1);
	waiting.imposers = g_array_new(FALSE, FALSE, sizeof(struct imposer));
	waiting.knots = g_array_new(FALSE, FALSE, sizeof(struct knot));
	knots_find(&waiting, list, 3);
	for (guint i = 0; i < waiting.knots->len; i++) {
		count += g_array_index(waiting.knots, struct knot, i).circle;
		g_array_free(g_array_index(waiting.knots, struct knot, i).threads, TRUE);
	}
	g_array_free(waiting.imposers, TRUE);
	g_array_free(waiting.knots, TRUE);
	return count;
}

/* A client and its server, a parent and its child: by turns, on no lock. */
static void test_by_turns(void)
{
	static const struct direct asks = {1, 2, 60, false, 0, 500, 0},
				   waits = {2, 1, 61, false, 500, 500, 0};

	g_assert_cmpuint(circles(&asks, &waits), ==, 0);
}

/* Two locks: at different times that is no circle, at one time it is a deadlock. */
static void test_two_locks(void)
{
	static const struct direct first = {1, 2, 50, true, 0, 500, 0},
				   later = {2, 1, 51, true, 500, 500, 0},
				   meanwhile = {2, 1, 51, true, 400, 500, 0};

	g_assert_cmpuint(circles(&first, &later), ==, 0);
	g_assert_cmpuint(circles(&first, &meanwhile), ==, 1);
}

/* 5 starts 6 and 7 and then waits for both: that says how long they ran, and is nobody's doing. */
static void launches(struct feed *feed, bool again)
{
	sw(feed, 0, 0, "idle", 0, 0, "sh", 4);
	plain(feed, 0, 1, "other");
	plain(feed, 0, 2, "other");
	forks(feed, 0, 0, 4, 5, 5);
	sw(feed, 0, 0, "sh", 4, DEAD, "main", 5);
	forks(feed, 1, 0, 5, 6, 6);
	sw(feed, 1, 1, "idle", 0, 0, "a", 6);
	forks(feed, 2, 0, 5, 7, 7);
	sw(feed, 2, 2, "idle", 0, 0, "b", 7);
	entry(feed, 10, 0, "wait4", -1);
	sw(feed, 20, 0, "main", 5, SLEEPS, "idle", 0);
	waking(feed, 300, 1, 5);
	sw(feed, 301, 1, "a", 6, DEAD, "idle", 0);
	sw(feed, 310, 0, "idle", 0, 0, "main", 5);
	leave(feed, 311, 0, "wait4", 6);
	if (again) {
		forks(feed, 312, 0, 5, 8, 8);
		sw(feed, 313, 1, "idle", 0, 0, "c", 8);
	}
	entry(feed, 315, 0, "wait4", -1);
	sw(feed, 320, 0, "main", 5, SLEEPS, "idle", 0);
	waking(feed, 500, 2, 5);
	sw(feed, 501, 2, "b", 7, DEAD, "idle", 0);
	sw(feed, 510, 0, "idle", 0, 0, "main", 5);
	leave(feed, 511, 0, "wait4", 7);
	sw(feed, 520, 0, "main", 5, DEAD, "idle", 0);
	plain(feed, 600, 0, "other");
}

static void test_launcher(void)
{
	FEED(3);
	struct waiting *waiting;

	launches(feed, false);
	finish(feed);
	waiting = waiting_new(feed->session);
	g_assert_cmpint(waiting->children, ==, 280 + 180);
	for (guint i = 0; i < waiting->imposers->len; i++)
		g_assert_cmpint(g_array_index(waiting->imposers, struct imposer, i).thread, ==,
				NO_THREAD);
	waiting_free(waiting);
}

/* The opposite: it starts another when one has ended, as make does. */
static void test_scheduler(void)
{
	FEED(3);
	struct waiting *waiting;

	launches(feed, true);
	finish(feed);
	waiting = waiting_new(feed->session);
	g_assert_cmpint(waiting->children, ==, 0);
	/* 6 ended first, and led to nothing but the wait for 7 */
	g_assert_cmpint(imposer_of(feed, waiting, 7, NULL)->ns, ==, 280 + 180);
	waiting_free(waiting);
}

/* A call that works through a helper of the kernel's: 5 mounts from 20 to 500, woken by a kworker
 * (9) that it woke itself, and that asked nothing of it. No idle wait. */
static void test_kernel_helper(void)
{
	FEED(2);
	struct waiting *waiting;

	forks(feed, 0, 1, 2, 9, 9); /* of kthreadd */
	sw(feed, 1, 0, "idle", 0, 0, "mounter", 5);
	sw(feed, 1, 1, "idle", 0, 0, "kworker/1:0", 9);
	entry(feed, 10, 0, "mount", -1);
	sw(feed, 20, 0, "mounter", 5, SLEEPS, "idle", 0);
	waking(feed, 500, 1, 5);
	sw(feed, 510, 0, "idle", 0, 0, "mounter", 5);
	plain(feed, 600, 0, "other");
	finish(feed);
	waiting = waiting_new(feed->session);
	g_assert_cmpint(waiting->idle, ==, 0);
	g_assert_cmpint(imposer_of(feed, waiting, 9, NULL)->ns, ==, 480);
	waiting_free(waiting);
}

/* 5 waits 1010 times for 6, 100, 101, ... 1109 long: the 1000 longest are followed, the
 * others (100 to 109: 1045 in all) are said to be left out. */
static void test_left_out(void)
{
	FEED(2);
	struct waiting *waiting;
	int64_t at = 0;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	for (int i = 0; i < 1010; i++) {
		entry(feed, at + 10, 0, "flock", 3);
		sw(feed, at + 20, 0, "a", 5, SLEEPS, "idle", 0);
		waking(feed, at + 120 + i, 1, 5);
		sw(feed, at + 120 + i, 0, "idle", 0, 0, "a", 5);
		leave(feed, at + 121 + i, 0, "flock", 0);
		at += 200 + i;
	}
	finish(feed);
	waiting = waiting_new(feed->session);
	g_assert_cmpuint(waiting->left_out_count, ==, 10);
	g_assert_cmpint(waiting->left_out, ==, 1045);
	g_assert_cmpint(imposer_of(feed, waiting, 6, NULL)->ns, ==, (100 + 1109) * 1010 / 2 - 1045);
	g_assert_cmpint(imposer_of(feed, waiting, 6, NULL)->worst, ==, 1109);
	waiting_free(waiting);
}

/* 6 takes a lock, sleeps, and 5 waits for it from 100 to the end at 500: what is known of
 * the holder counts although nobody gave the lock up. It slept from 60 on. */
static void test_held_to_the_end(void)
{
	FEED(2);
	struct waiting *waiting;
	struct event event;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	for (int i = 0; i < 2; i++) { /* both have it open */
		event = event_of(feed, 10 + i, (uint32_t) i, "syscall_entry_openat");
		event.syscall.filename = "/lock";
		event.syscall.dfd = -100;
		send(feed, &event);
		leave(feed, 12 + i, (uint32_t) i, "openat", 3);
	}
	event = event_of(feed, 30, 1, "syscall_entry_flock");
	event.syscall.fd = 3;
	event.syscall.cmd = 2; /* LOCK_EX */
	send(feed, &event);
	leave(feed, 40, 1, "flock", 0);
	entry(feed, 50, 1, "nanosleep", -1);
	sw(feed, 60, 1, "b", 6, SLEEPS, "idle", 0);
	event = event_of(feed, 90, 0, "syscall_entry_flock");
	event.syscall.fd = 3;
	event.syscall.cmd = 2;
	send(feed, &event);
	sw(feed, 100, 0, "a", 5, SLEEPS, "idle", 0);
	timer_wakes(feed, 400, 1, 6);
	sw(feed, 410, 1, "idle", 0, 0, "b", 6);
	plain(feed, 500, 1, "other");
	finish(feed);
	waiting = waiting_new(feed->session);
	g_assert_cmpint(imposer_of(feed, waiting, 6, NULL)->by[IMPOSED_SLEEP], ==, 300);
	g_assert_cmpint(imposer_of(feed, waiting, 6, NULL)->by[IMPOSED_CPU], ==, 10);
	g_assert_cmpint(imposer_of(feed, waiting, 6, NULL)->by[IMPOSED_WORK], ==, 90);
	g_assert_cmpint(imposer_of(feed, waiting, 0, "file:/lock")->ns, ==, 400);
	g_assert_cmpint(waiting->open, ==, 0);
	waiting_free(waiting);
}

/* 7 is woken at 90 and waits 10 for 6; then 6 is preempted for 100 while 7 runs there: 7
 * imposes it; 10 more of nobody's are the CPU's. */
static void test_ran(void)
{
	FEED(1);
	struct waiting *waiting;

	sw(feed, 0, 0, "idle", 0, 0, "b", 6);
	waking(feed, 90, 0, 7);
	sw(feed, 100, 0, "b", 6, PREEMPTED, "c", 7);
	sw(feed, 200, 0, "c", 7, SLEEPS, "idle", 0);
	sw(feed, 210, 0, "idle", 0, 0, "b", 6);
	plain(feed, 300, 0, "other");
	finish(feed);
	waiting = waiting_new(feed->session);
	g_assert_cmpint(imposer_of(feed, waiting, 7, NULL)->by[IMPOSED_RAN], ==, 100);
	g_assert_cmpint(imposer_of(feed, waiting, 6, NULL)->by[IMPOSED_RAN], ==, 10);
	g_assert_cmpint(imposer_of(feed, waiting, 0, "cpu:idle")->ns, ==, 10);
	g_assert_cmpint(waiting->by_threads, ==, 110);
	waiting_free(waiting);
}

/* Entry or exit of IRQ 1, softIRQ 1 or a vector. */
static void frame(struct feed *feed, int64_t time, const char *name)
{
	if (g_str_has_prefix(name, "irq_handler"))
		irq(feed, time, 0, name, 1);
	else if (g_str_has_prefix(name, "irq_softirq"))
		softirq(feed, time, 0, name, 1);
	else
		plain(feed, time, 0, name);
}

/* A sleep of 100 that an interrupt ends, of which no more was recorded than that it was
 * the clock's, the local timer's vector, or softIRQ TIMER: 5's own, whatever ended it.
 * A read that the clock's interrupt ends is not. */
static void test_sleeps(void)
{
	static const char *const enders[] = {"irq_handler_", "x86_irq_vectors_local_timer_",
					     "irq_softirq_", "irq_handler_"};

	for (size_t i = 0; i < G_N_ELEMENTS(enders); i++) {
		g_autofree char *in = g_strconcat(enders[i], "entry", NULL);
		g_autofree char *out = g_strconcat(enders[i], "exit", NULL);
		const char *call = i == 3 ? "ioctl" : "nanosleep";
		struct waiting *waiting;
		FEED(1);

		sw(feed, 0, 0, "idle", 0, 0, "a", 5);
		entry(feed, 10, 0, call, i == 3 ? 3 : -1);
		sw(feed, 20, 0, "a", 5, SLEEPS, "idle", 0);
		frame(feed, 118, in);
		waking(feed, 120, 0, 5);
		frame(feed, 120, out);
		sw(feed, 120, 0, "idle", 0, 0, "a", 5);
		leave(feed, 130, 0, call, 0);
		finish(feed);
		waiting = waiting_new(feed->session);
		g_assert_cmpint(waiting->own, ==, i == 3 ? 0 : 100);
		g_assert_cmpint(waiting->own + waiting->idle + waiting->imposed, ==, 100);
		waiting_free(waiting);
	}
}

/* Ten thousand others that do nothing do not keep the 900 waits of 5 from being followed:
 * there are steps enough for all. 900 × 100. */
static void test_many_others(void)
{
	FEED(2);
	struct waiting *waiting;
	int64_t at = 0;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	for (int i = 0; i < 900; i++) {
		entry(feed, at + 10, 0, "flock", 3);
		sw(feed, at + 20, 0, "a", 5, SLEEPS, "idle", 0);
		for (int k = 0; k < 49; k++) { /* 6 does many things meanwhile */
			entry(feed, at + 21 + 2 * k, 1, "getpid", -1);
			leave(feed, at + 22 + 2 * k, 1, "getpid", 0);
		}
		waking(feed, at + 120, 1, 5);
		sw(feed, at + 120, 0, "idle", 0, 0, "a", 5);
		leave(feed, at + 121, 0, "flock", 0);
		at += 200;
	}
	for (int i = 0; i < 10000; i++)
		forks(feed, at + i, 1, 6, 100 + i, 100 + i);
	finish(feed);
	waiting = waiting_new(feed->session);
	g_assert_cmpuint(waiting->left_out_count, ==, 0);
	g_assert_cmpint(imposer_of(feed, waiting, 6, NULL)->ns, ==, 90000);
	waiting_free(waiting);
}

/* 5 waits 100 for 6, the only wait of a trace of 1000: bottlenecks, 6 and the
 * lock. The same in a trace of 101,000, of which 100 is less than a thousandth: none. */
static void test_little(void)
{
	for (int goes_on = 0; goes_on < 2; goes_on++) {
		FEED(2);
		struct waiting *waiting;

		sw(feed, 0, 0, "idle", 0, 0, "a", 5);
		sw(feed, 0, 1, "idle", 0, 0, "b", 6);
		entry(feed, 10, 0, "flock", 3);
		sw(feed, 20, 0, "a", 5, SLEEPS, "idle", 0);
		waking(feed, 120, 1, 5);
		sw(feed, 120, 0, "idle", 0, 0, "a", 5);
		plain(feed, goes_on ? 101000 : 1000, 0, "other");
		finish(feed);
		waiting = waiting_new(feed->session);
		g_assert_cmpint(waiting->imposed, ==, 100);
		g_assert_cmpuint(waiting->knots->len, ==, goes_on ? 0 : 2);
		waiting_free(waiting);
	}
}

/* 100,000 threads, one after the other, each kept off its idle CPU for 1.5 ms twice:
 * what is asked for each of these stretches must not look at all threads (the test took
 * half a minute when it did, and takes 0.3 s). Each has 2 × 1.5 ms by the quota. */
static void test_many(void)
{
	FEED(1);
	const int threads = 100000;
	int64_t time = 0;
	struct waiting *waiting;

	for (int i = 0; i < threads; i++) {
		forks(feed, time += 100, 0, 9, 10 + i, 10 + i);
		sw(feed, time, 0, "idle", 0, 0, "t", 10 + i);
		for (int k = 0; k < 2; k++) {
			sw(feed, time += 100, 0, "t", 10 + i, PREEMPTED, "idle", 0);
			sw(feed, time += 3 * MS / 2, 0, "idle", 0, 0, "t", 10 + i);
		}
		sw(feed, time += 100, 0, "t", 10 + i, DEAD, "idle", 0);
	}
	finish(feed);
	waiting = waiting_new(feed->session);
	g_assert_cmpuint(waiting->imposers->len, ==, 1);
	g_assert_cmpint(waiting->imposed, ==, threads * 3 * MS);
	waiting_free(waiting);
}
/* The window [0, 300) of a (5): itself 20, then b's and c's, and so on: each list of
 * sums is the window, and c has 160 of it. */
static void test_totals(void)
{
	FEED(3);
	struct path *path;
	struct path_totals totals;
	int64_t sums[3] = {0};

	chain(feed);
	path = path_new(feed->session, life(feed, 5, 0), 0, 300);
	path_totals_init(&totals, feed->session, path);
	const GArray *lists[] = {totals.threads, totals.resources, totals.kinds};
	for (int i = 0; i < 3; i++)
		for (guint k = 0; k < lists[i]->len; k++)
			sums[i] += g_array_index(lists[i], struct total, k).ns;
	for (int i = 0; i < 3; i++)
		g_assert_cmpint(sums[i], ==, 300);
	g_assert_cmpint(g_array_index(totals.threads, struct total, 0).ns, ==, 160);
	g_assert_cmpuint(g_array_index(totals.threads, struct total, 0).thread, ==,
			 life(feed, 7, 0));
	path_totals_clear(&totals);
	path_free(path);
}

/* 5,000 threads run one after the other, sleep, are woken, and run again. Each is ready
 * twice: since S, as nobody saw it leave, and since it was woken. So the nth has n runs
 * and n more beside it, 25 million in all, more than are looked at. What is looked at and
 * what is left out make up all of the ready time. */
static void test_thousands_ready(void)
{
	enum { READY = 5000 };
	FEED(1);
	struct waiting *waiting;
	int64_t time = 10, ready = 0;

	for (int i = 1; i <= READY; i++) {
		ready += time - 10; /* the trace begins at 10 */
		sw(feed, time, 0, "idle", 0, 0, "a", i);
		entry(feed, time, 0, "read", 3);
		sw(feed, time += 2, 0, "a", i, SLEEPS, "idle", 0);
	}
	sw(feed, time, 0, "idle", 0, 0, "waker", READY + 1);
	for (int i = 1; i <= READY; i++)
		waking(feed, time + i, 0, i);
	for (int i = 1; i <= READY; i++) {
		int64_t at = time + READY + 2 * i;

		sw(feed, at, 0, "a", i == 1 ? READY + 1 : i - 1, SLEEPS, "a", i);
		ready += at - (time + i);
	}
	finish(feed);
	waiting = waiting_new(feed->session);
	g_assert_cmpuint(waiting->left_out_count, >, 100);
	g_assert_cmpuint(waiting->left_out_count, <, READY);
	g_assert_cmpint(waiting->left_out, >, 0);
	g_assert_cmpint(waiting->by_threads + waiting->left_out + waiting->unknown, >=, ready);
	waiting_free(waiting);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/waiting/ready/remote", test_remote);
	g_test_add_func("/waiting/ready/interrupt-arrives", test_interrupt_arrives);
	g_test_add_func("/waiting/ready/slow", test_slow);
	g_test_add_func("/waiting/ready/local", test_local);
	g_test_add_func("/waiting/ready/busy", test_busy);
	g_test_add_func("/waiting/ready/throttled", test_throttled);
	g_test_add_func("/waiting/ready/throttled-too-few", test_throttled_too_few);
	g_test_add_func("/waiting/ready/not-periodic", test_not_periodic);
	g_test_add_func("/waiting/ready/moved", test_moved);
	g_test_add_func("/waiting/ready/pinned", test_pinned);
	g_test_add_func("/waiting/ready/pinned-but-all-busy", test_pinned_but_all_busy);
	g_test_add_func("/waiting/ready/pinned-inferred", test_pinned_inferred);
	g_test_add_func("/waiting/ready/pinned-too-little", test_pinned_too_little);
	g_test_add_func("/waiting/ready/not-pinned", test_not_pinned);
	g_test_add_func("/waiting/ready/not-throttled", test_not_throttled);
	g_test_add_func("/waiting/ready/woken-into-throttled", test_woken_into_throttled);
	g_test_add_func("/waiting/ready/woken-alone", test_woken_alone);
	g_test_add_func("/waiting/stop/stopped", test_stopped);
	g_test_add_func("/waiting/stop/for-good", test_stopped_for_good);
	g_test_add_func("/waiting/stop/unknown", test_stopped_unknown);
	g_test_add_func("/waiting/stop/traced", test_traced);
	g_test_add_func("/waiting/imposed/chain", test_chain);
	g_test_add_func("/waiting/imposed/led-on", test_led_on);
	g_test_add_func("/waiting/imposed/thousands-ready", test_thousands_ready);
	g_test_add_func("/waiting/imposed/window", test_window);
	g_test_add_func("/waiting/imposed/not-born-yet", test_not_born_yet);
	g_test_add_func("/waiting/imposed/server", test_server);
	g_test_add_func("/waiting/imposed/circle", test_circle);
	g_test_add_func("/waiting/imposed/circle-of-three", test_circle_of_three);
	g_test_add_func("/waiting/imposed/by-turns", test_by_turns);
	g_test_add_func("/waiting/imposed/two-locks", test_two_locks);
	g_test_add_func("/waiting/imposed/kernel-helper", test_kernel_helper);
	g_test_add_func("/waiting/imposed/launcher", test_launcher);
	g_test_add_func("/waiting/imposed/scheduler", test_scheduler);
	g_test_add_func("/waiting/imposed/left-out", test_left_out);
	g_test_add_func("/waiting/imposed/held-to-the-end", test_held_to_the_end);
	g_test_add_func("/waiting/imposed/ran", test_ran);
	g_test_add_func("/waiting/imposed/sleeps", test_sleeps);
	g_test_add_func("/waiting/imposed/many-others", test_many_others);
	g_test_add_func("/waiting/imposed/little", test_little);
	g_test_add_func("/waiting/imposed/many", test_many);
	g_test_add_func("/waiting/totals", test_totals);
	return g_test_run();
}
