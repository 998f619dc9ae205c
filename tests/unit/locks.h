/* SPDX-License-Identifier: MIT */
/* Events of locks as literals, beside feed.h.
 *
 * Threads 5 to 8 are of process 5, each on a CPU of its own (0 to 3), so that
 * they run unless they sleep; two_processes() has 5, 6 and 7 by themselves. `L`
 * and `M` are futexes.
 */
#ifndef WHYLATE_TESTS_LOCKS_H
#define WHYLATE_TESTS_LOCKS_H

#include "feed.h"

#include "contention/contention.h"
#include "contention/deadlocks.h"
#include "contention/holders.h"

#define WAIT 128 /* FUTEX_WAIT, private */
#define WAKE 129
#define WAIT_BITSET (9 + 128)
#define LOCK_PI_OP (6 + 128)
#define UNLOCK_PI_OP (7 + 128)
#define L 0x1000
#define M 0x2000
#define WAITERS 0x80000000u
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_UN 8

static inline struct feed *four_threads(void)
{
	struct feed *feed = feed_new(4);
	static const char *const names[] = {"a", "b", "c", "d"};

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	for (int i = 1; i < 4; i++)
		forks(feed, i, 0, 5, 5 + i, 5);
	for (uint32_t i = 1; i < 4; i++)
		sw(feed, 4 + i, i, "idle", 0, 0, names[i], (int32_t) (5 + i));
	return feed;
}

static inline void futex(struct feed *feed, int64_t time, uint32_t cpu, uint64_t address, int op,
			 uint32_t val)
{
	struct event event = event_of(feed, time, cpu, "syscall_entry_futex");

	event.syscall.uaddr = address;
	event.syscall.op = op;
	event.syscall.val = val;
	send(feed, &event);
}

static inline void done(struct feed *feed, int64_t time, uint32_t cpu, int64_t ret)
{
	leave(feed, time, cpu, "futex", ret);
}

static inline void wakes(struct feed *feed, int64_t time, uint32_t cpu, uint64_t address,
			 int32_t woken)
{
	futex(feed, time, cpu, address, WAKE, 1);
	if (woken)
		waking(feed, time + 1, cpu, woken);
	done(feed, time + 2, cpu, woken ? 1 : 0);
}

static inline const char *name_of(uint32_t cpu)
{
	static const char *const names[] = {"a", "b", "c", "d"};

	return names[cpu];
}

/* The thread of `cpu` goes to sleep, or comes back. */
static inline void sleeps(struct feed *feed, int64_t time, uint32_t cpu)
{
	sw(feed, time, cpu, name_of(cpu), 5 + (int32_t) cpu, SLEEPS, "idle", 0);
}

static inline void comes_back(struct feed *feed, int64_t time, uint32_t cpu)
{
	sw(feed, time, cpu, "idle", 0, 0, name_of(cpu), 5 + (int32_t) cpu);
}

/* The nth wait of `tid`: "KIND: TID BEGIN-END, …", with "!" where proved; "-". */
static inline const char *held(struct feed *feed, int32_t tid, guint nth)
{
	uint32_t thread = life(feed, tid, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	const struct wait *wait = g_ptr_array_index(waits, nth);
	struct lock_wait *lock =
		lock_wait_new(feed->session, wait->block, thread, wait->begin, wait->end);
	GString *text = g_string_new(lock ? lock_kind_text(lock->lock) : "-");

	for (guint i = 0; lock && i < lock->holdings->len; i++) {
		const struct holding *at = &g_array_index(lock->holdings, struct holding, i);

		g_string_append_printf(text, "%s%d %d-%d%s", i ? ", " : ": ",
				       model_thread(&feed->session->trace.model, at->thread)->tid,
				       (int) at->begin, (int) at->end, at->proved ? "!" : "");
	}
	lock_wait_free(lock);
	g_ptr_array_free(waits, TRUE);
	g_ptr_array_add(feed->texts, g_string_free(text, FALSE));
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* The nth wait's cause: "KIND certainty". */
static inline const char *kind_of_cause(struct feed *feed, int32_t tid, guint nth)
{
	uint32_t thread = life(feed, tid, 0), omitted;
	GPtrArray *waits = causality_new(feed->session, thread, feed->session->asked.from,
					 feed->session->asked.to, 0, &omitted);
	struct cause cause = wait_cause(feed->session, g_ptr_array_index(waits, nth));

	g_ptr_array_add(feed->texts, g_strdup_printf("%s %s", cause_kind_text(cause.kind),
						     cause.inferred ? "inferred" : "seen"));
	cause_clear(&cause);
	g_ptr_array_free(waits, TRUE);
	return g_ptr_array_index(feed->texts, feed->texts->len - 1);
}

/* a waits from 10 on, asleep from 12. */
static inline void a_waits(struct feed *feed, int op, uint32_t val)
{
	futex(feed, 10, 0, L, op, val);
	sleeps(feed, 12, 0);
}

#define LATER INT64_C(500000000)

static inline guint deadlocks(struct feed *feed)
{
	finish(feed);
	return deadlocks_of(feed->session)->len;
}

static inline void waits_for_ever(struct feed *feed, uint32_t cpu, uint64_t address, uint32_t val)
{
	futex(feed, 10 + 10 * cpu, cpu, address, WAIT, val);
	sleeps(feed, 15 + 10 * cpu, cpu);
}

static inline struct feed *two_processes(void)
{
	struct feed *feed = feed_new(3);

	sw(feed, 0, 0, "idle", 0, 0, "a", 5);
	sw(feed, 0, 1, "idle", 0, 0, "b", 6);
	sw(feed, 0, 2, "idle", 0, 0, "c", 7);
	return feed;
}

static inline void opens(struct feed *feed, int64_t time, uint32_t cpu, const char *path,
			 int32_t fd)
{
	struct event event = event_of(feed, time, cpu, "syscall_entry_openat");

	event.syscall.filename = path;
	send(feed, &event);
	leave(feed, time + 1, cpu, "openat", fd);
}

static inline void flock_begins(struct feed *feed, int64_t time, uint32_t cpu, int32_t fd, int cmd)
{
	struct event event = event_of(feed, time, cpu, "syscall_entry_flock");

	event.syscall.fd = fd;
	event.syscall.cmd = cmd;
	send(feed, &event);
}

static inline void flocks(struct feed *feed, int64_t time, uint32_t cpu, int32_t fd, int cmd)
{
	flock_begins(feed, time, cpu, fd, cmd);
	leave(feed, time + 1, cpu, "flock", 0);
}

#endif
