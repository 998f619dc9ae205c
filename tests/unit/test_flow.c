/* SPDX-License-Identifier: MIT */
/* The state machine on small hand-made sequences; expectations are worked out
 * from semantics.md, whose sentence each test quotes.
 */
#include "feed.h"

static uint64_t odd(struct feed *feed, enum odd kind)
{
	finish(feed);
	return feed->session->trace.flow.odd[kind];
}

/* "sched_waking(T) while T is blocked ends the blocking: T is waiting for CPU
 * from that time until it is switched in." */
static void test_waking(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	entry(feed, 10, 0, "read", 3);
	sw(feed, 20, 0, "a", 5, SLEEPS, "idle", 0);
	entry(feed, 25, 1, "write", 4);
	waking(feed, 30, 1, 5);
	wakeup(feed, 31, 1, 5);
	leave(feed, 33, 1, "write", 1);
	sw(feed, 40, 0, "idle", 0, 0, "a", 5);
	leave(feed, 45, 0, "read", 1);
	plain(feed, 50, 0, "other");
	/* switched in at 0 with no wake-up: it waited for CPU since S, that is 0 */
	g_assert_cmpstr(states(feed, 5), ==,
			"0 working/user, 10 working/syscall:read, 20 blocked/syscall:read, "
			"30 interrupted/wait-cpu, 40 working/syscall:read, 45 working/user, 50");
	g_assert_cmpstr(wakers(feed, 5), ==, "thread 6 syscall:write");
	g_assert_cmpuint(odd(feed, ODD_WAKEUP_UNSEEN), ==, 0);
}

/* "sched_waking(T) while T is not blocked is remembered …; if T then switches
 * out as blocked and a sched_wakeup(T) follows, the blocking ends at that
 * sched_wakeup, and the waker is the remembered context." */
static void test_waking_before_switch(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	entry(feed, 10, 0, "futex", -1);
	waking(feed, 18, 1, 5);
	sw(feed, 20, 0, "a", 5, SLEEPS, "idle", 0);
	sw(feed, 22, 1, "b", 6, SLEEPS, "c", 7);
	wakeup(feed, 24, 1, 5);
	sw(feed, 30, 0, "idle", 0, 0, "a", 5);
	plain(feed, 40, 0, "other");
	g_assert_cmpstr(states(feed, 5), ==,
			"0 working/user, 10 working/syscall:futex, 20 blocked/syscall:futex, "
			"24 interrupted/wait-cpu, 30 working/syscall:futex, 40");
	g_assert_cmpstr(wakers(feed, 5), ==, "thread 6 user");
}

/* "A thread woken before it switched out gives waking+wakeup with no blocking
 * at all": what was remembered is used up, and must not end a later wait. */
static void test_waking_used_up(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	waking(feed, 10, 1, 5);
	wakeup(feed, 11, 1, 5);
	sw(feed, 20, 0, "a", 5, SLEEPS, "idle", 0);
	sw(feed, 22, 1, "b", 6, SLEEPS, "c", 7);
	wakeup(feed, 30, 1, 5);
	sw(feed, 40, 0, "idle", 0, 0, "a", 5);
	plain(feed, 50, 0, "other");
	g_assert_cmpstr(wakers(feed, 5), ==, "thread 7 user");
}

/* "sched_wakeup(T) while T is blocked ends the blocking too; … but inside a
 * reschedule or call_function vector, or in the idle loop, the waker is unknown" */
static void test_wakeup_only(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	sw(feed, 10, 0, "a", 5, SLEEPS, "idle", 0);
	wakeup(feed, 20, 1, 5);
	sw(feed, 25, 0, "idle", 0, 0, "a", 5);
	sw(feed, 30, 0, "a", 5, SLEEPS, "idle", 0);
	plain(feed, 40, 0, "x86_irq_vectors_call_function_single_entry");
	wakeup(feed, 41, 0, 5);
	plain(feed, 42, 0, "x86_irq_vectors_call_function_single_exit");
	sw(feed, 45, 0, "idle", 0, 0, "a", 5);
	sw(feed, 50, 0, "a", 5, SLEEPS, "idle", 0);
	wakeup(feed, 60, 0, 5);
	sw(feed, 65, 0, "idle", 0, 0, "a", 5);
	sw(feed, 70, 0, "a", 5, SLEEPS, "idle", 0);
	plain(feed, 80, 0, "x86_irq_vectors_local_timer_entry");
	wakeup(feed, 81, 0, 5);
	plain(feed, 82, 0, "x86_irq_vectors_local_timer_exit");
	sw(feed, 85, 0, "idle", 0, 0, "a", 5);
	plain(feed, 90, 0, "other");
	g_assert_cmpstr(wakers(feed, 5), ==,
			"thread 6 user; unknown; unknown; vector 0 vector:local_timer");
}

/* "Switched in while still blocked (no waking seen): the blocking ends there,
 * waker unknown, counted." */
