/* SPDX-License-Identifier: MIT */
/* Locks in traces as they come: signals to waiters, PIDs used again, duplicated
 * descriptors, lost events, many waiters. What must not be said, and how long it
 * may take. Expectations are worked out by hand from locks/locks.h.
 */
#include <fcntl.h>

#include "locks.h"
#include "contention/deadlocks.h"

#include "path/path.h"

#define UNINTERRUPTIBLE 2 /* TASK_UNINTERRUPTIBLE */

/* timeout(1) and the like: who sends a waiter a signal has no lock. a has it. */
static void test_signal_gives_nothing_up(void)
{
	FEED_FROM(two_processes());

	opens(feed, 1, 0, "/l", 3);
	opens(feed, 1, 1, "/l", 4);
	flocks(feed, 5, 0, 3, LOCK_EX);
	flock_begins(feed, 10, 1, 4, LOCK_EX);
	sw(feed, 12, 1, "b", 6, SLEEPS, "idle", 0);
	entry(feed, 40, 2, "kill", -1);
	waking(feed, 41, 2, 6);
	leave(feed, 42, 2, "kill", 0);
	sw(feed, 50, 1, "idle", 0, 0, "b", 6);
	leave(feed, 51, 1, "flock", -512);
	plain(feed, 100, 1, "other");
	g_assert_cmpstr(held(feed, 6, 0), ==, "flock: 5 12-41!");
}

/* The same by the owner itself: it has the lock after that, too. */
static void test_owner_sends_signal(void)
{
	FEED_FROM(two_processes());

	opens(feed, 1, 0, "/l", 3);
	opens(feed, 1, 1, "/l", 4);
	opens(feed, 1, 2, "/l", 5);
	flocks(feed, 5, 0, 3, LOCK_EX);
	flock_begins(feed, 10, 1, 4, LOCK_EX);
	sw(feed, 12, 1, "b", 6, SLEEPS, "idle", 0);
	entry(feed, 40, 0, "kill", -1);
	waking(feed, 41, 0, 6);
	leave(feed, 42, 0, "kill", 0);
	flock_begins(feed, 60, 2, 5, LOCK_EX);
	sw(feed, 62, 2, "c", 7, SLEEPS, "idle", 0);
	plain(feed, 100, 3, "other");
	g_assert_cmpstr(held(feed, 7, 0), ==, "flock: 5 62-100!");
}

/* c, woken by a, has it (the kernel wakes b from c, to look again): nobody else had
 * it meanwhile. */
static void test_waiter_wakes_waiter(void)
{
	FEED_FROM(two_processes());

	for (uint32_t cpu = 0; cpu < 3; cpu++)
		opens(feed, 1, cpu, "/l", 3);
	flocks(feed, 5, 0, 3, LOCK_EX);
	for (uint32_t cpu = 1; cpu < 3; cpu++) {
		flock_begins(feed, 10 + cpu, cpu, 3, LOCK_EX);
		sw(feed, 12 + cpu, cpu, name_of(cpu), 5 + (int32_t) cpu, SLEEPS, "idle", 0);
	}
	flock_begins(feed, 40, 0, 3, LOCK_UN);
	waking(feed, 41, 0, 7);
	leave(feed, 42, 0, "flock", 0);
	comes_back(feed, 50, 2);
	waking(feed, 51, 2, 6);
	leave(feed, 60, 2, "flock", 0);
	plain(feed, 100, 1, "other");
	g_assert_cmpstr(held(feed, 6, 0), ==, "flock: 5 13-41!");
}

/* Unlocked through a duplicate: whether 3 is still locked is not known. */
static void test_duplicate(void)
{
	FEED_FROM(two_processes());

	opens(feed, 1, 0, "/l", 3);
	opens(feed, 1, 1, "/l", 4);
	flocks(feed, 5, 0, 3, LOCK_EX);
	entry(feed, 7, 0, "dup", 3);
	leave(feed, 8, 0, "dup", 9);
	flocks(feed, 9, 0, 9, LOCK_UN);
	flock_begins(feed, 20, 1, 4, LOCK_EX);
	sw(feed, 22, 1, "b", 6, SLEEPS, "idle", 0);
	plain(feed, 100, 2, "other");
	g_assert_cmpstr(held(feed, 6, 0), ==, "-");
}

