/* SPDX-License-Identifier: MIT */
/* Who held a lock while somebody waited for it, and who will wait for ever.
 * Expectations are worked out by hand from locks/locks.h: a waker had the lock
 * until it woke, who returns from a wait has it from then on.
 *
 * Threads 5 to 8 are of process 5, each on a CPU of its own (0 to 3), so that
 * they run unless they sleep. `L` is a futex.
 */
#include "locks.h"
#include "contention/deadlocks.h"

static void test_one_holder(void)
{
	FEED_FROM(four_threads());

	a_waits(feed, WAIT, 2);
	wakes(feed, 50, 1, L, 5); /* b had it until its FUTEX_WAKE at 50 */
	comes_back(feed, 60, 0);
	done(feed, 61, 0, 0);
	plain(feed, 100, 0, "other");
	/* a sleeps from 12 to its waking at 51 */
	g_assert_cmpstr(held(feed, 5, 0), ==, "mutex: 6 12-50");
	g_assert_cmpstr(kind_of_cause(feed, 5, 0), ==, "lock-owner inferred");
}

/* b and c wait; d gives it to b, b to c: b had it from its return on. */
static void test_in_turn(void)
{
	FEED_FROM(four_threads());

	futex(feed, 10, 1, L, WAIT, 2);
	sleeps(feed, 12, 1);
	futex(feed, 20, 2, L, WAIT, 2);
	sleeps(feed, 22, 2);
	wakes(feed, 50, 3, L, 6);
	comes_back(feed, 60, 1);
	done(feed, 65, 1, 0);
	wakes(feed, 90, 1, L, 7);
	comes_back(feed, 99, 2);
	done(feed, 100, 2, 0);
	plain(feed, 110, 0, "other");
	g_assert_cmpstr(held(feed, 7, 0), ==, "mutex: 8 22-50, 6 65-90");
	g_assert_cmpstr(held(feed, 6, 0), ==, "mutex: 8 12-50");
}

/* b is woken, but d takes the lock first: b waits again, and never had it. */
static void test_overtaken(void)
{
	FEED_FROM(four_threads());

	futex(feed, 10, 2, L, WAIT, 2);
	sleeps(feed, 12, 2);
	futex(feed, 13, 1, L, WAIT, 2);
	sleeps(feed, 14, 1);
	wakes(feed, 30, 0, L, 6);
	comes_back(feed, 40, 1);
	done(feed, 41, 1, 0);
	futex(feed, 42, 1, L, WAIT, 2); /* d was faster */
	sleeps(feed, 43, 1);
	wakes(feed, 80, 3, L, 7);
	comes_back(feed, 90, 2);
	done(feed, 91, 2, 0);
	plain(feed, 100, 0, "other");
	/* a until 30; then d, at the earliest from when a gave it up */
	g_assert_cmpstr(held(feed, 7, 0), ==, "mutex: 5 12-30, 8 30-80");
	/* b's second wait goes on: c has it since it came back */
	g_assert_cmpstr(held(feed, 6, 1), ==, "mutex: 8 43-80, 7 91-100");
}

/* A condition (any value but a mutex's), and a semaphore: nobody holds it. */
static void test_condition(void)
{
	FEED_FROM(four_threads());

	a_waits(feed, WAIT, 0);
	wakes(feed, 50, 1, L, 5);
	comes_back(feed, 60, 0);
	done(feed, 61, 0, 0);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(held(feed, 5, 0), ==, "-");
	g_assert_cmpstr(kind_of_cause(feed, 5, 0), ==, "process seen");
}

/* FUTEX_WAIT_BITSET for 2 may be a condition's count: a lock only if somebody
 * that waited for it gives it up. */
static void test_turns_tell(bool in_turn)
{
	FEED_FROM(four_threads());

	a_waits(feed, WAIT_BITSET, 2);
	wakes(feed, 50, 1, L, 5);
	comes_back(feed, 60, 0);
	done(feed, 61, 0, 0);
	if (in_turn)
		wakes(feed, 80, 0, L, 0);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(held(feed, 5, 0), ==, in_turn ? "mutex: 6 12-50" : "-");
}

static void test_bitset(void)
{
	test_turns_tell(false);
	test_turns_tell(true);
}

