/* SPDX-License-Identifier: MIT */
/* What stands out (stands/), kind by kind: a few events in which it does, and what looks alike
 * and does not. Worked out by hand: who lost what part of its life to whom. Times in ms.
 *
 * Thread 5 ("a") is on CPU 0, 6 ("b", of another process) on CPU 1; both work unless they wait.
 */
#include "feed.h"

#include "imposed/waiting.h"
#include "stands/stands.h"

#define MS INT64_C(1000000)
#define NO_SPACE_LEFT (-28)
#define NOTHING_YET (-11)
#define REALTIME_20 (-21) /* as sched_switch has them */
#define DEADLINE (-101)
#define NICE_0 20

/* "KIND: SENTENCE" of the first item; "nothing". */
static const char *first(struct feed *feed)
{
	struct waiting *waiting;
	struct stands *stands;
	char *text = g_strdup("nothing");

	(void) life(feed, 5, 0); /* ends the trace */
	waiting = waiting_new(feed->session);
	stands = stands_new(feed->session, waiting);
	if (stands->items->len) {
		const struct stand *item = &g_array_index(stands->items, struct stand, 0);

		g_free(text);
		text = g_strdup_printf("%s: %s",
				       stand_kind_name((enum stand_kind) item->fact->kind),
				       item->sentence);
	}
	stands_free(stands);
	waiting_free(waiting);
	g_ptr_array_add(feed->texts, text);
	return text;
}

#define FIRST(kind, words)                                                                         \
	do {                                                                                       \
		const char *said = first(feed);                                                    \
		if (!g_str_has_prefix(said, kind ": ") || !strstr(said, words))                    \
			g_error("%s, not %s … %s", said, kind, words);                             \
	} while (0)
#define NOTHING() g_assert_cmpstr(first(feed), ==, "nothing")

static struct feed *two(void)
{
	struct feed *feed = feed_new(2);

	sw(feed, 0, 0, "idle", 0, 0, "sh", 3);
	sw(feed, 0, 1, "idle", 0, 0, "sh2", 4);
	forks(feed, 1, 0, 3, 5, 5);
	forks(feed, 1, 1, 4, 6, 6);
	sw(feed, 2, 0, "sh", 3, SLEEPS, "a", 5);
	sw(feed, 2, 1, "sh2", 4, SLEEPS, "b", 6);
	leave(feed, 3, 0, "clone", 0);
	leave(feed, 3, 1, "clone", 0);
	return feed;
}

static void ends(struct feed *feed, int64_t ms)
{
	plain(feed, ms * MS, 0, "other");
}

/* A timer ends what a (5) waits for in `call`. */
static void until_timer(struct feed *feed, int64_t from, int64_t to, const char *call)
{
	entry(feed, from * MS, 0, call, -1);
	sw(feed, from * MS + 1, 0, "a", 5, SLEEPS, "idle", 0);
	plain(feed, to * MS - 4, 0, "timer_hrtimer_expire_entry");
	waking(feed, to * MS - 3, 0, 5);
	plain(feed, to * MS - 2, 0, "timer_hrtimer_expire_exit");
	sw(feed, to * MS - 1, 0, "idle", 0, 0, "a", 5);
	leave(feed, to * MS, 0, call, 0);
}

static void naps(struct feed *feed, int64_t from, int64_t to)
{
	until_timer(feed, from, to, "clock_nanosleep");
}

static void writes(struct feed *feed, int64_t ms, int64_t ret)
{
	entry(feed, ms * MS + 10, 0, "write", 7);
	leave(feed, ms * MS + 20, 0, "write", ret);
}

/* --- failing calls ----------------------------------------------------------------- */

static void test_failing(void)
{
	FEED_FROM(two());

	for (int i = 0; i < 3; i++) {
		writes(feed, 10 + 30 * i, NO_SPACE_LEFT);
		naps(feed, 11 + 30 * i, 39 + 30 * i);
	}
	writes(feed, 100, 4096);
	ends(feed, 120);
	FIRST("failure", "write failed 3 times with ENOSPC (no space left), then succeeded");
}

/* Each time on another connection, which the other end resets. */
static void test_reset(void)
{
	FEED_FROM(two());

	for (int i = 0; i < 3; i++) {
		entry(feed, (10 + 30 * i) * MS + 5, 0, "socket", -1);
		leave(feed, (10 + 30 * i) * MS + 6, 0, "socket", 7);
		writes(feed, 10 + 30 * i, 1);
		entry(feed, (10 + 30 * i) * MS + 30, 0, "read", 7);
		leave(feed, (10 + 30 * i) * MS + 40, 0, "read", i < 2 ? -104 : 2);
		entry(feed, (10 + 30 * i) * MS + 50, 0, "close", 7);
		leave(feed, (10 + 30 * i) * MS + 60, 0, "close", 0);
		if (i < 2)
			naps(feed, 11 + 30 * i, 39 + 30 * i);
	}
	ends(feed, 120);
	FIRST("failure", "failed 2 times with ECONNRESET (the other end reset the connection)");
}