static void test_no_wakeup(void)
{
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 10, 0, "a", 5, SLEEPS, "idle", 0);
	sw(feed, 20, 0, "idle", 0, 0, "a", 5);
	plain(feed, 30, 0, "other");
	g_assert_cmpstr(states(feed, 5), ==,
			"0 working/user, 10 blocked/unknown, 20 working/user, 30");
	g_assert_cmpstr(wakers(feed, 5), ==, "unknown");
	g_assert_cmpuint(odd(feed, ODD_WAKEUP_UNSEEN), ==, 1);
}

/* prev_state: 0 or the preempted flag → preempted; stopped; traced; dead. */
static void test_switch_out(void)
{
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 10, 0, "a", 5, PREEMPTED, "b", 6);
	sw(feed, 20, 0, "b", 6, SLEEPS, "a", 5);
	sw(feed, 30, 0, "a", 5, PREEMPTED_FLAG, "idle", 0);
	sw(feed, 40, 0, "idle", 0, 0, "a", 5);
	sw(feed, 50, 0, "a", 5, STOPPED, "idle", 0);
	waking(feed, 60, 0, 5);
	sw(feed, 70, 0, "idle", 0, 0, "a", 5);
	sw(feed, 80, 0, "a", 5, TRACED, "idle", 0);
	waking(feed, 90, 0, 5);
	sw(feed, 95, 0, "idle", 0, 0, "a", 5);
	sw(feed, 97, 0, "a", 5, DEAD, "idle", 0);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(states(feed, 5), ==,
			"0 working/user, 10 interrupted/preempted, 20 working/user, "
			"30 interrupted/preempted, 40 working/user, 50 blocked/stopped, "
			"60 interrupted/wait-cpu, 70 working/user, 80 blocked/traced, "
			"90 interrupted/wait-cpu, 95 working/user, 97");
}

/* The encodings of prev_state by kernel and tracer (lttng-events.md 1.1). */
static void test_state_encodings(void)
{
	static const struct {
		const char *kernel;
		int minor, patch;
		int64_t state;
		enum switch_out out;
	} cases[] = {
		{"6.1.0", 13, 0, 0x100, OUT_PREEMPTED},   {"6.1.0", 13, 0, 0x20, OUT_DEAD},
		{"6.1.0", 13, 0, 0x40, OUT_BLOCKED},      {"6.1.0", 13, 0, 0x80, OUT_BLOCKED},
		{"4.15.0", 10, 11, 128, OUT_DEAD},        {"4.15.0", 10, 11, 4096, OUT_PREEMPTED},
		{"4.15.0", 10, 11, 1026, OUT_BLOCKED},    {"4.15.0", 10, 11, 258, OUT_BLOCKED},
		{"4.15.0", 10, 12, 0x100, OUT_PREEMPTED}, {"4.4.3", 8, 0, 64, OUT_DEAD},
		{"4.4.3", 8, 0, 2048, OUT_PREEMPTED},     {"4.4.3", 8, 0, 2049, OUT_PREEMPTED},
		{"4.4.3", 8, 0, 128 + 2, OUT_BLOCKED},    {"3.10.0", 5, 0, 1024, OUT_PREEMPTED},
		{"3.2.0", 0, 0, 512, OUT_PREEMPTED},      {"4.9.0", 9, 0, 4096, OUT_PREEMPTED},
		{"4.9.0", 9, 0, 1, OUT_BLOCKED},          {"4.9.0", 9, 0, 8, OUT_TRACED},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct model model;
		struct host *host;

		model_init(&model);
		host = host_new(&model);
		host_set_versions(host, cases[i].kernel, 2, cases[i].minor, cases[i].patch);
		g_test_message("%s, 2.%d.%d: %" G_GINT64_FORMAT, cases[i].kernel, cases[i].minor,
			       cases[i].patch, cases[i].state);
		g_assert_cmpint(host_switch_out(host, cases[i].state), ==, cases[i].out);
		model_clear(&model);
	}
}

/* "An exit whose entry was not seen …: the frame is taken to have begun at the
 * start of the thread's known history, or at its last system-call entry, exit
 * or user page fault if later; what was working/user or blocked without a
 * system call since then becomes that call's." */
static void test_entry_unseen(void)
{
	FEED(2);

	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	waking(feed, 20, 1, 5);
	sw(feed, 30, 0, "idle", 0, 0, "a", 5);
	leave(feed, 40, 0, "poll", 1);
	plain(feed, 50, 0, "x86_exceptions_page_fault_user");
	sw(feed, 55, 0, "a", 5, SLEEPS, "idle", 0);
	waking(feed, 60, 1, 5);
	sw(feed, 65, 0, "idle", 0, 0, "a", 5);
	leave(feed, 70, 0, "read", 1);
	plain(feed, 80, 0, "other");
	/* found off CPU by its first wake-up: blocked since S, in what its exit names;
	 * the second exit's frame begins at the user fault, not at the exit before */
	g_assert_cmpstr(states(feed, 5), ==,
			"0 blocked/syscall:poll, 20 interrupted/wait-cpu, "
			"30 working/syscall:poll, 40 working/user, 50 working/syscall:read, "
			"55 blocked/syscall:read, 60 interrupted/wait-cpu, "
			"65 working/syscall:read, 70 working/user, 80");
	g_assert_cmpuint(odd(feed, ODD_ENTRY_UNSEEN), ==, 2);
}

