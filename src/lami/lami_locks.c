/* SPDX-License-Identifier: MIT */
/* LAMI tables of locks: what waiting each cost, who held it meanwhile, deadlocks; see lami.h.
 * The figures are those of `whylate overview`.
 */
#include "lami/lami.h"

#include "waits/causality.h"
#include "waits/contention.h"
#include "waits/deadlocks.h"

const struct lami_table lami_locks = {
	"locks",
	"Locks, by the waiting that they cost",
	{{"Kind", LAMI_STRING, NULL},
	 {"Lock", LAMI_MIXED, NULL},
	 {"Waits", LAMI_NUMBER, "waits"},
	 {"Waiting", LAMI_DURATION, NULL},
	 {"Waiters", LAMI_NUMBER, "threads"},
	 {"Longest queue", LAMI_NUMBER, "threads"},
	 {"Held by nobody known", LAMI_DURATION, NULL},
	 {"Waited longest", LAMI_PROCESS, NULL},
	 {"Its wait", LAMI_TIME_RANGE, NULL},
	 {"Hand-overs in a convoy", LAMI_NUMBER, "hand-overs"},
	 {"Priority inversion by", LAMI_PROCESS, NULL},
	 {"Inferred", LAMI_BOOL, NULL}}};

const struct lami_table lami_holders = {
	"holders",
	"Who held them while others waited",
	{{"Kind", LAMI_STRING, NULL},
	 {"Lock", LAMI_MIXED, NULL},
	 {"Holder", LAMI_PROCESS, NULL},
	 {"Others waited", LAMI_DURATION, NULL},
	 {"Share of the lock's waiting", LAMI_RATIO, NULL},
	 {"Inferred", LAMI_BOOL, NULL}}};

const struct lami_table lami_deadlocks = {
	"deadlocks",
	"Deadlocks",
	{{"Deadlock", LAMI_NUMBER, NULL},
	 {"Thread", LAMI_PROCESS, NULL},
	 {"Waits for", LAMI_MIXED, NULL},
	 {"Until the window's end", LAMI_TIME_RANGE, NULL},
	 {"Owner", LAMI_PROCESS, NULL},
	 {"Suspected only", LAMI_BOOL, NULL}}};

static void write_lock(struct lami_report *report, const struct contention *at)
{
	const struct lock *lock = lock_at(&report->session->trace.flow, at->lock);

	lami_string(report, lock_kind_text(lock));
	lami_resource(report, lock->resource);
	lami_number(report, at->waits);
	lami_duration(report, at->ns);
	lami_number(report, at->waiters);
	lami_number(report, at->queue);
	lami_duration(report, at->between);
	lami_process(report, at->longest_thread);
	lami_time_range(report, at->longest_begin, at->longest_end);
	if (at->convoy.handovers)
		lami_number(report, at->convoy.handovers);
	else
		lami_empty(report);
	lami_process(report, at->inverted ? at->inversion.thread : NO_THREAD);
	lami_bool(report, at->inferred);
}

static void write_holders(struct lami_report *report, const struct contention *at)
{
	const struct lock *lock = lock_at(&report->session->trace.flow, at->lock);

	for (guint i = 0; i < at->holders->len && lami_row(report); i++) {
		const struct holder *holder = &g_array_index(at->holders, struct holder, i);

		lami_string(report, lock_kind_text(lock));
		lami_resource(report, lock->resource);
		lami_process(report, holder->thread);
		lami_duration(report, holder->ns);
		lami_ratio(report, holder->ns, at->ns);
		lami_bool(report, !holder->proved);
	}
}

static void write_deadlock(struct lami_report *report, const struct deadlock *deadlock,
			   guint number)
{
	const struct session *session = report->session;

	for (guint i = 0; i < deadlock->members->len && lami_row(report); i++) {
		const struct stuck *at = &g_array_index(deadlock->members, struct stuck, i);

		lami_number(report, number);
		lami_process(report, at->thread);
		lami_resource(report, lock_at(&session->trace.flow, at->lock)->resource);
		lami_time_range(report, at->since, MAX(at->since, session->asked.to));
		lami_process(report, at->owner);
		lami_bool(report, !deadlock->proved);
	}
}

bool lami_write_locks(struct lami_report *report, GError **error)
{
	const struct session *session = report->session;
	g_autoptr(GArray)
		locks = contention_new(session, NULL, session->asked.from, session->asked.to);

	(void) error;
	lami_begin(report, &lami_locks);
	for (guint i = 0; i < locks->len && lami_row(report); i++)
		write_lock(report, &g_array_index(locks, struct contention, i));
	lami_begin(report, &lami_holders);
	for (guint i = 0; i < locks->len; i++)
		write_holders(report, &g_array_index(locks, struct contention, i));
	lami_begin(report, &lami_deadlocks);
	for (guint i = 0; i < session->found.deadlocks->len; i++)
		write_deadlock(report, g_ptr_array_index(session->found.deadlocks, i), i + 1);
	return true;
}