/* Robust mutexes: the word is the owner's TID with the waiters' bit. */
static void test_owner_in_word(void)
{
	FEED_FROM(four_threads());

	a_waits(feed, WAIT, 7 | WAITERS);
	g_assert_cmpuint(feed->session->trace.flow.locks->len, ==, 1);
	wakes(feed, 50, 2, L, 5);
	comes_back(feed, 60, 0);
	done(feed, 61, 0, 0);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(held(feed, 5, 0), ==, "mutex: 7 12-50!");
	g_assert_cmpstr(kind_of_cause(feed, 5, 0), ==, "lock-owner seen");
}

/* … but not the TID of a thread of another process, nor the waiter's own. */
static void test_no_owner_in_word(void)
{
	FEED_FROM(four_threads());

	futex(feed, 10, 0, L, WAIT, 99 | WAITERS);
	sleeps(feed, 12, 0);
	futex(feed, 10, 1, M, WAIT, 6 | WAITERS);
	sleeps(feed, 12, 1);
	plain(feed, 100, 3, "other");
	g_assert_cmpuint(feed->session->trace.flow.locks->len, ==, 0);
}

static void boost(struct feed *feed, int64_t time, uint32_t cpu, int32_t tid, int from, int to)
{
	struct event event = event_of(feed, time, cpu, "sched_pi_setprio");

	event.priority.tid = tid;
	event.priority.from = from;
	event.priority.to = to;
	send(feed, &event);
}

static void switch_with(struct feed *feed, int64_t time, uint32_t cpu, int32_t prev, int64_t state,
			int32_t next, int32_t prio)
{
	struct event event = event_of(feed, time, cpu, "sched_switch");

	event.sched_switch.prev_comm = event.sched_switch.next_comm = "";
	event.sched_switch.prev_tid = prev;
	event.sched_switch.prev_state = state;
	event.sched_switch.next_tid = next;
	event.sched_switch.next_prio = prio;
	send(feed, &event);
}

/* The waiter raises the owner: that is who has it. The one that is woken by
 * FUTEX_UNLOCK_PI has it next. */
static void test_pi(void)
{
	FEED_FROM(four_threads());
	struct lock_wait *lock;
	struct inversion inversion;
	const struct thread *waiter;

	switch_with(feed, 8, 0, 5, PREEMPTED, 9, 20);
	switch_with(feed, 9, 0, 9, PREEMPTED, 5, -21); /* a is real-time 20 */
	futex(feed, 10, 0, L, LOCK_PI_OP, 0);
	boost(feed, 11, 0, 6, 25, -21);
	switch_with(feed, 12, 0, 5, SLEEPS, 0, 20);
	futex(feed, 50, 1, L, UNLOCK_PI_OP, 0);
	waking(feed, 52, 1, 5);
	done(feed, 53, 1, 0);
	futex(feed, 54, 1, L, LOCK_PI_OP, 0); /* b wants it back: a has it since 52 */
	sleeps(feed, 55, 1);
	switch_with(feed, 60, 0, 0, 0, 5, -21);
	done(feed, 61, 0, 0);
	futex(feed, 80, 0, L, UNLOCK_PI_OP, 0);
	waking(feed, 81, 0, 6);
	done(feed, 82, 0, 0);
	plain(feed, 100, 2, "other");
	g_assert_cmpstr(held(feed, 5, 0), ==, "pi-mutex: 6 12-50!");
	g_assert_cmpstr(held(feed, 6, 0), ==, "pi-mutex: 5 55-80!");
	g_assert_cmpstr(kind_of_cause(feed, 5, 0), ==, "lock-owner seen");
	waiter = model_thread(&feed->session->trace.model, life(feed, 5, 0));
	g_assert_cmpint(waiter->tid, ==, 5);
	lock = lock_wait_new(feed->session, &(struct block) {.lock = 1}, life(feed, 5, 0), 12, 52);
	g_assert_true(
		lock_wait_inversion(feed->session, lock, life(feed, 5, 0), 12, 52, &inversion));
	g_assert_cmpint(inversion.waiter, ==, -21);
	g_assert_cmpint(inversion.owner, ==, 25);
	g_assert_cmpint(inversion.boosted, ==, -21);
	g_assert_cmpint(inversion.kept_off, ==, 0);
	lock_wait_free(lock);
	/* the other way round there is none: b is the less urgent one */
	lock = lock_wait_new(feed->session, &(struct block) {.lock = 1}, life(feed, 6, 0), 55, 81);
	g_assert_false(
		lock_wait_inversion(feed->session, lock, life(feed, 6, 0), 55, 81, &inversion));
	lock_wait_free(lock);
}