/* It never goes well: who tries now and then has a period of its own. */
static void test_failing_always(void)
{
	FEED_FROM(two());

	for (int i = 0; i < 3; i++) {
		writes(feed, 10 + 30 * i, NO_SPACE_LEFT);
		naps(feed, 11 + 30 * i, 39 + 30 * i);
	}
	ends(feed, 120);
	NOTHING();
}

/* --- limits ------------------------------------------------------------------------ */

static void switches(struct feed *feed, int64_t time, const char *prev, int32_t prev_tid,
		     const char *next, int32_t next_tid, int32_t priority)
{
	struct event event = event_of(feed, time, 0, "sched_switch");

	event.sched_switch.prev_comm = prev;
	event.sched_switch.prev_tid = prev_tid;
	event.sched_switch.prev_state = PREEMPTED;
	event.sched_switch.next_comm = next;
	event.sched_switch.next_tid = next_tid;
	event.sched_switch.next_prio = priority;
	send(feed, &event);
}

/* Put off the CPU for 70 ms, in which `other` has it: "idle", 0 nobody. */
static void put_off(struct feed *feed, int32_t priority, const char *other, int32_t tid,
		    int32_t others)
{
	switches(feed, 5 * MS, "a", 5, "idle", 0, NICE_0);
	switches(feed, 6 * MS, "idle", 0, "a", 5, priority);
	switches(feed, 20 * MS, "a", 5, other, tid, others);
	switches(feed, 90 * MS, other, tid, "a", 5, priority);
	ends(feed, 100);
}

static void test_realtime_limit(void)
{
	FEED_FROM(two());

	put_off(feed, REALTIME_20, "idle", 0, NICE_0);
	FIRST("quota", "sched_rt_runtime_us");
}

/* An ordinary thread has the CPU meanwhile: it could not have kept off who is of real time. */
static void test_realtime_limit_busy(void)
{
	FEED_FROM(two());

	put_off(feed, REALTIME_20, "hog", 9, NICE_0);
	FIRST("quota", "sched_rt_runtime_us");
}

static void test_realtime_beside(void)
{
	FEED_FROM(two());

	put_off(feed, REALTIME_20, "hog", 9, REALTIME_20 - 1);
	FIRST("cpu", "kept a (5) off the CPU for 70.00 ms");
}

/* Why it was kept off: an ordinary thread by one of real time. One step of nice is no reason. */
static void test_more_urgent(void)
{
	FEED_FROM(two());

	put_off(feed, NICE_0, "hog", 9, REALTIME_20);
	FIRST("cpu", "; hog is more urgent (real-time 20 against nice 0)");
}

static void test_hardly_more_urgent(void)
{
	FEED_FROM(two());

	put_off(feed, NICE_0, "hog", 9, NICE_0 - 1);
	FIRST("cpu", "kept a (5) off the CPU for 70.00 ms");
	g_assert_null(strstr(first(feed), "urgent"));
}

/* sleep(1) loses the CPU as above: nobody is late by that. */
static void test_pause(void)
{
	FEED_FROM(two());

	sw(feed, 5 * MS, 0, "a", 5, SLEEPS, "sleep", 9);
	switches(feed, 20 * MS, "sleep", 9, "hog", 8, NICE_0);
	switches(feed, 90 * MS, "hog", 8, "sleep", 9, NICE_0);
	sw(feed, 91 * MS, 0, "sleep", 9, SLEEPS, "idle", 0);
	ends(feed, 100);
	FIRST("cpu", "kept hog (8) off the CPU for 20.00 ms"); /* and nothing of the other's 75 */
}

static void test_deadline(void)
{
	FEED_FROM(two());

	put_off(feed, DEADLINE, "hog", 9, NICE_0);
	FIRST("quota", "throttled for 70.00 ms (70 % of its life), as it had used up the runtime "
		       "that SCHED_DEADLINE gives it in each period");
}

/* Woken, and its runtime is not filled yet. */
static void test_deadline_woken(void)
{
	FEED_FROM(two());

	switches(feed, 5 * MS, "a", 5, "idle", 0, NICE_0);
	switches(feed, 6 * MS, "idle", 0, "a", 5, DEADLINE);
	entry(feed, 10 * MS, 0, "clock_nanosleep", -1);
	sw(feed, 10 * MS + 1, 0, "a", 5, SLEEPS, "idle", 0);
	plain(feed, 20 * MS - 4, 0, "timer_hrtimer_expire_entry");
	waking(feed, 20 * MS, 0, 5);
	plain(feed, 20 * MS + 2, 0, "timer_hrtimer_expire_exit");
	switches(feed, 90 * MS, "idle", 0, "a", 5, DEADLINE);
	leave(feed, 91 * MS, 0, "clock_nanosleep", 0);
	ends(feed, 100);
	FIRST("quota", "SCHED_DEADLINE");
}

/* Of normal priority: moved, or the CPU was slow; one such time shows no quota. */
static void test_not_realtime(void)
{
	FEED_FROM(two());

	put_off(feed, NICE_0, "idle", 0, NICE_0);
	FIRST("wake-up", "a (5) was ready to run for");
}

