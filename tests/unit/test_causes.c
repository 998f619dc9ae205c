/* SPDX-License-Identifier: MIT */
/* What a wait is put down to, in words that a person can act on: who did what on
 * what. Expectations are worked out by hand from the events; the wording is the
 * interface's ("label names who, what, how long").
 */
#include "causes.h"

#include "waits/idle.h"

static void pipes(struct feed *feed, int64_t time, uint32_t cpu, int32_t in, int32_t out)
{
	struct event event = event_of(feed, time, cpu, "syscall_entry_pipe2");

	send(feed, &event);
	event = event_of(feed, time + 1, cpu, "syscall_exit_pipe2");
	event.syscall.pair[0] = in;
	event.syscall.pair[1] = out;
	send(feed, &event);
}

/* 5 (of process 5) sleeps in `call` on CPU 0, 6 (of process 5 too, so that they
 * share descriptors) runs on CPU 1; pipes 3-4 and 7-8. */
static void start(struct feed *feed, const char *call, int32_t fd)
{
	struct event event = event_of(feed, 0, 0, "lttng_statedump_process_state");

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	event.process.tid = event.process.pid = 5;
	event.process.name = "a";
	event.process.files = 0xf0;
	send(feed, &event);
	event.process.tid = 6;
	event.process.name = "b";
	send(feed, &event);
	pipes(feed, 2, 0, 3, 4);
	pipes(feed, 5, 0, 7, 8);
	entry(feed, 10, 0, call, fd);
	sw(feed, 20, 0, "a", 5, SLEEPS, "idle", 0);
}

static void resumes(struct feed *feed, int64_t time)
{
	sw(feed, time, 0, "idle", 0, 0, "a", 5);
	plain(feed, time + 10, 0, "other");
}

/* The thread that wrote, and what on: it may not be what the other waited on. */
static void test_write(void)
{
	FEED(2);

	start(feed, "read", 3);
	entry(feed, 90, 1, "write", 4);
	waking(feed, 100, 1, 5);
	leave(feed, 101, 1, "write", 1);
	sw(feed, 110, 0, "idle", 0, 0, "a", 5);
	leave(feed, 111, 0, "read", 1);
	entry(feed, 112, 0, "poll", -1);
	sw(feed, 120, 0, "a", 5, SLEEPS, "idle", 0);
	entry(feed, 130, 1, "write", 8);
	waking(feed, 140, 1, 5);
	leave(feed, 141, 1, "write", 1);
	resumes(feed, 150);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "process: b (6) in write on pipe:#1");
	g_assert_cmpstr(cause_of(feed, 5, 1), ==, "process: b (6) in write on pipe:#2");
}

/* A descriptor of which nothing is known, a call that has none, no call: no more is
 * said than is known. */
static void test_no_object(void)
{
	FEED(2);

	start(feed, "read", 3);
	entry(feed, 90, 1, "write", 44);
	waking(feed, 100, 1, 5);
	leave(feed, 101, 1, "write", 1);
	sw(feed, 110, 0, "idle", 0, 0, "a", 5);
	sw(feed, 120, 0, "a", 5, SLEEPS, "idle", 0);
	entry(feed, 130, 1, "futex", -1);
	waking(feed, 140, 1, 5);
	leave(feed, 141, 1, "futex", 1);
	sw(feed, 150, 0, "idle", 0, 0, "a", 5);
	sw(feed, 160, 0, "a", 5, SLEEPS, "idle", 0);
	waking(feed, 170, 1, 5);
	resumes(feed, 180);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "process: b (6) in write");
	g_assert_cmpstr(cause_of(feed, 5, 1), ==, "process: b (6) in futex");
	g_assert_cmpstr(cause_of(feed, 5, 2), ==, "process: b (6)");
}

static void test_signal(void)
{
	struct event event;
	FEED(2);

	start(feed, "pause", -1);
	entry(feed, 90, 1, "kill", -1);
	waking(feed, 100, 1, 5);
	event = event_of(feed, 101, 1, "signal_generate");
	event.signal.sig = 10;
	event.signal.tid = 5;
	send(feed, &event);
	leave(feed, 102, 1, "kill", 0);
	sw(feed, 110, 0, "idle", 0, 0, "a", 5);
	sw(feed, 120, 0, "a", 5, SLEEPS, "idle", 0);
	waking(feed, 130, 1, 5);
	event.time = 131;
	event.signal.sig = 40; /* a real-time one */
	send(feed, &event);
	resumes(feed, 140);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "signal: signal 10 (SIGUSR1) from b (6)");
	g_assert_cmpstr(cause_of(feed, 5, 1), ==, "signal: signal 40 from b (6)");
}