/* Who shares it says that nobody has it alone any more, however that went. */
static void test_shared_after_exclusive(void)
{
	FEED_FROM(two_processes());

	for (uint32_t cpu = 0; cpu < 3; cpu++)
		opens(feed, 1, cpu, "/l", 3);
	flocks(feed, 5, 0, 3, LOCK_EX); /* given up by a child that has its descriptor */
	flocks(feed, 20, 2, 3, LOCK_SH);
	flock_begins(feed, 30, 1, 3, LOCK_EX);
	sw(feed, 32, 1, "b", 6, SLEEPS, "idle", 0);
	plain(feed, 100, 3, "other");
	g_assert_cmpstr(held(feed, 6, 0), ==, "flock: 7 32-100!");
}

/* Servers have more descriptors than 16 bits can tell apart. */
static void test_high_descriptor(void)
{
	FEED_FROM(two_processes());

	opens(feed, 1, 0, "/l", 70000);
	opens(feed, 1, 1, "/l", 4);
	flocks(feed, 5, 0, 70000, LOCK_EX);
	flocks(feed, 8, 0, 70000, LOCK_UN);
	flock_begins(feed, 20, 1, 4, LOCK_EX);
	sw(feed, 22, 1, "b", 6, SLEEPS, "idle", 0);
	plain(feed, 100, 2, "other");
	g_assert_cmpstr(held(feed, 6, 0), ==, "-");
}

/* b and c share it. c ended before a came, which shows only when a has it alone,
 * after b gave it up: b was in a's way all the time. */
static void test_dead_reader(void)
{
	FEED_FROM(two_processes());

	for (uint32_t cpu = 0; cpu < 3; cpu++)
		opens(feed, 1, cpu, "/l", 3);
	flocks(feed, 5, 1, 3, LOCK_SH);
	flocks(feed, 7, 2, 3, LOCK_SH);
	sw(feed, 20, 2, "c", 7, DEAD, "idle", 0);
	flock_begins(feed, 30, 0, 3, LOCK_EX);
	sw(feed, 32, 0, "a", 5, SLEEPS, "idle", 0);
	flock_begins(feed, 50, 1, 3, LOCK_UN);
	waking(feed, 51, 1, 5);
	leave(feed, 52, 1, "flock", 0);
	comes_back(feed, 60, 0);
	leave(feed, 61, 0, "flock", 0);
	plain(feed, 100, 1, "other");
	g_assert_cmpstr(held(feed, 5, 0), ==, "flock: 6 32-51!");
}

/* b writes into what a reads: a FIFO has a path, too. Two that write to one file are in
 * each other's way. */
static void test_fifo(void)
{
	static const char *const calls[] = {"read", "write"};

	for (int what = 0; what < 2; what++) {
		FEED_FROM(two_processes());

		opens(feed, 1, 0, "/fifo", 3);
		opens(feed, 1, 1, "/fifo", 4);
		entry(feed, 10, 0, calls[what], 3);
		sw(feed, 12, 0, "a", 5, SLEEPS, "idle", 0);
		entry(feed, 40, 1, "write", 4);
		waking(feed, 41, 1, 5);
		leave(feed, 42, 1, "write", 1);
		comes_back(feed, 50, 0);
		leave(feed, 51, 0, calls[what], 1);
		plain(feed, 100, 1, "other");
		g_assert_cmpstr(held(feed, 5, 0), ==, what ? "file: 6 40-41" : "-");
		g_assert_cmpstr(resource_of(feed, 5, 0), ==, what ? "file:/fifo" : "pipe:/fifo");
		g_assert_cmpstr(kind_of_cause(feed, 5, 0), ==,
				what ? "lock-owner inferred" : "process seen");
	}
}

/* The same of a regular file: its lock, or a page of it that is being written. */
static void test_no_fifo(void)
{
	FEED_FROM(two_processes());

	opens(feed, 1, 0, "/log", 3);
	opens(feed, 1, 1, "/log", 4);
	entry(feed, 10, 0, "read", 3);
	sw(feed, 12, 0, "a", 5, UNINTERRUPTIBLE, "idle", 0);
	entry(feed, 40, 1, "write", 4);
	waking(feed, 41, 1, 5);
	leave(feed, 42, 1, "write", 1);
	comes_back(feed, 50, 0);
	leave(feed, 51, 0, "read", 1);
	plain(feed, 100, 1, "other");
	g_assert_cmpstr(resource_of(feed, 5, 0), ==, "file:/log");
}

