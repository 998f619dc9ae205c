/* SPDX-License-Identifier: MIT */
/* What the kernel does to a thread: puts it to sleep for the memory it uses, ends it. Expectations
 * are worked out by hand from docs/semantics.md ("Memory limits", "The end of a thread"), signal(7)
 * and core(5).
 */
#include "causes.h"

#include <inttypes.h>

#include "words/ending.h"
#include "words/handler.h"

#define SEGV 11
#define USR1 10
#define CHLD 17

static void faults(struct feed *feed, int64_t time)
{
	struct event event = event_of(feed, time, 0, "x86_exceptions_page_fault_user");

	event.fault.address = 0x1000;
	send(feed, &event);
}

static void timer(struct feed *feed, int64_t time, const char *name)
{
	struct event event = event_of(feed, time, 0, name);

	event.timer.timer = 0xf00;
	send(feed, &event);
}

/* 5 sleeps from `time` on; its timer expires 10 later, in softIRQ `vec`. */
static void sleeps(struct feed *feed, int64_t time, uint32_t vec)
{
	sw(feed, time, 0, "a", 5, 2, "idle", 0);
	softirq(feed, time + 9, 0, "irq_softirq_entry", vec);
	if (vec == 1)
		timer(feed, time + 9, "timer_expire_entry");
	waking(feed, time + 10, 0, 5);
	if (vec == 1)
		timer(feed, time + 11, "timer_expire_exit");
	softirq(feed, time + 11, 0, "irq_softirq_exit", vec);
	sw(feed, time + 12, 0, "idle", 0, 0, "a", 5);
}

/* 5 leads its process; so does 6, or it is a thread of that. */
static void described(struct feed *feed, int32_t pid_of_6)
{
	struct event event = event_of(feed, 0, 0, "lttng_statedump_process_state");

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	event.process.tid = event.process.pid = 5;
	event.process.name = "a";
	send(feed, &event);
	event.process.tid = 6;
	event.process.pid = pid_of_6;
	event.process.name = "b";
	send(feed, &event);
}

#define OVER "uses more memory than its memory.high allows (inferred)"

/* In a fault, with a timer that nobody asked for: the kernel's doing. */
static void test_over_high(void)
{
	struct event event;
	FEED(2);

	described(feed, 6);
	event = event_of(feed, 1, 0, "syscall_entry_openat");
	event.syscall.filename = "/sys/fs/cgroup/box/cgroup.procs";
	event.syscall.flags = 1;
	send(feed, &event);
	leave(feed, 2, 0, "openat", 3);
	faults(feed, 10);
	timer(feed, 11, "timer_start");
	sleeps(feed, 20, 1);
	faults(feed, 40);
	sleeps(feed, 50, 1); /* armed where that was not recorded */
	faults(feed, 70);
	sw(feed, 80, 0, "a", 5, 2, "idle", 0); /* and killed in it */
	entry(feed, 85, 1, "kill", -1);
	waking(feed, 90, 1, 5);
	leave(feed, 91, 1, "kill", 0);
	sw(feed, 95, 0, "idle", 0, 0, "a", 5);
	plain(feed, 100, 0, "other");
	for (guint i = 0; i < 3; i++)
		g_assert_cmpstr(cause_of(feed, 5, i), ==,
				"throttled: put to sleep by the kernel: its cgroup "
				"(/sys/fs/cgroup/box) " OVER);
}

/* Its opposites: a sleep that the program asked for, also by a timer of the wheel; a fault that
 * a disk's softIRQ ends; a thread of its own process that ends a fault's wait, as for the lock of
 * their memory. */
static void test_not_over_high(void)
{
	FEED(2);

	described(feed, 5);
	entry(feed, 5, 0, "poll", -1);
	timer(feed, 11, "timer_start");
	sleeps(feed, 20, 1);
	leave(feed, 35, 0, "poll", 0);
	faults(feed, 40);
	sleeps(feed, 50, 4);
	faults(feed, 70);
	sw(feed, 80, 0, "a", 5, 2, "idle", 0);
	entry(feed, 85, 1, "munmap", -1);
	waking(feed, 90, 1, 5);
	leave(feed, 91, 1, "munmap", 0);
	sw(feed, 95, 0, "idle", 0, 0, "a", 5);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(cause_of(feed, 5, 0), ==, "timer: timer armed by itself in poll");
	g_assert_cmpstr(cause_of(feed, 5, 1), ==, "softirq: softIRQ BLOCK");
	g_assert_cmpstr(cause_of(feed, 5, 2), ==, "process: b (6) in munmap");
}