/* "Any other entry while a syscall frame is open means that the exit was lost";
 * "rt_sigreturn and sigreturn close any open frame and push none; an exit of
 * one is ignored." */
static void test_exit_unseen(void)
{
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	entry(feed, 10, 0, "read", 3);
	entry(feed, 20, 0, "write", 3);
	entry(feed, 30, 0, "rt_sigreturn", -1);
	leave(feed, 35, 0, "rt_sigreturn", 0);
	plain(feed, 40, 0, "other");
	g_assert_cmpstr(states(feed, 5), ==,
			"0 working/user, 10 working/syscall:read, 20 working/syscall:write, "
			"30 working/user, 40");
	g_assert_cmpuint(odd(feed, ODD_EXIT_UNSEEN), ==, 1);
	g_assert_cmpuint(odd(feed, ODD_ENTRY_UNSEEN), ==, 0);
}

/* "the thread's next system-call exit, whatever its name"; old tracers name
 * no exit at all, and softirq and syscall events otherwise. */
static void test_old_names(void)
{
	struct feed *feed = feed_new_of(1, "3.10.0", 2, 5);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	plain(feed, 10, 0, "sys_open");
	plain(feed, 20, 0, "exit_syscall");
	plain(feed, 25, 0, "compat_sys_read");
	softirq(feed, 30, 0, "softirq_entry", 1);
	softirq(feed, 35, 0, "softirq_exit", 1);
	plain(feed, 37, 0, "exit_syscall");
	plain(feed, 40, 0, "exit_syscall");
	plain(feed, 50, 0, "other");
	/* the last exit has no entry: since the exit before, a call without a name */
	g_assert_cmpstr(states(feed, 5), ==,
			"0 working/user, 10 working/syscall:open, 20 working/user, "
			"25 working/syscall:read, 30 interrupted/softirq:1, "
			"35 working/syscall:read, 37 working/syscall:unknown, 40 working/user, 50");
	feed_free(feed);
}

/* "A child of fork, vfork, clone, clone3 inherits that frame and leaves it at
 * its own system-call exit"; "From its sched_process_fork until it is first
 * switched in it waits for CPU." */
static void test_fork(void)
{
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "sh", 5);
	entry(feed, 10, 0, "clone", -1);
	forks(feed, 15, 0, 5, 7, 7);
	wake(feed, 16, 0, "sched_wakeup_new", 7);
	leave(feed, 20, 0, "clone", 7);
	sw(feed, 30, 0, "sh", 5, SLEEPS, "sh", 7);
	leave(feed, 35, 0, "clone", 0);
	sw(feed, 40, 0, "sh", 7, DEAD, "idle", 0);
	plain(feed, 50, 0, "other");
	g_assert_cmpstr(states(feed, 7), ==,
			"15 interrupted/wait-cpu, 30 working/syscall:clone, 35 working/user, 40");
	g_assert_cmpuint(odd(feed, ODD_ENTRY_UNSEEN), ==, 0);
	g_assert_cmpint(model_thread(&feed->session->trace.model, life(feed, 7, 0))->parent, ==,
			life(feed, 5, 0));
}

/* The same where the fork was not seen: who wakes a new thread made it, and is in the call. */
static void test_fork_unseen(void)
{
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "sh", 5);
	entry(feed, 10, 0, "clone", -1);
	wake(feed, 16, 0, "sched_wakeup_new", 7);
	sw(feed, 30, 0, "sh", 5, SLEEPS, "sh", 7);
	leave(feed, 35, 0, "clone", 0);
	sw(feed, 40, 0, "sh", 7, DEAD, "idle", 0);
	plain(feed, 50, 0, "other");
	g_assert_cmpstr(states(feed, 7), ==,
			"16 interrupted/wait-cpu, 30 working/syscall:clone, 35 working/user, 40");
	g_assert_cmpuint(odd(feed, ODD_ENTRY_UNSEEN), ==, 0);
}

/* "A TID used again is a new thread." */
static void test_tid_again(void)
{
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "sh", 5);
	forks(feed, 10, 0, 5, 7, 7);
	sw(feed, 20, 0, "sh", 5, PREEMPTED, "sh", 7);
	sw(feed, 30, 0, "sh", 7, DEAD, "sh", 5);
	forks(feed, 40, 0, 5, 7, 7);
	sw(feed, 50, 0, "sh", 5, PREEMPTED, "sh", 7);
	plain(feed, 60, 0, "other");
	g_assert_cmpstr(states_of(feed, 7, 0), ==, "10 interrupted/wait-cpu, 20 working/user, 30");
	g_assert_cmpstr(states_of(feed, 7, 1), ==, "40 interrupted/wait-cpu, 50 working/user, 60");
}