static void opens_to(struct feed *feed, int64_t time, uint32_t cpu, uint64_t flags)
{
	struct event event = event_of(feed, time, cpu, "syscall_entry_openat");

	event.syscall.filename = "/fifo";
	event.syscall.flags = flags;
	send(feed, &event);
}

/* Each waits in open() for the other one, who opens it the other way. Once that may have been the
 * directory's lock; whoever makes the file, or opens it the same way, had that. */
static void test_fifo_opened(void)
{
	static const struct {
		uint64_t flags[2];
		const char *resources[3];
	} cases[] = {
		{{O_RDONLY, O_WRONLY | O_CREAT}, {"file:/fifo", "pipe:/fifo", "pipe:/fifo"}},
		{{O_WRONLY, O_RDONLY}, {"file:/fifo", "pipe:/fifo", "pipe:/fifo"}},
		{{O_RDONLY | O_CREAT, O_WRONLY}, {"file:/fifo", "file:/fifo", "file:/fifo"}},
		{{O_WRONLY, O_WRONLY}, {"file:/fifo", "file:/fifo", "file:/fifo"}},
		{{O_RDONLY, O_RDWR}, {"file:/fifo", "file:/fifo", "file:/fifo"}},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		FEED_FROM(two_processes());

		for (int64_t at = 0; at < 300; at += 100) {
			opens_to(feed, at + 10, 0, cases[i].flags[0]);
			sw(feed, at + 12, 0, "a", 5, SLEEPS, "idle", 0);
			opens_to(feed, at + 40, 1, cases[i].flags[1]);
			waking(feed, at + 41, 1, 5);
			leave(feed, at + 42, 1, "openat", 4);
			comes_back(feed, at + 50, 0);
			leave(feed, at + 51, 0, "openat", 3);
		}
		plain(feed, 400, 1, "other");
		for (uint32_t k = 0; k < 3; k++)
			g_assert_cmpstr(resource_of(feed, 5, k), ==, cases[i].resources[k]);
	}
}

/* PID 5 again, and the same address: what the process before had is gone. */
static void test_pid_used_again(void)
{
	FEED_FROM(four_threads());

	futex(feed, 8, 1, L, WAIT, 2);
	sleeps(feed, 9, 1);
	wakes(feed, 10, 2, L, 6);
	comes_back(feed, 13, 1);
	done(feed, 14, 1, 0); /* b has it, and dies with it */
	for (uint32_t cpu = 1; cpu < 4; cpu++)
		sw(feed, 20 + cpu, cpu, name_of(cpu), 5 + (int32_t) cpu, DEAD, "idle", 0);
	sw(feed, 30, 0, "a", 5, DEAD, "p", 50);
	forks(feed, 40, 0, 50, 5, 5);
	sw(feed, 41, 1, "idle", 0, 0, "a", 5);
	futex(feed, 50, 1, L, WAIT, 2);
	sw(feed, 52, 1, "a", 5, SLEEPS, "idle", 0);
	plain(feed, 100, 0, "other");
	finish(feed);
	g_assert_cmpuint(feed->session->trace.flow.locks->len, ==, 1);
	g_assert_cmpuint(lock_at(&feed->session->trace.flow, 1)->open->len, ==, 0);
}

/* c, whose TID is in the word, ends with the mutex: the kernel wakes a. */
static void test_robust(void)
{
	FEED_FROM(four_threads());

	a_waits(feed, WAIT, 7 | WAITERS);
	entry(feed, 50, 2, "exit", -1);
	waking(feed, 51, 2, 5);
	sw(feed, 53, 2, "c", 7, DEAD, "idle", 0);
	comes_back(feed, 60, 0);
	done(feed, 61, 0, 0);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(held(feed, 5, 0), ==, "mutex: 7 12-51!");
	g_assert_cmpstr(kind_of_cause(feed, 5, 0), ==, "lock-owner seen");
}

/* Waited for with 2, but with 3 as well: a barrier's or a condition's count. */
static void test_counts(void)
{
	FEED_FROM(four_threads());

	futex(feed, 5, 1, L, WAIT, 3);
	done(feed, 6, 1, -11);
	a_waits(feed, WAIT, 2);
	wakes(feed, 50, 1, L, 5);
	futex(feed, 55, 1, L, WAIT, 3);
	sleeps(feed, 57, 1);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(held(feed, 5, 0), ==, "-");
	g_assert_cmpstr(kind_of_cause(feed, 5, 0), ==, "process seen");
}

/* musl: a condition is waited for with 2 as well. Two threads of a pool, woken once,
 * wait for more work to the end: no deadlock, as they did something in between. */