/* --- stopped ----------------------------------------------------------------------- */

static void test_stopped_server(void)
{
	struct event event;
	FEED(2);

	sw(feed, 0, 0, "idle", 0, 0, "sh", 3);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6); /* there all the time */
	forks(feed, 1, 0, 3, 5, 5);
	sw(feed, 2, 0, "sh", 3, SLEEPS, "a", 5);
	leave(feed, 3, 0, "clone", 0);
	/* a asks b at 9 */
	entry(feed, 4, 1, "read", 3);
	sw(feed, 5, 1, "b", 6, SLEEPS, "idle", 0);
	entry(feed, 9 * MS, 0, "write", 3);
	waking(feed, 9 * MS + 1, 0, 6);
	leave(feed, 9 * MS + 2, 0, "write", 8);
	sw(feed, 9 * MS + 3, 1, "idle", 0, 0, "b", 6);
	leave(feed, 9 * MS + 4, 1, "read", 8);
	/* a waits in read from 10 to 90 for b, which is stopped from 12 to 88 */
	entry(feed, 10 * MS, 0, "read", 3);
	sw(feed, 10 * MS + 1, 0, "a", 5, SLEEPS, "c", 8);
	sw(feed, 12 * MS, 1, "b", 6, STOPPED, "idle", 0);
	event = event_of(feed, 88 * MS, 0, "signal_generate");
	event.signal.sig = 18;
	event.signal.tid = 6;
	send(feed, &event);
	waking(feed, 88 * MS + 1, 0, 6);
	sw(feed, 88 * MS + 10, 1, "idle", 0, 0, "b", 6);
	waking(feed, 90 * MS, 1, 5);
	sw(feed, 90 * MS + 10, 0, "c", 8, SLEEPS, "a", 5);
	leave(feed, 90 * MS + 20, 0, "read", 8);
	ends(feed, 100);
	FIRST("stopped", "a (5) waited 7");
	FIRST("stopped", "for b (6) in read, which was stopped");
}

/* a waits in read from 10 to 90 for b, who leaves the CPU at 12, in no call, and is let go on at 88
 * by who is writing to `path` then. */
static struct feed *held_until_written(const char *path)
{
	struct event event;
	struct feed *feed = feed_new(2);

	sw(feed, 0, 0, "idle", 0, 0, "sh", 3);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	forks(feed, 1, 0, 3, 5, 5);
	sw(feed, 2, 0, "sh", 3, SLEEPS, "a", 5);
	leave(feed, 3, 0, "clone", 0);
	entry(feed, 10 * MS, 0, "read", 3);
	sw(feed, 10 * MS + 1, 0, "a", 5, SLEEPS, "c", 8);
	event = event_of(feed, 11 * MS, 0, "syscall_entry_openat");
	event.syscall.filename = path;
	send(feed, &event);
	leave(feed, 11 * MS + 1, 0, "openat", 4);
	sw(feed, 12 * MS, 1, "b", 6, SLEEPS, "idle", 0);
	entry(feed, 88 * MS, 0, "write", 4);
	waking(feed, 88 * MS + 1, 0, 6);
	leave(feed, 88 * MS + 2, 0, "write", 1);
	sw(feed, 88 * MS + 10, 1, "idle", 0, 0, "b", 6);
	waking(feed, 90 * MS, 1, 5);
	sw(feed, 90 * MS + 10, 0, "c", 8, SLEEPS, "a", 5);
	leave(feed, 90 * MS + 20, 0, "read", 8);
	ends(feed, 100);
	return feed;
}

static void test_frozen_server(void)
{
	static const char *const files[] = {"/sys/fs/cgroup/box/cgroup.freeze",
					    "/sys/fs/cgroup/freezer/box/freezer.state",
					    "/sys/fs/cgroup/box/cpu.max"};

	for (int i = 0; i < 3; i++) {
		struct feed *feed = held_until_written(files[i]);

		if (i < 2)
			FIRST("stopped",
			      "b (6) was stopped for 76.00 ms (76 % of its life): its cgroup was "
			      "frozen, until c (8) wrote to /sys/fs/cgroup/");
		else
			g_assert_null(strstr(first(feed), "frozen"));
		feed_free(feed);
	}
}

/* a waits in write on a file from 10 to 90, until b wakes it in an ioctl of the directory that the
 * file is in. */
static struct feed *written_until_ioctl(uint32_t command)
{
	struct feed *feed = two();
	struct event event = event_of(feed, 5 * MS, 0, "syscall_entry_openat");