/* The parent of process 9, whose last thread is 10, waits for 9; then for 12. */
static void test_child(void)
{
	struct event event;
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	forks(feed, 10, 0, 5, 9, 9);
	forks(feed, 11, 0, 5, 10, 9);
	forks(feed, 12, 0, 5, 12, 12);
	event = event_of(feed, 20, 0, "syscall_entry_wait4");
	event.syscall.upid = 9;
	send(feed, &event);
	sw(feed, 30, 0, "a", 5, SLEEPS, "idle", 0);
	sw(feed, 40, 1, "b", 6, SLEEPS, "t", 10);
	waking(feed, 50, 1, 5);
	sw(feed, 60, 1, "t", 10, DEAD, "u", 12);
	sw(feed, 70, 0, "idle", 0, 0, "a", 5);
	leave(feed, 71, 0, "wait4", 9);
	event.time = 72;
	event.syscall.upid = 12;
	send(feed, &event);
	sw(feed, 80, 0, "a", 5, SLEEPS, "idle", 0);
	waking(feed, 90, 1, 5);
	sw(feed, 95, 0, "idle", 0, 0, "a", 5);
	leave(feed, 96, 0, "wait4", 12);
	plain(feed, 110, 0, "other");
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "child: child (9), by its thread t (10)");
	g_assert_cmpstr(cause_of(feed, 5, 1), ==, "child: u (12)");
}

static void packet(struct feed *feed, int64_t time, uint32_t cpu, const char *name, bool headers)
{
	/* both chosen by programs */
	static const uint8_t here[4] = {127, 0, 0, 1};
	struct event event = event_of(feed, time, cpu, name);

	if (headers) {
		event.net.saddr = event.net.daddr = (struct event_bytes) {here, 4};
		event.net.source_port = 5555;
		event.net.dest_port = 80;
	}
	event.net.skb = 0xf00;
	send(feed, &event);
}

/* Where it is from, who sent it and in which call; of one without headers neither
 * can be said. */
static void test_packet(void)
{
	FEED(2);

	start(feed, "recvfrom", 3);
	entry(feed, 90, 1, "sendto", 4);
	packet(feed, 100, 1, "net_dev_queue", true);
	leave(feed, 101, 1, "sendto", 1);
	softirq(feed, 110, 1, "irq_softirq_entry", 3);
	packet(feed, 111, 1, "net_if_receive_skb", true);
	waking(feed, 112, 1, 5);
	softirq(feed, 113, 1, "irq_softirq_exit", 3);
	sw(feed, 120, 0, "idle", 0, 0, "a", 5);
	sw(feed, 130, 0, "a", 5, SLEEPS, "idle", 0);
	softirq(feed, 140, 1, "irq_softirq_entry", 3);
	packet(feed, 141, 1, "net_if_receive_skb", false);
	waking(feed, 142, 1, 5);
	softirq(feed, 143, 1, "irq_softirq_exit", 3);
	resumes(feed, 150);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==,
			"network: packet from 127.0.0.1:5555, sent by b (6) in sendto");
	g_assert_cmpstr(cause_of(feed, 5, 1), ==,
			"network: packet of which no addresses were recorded");
}

static bool is_idle(struct feed *feed, int32_t tid, guint nth)
{
	uint32_t thread = life(feed, tid, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	bool idle = wait_is_idle(feed->session, g_ptr_array_index(waits, nth));

	g_ptr_array_free(waits, TRUE);
	return idle;
}

/* It sends to `to`, who sleeps. */
static void sends(struct feed *feed, int64_t time, uint32_t cpu, int32_t to)
{
	entry(feed, time, cpu, "sendto", 4);
	packet(feed, time + 1, cpu, "net_dev_queue", true);
	softirq(feed, time + 2, cpu, "irq_softirq_entry", 3);
	packet(feed, time + 3, cpu, "net_if_receive_skb", true);
	waking(feed, time + 4, cpu, to);
	softirq(feed, time + 5, cpu, "irq_softirq_exit", 3);
	leave(feed, time + 6, cpu, "sendto", 1);
}

/* Between two ports that programs chose, the one who turned to the other first asks: its waits are
 * for answers, and the other one's for requests. */
static void test_chosen_ports(void)
{
	FEED(2);

	start(feed, "recvfrom", 3);
	sends(feed, 90, 1, 5);
	sw(feed, 110, 0, "idle", 0, 0, "a", 5);
	leave(feed, 111, 0, "recvfrom", 1);
	entry(feed, 120, 1, "recvfrom", 4);
	sw(feed, 121, 1, "b", 6, SLEEPS, "idle", 0);
	sends(feed, 150, 0, 6);
	sw(feed, 160, 1, "idle", 0, 0, "b", 6);
	leave(feed, 161, 1, "recvfrom", 1);
	plain(feed, 170, 0, "other");
	g_assert_true(is_idle(feed, 5, 0));
	g_assert_false(is_idle(feed, 6, 0));
}

/* A timer that was armed before the trace began, or whose arming was not recorded. */
static void test_timer_unseen(void)
{
	struct event event;
	FEED(2);

	start(feed, "nanosleep", -1);
	event = event_of(feed, 100, 1, "timer_hrtimer_expire_entry");
	event.timer.timer = 0xabc;
	send(feed, &event);
	waking(feed, 101, 1, 5);
	event = event_of(feed, 102, 1, "timer_hrtimer_expire_exit");
	event.timer.timer = 0xabc;
	send(feed, &event);
	resumes(feed, 110);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "timer: timer, not seen when it was armed");
}