static void test_pool(void)
{
	FEED_FROM(four_threads());

	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		uint64_t address = cpu ? M : L;
		int64_t time = 10 + 100 * cpu;

		futex(feed, time, cpu, address, WAIT, 2);
		sleeps(feed, time + 2, cpu);
		wakes(feed, time + 10, 2, address, 5 + (int32_t) cpu);
		comes_back(feed, time + 20, cpu);
		done(feed, time + 21, cpu, 0);
		entry(feed, time + 30, cpu, "write", 1);
		leave(feed, time + 31, cpu, "write", 1);
		futex(feed, time + 40, cpu, address, WAIT, 2);
		sleeps(feed, time + 42, cpu);
	}
	plain(feed, LATER, 3, "other");
	g_assert_cmpuint(deadlocks(feed), ==, 0);
	g_assert_cmpstr(kind_of_cause(feed, 5, 0), ==, "process seen");
}

/* Who was overtaken waits again at once: a mutex still. */
static void test_overtaken_pool(void)
{
	FEED_FROM(four_threads());

	a_waits(feed, WAIT, 2);
	wakes(feed, 50, 1, L, 5);
	comes_back(feed, 60, 0);
	done(feed, 61, 0, 0);
	entry(feed, 62, 0, "sched_yield", -1);
	leave(feed, 63, 0, "sched_yield", 0);
	futex(feed, 64, 0, L, WAIT, 2);
	sleeps(feed, 66, 0);
	plain(feed, 100, 1, "other");
	g_assert_cmpstr(held(feed, 5, 0), ==, "mutex: 6 12-50");
}

/* Events lost after the lock was last seen: until then only. */
static void test_known_until_gap(void)
{
	FEED_FROM(two_processes());

	opens(feed, 1, 0, "/l", 3);
	opens(feed, 1, 1, "/l", 4);
	flocks(feed, 5, 0, 3, LOCK_EX);
	flock_begins(feed, 10, 1, 4, LOCK_EX);
	sw(feed, 12, 1, "b", 6, SLEEPS, "idle", 0);
	lost(feed, 2, 40, 50);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(held(feed, 6, 0), ==, "flock: 5 12-40!");
}

/* … nor is a circle proved with a gap in it: a may have unlocked /l there. */
static void test_not_proved_over_gap(void)
{
	FEED_FROM(two_processes());

	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		opens(feed, 1, cpu, "/l", 3);
		opens(feed, 3, cpu, "/m", 4);
	}
	flocks(feed, 5, 0, 3, LOCK_EX);
	flocks(feed, 7, 1, 4, LOCK_EX);
	lost(feed, 2, 8, 9);
	flock_begins(feed, 10, 0, 4, LOCK_EX);
	sw(feed, 12, 0, "a", 5, SLEEPS, "idle", 0);
	flock_begins(feed, 20, 1, 3, LOCK_EX);
	sw(feed, 22, 1, "b", 6, SLEEPS, "idle", 0);
	plain(feed, LATER, 2, "other");
	g_assert_cmpuint(deadlocks(feed), ==, 0);
}

/* Threads whose processes are not known are not of one process. */
static void test_no_pid(void)
{
	FEED_FROM(two_processes());

	waits_for_ever(feed, 0, L, 2);
	waits_for_ever(feed, 1, M, 2);
	plain(feed, LATER, 2, "other");
	g_assert_cmpint(model_thread(&feed->session->trace.model, life(feed, 5, 0))->pid, ==, -1);
	g_assert_cmpuint(deadlocks(feed), ==, 0);
}

/* Two threads in a circle, and three that wait for those: one circle of two. */
static void test_tail_of_circle(void)
{
	FEED_FROM(four_threads());
	const struct deadlock *deadlock;

	waits_for_ever(feed, 0, L, 7 | WAITERS);
	waits_for_ever(feed, 1, L + 8, 5 | WAITERS);
	waits_for_ever(feed, 2, M, 8 | WAITERS);
	waits_for_ever(feed, 3, M + 8, 7 | WAITERS);
	plain(feed, LATER, 2, "other");
	g_assert_cmpuint(deadlocks(feed), ==, 1);
	deadlock = g_ptr_array_index(deadlocks_of(feed->session), 0);
	g_assert_true(deadlock->proved);
	g_assert_cmpuint(deadlock->members->len, ==, 2);
	g_assert_cmpuint(g_array_index(deadlock->members, struct stuck, 0).thread, ==,
			 life(feed, 7, 0));
	g_assert_null(deadlock_of(feed->session, life(feed, 6, 0)));
}