/* The innermost interrupt takes the time; "time in a hrtimer frame belongs to
 * the irq, vector or softirq around it, else interrupted/hrtimer". */
static void test_interrupts(void)
{
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	plain(feed, 10, 0, "x86_irq_vectors_local_timer_entry");
	plain(feed, 11, 0, "timer_hrtimer_expire_entry");
	plain(feed, 13, 0, "timer_hrtimer_expire_exit");
	plain(feed, 15, 0, "x86_irq_vectors_local_timer_exit");
	softirq(feed, 20, 0, "irq_softirq_entry", 3);
	irq(feed, 22, 0, "irq_handler_entry", 25);
	irq(feed, 24, 0, "irq_handler_exit", 25);
	softirq(feed, 26, 0, "irq_softirq_exit", 3);
	plain(feed, 30, 0, "hrtimer_expire_entry");
	plain(feed, 33, 0, "hrtimer_expire_exit");
	plain(feed, 40, 0, "other");
	g_assert_cmpstr(states(feed, 5), ==,
			"0 working/user, 10 interrupted/vector:local_timer, 15 working/user, "
			"20 interrupted/softirq:3, 22 interrupted/irq:25, "
			"24 interrupted/softirq:3, 26 working/user, 30 interrupted/hrtimer, "
			"33 working/user, 40");
}

/* "An interrupt's exit without entry: from the last switch on that CPU, if
 * within the known history." */
static void test_interrupt_entry_unseen(void)
{
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	irq(feed, 10, 0, "irq_handler_entry", 9);
	irq(feed, 12, 0, "irq_handler_exit", 9);
	softirq(feed, 20, 0, "irq_softirq_exit", 3);
	plain(feed, 30, 0, "other");
	g_assert_cmpstr(states(feed, 5), ==,
			"0 interrupted/softirq:3, 10 interrupted/irq:9, 12 interrupted/softirq:3, "
			"20 working/user, 30");
	g_assert_cmpuint(odd(feed, ODD_ENTRY_UNSEEN), ==, 1);
}

/* "A softIRQ run by a ksoftirqd/N thread is that thread's own work"; "woken
 * outside any interrupt frame: the waker is the softIRQ work of that CPU";
 * a kernel thread is one "for its whole life". */
static void test_ksoftirqd(void)
{
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	softirq(feed, 5, 0, "irq_softirq_raise", 3);
	waking(feed, 6, 0, 9);
	sw(feed, 10, 0, "a", 5, PREEMPTED, "ksoftirqd/0", 9);
	softirq(feed, 12, 0, "irq_softirq_entry", 3);
	softirq(feed, 15, 0, "irq_softirq_exit", 3);
	sw(feed, 20, 0, "ksoftirqd/0", 9, SLEEPS, "a", 5);
	softirq(feed, 25, 0, "irq_softirq_raise", 1);
	waking(feed, 26, 0, 9);
	sw(feed, 27, 0, "a", 5, PREEMPTED, "ksoftirqd/0", 9);
	plain(feed, 30, 0, "other");
	g_assert_cmpstr(states(feed, 9), ==,
			"0 blocked/kthread, 6 interrupted/wait-cpu, 10 working/kthread, "
			"12 working/softirq:3, 15 working/kthread, 20 blocked/kthread, "
			"26 interrupted/wait-cpu, 27 working/kthread, 30");
	/* the first one's name was not known yet when it was woken: by the thread there */
	g_assert_true(g_str_has_suffix(wakers(feed, 9), "softirq 5 softirq:1"));
}

/* blocked/trap:page_fault, blocked/trap:other, blocked/unknown; "A page fault
 * inside a system call leaves blocked/syscall:NAME as the leaf". */
static void test_faults(void)
{
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 5, 0, "a", 5, SLEEPS, "idle", 0);
	waking(feed, 8, 0, 5);
	sw(feed, 10, 0, "idle", 0, 0, "a", 5);
	plain(feed, 12, 0, "x86_exceptions_page_fault_user");
	sw(feed, 15, 0, "a", 5, 2, "idle", 0);
	waking(feed, 18, 0, 5);
	sw(feed, 20, 0, "idle", 0, 0, "a", 5);
	entry(feed, 22, 0, "read", 3);
	plain(feed, 23, 0, "x86_exceptions_page_fault_kernel");
	sw(feed, 25, 0, "a", 5, 2, "idle", 0);
	waking(feed, 28, 0, 5);
	sw(feed, 30, 0, "idle", 0, 0, "a", 5);
	leave(feed, 32, 0, "read", 1);
	sw(feed, 35, 0, "a", 5, 2, "idle", 0);
	plain(feed, 40, 0, "other");
	g_assert_cmpstr(states(feed, 5), ==,
			"0 working/user, 5 blocked/unknown, 8 interrupted/wait-cpu, "
			"10 working/user, 15 blocked/trap:page_fault, 18 interrupted/wait-cpu, "
			"20 working/user, 22 working/syscall:read, 25 blocked/syscall:read, "
			"28 interrupted/wait-cpu, 30 working/syscall:read, 32 working/user, "
			"35 blocked/trap:other, 40");
}