/* The classical case: urgent a waits for b, and c, less urgent than a, keeps b
 * off its CPU from 20 to 45, together with d. */
static void test_kept_off(void)
{
	FEED(2);
	struct lock_wait *lock;
	struct inversion inversion;

	sw(feed, 0, 0, "idle", 0, 0, "", 5);
	forks(feed, 1, 0, 5, 6, 5);
	forks(feed, 2, 0, 5, 7, 5);
	forks(feed, 3, 0, 5, 8, 5);
	switch_with(feed, 5, 1, 0, 0, 6, 30);
	switch_with(feed, 7, 0, 5, PREEMPTED, 9, 20);
	switch_with(feed, 9, 0, 9, PREEMPTED, 5, -11);
	futex(feed, 10, 0, L, WAIT, 2);
	switch_with(feed, 12, 0, 5, SLEEPS, 0, 20);
	switch_with(feed, 20, 1, 6, PREEMPTED, 7, 20);
	switch_with(feed, 28, 1, 7, PREEMPTED, 8, 20); /* longer than c at once, not in all */
	switch_with(feed, 37, 1, 8, PREEMPTED, 7, 20);
	switch_with(feed, 45, 1, 7, PREEMPTED, 6, 30);
	wakes(feed, 50, 1, L, 5);
	plain(feed, 100, 1, "other");
	g_assert_cmpstr(held(feed, 5, 0), ==, "mutex: 6 12-50");
	lock = lock_wait_new(feed->session, &(struct block) {.lock = 1}, life(feed, 5, 0), 12, 51);
	g_assert_true(
		lock_wait_inversion(feed->session, lock, life(feed, 5, 0), 12, 51, &inversion));
	g_assert_cmpint(inversion.owner, ==, 30);
	g_assert_cmpint(inversion.boosted, ==, NO_PRIORITY);
	g_assert_cmpint(inversion.kept_off, ==, 25);
	g_assert_cmpint(model_thread(&feed->session->trace.model, inversion.instead)->tid, ==, 7);
	lock_wait_free(lock);
}

/* --- locks of files: processes 5 and 6 --------------------------------- */

static void test_flock(void)
{
	FEED_FROM(two_processes());

	opens(feed, 1, 0, "/l", 3);
	opens(feed, 1, 1, "/l", 4);
	flocks(feed, 5, 0, 3, LOCK_EX); /* a has it since 6, and nobody waited */
	flock_begins(feed, 10, 1, 4, LOCK_EX);
	sw(feed, 12, 1, "b", 6, SLEEPS, "idle", 0);
	flock_begins(feed, 40, 0, 3, LOCK_UN);
	waking(feed, 41, 0, 6);
	leave(feed, 42, 0, "flock", 0);
	sw(feed, 50, 1, "idle", 0, 0, "b", 6);
	leave(feed, 51, 1, "flock", 0);
	plain(feed, 100, 1, "other");
	g_assert_cmpstr(held(feed, 6, 0), ==, "flock: 5 12-41!");
	g_assert_cmpstr(kind_of_cause(feed, 6, 0), ==, "lock-owner seen");
}

/* Readers share it: the writer waits for both, the last one by close(). */
static void test_flock_shared(void)
{
	FEED_FROM(two_processes());

	opens(feed, 1, 0, "/l", 3);
	opens(feed, 1, 1, "/l", 4);
	opens(feed, 1, 2, "/l", 4);
	flocks(feed, 5, 0, 3, LOCK_SH);
	flocks(feed, 7, 2, 4, LOCK_SH);
	flock_begins(feed, 10, 1, 4, LOCK_EX);
	sw(feed, 12, 1, "b", 6, SLEEPS, "idle", 0);
	flocks(feed, 30, 0, 3, LOCK_UN);
	entry(feed, 60, 2, "close", 4);
	waking(feed, 61, 2, 6);
	leave(feed, 62, 2, "close", 0);
	sw(feed, 70, 1, "idle", 0, 0, "b", 6);
	leave(feed, 71, 1, "flock", 0);
	plain(feed, 100, 1, "other");
	g_assert_cmpstr(held(feed, 6, 0), ==, "flock: 5 12-31!, 7 12-61!");
}