static void writes(struct feed *feed, int64_t time, uint32_t rwbs)
{
	struct event event = event_of(feed, time, 0, "block_bio_queue");

	event.block.dev = 254 << 20;
	event.block.sector = (uint64_t) time * 8;
	event.block.sectors = 8;
	event.block.rwbs = rwbs;
	event.block.tid = 5;
	send(feed, &event);
}

/* ns of 5's work in no call that freed memory. */
static int64_t reclaimed(struct feed *feed)
{
	struct spans spans;
	struct span span;
	int64_t ns = 0;

	spans_begin(&spans, feed->session, life(feed, 5, 0), INT64_MIN, INT64_MAX);
	while (spans_next(&spans, &span))
		if (PACK_KIND(span.leaf) == LEAF_WORK_USER && span.ref == REF_RECLAIM)
			ns += span.end - span.begin;
	return ns;
}

/* From the fault to its last write (20 to 50, and 80 to 90), less an interrupt of 4. Short sleeps
 * of one that does so are for that, longer ones are memory.high's. */
static void test_reclaim(void)
{
	FEED(2);

	described(feed, 6);
	faults(feed, 20);
	writes(feed, 30, 1);
	irq(feed, 40, 0, "irq_handler_entry", 9);
	irq(feed, 44, 0, "irq_handler_exit", 9);
	writes(feed, 50, 1);
	faults(feed, 80); /* the one before is over: since when is not known */
	writes(feed, 90, 1);
	sleeps(feed, 100, 1);
	faults(feed, 120);
	sw(feed, 130, 0, "a", 5, 2, "idle", 0);
	softirq(feed, 200000000, 0, "irq_softirq_entry", 1);
	waking(feed, 200000001, 0, 5);
	softirq(feed, 200000002, 0, "irq_softirq_exit", 1);
	sw(feed, 200000003, 0, "idle", 0, 0, "a", 5);
	plain(feed, 200000010, 0, "other");
	g_assert_cmpint(reclaimed(feed), ==, 30 - 4 + 10);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==,
			"throttled: put to sleep by the kernel until memory is freed: too little "
			"memory, its cgroup's memory.max, or the host's (inferred)");
	g_assert_cmpstr(cause_of(feed, 5, 1), ==,
			"throttled: put to sleep by the kernel: its cgroup " OVER);
}

/* Its opposites: reads in a fault; writes in a call. */
static void test_no_reclaim(void)
{
	FEED(2);

	described(feed, 6);
	faults(feed, 20);
	writes(feed, 30, 4); /* a read */
	entry(feed, 40, 0, "fsync", 3);
	writes(feed, 50, 1);
	leave(feed, 60, 0, "fsync", 0);
	plain(feed, 100, 0, "other");
	g_assert_cmpint(reclaimed(feed), ==, 0);
}

/* Between the two events, 30 to 50 and 60 to 64; the sleep there is for memory, seen to be. */
static void test_reclaim_seen(void)
{
	FEED(2);

	described(feed, 6);
	faults(feed, 20);
	plain(feed, 30, 0, "mm_vmscan_direct_reclaim_begin");
	plain(feed, 50, 0, "mm_vmscan_direct_reclaim_end");
	plain(feed, 60, 0, "mm_vmscan_memcg_reclaim_begin");
	sleeps(feed, 64, 1); /* until 76 */
	plain(feed, 80, 0, "mm_vmscan_memcg_reclaim_end");
	plain(feed, 100, 0, "other");
	g_assert_cmpint(reclaimed(feed), ==, 20 + 4 + 4);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==,
			"throttled: put to sleep by the kernel until memory is freed: too little "
			"memory, its cgroup's memory.max, or the host's");
}

/* Its opposite: in a call it is the call's work; a sleep after it is memory.high's. */
static void test_reclaim_in_call(void)
{
	FEED(2);

	described(feed, 6);
	faults(feed, 10);
	entry(feed, 20, 0, "read", 3);
	plain(feed, 30, 0, "mm_vmscan_direct_reclaim_begin");
	plain(feed, 50, 0, "mm_vmscan_direct_reclaim_end");
	leave(feed, 60, 0, "read", 1);
	faults(feed, 62);
	sleeps(feed, 64, 1);
	plain(feed, 100, 0, "other");
	g_assert_cmpint(reclaimed(feed), ==, 0);
	g_assert_cmpstr(cause_of(feed, 5, 0), ==,
			"throttled: put to sleep by the kernel: its cgroup " OVER);
}