/* "hold events back until it is known, and apply them then as if it had been" */
static void test_held_back(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	entry(feed, 10, 1, "write", 3); /* CPU 1 ran 6 before its first switch */
	sw(feed, 15, 0, "a", 5, SLEEPS, "idle", 0);
	waking(feed, 20, 1, 5);
	leave(feed, 25, 1, "write", 1);
	sw(feed, 30, 1, "b", 6, SLEEPS, "idle", 0);
	plain(feed, 40, 0, "other");
	g_assert_cmpstr(wakers(feed, 5), ==, "thread 6 syscall:write");
	g_assert_cmpstr(states(feed, 6), ==,
			"0 unknown, 10 working/syscall:write, 25 working/user, "
			"30 blocked/trap:other, 40");
}

/* S: "the time from which every CPU is known"; found off CPU: "was so since S" */
static void test_known_from(void)
{
	FEED(1);

	sink_of(feed)->begin(feed->session, feed->host, 1, 50); /* CPU 1 begins late */
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 60, 1, "idle", 0, 0, "b", 6);
	waking(feed, 70, 0, 8);
	plain(feed, 90, 0, "other");
	/* "lives from its first evidence if a gap came before": from S here */
	g_assert_cmpstr(states(feed, 8), ==, "50 blocked/unknown, 70 interrupted/wait-cpu, 90");
	g_assert_cmpstr(states(feed, 6), ==, "50 interrupted/wait-cpu, 60 working/user, 90");
}

/* Who is found off CPU before S is so from then on: that was seen, whatever other CPUs do. */
static void test_found_before_known(void)
{
	struct event dumped;
	FEED(1);

	sink_of(feed)->begin(feed->session, feed->host, 1, 50);
	waking(feed, 0, 0, 7); /* with the trace's first event: a wait of no length before it */
	wakeup(feed, 5, 0, 7);
	sw(feed, 10, 0, "idle", 0, 0, "a", 7);
	dumped = event_of(feed, 20, 0, "lttng_statedump_process_state");
	dumped.process.tid = dumped.process.pid = 9;
	dumped.process.status = 5; /* it waits */
	dumped.process.name = "dumped";
	send(feed, &dumped);
	waking(feed, 30, 0, 8);
	sw(feed, 40, 0, "a", 7, SLEEPS, "idle", 0);
	plain(feed, 90, 0, "other");
	g_assert_cmpstr(states(feed, 7), ==,
			"0 interrupted/wait-cpu, 10 working/user, 40 blocked/unknown, 90");
	g_assert_cmpstr(states(feed, 9), ==, "20 blocked/unknown, 90");
	g_assert_cmpstr(states(feed, 8), ==, "30 interrupted/wait-cpu, 90");
}

/* The picture of "Gaps", letters as there: A, B, C, D, E. */
static void test_gap(void)
{
	enum { A = 11, B, C, D, E };
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "A", A);
	sw(feed, 0, 1, "idle", 0, 0, "E", E);
	entry(feed, 5, 1, "read", 3);
	sw(feed, 10, 1, "E", E, SLEEPS, "C", C);
	entry(feed, 15, 0, "read", 3);
	sw(feed, 20, 0, "A", A, SLEEPS, "B", B);
	sw(feed, 25, 1, "C", C, SLEEPS, "D", D);
	sw(feed, 26, 1, "D", D, PREEMPTED, "x", 20);
	lost(feed, 0, 30, 60);
	sw(feed, 40, 0, "C", C, SLEEPS, "D", D);   /* inside the gap */
	sw(feed, 70, 0, "D", D, SLEEPS, "x", 21);
	waking(feed, 80, 1, A);
	sw(feed, 85, 1, "x", 20, SLEEPS, "E", E);  /* no wake-up was seen */
	plain(feed, 100, 0, "other");
	/* "blocked from the switch; its wake-up, if seen later, ends it" */
	g_assert_cmpstr(states(feed, A), ==,
			"0 working/user, 15 working/syscall:read, 20 blocked/syscall:read, "
			"80 interrupted/wait-cpu, 100");
	/* "running, then unknown from b until its next evidence": none came */
	g_assert_cmpstr(states(feed, B), ==,
			"0 interrupted/wait-cpu, 20 working/user, 30 unknown, 100");
	/* C was blocked from 25 and is seen as prev: "unknown from the later of b and
	 * its begin"; "way out counts from the switch inside the gap" */
	g_assert_cmpstr(states(feed, C), ==,
			"0 interrupted/wait-cpu, 10 working/user, 25 blocked/unknown, 30 unknown, "
			"40 blocked/unknown, 100");
	/* D preempted at 26, switched in inside the gap: stands; "ran at that instant,
	 * unknown after it; known again at its switch away" */
	g_assert_cmpstr(states(feed, D), ==,
			"0 interrupted/wait-cpu, 25 working/user, 26 interrupted/preempted, "
			"40 unknown, 70 blocked/unknown, 100");
	/* "blocked until b, unknown from b to the switch in" */
	g_assert_cmpstr(states(feed, E), ==,
			"0 working/user, 5 working/syscall:read, 10 blocked/syscall:read, "
			"30 unknown, 85 working/user, 100");
	g_assert_cmpuint(odd(feed, ODD_WAKEUP_UNSEEN), ==, 1);
}