	event.syscall.filename = "/d/log";
	send(feed, &event);
	leave(feed, 5 * MS + 1, 0, "openat", 3);
	event = event_of(feed, 6 * MS, 1, "syscall_entry_openat");
	event.syscall.filename = "/d";
	send(feed, &event);
	leave(feed, 6 * MS + 1, 1, "openat", 4);
	entry(feed, 10 * MS, 0, "write", 3);
	sw(feed, 10 * MS + 1, 0, "a", 5, SLEEPS, "idle", 0);
	event = event_of(feed, 90 * MS, 1, "syscall_entry_ioctl");
	event.syscall.fd = 4;
	event.syscall.cmd = (int32_t) command;
	send(feed, &event);
	waking(feed, 90 * MS + 1, 1, 5);
	leave(feed, 90 * MS + 2, 1, "ioctl", 0);
	sw(feed, 90 * MS + 10, 0, "idle", 0, 0, "a", 5);
	leave(feed, 90 * MS + 20, 0, "write", 8);
	ends(feed, 100);
	return feed;
}

static void test_frozen_files(void)
{
	struct feed *feed = written_until_ioctl(0xc0045878); /* FITHAW */

	FIRST("lock", "a (5) waited 80.00 ms (80 % of its life) in write for the file system of /d "
		      "to be thawed, which b (6) had frozen");
	feed_free(feed);
	feed = written_until_ioctl(0xc0045877); /* FIFREEZE: another command */
	g_assert_null(strstr(first(feed), "thawed"));
	feed_free(feed);
}

/* --- asking without a pause --------------------------------------------------------- */

/* From 10 on a reads, each time for 1 ms and 1 ms of its own code after it, `count` times in vain;
 * with `waits` it looks for events between, and waits. */
static struct feed *asks(int count, bool waits)
{
	struct feed *feed = two();
	int64_t at = 10;

	for (int i = 0; i < count; i++, at += 2) {
		entry(feed, at * MS, 0, "read", 3);
		leave(feed, (at + 1) * MS, 0, "read", NOTHING_YET);
		if (!waits)
			continue;
		entry(feed, (at + 1) * MS + 10, 0, "poll", -1);
		sw(feed, (at + 1) * MS + 20, 0, "a", 5, SLEEPS, "idle", 0);
		waking(feed, (at + 2) * MS - 20, 1, 5);
		sw(feed, (at + 2) * MS - 10, 0, "idle", 0, 0, "a", 5);
		leave(feed, (at + 2) * MS - 5, 0, "poll", 1);
	}
	entry(feed, at * MS, 0, "read", 3);
	leave(feed, (at + 1) * MS, 0, "read", 8);
	ends(feed, 180);
	return feed;
}

static void test_asks(void)
{
	struct feed *feed = asks(40, false);

	FIRST("failure", "a (5) asked without a pause for 81.00 ms (45 % of its life): read ");
	FIRST("failure", "read found nothing 40 times (EAGAIN).");
	feed_free(feed);
	feed = asks(40, true); /* it waited between */
	g_assert_null(strstr(first(feed), "without a pause"));
	feed_free(feed);
	feed = asks(15, false); /* and went on */
	NOTHING();
	feed_free(feed);
}

/* From 10 on a (5) closes descriptors 100, 101, … that are not open, each in 0.5 ms, and once one
 * that is. */
static void closes(struct feed *feed, int count, int64_t ret)
{
	for (int i = 0; i < count; i++) {
		entry(feed, 10 * MS + i * MS, 0, "close", 100 + i);
		leave(feed, 10 * MS + i * MS + MS / 2, 0, "close", i == count / 2 ? 0 : ret);
	}
	ends(feed, 180);
}

static void test_closes_all(void)
{
	struct feed *feed = two();

	closes(feed, 50, -9);
	FIRST("failure",
	      "a (5) spent 49.50 ms (28 % of its life) on descriptors that are not open: ");
	FIRST("failure", ": close failed 49 times (EBADF).");
	feed_free(feed);
	feed = two(); /* what it has open */
	closes(feed, 50, 0);
	NOTHING();
	feed_free(feed);
}

/* --- sleeps of the kernel's ----------------------------------------------------------- */

static void test_kernel_sleeps(void)
{
	FEED_FROM(two());

	until_timer(feed, 10, 50, "unlinkat");
	until_timer(feed, 60, 90, "unlinkat");
	ends(feed, 100);
	FIRST("timer", "Kernel's sleep: a (5) waited 70.00 ms (70 % of its life; 2 times, 30 to ");
	FIRST("timer", " in unlinkat");
}

/* Calls whose time limit may be the program's own. */
static void test_own_limit(void)
{
	static const char *const calls[] = {"epoll_wait", "recvfrom", "ioctl", "clock_nanosleep"};

	for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
		struct feed *feed = two();

		until_timer(feed, 10, 90, calls[i]);
		ends(feed, 100);
		NOTHING();
		feed_free(feed);
	}
}

/* --- waits that never got what they were for ------------------------------------------ */

/* a (5) writes to a pipe that is full, or looks for events, from 10 on. */
static void hangs(struct feed *feed, const char *call)
{
	entry(feed, 10 * MS, 0, call, 7);
	sw(feed, 10 * MS + 1, 0, "a", 5, SLEEPS, "idle", 0);
}

static void test_hangs(void)
{
	FEED_FROM(two());

	hangs(feed, "write");
	plain(feed, 100 * MS, 1, "other");
	FIRST("timeout", "a (5) waited 90.00 ms (90 % of its life) in write on fd 7, and still did "
			 "when the trace ended.");
}

