/* SPDX-License-Identifier: MIT */
/* Whether a CPU quota kept threads off idle CPUs: the pattern of all such times of a host.
 *
 *   T  ─runs─┤ off, CPU idle  ├─runs─┤ off, CPU idle  ├─runs─┤ off, CPU idle  ├─
 *                             ▲ one period            ▲ one period            ▲
 *
 * The scheduler fills a group's quota at a timer of a fixed period (sched_cfs_period_timer())
 * and lets go then whom it kept off. That an idle CPU did not run a ready thread has other
 * reasons too: a move at exec, a CPU slow to leave its idle state, an emulated machine. So one
 * such time shows nothing; a quota is shown by several in a row whose ends are whole periods
 * apart. Inferred.
 *
 * Place: ready/.
 */
#ifndef WHYLATE_READY_QUOTA_H
#define WHYLATE_READY_QUOTA_H

#include "run/session.h"

/* Preempted, for 1 ms or more, with the idle thread next on the CPU that it left, and that idle
 * nearly all of the time. */
bool kept_off(const struct session *session, uint32_t thread, const struct span *span);

/* `time` is one at which a quota was filled, as the times that threads of the host were kept off
 * end tell; `period`: its length. */
bool quota_filled_at(const struct session *session, uint16_t host, int64_t time, int64_t *period);
/* The same of a time at which the thread's process was let go, or would have been. */
bool quota_let_go(const struct session *session, uint32_t thread, int64_t time, int64_t *period);

/* The thread's process is shown to have a quota, some time or other. */
bool quota_shown(const struct session *session, uint32_t thread, int64_t *period);

/* Who shares a quota with the thread, and how long each was on a CPU over [from, to). */
struct quota_user {
	uint32_t thread;
	int64_t ns;
};

/* Those that were let go together with `thread`, at most of these times (int64_t, in order), and
 * it: struct quota_user, most first. Empty: nobody else. Free with g_array_free(). */
GArray *quota_users(const struct session *session, uint32_t thread, const GArray *times,
		    int64_t from, int64_t to);

#endif