/* "Other events of that CPU inside the gap belong to no thread, and wakers
 * there are unknown." */
static void test_gap_waker(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	sw(feed, 10, 1, "b", 6, SLEEPS, "idle", 0);
	lost(feed, 0, 20, 40);
	entry(feed, 30, 0, "write", 3);
	waking(feed, 31, 0, 6);
	sw(feed, 50, 0, "a", 5, SLEEPS, "idle", 0);
	plain(feed, 60, 0, "other");
	g_assert_cmpstr(wakers(feed, 6), ==, "unknown");
	g_assert_cmpstr(states(feed, 5), ==, "0 working/user, 20 unknown, 50 blocked/unknown, 60");
}

/* T was off the CPU over a gap of another one, where it may have run: an exit by another name than
 * its open call's, or an entry, tells that the call ended there. "Nothing longer than the gap may
 * be concluded from what was not seen in it." */
static void test_gap_call(void)
{
	for (int exits = 0; exits < 2; exits++) {
		FEED(2);

		sw(feed, 0, 0, "idle", 0, 0, "a", 5);
		sw(feed, 0, 1, "idle", 0, 0, "T", 6);
		entry(feed, 5, 1, "read", 3);
		sw(feed, 10, 1, "T", 6, SLEEPS, "idle", 0);
		lost(feed, 0, 20, 40);
		sw(feed, 45, 0, "a", 5, SLEEPS, "b", 7);
		waking(feed, 50, 0, 6);
		sw(feed, 60, 1, "idle", 0, 0, "T", 6);
		if (exits)
			leave(feed, 70, 1, "write", 1);
		else
			entry(feed, 70, 1, "write", 3);
		plain(feed, 80, 1, "other");
		g_assert_cmpstr(
			states(feed, 6), ==,
			exits ? "0 working/user, 5 working/syscall:read, 10 blocked/syscall:read, "
				"50 interrupted/wait-cpu, 60 working/syscall:write, "
				"70 working/user, 80"
			      : "0 working/user, 5 working/syscall:read, 10 blocked/syscall:read, "
				"50 interrupted/wait-cpu, 60 working/user, "
				"70 working/syscall:write, 80");
		g_assert_cmpuint(odd(feed, ODD_EXIT_UNSEEN), ==, 1);
	}
}

/* A thread may be woken while it still runs: after a gap of a CPU that has not named its thread
 * yet, sched_waking is no proof of having been off the CPU. */
static void test_gap_woken_running(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "T", 6);
	sw(feed, 10, 1, "T", 6, SLEEPS, "b", 7);
	lost(feed, 0, 20, 40); /* among it: T is woken and switched in */
	waking(feed, 45, 1, 6);
	waking(feed, 45, 1, 8); /* first seen, on CPU 0 perhaps; it was not, as 60 shows */
	sw(feed, 50, 0, "T", 6, SLEEPS, "idle", 0);
	sw(feed, 60, 0, "idle", 0, 0, "late", 8);
	plain(feed, 70, 0, "other");
	/* seen as prev: "unknown from the later of b and its begin" */
	g_assert_cmpstr(states(feed, 6), ==,
			"0 working/user, 10 blocked/unknown, 20 unknown, 50 blocked/unknown, 70");
	/* "found off CPU … was so since the end of the last gap" */
	g_assert_cmpstr(states(feed, 8), ==,
			"40 blocked/unknown, 45 interrupted/wait-cpu, 60 working/user, 70");
}

/* Where sched_waking is recorded, a sched_wakeup without one was told in the gap: the thread was
 * woken there, by an unknown thread. */
static void test_gap_waking_lost(void)
{
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "T", 6);
	sw(feed, 10, 1, "T", 6, SLEEPS, "b", 7);
	waking(feed, 15, 1, 5);
	lost(feed, 0, 20, 40);
	sw(feed, 45, 0, "a", 5, SLEEPS, "c", 9);
	wakeup(feed, 50, 1, 6);
	wakeup(feed, 50, 1, 8);
	sw(feed, 60, 0, "c", 9, SLEEPS, "late", 8);
	plain(feed, 70, 0, "other");
	g_assert_cmpstr(wakers(feed, 6), ==, "unknown");
	g_assert_cmpstr(states(feed, 8), ==, "40 interrupted/wait-cpu, 60 working/user, 70");
}