/* --- the end ------------------------------------------------------------------------------- */

static void signals(struct feed *feed, int64_t time, uint32_t cpu, const char *name, int32_t sig,
		    int32_t tid, int32_t code)
{
	struct event event = event_of(feed, time, cpu, name);

	event.signal.sig = sig;
	event.signal.tid = tid;
	event.signal.code = code;
	send(feed, &event);
}

static int64_t ends_from(struct feed *feed, int32_t tid)
{
	return model_thread(&feed->session->trace.model, life(feed, tid, 0))->ends_from;
}

static const char *ending(struct feed *feed, int32_t tid)
{
	GString *text = g_string_new(NULL);

	append_ending(text, feed->session, life(feed, tid, 0), false);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* Its first fault without a handler: from the signal on the kernel works, and waits for who
 * reads the dump. */
static void test_core(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "reader", 6);
	faults(feed, 10);
	signals(feed, 20, 0, "signal_generate", SEGV, 5, 1);
	signals(feed, 21, 0, "signal_deliver", SEGV, 0, 1);
	sw(feed, 40, 0, "a", 5, SLEEPS, "idle", 0);
	entry(feed, 45, 1, "read", 0);
	waking(feed, 50, 1, 5);
	leave(feed, 51, 1, "read", 4096);
	sw(feed, 60, 0, "idle", 0, 0, "a", 5);
	signals(feed, 80, 0, "signal_generate", CHLD, 1, 3);
	sw(feed, 90, 0, "a", 5, DEAD, "idle", 0);
	plain(feed, 100, 1, "other");
	g_assert_cmpint(ends_from(feed, 5), ==, 21);
	g_assert_cmpstr(ending(feed, 5), ==,
			"ended by signal 11 (SIGSEGV): the kernel dumped its core through a pipe "
			"to reader (6)");
	g_assert_cmpstr(states(feed, 5), ==,
			"0 working/user, 40 blocked/trap:page_fault, 50 interrupted/wait-cpu, "
			"60 working/user, 90");
}

/* Killed where signal_deliver was not recorded: not before its last call returned. */
static void test_killed(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	entry(feed, 10, 0, "read", 0);
	sw(feed, 20, 0, "a", 5, SLEEPS, "idle", 0);
	entry(feed, 25, 1, "kill", -1);
	waking(feed, 30, 1, 5);
	signals(feed, 31, 1, "signal_generate", 15, 5, 0);
	leave(feed, 32, 1, "kill", 0);
	sw(feed, 40, 0, "idle", 0, 0, "a", 5);
	leave(feed, 50, 0, "read", -512);
	sw(feed, 90, 0, "a", 5, DEAD, "idle", 0);
	plain(feed, 100, 1, "other");
	g_assert_cmpint(ends_from(feed, 5), ==, 50);
	g_assert_cmpstr(ending(feed, 5), ==,
			"ended by signal 15 (SIGTERM): the kernel gave back its memory and files");
}

/* Opposites: a handler returned, and much later it ends itself; it ends itself in a call. */
static void test_handled(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	signals(feed, 10, 1, "signal_generate", USR1, 5, 0);
	plain(feed, 20, 0, "syscall_entry_rt_sigreturn");
	signals(feed, 30, 1, "signal_generate", USR1, 6, 0);
	entry(feed, 40, 1, "exit_group", -1);
	sw(feed, 80, 1, "b", 6, DEAD, "idle", 0);
	sw(feed, 90, 0, "a", 5, DEAD, "idle", 0);
	plain(feed, 100, 1, "other");
	g_assert_cmpint(ends_from(feed, 5), ==, INT64_MAX);
	g_assert_cmpint(ends_from(feed, 6), ==, INT64_MAX);
}

/* --- handlers of signals -------------------------------------------------------------------- */

static void delivers(struct feed *feed, int64_t time, int32_t sig, int64_t handler)
{
	struct event event = event_of(feed, time, 0, "signal_deliver");

	event.signal.sig = sig;
	event.signal.handler = handler;
	send(feed, &event);
}