static void test_hangs_idle(void)
{
	FEED_FROM(two());

	hangs(feed, "epoll_wait");
	plain(feed, 100 * MS, 1, "other");
	NOTHING();
}

/* b (6), which has worked meanwhile, kills it at 90. */
static void is_killed(struct feed *feed)
{
	struct event event;

	entry(feed, 90 * MS, 1, "kill", -1);
	waking(feed, 90 * MS + 1, 1, 5);
	event = event_of(feed, 90 * MS + 2, 1, "signal_generate");
	event.signal.sig = 9;
	event.signal.tid = 5;
	send(feed, &event);
	leave(feed, 90 * MS + 3, 1, "kill", 0);
	sw(feed, 90 * MS + 4, 0, "idle", 0, 0, "a", 5);
	event = event_of(feed, 90 * MS + 5, 0, "sched_process_exit");
	event.process.tid = 5;
	send(feed, &event);
	sw(feed, 90 * MS + 6, 0, "a", 5, DEAD, "idle", 0);
	plain(feed, 100 * MS, 1, "other");
}

static void test_hangs_killed(void)
{
	FEED_FROM(two());

	hangs(feed, "write");
	is_killed(feed);
	FIRST("timeout", "in write on fd 7, until it was killed by signal 9 (SIGKILL) from b (6).");
}

static void test_ends_idle(void)
{
	FEED_FROM(two());

	hangs(feed, "accept4");
	is_killed(feed);
	NOTHING();
}

#define FUTEX_PRIVATE_WAIT 0x80
#define FUTEX_SHARED_WAIT 0

/* `name`, of process 5, waits in futex for 0xf00. */
static void waits_on_futex(struct feed *feed, int64_t time, uint32_t cpu, const char *name,
			   int32_t tid, int op)
{
	struct event event = event_of(feed, time, cpu, "syscall_entry_futex");

	event.syscall.uaddr = 0xf00;
	event.syscall.op = op;
	send(feed, &event);
	sw(feed, time + 1, cpu, name, tid, SLEEPS, "idle", 0);
}

/* a (5) makes a thread c (7), which waits from 20 on; a itself from 30 on, so or in `call`. */
static void both_wait(struct feed *feed, int op, const char *call)
{
	(void) event_of(feed, 4, 0, "timer_hrtimer_start"); /* that it may be recorded is enough */
	forks(feed, 5, 0, 5, 7, 5);
	sw(feed, 6, 1, "b", 6, SLEEPS, "c", 7);
	leave(feed, 7, 0, "clone", 7);
	waits_on_futex(feed, 20 * MS, 1, "c", 7, op);
	if (call) {
		entry(feed, 30 * MS, 0, call, 7);
		sw(feed, 30 * MS + 1, 0, "a", 5, SLEEPS, "idle", 0);
	} else {
		waits_on_futex(feed, 30 * MS, 0, "a", 5, op);
	}
	plain(feed, 250 * MS, 1, "other");
}

static void test_hangs_all(void)
{
	FEED_FROM(two());

	both_wait(feed, FUTEX_PRIVATE_WAIT, NULL);
	FIRST("deadlock",
	      "a (5) hung for 220.0 ms, up to the trace's end: all of its 2 threads waited in "
	      "futex, and nobody else can wake them (inferred): c (7) and a (5) on futex "
	      "0xf00; the last to begin to wait was a (5).");
}

/* Another process may wake them. */
static void test_hangs_shared(void)
{
	FEED_FROM(two());

	both_wait(feed, FUTEX_SHARED_WAIT, NULL);
	NOTHING();
}

/* The first waits for what may come, and would wake the other. */
static void test_hangs_not_all(void)
{
	FEED_FROM(two());

	both_wait(feed, FUTEX_PRIVATE_WAIT, "epoll_wait");
	NOTHING();
}

/* --- children ---------------------------------------------------------------------- */

static void parent_waits(struct feed *feed, int64_t ms)
{
	entry(feed, ms * MS, 0, "wait4", -1);
	sw(feed, ms * MS + 1, 0, "a", 5, SLEEPS, "idle", 0);
}

static void child_ends(struct feed *feed, int64_t ms, uint32_t cpu, int32_t tid)
{
	struct event event = event_of(feed, ms * MS, cpu, "sched_process_exit");

	event.process.tid = tid;
	send(feed, &event);
	waking(feed, ms * MS + 1, cpu, 5);
	sw(feed, ms * MS + 2, cpu, "c", tid, DEAD, "idle", 0);
	sw(feed, ms * MS + 3, 0, "idle", 0, 0, "a", 5);
	leave(feed, ms * MS + 4, 0, "wait4", tid);
}