/* "Its interrupt frames are dropped": until a switch, a call or a fault of its thread, what wakes
 * on that CPU may be an interrupt that was entered in the gap. */
static void test_gap_frames(void)
{
	struct event event;
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "T", 6);
	sw(feed, 10, 1, "T", 6, SLEEPS, "idle", 0);
	lost(feed, 0, 20, 40);
	event = event_of(feed, 45, 0, "other");
	event.has_tid = true;
	event.tid = 5;
	send(feed, &event);
	waking(feed, 50, 0, 6);
	sw(feed, 55, 1, "idle", 0, 0, "T", 6);
	sw(feed, 60, 1, "T", 6, SLEEPS, "idle", 0);
	entry(feed, 65, 0, "write", 3);
	waking(feed, 70, 0, 6);
	plain(feed, 80, 0, "other");
	g_assert_cmpstr(wakers(feed, 6), ==, "unknown; thread 5 syscall:write");
}

/* exec by a thread that does not lead its process: the leader is over, the
 * thread lives on under the leader's TID. */
static void test_exec_takes_over(void)
{
	FEED(1);
	struct event event;

	sw(feed, 0, 0, "idle", 0, 0, "p", 5);
	forks(feed, 10, 0, 5, 6, 5);
	sw(feed, 20, 0, "p", 5, SLEEPS, "p", 6);
	event = event_of(feed, 30, 0, "sched_process_exec");
	event.exec.filename = "/bin/a-very-long-program-name";
	event.exec.tid = 5;
	event.exec.old_tid = 6;
	send(feed, &event);
	sw(feed, 40, 0, "a-very-long-pro", 5, SLEEPS, "idle", 0);
	plain(feed, 50, 0, "other");
	g_assert_cmpstr(states_of(feed, 5, 0), ==, "0 working/user, 20 blocked/unknown, 30");
	g_assert_cmpstr(states_of(feed, 5, 1), ==,
			"10 interrupted/wait-cpu, 20 working/user, 40 blocked/unknown, 50");
	g_assert_cmpstr(session_thread_name(feed->session, life(feed, 5, 1)), ==,
			"a-very-long-pro");
}

/* "A node's instances are the maximal intervals under it": children sum to
 * parents, who ran meanwhile is split exactly. */
static void test_summary(void)
{
	struct node *root, *node;
	FEED(1);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 10, 0, "a", 5, PREEMPTED, "hog-0", 6);
	sw(feed, 17, 0, "hog-0", 6, PREEMPTED, "hog-1", 7);
	sw(feed, 20, 0, "hog-1", 7, PREEMPTED, "idle", 0);
	sw(feed, 21, 0, "idle", 0, 0, "a", 5);
	irq(feed, 25, 0, "irq_handler_entry", 9);
	irq(feed, 27, 0, "irq_handler_exit", 9);
	plain(feed, 30, 0, "other");
	root = summary_new(feed->session, life(feed, 5, 0), 0, 30);
	g_assert_cmpint(root->ns, ==, 30);
	g_assert_cmpuint(root->count, ==, 1);
	g_assert_cmpuint(root->children->len, ==, 2);
	node = g_ptr_array_index(root->children, 0); /* working: 10 + 4 + 3 */
	g_assert_cmpstr(node->element, ==, "working");
	g_assert_cmpint(node->ns, ==, 17);
	g_assert_cmpuint(node->count, ==, 3);
	node = g_ptr_array_index(root->children, 1); /* interrupted: 11 preempted, 2 irq */
	g_assert_cmpint(node->ns, ==, 13);
	g_assert_cmpuint(node->count, ==, 2);
	node = g_ptr_array_index(node->children, 0);
	g_assert_cmpstr(node->element, ==, "preempted");
	g_assert_cmpuint(node->count, ==, 1);
	g_assert_cmpuint(node->children->len, ==, 3);
	node = g_ptr_array_index(node->children, 0);
	g_assert_cmpstr(node->element, ==, "by:hog-0");
	g_assert_cmpint(node->ns, ==, 7);
	node_free(root);
}

static void dump(struct feed *feed, int64_t time, int32_t tid, int32_t fd, const char *name)
{
	struct event event = event_of(feed, time, 0, "lttng_statedump_process_state");

	event.process.tid = event.process.pid = tid;
	event.process.status = 5;
	event.process.files = 0x1000 + (uint64_t) tid;
	event.process.name = "dumped";
	send(feed, &event);
	event = event_of(feed, time, 0, "lttng_statedump_file_descriptor");
	event.file.files = 0x1000 + (uint64_t) tid;
	event.file.fd = fd;
	event.file.filename = name;
	send(feed, &event);
}

