/* SPDX-License-Identifier: MIT */
/* The LAMI analysis of locks: what waiting each cost, who held it meanwhile, deadlocks; see lami.h.
 * The figures are those of `whylate overview`.
 */
#include "lami/lami_analysis.h"
#include "contention/contention.h"
#include "contention/deadlocks.h"

/* Who held it, of one that is waited for; or one that waits in a deadlock. */
struct holder_row {
	const struct contention *lock;
	const struct holder *holder;
};

struct stuck_row {
	guint number;
	const struct stuck *stuck;
	int64_t since, until;
	bool suspected;
};

static const struct lock *lock_of(const struct report *report, uint32_t number)
{
	return lock_at(&report->session->trace.flow, number);
}

GETTER(const char *, kind, struct contention, lock_kind_text(lock_of(report, row->lock)));
GETTER(int64_t, resource, struct contention, lock_of(report, row->lock)->resource);
GETTER(int64_t, inverting, struct contention, row->inverted ? row->inversion.thread : NO_THREAD);

static const struct column name_columns[] = {
	{NULL, COLUMN_TEXT, .text = kind, .lami = {"Kind"}},
	{NULL, COLUMN_RESOURCE, .number = resource, .lami = {"Lock"}},
	{0}};

static const struct column lock_columns[] = {
	COLUMNS(name_columns),
	{NULL, COLUMN_WHOLE, FIELD(struct contention, waits), .lami = {"Waits", "waits"}},
	{NULL, COLUMN_NS, FIELD(struct contention, ns), .lami = {"Waiting"}},
	{NULL, COLUMN_WHOLE, FIELD(struct contention, waiters), .lami = {"Waiters", "threads"}},
	{NULL, COLUMN_WHOLE, FIELD(struct contention, queue), .lami = {"Longest queue", "threads"}},
	{NULL, COLUMN_NS, FIELD(struct contention, between), .lami = {"Held by nobody known"}},
	{NULL, COLUMN_THREAD, FIELD(struct contention, longest_thread), .lami = {"Waited longest"}},
	{NULL, COLUMN_RANGE, FIELD_RANGE(struct contention, longest_begin, longest_end),
	 .lami = {"Its wait"}},
	{NULL, COLUMN_WHOLE, FIELD(struct contention, convoy.handovers), .none = NONE_ZERO,
	 .lami = {"Hand-overs in a convoy", "hand-overs"}},
	{NULL, COLUMN_THREAD, .number = inverting, .lami = {"Priority inversion by"}},
	{NULL, COLUMN_BOOL, FIELD(struct contention, inferred), .lami = {"Inferred"}},
	{0}};

GETTER(double, holder_share, struct holder_row, lami_ratio(row->holder->ns, row->lock->ns));
GETTER(int64_t, holder_inferred, struct holder_row, !row->holder->proved);

static const struct column held_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct holder, thread), .lami = {"Holder"}},
	{NULL, COLUMN_NS, FIELD(struct holder, ns), .lami = {"Others waited"}},
	{0}};

static const struct column holder_columns[] = {
	{NULL, COLUMN_OBJECT, FIELD(struct holder_row, lock), .columns = name_columns},
	{NULL, COLUMN_OBJECT, FIELD(struct holder_row, holder), .columns = held_columns},
	{NULL, COLUMN_SHARE, .real = holder_share, .lami = {"Share of the lock's waiting"}},
	{NULL, COLUMN_BOOL, .number = holder_inferred, .lami = {"Inferred"}},
	{0}};

GETTER(int64_t, waited_for, struct stuck_row, lock_of(report, row->stuck->lock)->resource);
GETTER(int64_t, stuck_thread, struct stuck_row, row->stuck->thread);
GETTER(int64_t, owner, struct stuck_row, row->stuck->owner);

static const struct column stuck_columns[] = {
	{NULL, COLUMN_WHOLE, FIELD(struct stuck_row, number), .lami = {"Deadlock"}},
	{NULL, COLUMN_THREAD, .number = stuck_thread, .lami = {"Thread"}},
	{NULL, COLUMN_RESOURCE, .number = waited_for, .lami = {"Waits for"}},
	{NULL, COLUMN_RANGE, FIELD_RANGE(struct stuck_row, since, until),
	 .lami = {"Until the window's end"}},
	{NULL, COLUMN_THREAD, .number = owner, .lami = {"Owner"}},
	{NULL, COLUMN_BOOL, FIELD(struct stuck_row, suspected), .lami = {"Suspected only"}},
	{0}};

static const struct lami_table lock_table = {"locks", "Locks, by the waiting that they cost",
					     lock_columns, NULL};
static const struct lami_table holder_table = {"holders", "Who held them while others waited",
					       holder_columns, NULL};
static const struct lami_table deadlock_table = {"deadlocks", "Deadlocks", stuck_columns, NULL};

static void write_holders(struct lami_writer *writer, const struct contention *lock)
{
	for (guint i = 0; i < lock->holders->len; i++) {
		struct holder_row row = {lock, &g_array_index(lock->holders, struct holder, i)};

		lami_row(writer, &row);
	}
}

static void write_deadlock(struct lami_writer *writer, const struct deadlock *deadlock,
			   guint number)
{
	for (guint i = 0; i < deadlock->members->len; i++) {
		const struct stuck *at = &g_array_index(deadlock->members, struct stuck, i);
		struct stuck_row row = {number, at, at->since,
					MAX(at->since, writer->report.session->asked.to),
					!deadlock->proved};

		lami_row(writer, &row);
	}
}

static bool write_locks(struct lami_writer *writer, GError **error)
{
	const struct session *session = writer->report.session;
	const GPtrArray *deadlocks = deadlocks_of(session);
	g_autoptr(GArray)
		locks = contention_new(session, NULL, session->asked.from, session->asked.to);

	(void) error;
	lami_rows(writer, &lock_table, ROWS(locks));
	lami_begin(writer, &holder_table);
	for (guint i = 0; i < locks->len; i++)
		write_holders(writer, &g_array_index(locks, struct contention, i));
	lami_begin(writer, &deadlock_table);
	for (guint i = 0; i < deadlocks->len; i++)
		write_deadlock(writer, g_ptr_array_index(deadlocks, i), i + 1);
	return true;
}

const struct lami_analysis lami_locks = {
	.name = "locks",
	.title = "whylate: locks and who held them",
	.description = "What waiting each lock cost, who held it meanwhile, convoys, priority "
		       "inversion, and threads that wait for each other for ever.",
	.tags = {"sched", "top"},
	.command = "overview",
	.needs = {EV_SYSCALL_ENTRY},
	.tables = {&lock_table, &holder_table, &deadlock_table},
	.write = write_locks};