/* One after the other, working: as compilers and scripts do. */
static void test_children_in_turn(void)
{
	FEED_FROM(two());

	sw(feed, 4, 1, "b", 6, SLEEPS, "idle", 0);
	for (int i = 0; i < 3; i++) {
		int32_t tid = 20 + i;

		forks(feed, (10 + 30 * i) * MS, 0, 5, tid, tid);
		leave(feed, (10 + 30 * i) * MS + 1, 0, "clone", tid);
		sw(feed, (10 + 30 * i) * MS + 2, 1, "idle", 0, 0, "c", tid);
		parent_waits(feed, 11 + 30 * i);
		child_ends(feed, 38 + 30 * i, 1, tid);
	}
	ends(feed, 110);
	NOTHING();
}

/* The kernel kills c (20), a child of a (5), at 40, for memory; a starts the next one at 60. */
static void test_out_of_memory(void)
{
	FEED_FROM(two());
	struct event event;

	sw(feed, 4, 1, "b", 6, SLEEPS, "idle", 0);
	forks(feed, 10 * MS, 0, 5, 20, 20);
	leave(feed, 10 * MS + 1, 0, "clone", 20);
	sw(feed, 10 * MS + 2, 1, "idle", 0, 0, "c", 20);
	event = event_of(feed, 40 * MS - 2, 1, "signal_generate");
	event.signal.sig = 9;
	event.signal.tid = 20;
	event.signal.code = 0x80; /* SI_KERNEL */
	send(feed, &event);
	parent_waits(feed, 39);
	child_ends(feed, 40, 1, 20);
	entry(feed, 60 * MS - 1, 0, "clone", -1);
	forks(feed, 60 * MS, 0, 5, 21, 21);
	leave(feed, 60 * MS + 1, 0, "clone", 21);
	sw(feed, 60 * MS + 2, 1, "idle", 0, 0, "c", 21);
	ends(feed, 100);
	FIRST("memory", "c (20) was killed by the kernel to free memory (OOM killer, signal 9 "
			"(SIGKILL)); a (5) started the next one 20.00 ms later.");
}

/* Its own child takes what a (5) sends, or prints what that reads, having worked for 70 ms. */
static void child_works_for(struct feed *feed, const char *call)
{
	sw(feed, 4, 1, "b", 6, SLEEPS, "idle", 0);
	forks(feed, 10 * MS, 0, 5, 20, 20);
	leave(feed, 10 * MS + 1, 0, "clone", 20);
	sw(feed, 10 * MS + 2, 1, "idle", 0, 0, "c", 20);
	entry(feed, 20 * MS, 0, call, 9);
	sw(feed, 20 * MS + 1, 0, "a", 5, SLEEPS, "idle", 0);
	entry(feed, 90 * MS, 1, "write", 8);
	waking(feed, 90 * MS + 1, 1, 5);
	leave(feed, 90 * MS + 2, 1, "write", 64);
	sw(feed, 90 * MS + 3, 0, "idle", 0, 0, "a", 5);
	leave(feed, 90 * MS + 4, 0, call, 0);
	ends(feed, 100);
}

static void test_child_takes(void)
{
	FEED_FROM(two());

	child_works_for(feed, "mq_timedsend");
	FIRST("process", "for c (20) in mq_timedsend: c worked for 70");
}

static void test_child_prints(void)
{
	FEED_FROM(two());

	child_works_for(feed, "read");
	NOTHING();
}

/* wait4 ended as b (6), who has another parent, did: a (5) adopted a child of that one. It is for a
 * child all the same, and not for b. */
static void test_adopted(void)
{
	FEED_FROM(two());

	parent_waits(feed, 10);
	child_ends(feed, 90, 1, 6);
	ends(feed, 100);
	NOTHING();
}

/* --- between calls ----------------------------------------------------------------- */

/* a (5) sleeps 20 ns after the exit of `call`, for 80 ms, until b (6), on CPU 1, wakes it. */
static void sleeps_behind(struct feed *feed, const char *call)
{
	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	entry(feed, 10 * MS, 0, call, 7);
	leave(feed, 10 * MS + 10, 0, call, 0);
	sw(feed, 10 * MS + 30, 0, "a", 5, 2, "idle", 0);
	waking(feed, 90 * MS, 1, 5);
	sw(feed, 90 * MS + 3, 0, "idle", 0, 0, "a", 5);
	ends(feed, 100);
}

static void test_after_close(void)
{
	FEED(2);

	sleeps_behind(feed, "close");
	FIRST("process", "for b (6) in close, on the way back from it: b worked");
}

/* That leaves nothing to do: a filter may hold the next call before its entry. */
static void test_after_getpid(void)
{
	FEED(2);

	sleeps_behind(feed, "getpid");
	FIRST("process", "for b (6) in a trap, or on the way in or out of a call: b worked");
}

/* --- pipelines --------------------------------------------------------------------- */

/* a (5) reads from a pipe that b (6) writes to at 90, having worked; 3 has made the pipe and a, and
 * `other` has made b. */