/* "20-40 its handler of signal 10 (SIGUSR1)", one line each. */
static const char *handled(struct feed *feed, int32_t tid)
{
	GString *text = g_string_new(NULL);

	for (int64_t at = 0, until; at < 400; at = until) {
		uint32_t words = handler_words(feed->session, life(feed, tid, 0), at, &until);

		until = MIN(until, 400);
		if (words)
			g_string_append_printf(text, "%s%" PRId64 "-%" PRId64 " %s",
					       text->len ? "\n" : "", at, until,
					       session_text(feed->session, words));
	}
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* Sent by another thread, by a timer, ignored, by default, one within another, by children that
 * end; the last one has not returned. */
static void test_handlers(void)
{
	enum { ALRM = 14, TERM = 15 };
	FEED(2);
	int64_t ns;
	uint32_t most;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	signals(feed, 10, 1, "signal_generate", USR1, 5, 0);
	delivers(feed, 20, USR1, 4096);
	plain(feed, 40, 0, "syscall_entry_rt_sigreturn");
	delivers(feed, 60, ALRM, 4096);
	plain(feed, 150, 0, "syscall_entry_rt_sigreturn");
	delivers(feed, 160, TERM, 1);
	plain(feed, 170, 0, "syscall_entry_rt_sigreturn");
	delivers(feed, 180, ALRM, 4096);
	delivers(feed, 185, USR1, 4096);
	plain(feed, 190, 0, "syscall_entry_rt_sigreturn");
	entry(feed, 195, 0, "read", 0); /* no own code */
	leave(feed, 205, 0, "read", 0);
	plain(feed, 210, 0, "syscall_entry_rt_sigreturn");
	signals(feed, 215, 1, "signal_generate", CHLD, 5, 1);
	delivers(feed, 220, CHLD, 4096);
	plain(feed, 230, 0, "syscall_entry_rt_sigreturn");
	delivers(feed, 240, USR1, 4096);
	plain(feed, 300, 1, "other");
	finish(feed);
	g_assert_cmpstr(handled(feed, 5), ==,
			"20-40 its handler of signal 10 (SIGUSR1), sent by b\n"
			"60-150 its handler of signal 14 (SIGALRM)\n"
			"180-210 its handler of signal 14 (SIGALRM)\n"
			"220-230 its handler of signal 17 (SIGCHLD)");
	g_assert_cmpstr(handled(feed, 6), ==, "");
	most = handler_most(feed->session, life(feed, 5, 0), 0, 300, &ns);
	g_assert_cmpstr(session_text(feed->session, most), ==,
			"its handler of signal 14 (SIGALRM)");
	g_assert_cmpint(ns, ==, 90 + 20);
	/* a window cuts them */
	handler_most(feed->session, life(feed, 5, 0), 100, 190, &ns);
	g_assert_cmpint(ns, ==, 50 + 10);
}

/* A thread of a process that another one ends. */
static void test_process_exits(void)
{
	FEED(2);

	described(feed, 5);
	entry(feed, 40, 0, "exit_group", -1);
	sw(feed, 80, 1, "b", 6, DEAD, "idle", 0);
	sw(feed, 90, 0, "a", 5, DEAD, "idle", 0);
	plain(feed, 100, 1, "other");
	g_assert_cmpint(ends_from(feed, 6), ==, 40);
	g_assert_cmpstr(ending(feed, 6), ==,
			"ended by the exit of its process: the kernel gave back its memory and "
			"files");
	g_assert_cmpint(ends_from(feed, 5), ==, INT64_MAX);
}

/* "Nothing longer than the gap may be concluded from what was not seen in it." */
static void test_end_in_gap(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	signals(feed, 20, 0, "signal_generate", SEGV, 5, 1);
	sw(feed, 30, 0, "a", 5, SLEEPS, "idle", 0);
	lost(feed, 1, 40, 50);
	waking(feed, 60, 0, 5);
	sw(feed, 70, 0, "idle", 0, 0, "a", 5);
	sw(feed, 90, 0, "a", 5, DEAD, "idle", 0);
	plain(feed, 100, 0, "other");
	g_assert_cmpint(ends_from(feed, 5), ==, INT64_MAX);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/pressure/over-high", test_over_high);
	g_test_add_func("/pressure/not-over-high", test_not_over_high);
	g_test_add_func("/pressure/reclaim", test_reclaim);
	g_test_add_func("/pressure/no-reclaim", test_no_reclaim);
	g_test_add_func("/pressure/reclaim-seen", test_reclaim_seen);
	g_test_add_func("/pressure/reclaim-in-call", test_reclaim_in_call);
	g_test_add_func("/end/core", test_core);
	g_test_add_func("/end/killed", test_killed);
	g_test_add_func("/end/handled", test_handled);
	g_test_add_func("/end/process-exits", test_process_exits);
	g_test_add_func("/end/in-gap", test_end_in_gap);
	g_test_add_func("/pressure/handlers", test_handlers);
	return g_test_run();
}