/* An owner that ends takes its lock along, with nobody seen to give it up. */
static void test_flock_owner_ends(void)
{
	FEED_FROM(two_processes());

	opens(feed, 1, 0, "/l", 3);
	opens(feed, 1, 1, "/l", 4);
	flocks(feed, 5, 0, 3, LOCK_EX);
	flock_begins(feed, 10, 1, 4, LOCK_EX);
	sw(feed, 12, 1, "b", 6, SLEEPS, "idle", 0);
	sw(feed, 40, 0, "a", 5, DEAD, "idle", 0);
	plain(feed, 100, 2, "other");
	g_assert_cmpstr(held(feed, 6, 0), ==, "flock: 5 12-40!");
}

/* fcntl: what it does is not recorded; who wakes a waiter was in its way. */
static void test_record_lock(void)
{
	FEED_FROM(two_processes());
	struct event event;

	opens(feed, 1, 0, "/l", 3);
	opens(feed, 1, 1, "/l", 4);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		event = event_of(feed, 5 + 5 * cpu, cpu, "syscall_entry_fcntl");
		event.syscall.fd = 3 + (int32_t) cpu;
		event.syscall.cmd = 7; /* F_SETLKW */
		send(feed, &event);
		if (!cpu)
			leave(feed, 6, 0, "fcntl", 0);
	}
	sw(feed, 12, 1, "b", 6, SLEEPS, "idle", 0);
	event = event_of(feed, 40, 0, "syscall_entry_fcntl");
	event.syscall.fd = 3;
	event.syscall.cmd = 6; /* F_SETLK: unlocks */
	send(feed, &event);
	waking(feed, 41, 0, 6);
	leave(feed, 42, 0, "fcntl", 0);
	sw(feed, 50, 1, "idle", 0, 0, "b", 6);
	leave(feed, 51, 1, "fcntl", 0);
	plain(feed, 100, 1, "other");
	g_assert_cmpstr(held(feed, 6, 0), ==, "record-lock: 5 12-41!");
}

/* A file's own lock: b and c are both in a write when a falls asleep in one. b's ends at
 * 50, so b had the lock until then and c spun for it; c wakes a at 80. */
static void test_file(void)
{
	FEED_FROM(four_threads());

	opens(feed, 8, 0, "/f", 3);
	entry(feed, 10, 1, "pwrite64", 3);
	entry(feed, 11, 2, "pwrite64", 3);
	entry(feed, 12, 0, "pwrite64", 3);
	sleeps(feed, 14, 0);
	leave(feed, 50, 1, "pwrite64", 512);
	waking(feed, 80, 2, 5);
	leave(feed, 85, 2, "pwrite64", 512); /* its lock was given up at 80 */
	comes_back(feed, 90, 0);
	leave(feed, 95, 0, "pwrite64", 512);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(held(feed, 5, 0), ==, "file: 6 14-50, 7 50-80");
	g_assert_cmpstr(kind_of_cause(feed, 5, 0), ==, "lock-owner inferred");
}

/* a is in its call for a PI mutex from 10 to 61, and works all the time: it spins while b
 * has the mutex, until 50. */
static void test_spin(void)
{
	FEED_FROM(four_threads());
	uint32_t owner = NO_THREAD;

	futex(feed, 10, 0, L, LOCK_PI_OP, 0);
	boost(feed, 11, 0, 6, 20, -21);
	futex(feed, 50, 1, L, UNLOCK_PI_OP, 0);
	done(feed, 51, 1, 0);
	done(feed, 61, 0, 0);
	plain(feed, 100, 0, "other");
	finish(feed);
	g_assert_cmpint(lock_spin(feed->session, life(feed, 5, 0), 0, 10, 61, &owner), ==, 40);
	g_assert_cmpuint(owner, ==, life(feed, 6, 0));
	g_assert_cmpint(lock_spin(feed->session, life(feed, 5, 0), 0, 62, 100, &owner), ==, 0);
	g_assert_cmpint(lock_spin(feed->session, life(feed, 7, 0), 0, 10, 61, &owner), ==, 0);
}

/* --- for ever ----------------------------------------------------------- */