/* --- what others impose, and how long it takes to say so ----------------- */

/* `threads` take turns: each owner wakes the next one, and waits again behind all
 * others. */
static void go_round(struct feed *feed, int threads, int turns)
{
	int64_t time = 10;

	for (int i = 1; i < threads; i++)
		forks(feed, time++, 0, 5, 5 + i, 5);
	for (int i = 1; i < threads; i++) {
		sw(feed, time++, 1, "idle", 0, 0, "t", 5 + i);
		futex(feed, time++, 1, L, WAIT, 2);
		sw(feed, time++, 1, "t", 5 + i, SLEEPS, "idle", 0);
	}
	for (int i = 0; i < turns; i++, time += 100) {
		int32_t owner = 5 + i % threads, next = 5 + (i + 1) % threads;

		futex(feed, time, 0, L, WAKE, 1);
		waking(feed, time + 1, 0, next);
		done(feed, time + 2, 0, 1);
		futex(feed, time + 5, 0, L, WAIT, 2);
		sw(feed, time + 6, 0, "t", owner, SLEEPS, "t", next);
		done(feed, time + 8, 0, 0);
	}
	plain(feed, time, 0, "other");
	finish(feed);
}

/* What holders impose is what each wait's holders add up to. */
static void test_imposed(void)
{
	FEED_FROM(four_threads());
	g_autoptr(GArray) list = NULL;
	const struct contention *contention;
	const struct lock *lock;
	int64_t held_ns = 0, between = 0, sum = 0;

	go_round(feed, 4, 40);
	lock = lock_at(&feed->session->trace.flow, 1);
	/* the waits that are open at the end began later */
	list = contention_new(feed->session, NULL, 0, 3000);
	contention = &g_array_index(list, struct contention, 0);
	for (uint32_t i = 0; i < lock->waits.used; i++) {
		const struct hold *wait =
			hold_at(&feed->session->trace.timeline.holds, &lock->waits, i);
		struct block block = {.lock = 1};
		int64_t end = MIN(wait->end, 3000);
		struct lock_wait *at;

		if (wait->begin >= end)
			continue;
		at = lock_wait_new(feed->session, &block, wait->thread, wait->begin, end);
		sum += end - wait->begin;
		between += at ? at->between : end - wait->begin;
		for (guint k = 0; at && k < at->holders->len; k++)
			held_ns += g_array_index(at->holders, struct holder, k).ns;
		lock_wait_free(at);
	}
	g_assert_cmpint(contention->ns, ==, sum);
	g_assert_cmpint(contention->between, ==, between);
	for (guint i = 0; i < contention->holders->len; i++)
		held_ns -= g_array_index(contention->holders, struct holder, i).ns;
	g_assert_cmpint(held_ns, ==, 0);
	g_assert_cmpuint(contention->holders->len, ==, 4);
}

/* A thousand threads queue for one lock: the work goes with the waits, not with the
 * waits times the queue, which would be minutes. */
static void test_many_waiters(void)
{
	FEED(2);
	g_autoptr(GArray) list = NULL;
	const struct contention *contention;
	int64_t begin;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	go_round(feed, 1000, 50000);
	begin = g_get_monotonic_time();
	list = contention_new(feed->session, NULL, feed->session->asked.from,
			      feed->session->asked.to);
	g_assert_cmpint(g_get_monotonic_time() - begin, <, 5 * G_USEC_PER_SEC);
	contention = &g_array_index(list, struct contention, 0);
	g_assert_cmpuint(contention->waits, ==, 50000 + 999);
	g_assert_cmpuint(contention->waiters, ==, 1000);
	g_assert_cmpuint(contention->holders->len, ==, 1000);
}

/* Fifty thousand wait for each other in a row: the path ends somewhere on the way, and
 * still is as long as the window; so do the causes, level by level. */