/* Holdback: a descriptor that the statedump names only while a thread waits on
 * it is named in that wait, over or open, and what events told before stays. */
static void test_late_dump(void)
{
	struct event event;
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	event = event_of(feed, 5, 0, "syscall_entry_openat");
	event.syscall.filename = "/opened";
	send(feed, &event);
	leave(feed, 6, 0, "openat", 4);
	entry(feed, 10, 0, "recvfrom", 3);
	sw(feed, 12, 0, "a", 5, SLEEPS, "idle", 0);
	entry(feed, 14, 1, "read", 7);
	sw(feed, 15, 1, "b", 6, SLEEPS, "idle", 0);
	dump(feed, 20, 5, 3, "socket:[77]");
	dump(feed, 21, 5, 4, "/dumped");
	dump(feed, 22, 6, 7, "pipe:[8]");
	waking(feed, 30, 0, 5);
	sw(feed, 31, 0, "idle", 0, 0, "a", 5);
	leave(feed, 32, 0, "recvfrom", 1);
	entry(feed, 40, 0, "read", 4);
	sw(feed, 42, 0, "a", 5, SLEEPS, "idle", 0);
	plain(feed, 50, 0, "other");
	g_assert_cmpstr(resource_of(feed, 5, 0), ==, "socket:[77]");
	g_assert_cmpstr(resource_of(feed, 5, 1), ==, "file:/opened");
	g_assert_cmpstr(resource_of(feed, 6, 0), ==, "pipe:[8]");
}

/* 300 interrupts of 3 ns, each twice: as many nodes, found again by their numbers. */
static void test_many_nodes(void)
{
	struct feed *feed = feed_new(1);
	int64_t time = 10;
	struct node *summary, *interrupted = NULL;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	for (int i = 0; i < 600; i++, time += 10) {
		irq(feed, time, 0, "irq_handler_entry", i % 300);
		irq(feed, time + 3, 0, "irq_handler_exit", i % 300);
	}
	plain(feed, time, 0, "other");
	summary = summary_new(feed->session, life(feed, 5, 0), 0, time);
	for (guint i = 0; i < summary->children->len; i++) {
		struct node *at = g_ptr_array_index(summary->children, i);

		if (g_str_equal(at->element, "interrupted"))
			interrupted = at;
	}
	g_assert_nonnull(interrupted);
	g_assert_cmpint(interrupted->ns, ==, 1800);
	g_assert_cmpuint(interrupted->children->len, ==, 300);
	for (guint i = 0; i < 300; i++) {
		const struct node *at = g_ptr_array_index(interrupted->children, i);

		g_assert_cmpint(at->ns, ==, 6);
		g_assert_cmpuint(at->count, ==, 2);
	}
	node_free(summary);
	feed_free(feed);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/flow/waking", test_waking);
	g_test_add_func("/flow/waking-before-switch", test_waking_before_switch);
	g_test_add_func("/flow/waking-used-up", test_waking_used_up);
	g_test_add_func("/flow/wakeup-only", test_wakeup_only);
	g_test_add_func("/flow/no-wakeup", test_no_wakeup);
	g_test_add_func("/flow/switch-out", test_switch_out);
	g_test_add_func("/flow/state-encodings", test_state_encodings);
	g_test_add_func("/flow/entry-unseen", test_entry_unseen);
	g_test_add_func("/flow/exit-unseen", test_exit_unseen);
	g_test_add_func("/flow/old-names", test_old_names);
	g_test_add_func("/flow/fork", test_fork);
	g_test_add_func("/flow/fork-unseen", test_fork_unseen);
	g_test_add_func("/flow/tid-again", test_tid_again);
	g_test_add_func("/flow/interrupts", test_interrupts);
	g_test_add_func("/flow/interrupt-entry-unseen", test_interrupt_entry_unseen);
	g_test_add_func("/flow/ksoftirqd", test_ksoftirqd);
	g_test_add_func("/flow/faults", test_faults);
	g_test_add_func("/flow/held-back", test_held_back);
	g_test_add_func("/flow/known-from", test_known_from);
	g_test_add_func("/flow/found-before-known", test_found_before_known);
	g_test_add_func("/flow/gap", test_gap);
	g_test_add_func("/flow/gap-waker", test_gap_waker);
	g_test_add_func("/flow/gap-call", test_gap_call);
	g_test_add_func("/flow/gap-woken-running", test_gap_woken_running);
	g_test_add_func("/flow/gap-waking-lost", test_gap_waking_lost);
	g_test_add_func("/flow/gap-frames", test_gap_frames);
	g_test_add_func("/flow/exec-takes-over", test_exec_takes_over);
	g_test_add_func("/flow/late-dump", test_late_dump);
	g_test_add_func("/flow/summary", test_summary);
	g_test_add_func("/summary/many-nodes", test_many_nodes);
	return g_test_run();
}
