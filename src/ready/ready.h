/* SPDX-License-Identifier: MIT */
/* Ready to run, but not running: why. Somebody else ran on that CPU, or nobody
 * did, and then there is a reason to be named.
 *
 * Place: ready/, over the stretches `interrupted/wait-cpu` and
 * `interrupted/preempted` of a thread, for the verdict, the critical path, the
 * summary's labels and the overview. How much of a stretch was idle is exact;
 * which reason an idle stretch had is judged by these marks:
 *
 *   throttled   preempted with the idle thread next and the CPU idle 90 % of the time, for
 *               1 ms or more, and let go a whole number of periods after others were (quota.h);
 *               not if a thread of the same process worked most of the time. Or woken, and let go
 *               so with its process, after an eighth of a period or more; then half of the time is
 *               enough. Inferred.
 *               Or of real-time priority, preempted, and for 1 ms or more nobody ran there, or who
 *               did had an ordinary one: for the kernel's limit of such threads
 *               (sched_rt_runtime_us). Of SCHED_DEADLINE the same, also woken for 5 ms or more: its
 *               own runtime is used up
 *   yielded     … but for a call of sched_yield, with which such a thread says that it is done
 *               until its next period: nothing is late
 *   pinned      others ran there, but for half of the time or more a CPU was idle to which the
 *               thread may not go (affinity.h)
 *   remote      woken from another CPU, and half of the time or more went by
 *               before that CPU took note (its sched_wakeup or interrupt)
 *   slow        woken, and the CPU idle nearly all the time up to the switch
 *   lost        for half of the time or more some CPU's events were lost, and nobody is known to
 *               have run where the thread was put, or it took 20 ms or more: the thread may have
 *               been moved to that CPU, have run, and come back
 *
  * Source: semantics.md, "Woken up", `by:NAME`; the kernel's throttle_cfs_rq(), yield_task_dl(),
  * sched_rt_runtime_exceeded(), start_dl_timer() and pick_next_task_fair(),
  * sched_cfs_period_timer() (which lets all CPUs' queues of a group go at once),
  * ttwu_queue_wakelist(). */
#ifndef WHYLATE_WAITS_READY_H
#define WHYLATE_WAITS_READY_H

#include "run/session.h"

enum ready_kind {
	READY_BUSY,      /* others ran there most of the time */
	READY_PINNED,    /* the same, while a CPU was idle to which it may not go */
	READY_THROTTLED,
	READY_REMOTE,
	READY_SLOW,
	READY_IDLE,      /* idle, for none of these reasons: mostly a move to another CPU */
	READY_YIELDED,   /* of SCHED_DEADLINE, and done until its next period begins */
	READY_LOST,      /* events were lost meanwhile: perhaps it ran */
	READY_KINDS
};

enum ready_limit {
	LIMIT_QUOTA,    /* a cgroup's */
	LIMIT_REALTIME, /* of all real-time threads */
	LIMIT_DEADLINE, /* what a thread of SCHED_DEADLINE may run in each of its periods */
};

struct ready {
	enum ready_kind kind;
	int64_t idle;       /* ns of the stretch in which nobody ran there */
	uint32_t cpu;       /* NO_CPU: not known which */
	uint32_t waker_cpu; /* remote: where it was woken from, else NO_CPU */
	int64_t arrival;    /* remote: ns until its CPU took note */
	int idle_state;     /* depth of sleep of that CPU, -1: not recorded */
	uint32_t free_cpu;  /* pinned: which CPU was idle meanwhile, */
	int64_t free;       /* … so long */
	int64_t period;     /* throttled: ns, of the quota; else 0 */
	enum ready_limit limit; /* throttled: by which; but for a quota, all of the stretch */
};

/* Why `thread` did not run in `span`, a stretch of leaf wait-cpu or preempted.
 * Others give READY_BUSY. */
struct ready ready_of(const struct session *session, uint32_t thread, const struct span *span);

/* Others ran there: nobody's time is to be explained, but for what is between theirs. */
static inline bool ready_is_busy(const struct ready *ready)
{
	return ready->kind == READY_BUSY || ready->kind == READY_PINNED;
}

/* What a throttled thread waited for: "cpu:quota", … */
const char *ready_limit_key(const struct ready *ready);
/* "slow wake-up from idle", "throttled", … */
const char *ready_text(enum ready_kind kind);
/* Of a stretch that was idle, or lost: "CPU 1 was idle: slow wake-up (C-state 2)"; free
 * with g_free(); NULL where ready_is_busy(). */
char *ready_label(const struct ready *ready);

#endif