static void test_deep_path(void)
{
	FEED(2);
	GPtrArray *waits;
	const struct wait *wait;
	struct path *path;
	uint32_t last, omitted;
	int levels = 0;
	int64_t sum = 0;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	go_round(feed, 50000, 60000);
	last = life(feed, 5 + 49999, 0);
	path = path_new(feed->session, last, feed->session->asked.from, feed->session->asked.to);
	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);

		sum += piece->end - piece->begin;
	}
	g_assert_cmpint(sum, ==, feed->session->asked.to - feed->session->asked.from);
	path_free(path);
	waits = causality_new(feed->session, last, feed->session->asked.from,
			      feed->session->asked.to, 0, &omitted);
	wait = g_ptr_array_index(waits, 0);
	for (; wait; levels++)
		wait = wait->children && wait->children->len ? g_ptr_array_index(wait->children, 0)
							     : NULL;
	g_assert_cmpint(levels, ==, LEVELS_MAX);
	g_ptr_array_free(waits, TRUE);
}

/* Ten thousand in a row, each waiting for the next: none of them is a circle. */
static void test_long_chain(void)
{
	FEED(2);
	int64_t time = 10, begin;

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	for (int i = 1; i < 10000; i++)
		forks(feed, time++, 0, 5, 5 + i, 5);
	for (int i = 1; i < 10000; i++) {
		sw(feed, time++, 1, "idle", 0, 0, "t", 5 + i);
		futex(feed, time++, 1, L + 8 * (uint64_t) i, WAIT,
		      WAITERS | (uint32_t) (i < 9999 ? 6 + i : 5));
		sw(feed, time++, 1, "t", 5 + i, SLEEPS, "idle", 0);
	}
	plain(feed, time + LATER, 0, "other");
	begin = g_get_monotonic_time();
	g_assert_cmpuint(deadlocks(feed), ==, 0);
	g_assert_cmpint(g_get_monotonic_time() - begin, <, 5 * G_USEC_PER_SEC);
}

/* Processes that share a lock and end without giving it up are not gathered. */
static void test_short_lived_readers(void)
{
	FEED_FROM(two_processes());
	const struct lock *lock;
	int64_t time = 10;

	for (int32_t tid = 100; tid < 1100; tid++, time += 10) {
		forks(feed, time, 0, 5, tid, tid);
		sw(feed, time + 1, 1, tid == 100 ? "b" : "idle", tid == 100 ? 6 : 0, SLEEPS, "r",
		   tid);
		opens(feed, time + 2, 1, "/l", 3);
		flocks(feed, time + 4, 1, 3, LOCK_SH);
		sw(feed, time + 6, 1, "r", tid, DEAD, "idle", 0);
	}
	plain(feed, time, 0, "other");
	finish(feed);
	lock = lock_at(&feed->session->trace.flow, 1);
	g_assert_cmpuint(lock->open->len + lock->holds.used, ==, 1000);
	g_assert_cmpuint(lock->open->len, <, 100);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/lock-trouble/signal", test_signal_gives_nothing_up);
	g_test_add_func("/lock-trouble/signal-of-owner", test_owner_sends_signal);
	g_test_add_func("/lock-trouble/waiter-wakes-waiter", test_waiter_wakes_waiter);
	g_test_add_func("/lock-trouble/duplicate", test_duplicate);
	g_test_add_func("/lock-trouble/shared-after-exclusive", test_shared_after_exclusive);
	g_test_add_func("/lock-trouble/high-descriptor", test_high_descriptor);
	g_test_add_func("/lock-trouble/dead-reader", test_dead_reader);
	g_test_add_func("/lock-trouble/fifo", test_fifo);
	g_test_add_func("/lock-trouble/no fifo", test_no_fifo);
	g_test_add_func("/lock-trouble/fifo opened", test_fifo_opened);
	g_test_add_func("/lock-trouble/pid-used-again", test_pid_used_again);
	g_test_add_func("/lock-trouble/robust", test_robust);
	g_test_add_func("/lock-trouble/counts", test_counts);
	g_test_add_func("/lock-trouble/pool", test_pool);
	g_test_add_func("/lock-trouble/overtaken", test_overtaken_pool);
	g_test_add_func("/lock-trouble/known-until-gap", test_known_until_gap);
	g_test_add_func("/lock-trouble/not-proved-over-gap", test_not_proved_over_gap);
	g_test_add_func("/lock-trouble/no-pid", test_no_pid);
	g_test_add_func("/lock-trouble/tail-of-circle", test_tail_of_circle);
	g_test_add_func("/lock-trouble/imposed", test_imposed);
	g_test_add_func("/lock-trouble/many-waiters", test_many_waiters);
	g_test_add_func("/lock-trouble/deep-path", test_deep_path);
	g_test_add_func("/lock-trouble/long-chain", test_long_chain);
	g_test_add_func("/lock-trouble/short-lived-readers", test_short_lived_readers);
	return g_test_run();
}