/* a has /l and wants /m, b has /m and wants /l: all of it seen. */
static void test_proved(void)
{
	FEED_FROM(two_processes());
	const struct deadlock *deadlock;

	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		opens(feed, 1, cpu, "/l", 3);
		opens(feed, 3, cpu, "/m", 4);
	}
	flocks(feed, 5, 0, 3, LOCK_EX);
	flocks(feed, 7, 1, 4, LOCK_EX);
	flock_begins(feed, 10, 0, 4, LOCK_EX);
	sw(feed, 12, 0, "a", 5, SLEEPS, "idle", 0);
	flock_begins(feed, 20, 1, 3, LOCK_EX);
	sw(feed, 22, 1, "b", 6, SLEEPS, "idle", 0);
	plain(feed, 30, 2, "other");
	g_assert_cmpuint(deadlocks(feed), ==, 1);
	deadlock = g_ptr_array_index(deadlocks_of(feed->session), 0);
	g_assert_true(deadlock->proved);
	g_assert_cmpuint(deadlock->members->len, ==, 2);
	g_assert_cmpstr(kind_of_cause(feed, 5, 0), ==, "deadlock seen");
	g_assert_cmpstr(kind_of_cause(feed, 6, 0), ==, "deadlock seen");
}

/* A chain is no cycle: b waits for a, who sleeps. */
static void test_chain(void)
{
	FEED_FROM(two_processes());

	opens(feed, 1, 0, "/l", 3);
	opens(feed, 1, 1, "/l", 3);
	flocks(feed, 5, 0, 3, LOCK_EX);
	flock_begins(feed, 20, 1, 3, LOCK_EX);
	sw(feed, 22, 1, "b", 6, SLEEPS, "idle", 0);
	plain(feed, LATER, 2, "other");
	g_assert_cmpuint(deadlocks(feed), ==, 0);
	g_assert_cmpstr(kind_of_cause(feed, 6, 0), ==, "still-blocked seen");
	g_assert_cmpstr(held(feed, 6, 0), ==, "flock: 5 22-500000000!");
}

/* Two threads, two mutexes, and nobody gives one up. */
static void test_suspected(void)
{
	FEED_FROM(four_threads());
	const struct deadlock *deadlock;

	waits_for_ever(feed, 0, L, 2);
	waits_for_ever(feed, 1, M, 2);
	plain(feed, LATER, 2, "other");
	g_assert_cmpuint(deadlocks(feed), ==, 1);
	deadlock = g_ptr_array_index(deadlocks_of(feed->session), 0);
	g_assert_false(deadlock->proved);
	g_assert_cmpstr(kind_of_cause(feed, 5, 0), ==, "deadlock inferred");
	g_assert_cmpstr(kind_of_cause(feed, 6, 0), ==, "deadlock inferred");
}

/* Not where one was given up meanwhile, nor right after the waits began, nor for
 * one mutex while others of the process may have it, nor for conditions. */
static void test_not_suspected(void)
{
	for (int what = 0; what < 4; what++) {
		FEED_FROM(four_threads());

		waits_for_ever(feed, 0, L, what == 3 ? 0 : 2);
		waits_for_ever(feed, 1, what == 2 ? L : M, what == 3 ? 0 : 2);
		if (what == 0)
			wakes(feed, 1000, 2, M, 0);
		plain(feed, what == 1 ? 1000 : LATER, 2, "other");
		g_assert_cmpuint(deadlocks(feed), ==, 0);
		g_assert_cmpstr(kind_of_cause(feed, 5, 0), ==, "still-blocked seen");
	}
}

/* All that is left of a process waits for one mutex: nobody can give it up. */
static void test_nobody_left(void)
{
	FEED_FROM(four_threads());

	waits_for_ever(feed, 0, L, 2);
	for (uint32_t cpu = 1; cpu < 4; cpu++)
		sw(feed, 30 + cpu, cpu, name_of(cpu), 5 + (int32_t) cpu, DEAD, "idle", 0);
	plain(feed, LATER, 1, "other");
	g_assert_cmpuint(deadlocks(feed), ==, 1);
	g_assert_cmpstr(kind_of_cause(feed, 5, 0), ==, "deadlock inferred");
}

/* --- what goes wrong ---------------------------------------------------- */