static void piped(struct feed *feed, int32_t other)
{
	struct event event;

	sw(feed, 0, 0, "idle", 0, 0, "sh", 3);
	sw(feed, 0, 1, "idle", 0, 0, "sh2", 4);
	entry(feed, 1, 0, "pipe2", -1);
	event = event_of(feed, 2, 0, "syscall_exit_pipe2");
	event.syscall.pair[0] = 0; /* standard input */
	event.syscall.pair[1] = 8;
	send(feed, &event);
	forks(feed, 3, 0, 3, 5, 5);
	forks(feed, 4, other == 3 ? 0 : 1, other, 6, 6);
	sw(feed, 5, 0, "sh", 3, SLEEPS, "a", 5);
	sw(feed, 5, 1, "sh2", 4, SLEEPS, "b", 6);
	entry(feed, 10 * MS, 0, "read", 0);
	sw(feed, 10 * MS + 1, 0, "a", 5, SLEEPS, "idle", 0);
	entry(feed, 90 * MS, 1, "write", 8);
	waking(feed, 90 * MS + 1, 1, 5);
	leave(feed, 90 * MS + 2, 1, "write", 64);
	sw(feed, 90 * MS + 3, 0, "idle", 0, 0, "a", 5);
	leave(feed, 90 * MS + 4, 0, "read", 64);
	ends(feed, 100);
}

/* The same where the trace goes on for six times as long: that pipeline was soon over. */
static void test_short_pipeline(void)
{
	FEED(2);

	piped(feed, 3);
	sw(feed, 101 * MS, 0, "a", 5, DEAD, "idle", 0);
	sw(feed, 101 * MS, 1, "b", 6, DEAD, "idle", 0);
	ends(feed, 600);
	NOTHING();
}

static void test_pipeline(void)
{
	FEED(2);

	piped(feed, 3);
	FIRST("process", "for b (6) in read: b worked");
}

/* Somebody else's process: a next request, for which a is idle. */
static void test_no_pipeline(void)
{
	FEED(2);

	piped(feed, 4);
	NOTHING();
}

static void has_files(struct feed *feed, int32_t tid)
{
	static const struct {
		int32_t fd;
		const char *name;
	} files[] = {{4, "socket:[9]"}, {7, "pipe:[8]"}};
	struct event event = event_of(feed, 4, 0, "lttng_statedump_process_state");

	event.process.tid = event.process.pid = tid;
	event.process.status = 5;
	event.process.files = 0x1000 + (uint64_t) tid;
	event.process.name = tid == 5 ? "a" : "b";
	send(feed, &event);
	for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
		event = event_of(feed, 4, 0, "lttng_statedump_file_descriptor");
		event.file.files = 0x1000 + (uint64_t) tid;
		event.file.fd = files[i].fd;
		event.file.filename = files[i].name;
		send(feed, &event);
	}
}

/* a (5) tells b (6), over `told`, that it is ready, then reads from a socket what b writes there
 * at 90, having worked. */
static void told_ready(struct feed *feed, int32_t told)
{
	has_files(feed, 5);
	has_files(feed, 6);
	entry(feed, 5 * MS, 1, "read", told);
	sw(feed, 5 * MS + 1, 1, "b", 6, SLEEPS, "idle", 0);
	entry(feed, 6 * MS, 0, "write", told);
	waking(feed, 6 * MS + 1, 0, 6);
	leave(feed, 6 * MS + 2, 0, "write", 1);
	sw(feed, 6 * MS + 3, 1, "idle", 0, 0, "b", 6);
	leave(feed, 6 * MS + 4, 1, "read", 1);
	entry(feed, 10 * MS, 0, "read", 4);
	sw(feed, 10 * MS + 1, 0, "a", 5, SLEEPS, "idle", 0);
	entry(feed, 90 * MS, 1, "write", 4);
	waking(feed, 90 * MS + 1, 1, 5);
	leave(feed, 90 * MS + 2, 1, "write", 64);
	sw(feed, 90 * MS + 3, 0, "idle", 0, 0, "a", 5);
	leave(feed, 90 * MS + 4, 0, "read", 64);
	ends(feed, 100);
}

/* Through a pipe: b turns to it first, with a request, for which it is idle. */
static void test_ready(void)
{
	FEED_FROM(two());

	told_ready(feed, 7);
	NOTHING();
}

/* Through the socket itself: a has turned to b first. */
static void test_greeted(void)
{
	FEED_FROM(two());

	told_ready(feed, 4);
	FIRST("process", "for b (6) in read: b worked");
}

/* --- softIRQs ---------------------------------------------------------------------- */

static void receives(struct feed *feed, int64_t from, int64_t to)
{
	softirq(feed, from * MS, 0, "irq_softirq_entry", 3);
	softirq(feed, to * MS, 0, "irq_softirq_exit", 3);
}

static void test_softirq(void)
{
	FEED_FROM(two());

	for (int i = 0; i < 8; i++)
		receives(feed, 10 + 10 * i, 15 + 10 * i);
	ends(feed, 100);
	FIRST("softirq", "softIRQ NET_RX took 40");
}