/* Sleeps in `call` and is woken in the idle loop, where nothing else was recorded. */
static void idle_wakes(struct feed *feed, int64_t time, const char *call, int64_t ret)
{
	entry(feed, time, 0, call, -1);
	sw(feed, time + 1, 0, "a", 5, SLEEPS, "idle", 0);
	waking(feed, time + 5, 0, 5);
	sw(feed, time + 6, 0, "idle", 0, 0, "a", 5);
	leave(feed, time + 7, 0, call, ret);
}

/* Timers' interrupts were not recorded: a call that returned at its time limit was
 * most likely woken by that; of any other nothing can be said. */
static void test_time_limit(void)
{
	static const char *const expected = "timer: its time limit: the call returned at it, and "
					    "the interrupt was not recorded";
	static const char *const other =
		"unknown: woken in the idle loop, by an interrupt that was not recorded";
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	idle_wakes(feed, 10, "poll", 0);
	idle_wakes(feed, 20, "poll", 1);
	idle_wakes(feed, 30, "futex", -110);
	idle_wakes(feed, 40, "futex", 0);
	idle_wakes(feed, 50, "clock_nanosleep", 0);
	idle_wakes(feed, 60, "clock_nanosleep", -514); /* interrupted */
	idle_wakes(feed, 70, "rt_sigtimedwait", -11);
	idle_wakes(feed, 80, "read", 0);
	plain(feed, 100, 0, "other");
	for (guint i = 0; i < 8; i++)
		g_assert_cmpstr(cause_of(feed, 5, i), ==, i % 2 ? other : expected);
}

/* eventfd, a pair of sockets: the descriptor that the waker's call was on. */
static void test_local(void)
{
	struct event event;
	FEED(2);

	start(feed, "read", 3);
	entry(feed, 30, 1, "eventfd2", -1);
	leave(feed, 31, 1, "eventfd2", 11);
	event = event_of(feed, 32, 1, "syscall_entry_socketpair");
	event.syscall.family = 1;
	send(feed, &event);
	event = event_of(feed, 33, 1, "syscall_exit_socketpair");
	event.syscall.pair[0] = 12;
	event.syscall.pair[1] = 13;
	send(feed, &event);
	entry(feed, 40, 1, "write", 11);
	waking(feed, 41, 1, 5);
	leave(feed, 42, 1, "write", 8);
	sw(feed, 50, 0, "idle", 0, 0, "a", 5);
	sw(feed, 60, 0, "a", 5, SLEEPS, "idle", 0);
	entry(feed, 70, 1, "sendmsg", 13);
	waking(feed, 71, 1, 5);
	leave(feed, 72, 1, "sendmsg", 8);
	resumes(feed, 80);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "process: b (6) in write on eventfd");
	g_assert_cmpstr(cause_of(feed, 5, 1), ==, "process: b (6) in sendmsg on socket:pair#1");
}

/* The number of an interrupt is no name's: it may be any. */
static void test_verdict_of_interrupt(void)
{
	struct feed *feed = feed_new(1);
	struct path *path;
	GPtrArray *verdict;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	irq(feed, 10, 0, "irq_handler_entry", 5000);
	irq(feed, 90, 0, "irq_handler_exit", 5000);
	sw(feed, 100, 0, "a", 5, DEAD, "idle", 0);
	path = path_new(feed->session, life(feed, 5, 0), 0, 100);
	verdict = verdict_new(feed->session, path, 0, 100, NULL);
	g_assert_cmpuint(verdict->len, >, 0);
	g_assert_nonnull(
		strstr(g_ptr_array_index(verdict, 0), "was interrupted by IRQ 5000 [dev]"));
	g_ptr_array_free(verdict, TRUE);
	path_free(path);
	feed_free(feed);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/causes/write", test_write);
	g_test_add_func("/causes/no-object", test_no_object);
	g_test_add_func("/causes/signal", test_signal);
	g_test_add_func("/causes/child", test_child);
	g_test_add_func("/causes/packet", test_packet);
	g_test_add_func("/causes/chosen-ports", test_chosen_ports);
	g_test_add_func("/causes/timer-unseen", test_timer_unseen);
	g_test_add_func("/causes/time-limit", test_time_limit);
	g_test_add_func("/causes/local", test_local);
	g_test_add_func("/causes/verdict-of-interrupt", test_verdict_of_interrupt);
	return g_test_run();
}