/* Events were lost while b had it: who has it after that is not known. */
static void test_lost_events(void)
{
	FEED_FROM(four_threads());

	futex(feed, 8, 1, L, WAIT, 2);
	done(feed, 9, 1, 0); /* b has it, as far as is seen */
	a_waits(feed, WAIT, 2);
	lost(feed, 3, 20, 30);
	wakes(feed, 50, 2, L, 5); /* and c gives it up */
	comes_back(feed, 60, 0);
	done(feed, 61, 0, 0);
	plain(feed, 100, 0, "other");
	g_assert_cmpstr(held(feed, 5, 0), ==, "mutex: 7 30-50");
}

/* The same address in another process is another lock. */
static void test_other_process(void)
{
	FEED_FROM(two_processes());

	futex(feed, 10, 0, L, WAIT, 2);
	sw(feed, 12, 0, "a", 5, SLEEPS, "idle", 0);
	futex(feed, 50, 1, L, WAKE, 1);
	done(feed, 51, 1, 0);
	plain(feed, 100, 1, "other");
	g_assert_cmpstr(held(feed, 5, 0), ==, "-");
}

/* Three wait all the time while the lock goes round: b, c, d, then a again. Nine
 * waits end; three are cut off by the trace's end, which hands nothing over. */
static void test_convoy(void)
{
	FEED_FROM(four_threads());
	g_autoptr(GArray) list = NULL;
	const struct contention *contention;
	int64_t time = 100;

	for (uint32_t cpu = 1; cpu < 4; cpu++)
		futex(feed, 10 + cpu, cpu, L, WAIT, 2);
	for (uint32_t cpu = 1; cpu < 4; cpu++)
		sleeps(feed, 20 + cpu, cpu);
	for (uint32_t i = 0; i < 9; i++, time += 100) {
		uint32_t owner = i % 4, next = (i + 1) % 4;

		wakes(feed, time, owner, L, 5 + (int32_t) next);
		futex(feed, time + 5, owner, L, WAIT, 2);
		sleeps(feed, time + 6, owner);
		comes_back(feed, time + 20, next);
		done(feed, time + 21, next, 0);
	}
	plain(feed, time, 1, "other");
	finish(feed);
	list = contention_new(feed->session, NULL, feed->session->asked.from,
			      feed->session->asked.to);
	g_assert_cmpuint(list->len, ==, 1);
	contention = &g_array_index(list, struct contention, 0);
	g_assert_cmpuint(contention->waiters, ==, 4);
	g_assert_cmpuint(contention->queue, ==, 4); /* woken but not back yet, and the last owner */
	/* nine waits ended; three go on to the trace's end and end there */
	g_assert_cmpuint(contention->waits, ==, 12);
	g_assert_cmpuint(contention->convoy.handovers, ==, 9);
	g_assert_cmpint(contention->convoy.begin, ==, 12);
	g_assert_cmpint(contention->convoy.end, ==, time);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/locks/one-holder", test_one_holder);
	g_test_add_func("/locks/in-turn", test_in_turn);
	g_test_add_func("/locks/overtaken", test_overtaken);
	g_test_add_func("/locks/condition", test_condition);
	g_test_add_func("/locks/bitset", test_bitset);
	g_test_add_func("/locks/owner-in-word", test_owner_in_word);
	g_test_add_func("/locks/no-owner-in-word", test_no_owner_in_word);
	g_test_add_func("/locks/pi", test_pi);
	g_test_add_func("/locks/kept-off", test_kept_off);
	g_test_add_func("/locks/flock", test_flock);
	g_test_add_func("/locks/flock-shared", test_flock_shared);
	g_test_add_func("/locks/flock-owner-ends", test_flock_owner_ends);
	g_test_add_func("/locks/record-lock", test_record_lock);
	g_test_add_func("/locks/file", test_file);
	g_test_add_func("/locks/spin", test_spin);
	g_test_add_func("/locks/proved", test_proved);
	g_test_add_func("/locks/chain", test_chain);
	g_test_add_func("/locks/suspected", test_suspected);
	g_test_add_func("/locks/not-suspected", test_not_suspected);
	g_test_add_func("/locks/nobody-left", test_nobody_left);
	g_test_add_func("/locks/lost-events", test_lost_events);
	g_test_add_func("/locks/other-process", test_other_process);
	g_test_add_func("/locks/convoy", test_convoy);
	return g_test_run();
}