/* Its own packets, over loopback, where it sends them. */
static void test_own_packets(void)
{
	FEED_FROM(two());

	for (int i = 0; i < 8; i++) {
		entry(feed, (9 + 10 * i) * MS, 0, "sendto", 3);
		receives(feed, 10 + 10 * i, 15 + 10 * i);
		leave(feed, (16 + 10 * i) * MS, 0, "sendto", 64);
	}
	ends(feed, 100);
	NOTHING();
}

static void test_interrupt(void)
{
	FEED_FROM(two());

	for (int i = 0; i < 8; i++) {
		irq(feed, (10 + 10 * i) * MS, 0, "irq_handler_entry", 14);
		irq(feed, (15 + 10 * i) * MS, 0, "irq_handler_exit", 14);
	}
	ends(feed, 100);
	FIRST("interrupt", "IRQ 14 (dev) took 40");
}

/* --- lost events ------------------------------------------------------------------- */

static void test_lost(void)
{
	FEED_FROM(two());

	lost(feed, 0, 20 * MS, 80 * MS);
	ends(feed, 100);
	FIRST("lost-events", "7 events were lost over 60.00 ms (60 % of the window):");
}

static void test_little_lost(void)
{
	FEED_FROM(two());

	lost(feed, 0, 20 * MS, 21 * MS);
	ends(feed, 100);
	NOTHING();
}

/* --- copies ------------------------------------------------------------------------ */

static void opens(struct feed *feed, uint64_t flags)
{
	struct event event = event_of(feed, 10 * MS, 0, "syscall_entry_openat");

	event.syscall.filename = "/merged/db";
	event.syscall.flags = flags;
	send(feed, &event);
	leave(feed, 80 * MS, 0, "openat", 3);
	ends(feed, 100);
}

static void test_copy(void)
{
	FEED_FROM(two());

	opens(feed, 2); /* O_RDWR */
	FIRST("device", "a (5) took 70");
	FIRST("device", "to open /merged/db for writing");
}

static void test_no_copy(void)
{
	FEED_FROM(two());

	opens(feed, 0); /* O_RDONLY: its own work, whatever it is */
	NOTHING();
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/stands/failing", test_failing);
	g_test_add_func("/stands/reset", test_reset);
	g_test_add_func("/stands/failing-always", test_failing_always);
	g_test_add_func("/stands/realtime-limit", test_realtime_limit);
	g_test_add_func("/stands/not-realtime", test_not_realtime);
	g_test_add_func("/stands/realtime-limit-busy", test_realtime_limit_busy);
	g_test_add_func("/stands/realtime-beside", test_realtime_beside);
	g_test_add_func("/stands/more-urgent", test_more_urgent);
	g_test_add_func("/stands/hardly-more-urgent", test_hardly_more_urgent);
	g_test_add_func("/stands/pause", test_pause);
	g_test_add_func("/stands/deadline", test_deadline);
	g_test_add_func("/stands/deadline-woken", test_deadline_woken);
	g_test_add_func("/stands/stopped-server", test_stopped_server);
	g_test_add_func("/stands/frozen-server", test_frozen_server);
	g_test_add_func("/stands/frozen-files", test_frozen_files);
	g_test_add_func("/stands/asks", test_asks);
	g_test_add_func("/stands/closes-all", test_closes_all);
	g_test_add_func("/stands/kernel-sleeps", test_kernel_sleeps);
	g_test_add_func("/stands/own-limit", test_own_limit);
	g_test_add_func("/stands/hangs", test_hangs);
	g_test_add_func("/stands/hangs-idle", test_hangs_idle);
	g_test_add_func("/stands/hangs-killed", test_hangs_killed);
	g_test_add_func("/stands/ends-idle", test_ends_idle);
	g_test_add_func("/stands/hangs-all", test_hangs_all);
	g_test_add_func("/stands/hangs-shared", test_hangs_shared);
	g_test_add_func("/stands/hangs-not-all", test_hangs_not_all);
	g_test_add_func("/stands/children-in-turn", test_children_in_turn);
	g_test_add_func("/stands/child-takes", test_child_takes);
	g_test_add_func("/stands/child-prints", test_child_prints);
	g_test_add_func("/stands/adopted", test_adopted);
	g_test_add_func("/stands/after-close", test_after_close);
	g_test_add_func("/stands/after-getpid", test_after_getpid);
	g_test_add_func("/stands/out-of-memory", test_out_of_memory);
	g_test_add_func("/stands/pipeline", test_pipeline);
	g_test_add_func("/stands/short-pipeline", test_short_pipeline);
	g_test_add_func("/stands/no-pipeline", test_no_pipeline);
	g_test_add_func("/stands/ready", test_ready);
	g_test_add_func("/stands/greeted", test_greeted);
	g_test_add_func("/stands/softirq", test_softirq);
	g_test_add_func("/stands/own-packets", test_own_packets);
	g_test_add_func("/stands/interrupt", test_interrupt);
	g_test_add_func("/stands/lost", test_lost);
	g_test_add_func("/stands/little-lost", test_little_lost);
	g_test_add_func("/stands/copy", test_copy);
	g_test_add_func("/stands/no-copy", test_no_copy);
	return g_test_run();
}
