/* SPDX-License-Identifier: MIT */
/* Locks as JSON: who held the lock of one wait, in which order, doing what; all
 * locks by the waiting they cost; deadlocks. */
#include "contention/contention.h"
#include "contention/deadlocks.h"
#include "report/report.h"

static const char *const proofs[] = {"inferred", "seen"};
static const char *const inferences[] = {"seen", "inferred"};

static const struct lock *lock_of(const struct report *report, uint32_t lock)
{
	return lock_at(&report->session->trace.flow, lock);
}

static const struct column holding_columns[] = {
	{NULL, COLUMN_TID_NAME, FIELD(struct holding, thread)},
	{"begin", COLUMN_TIME, FIELD(struct holding, begin)},
	{"end", COLUMN_TIME, FIELD(struct holding, end)},
	{"certainty", COLUMN_TEXT, FIELD(struct holding, proved), .names = proofs},
	{0}};

/* Of all locks, and with what it did meanwhile, of one wait. */
static const struct column holder_columns[] = {
	{NULL, COLUMN_TID_NAME, FIELD(struct holder, thread)},
	{"ns", COLUMN_NS, FIELD(struct holder, ns)},
	{"certainty", COLUMN_TEXT, FIELD(struct holder, proved), .names = proofs},
	{0}};
static const struct column doing_columns[] = {
	{NULL, COLUMN_TID_NAME, FIELD(struct holder, thread)},
	{"ns", COLUMN_NS, FIELD(struct holder, ns)},
	{"count", COLUMN_WHOLE, FIELD(struct holder, count)},
	{"certainty", COLUMN_TEXT, FIELD(struct holder, proved), .names = proofs},
	COLUMNS_WIB(struct holder, wib),
	{"longest", COLUMN_LEAF, FIELD(struct holder, leaf)},
	{"longest_ns", COLUMN_NS, FIELD(struct holder, leaf_ns)},
	{"resource", COLUMN_RESOURCE, FIELD(struct holder, resource), .none = NONE_ZERO,
	 .absent = true},
	{0}};

GETTER(int64_t, boosted, struct inversion, row->boosted == NO_PRIORITY ? INT64_MIN : row->boosted);

static const struct column inversion_columns[] = {
	{NULL, COLUMN_TID_NAME, FIELD(struct inversion, thread)},
	{"waiter_priority", COLUMN_WHOLE, FIELD(struct inversion, waiter)},
	{"owner_priority", COLUMN_WHOLE, FIELD(struct inversion, owner)},
	{"boosted_to", COLUMN_WHOLE, .number = boosted, .none = NONE_LOWEST},
	{"kept_off_ns", COLUMN_NS, FIELD(struct inversion, kept_off)},
	{"instead", COLUMN_TID_NAME, FIELD(struct inversion, instead), .absent = true},
	{0}};

/* --- all locks ------------------------------------------------------------------------------ */

GETTER(const char *, kind, struct contention, lock_kind_text(lock_of(report, row->lock)));
GETTER(uint32_t, resource, struct contention, lock_of(report, row->lock)->resource);
GETTER(const char *, name, void, session_text(report->session, resource(report, row)));
GETTER(int64_t, host, struct contention, lock_of(report, row->lock)->host);
GETTER(int64_t, pid, struct contention, lock_of(report, row->lock)->pid);
GETTER(const void *, if_convoy, struct contention, row->convoy.handovers ? &row->convoy : NULL);
GETTER(const void *, if_inverted, struct contention, row->inverted ? &row->inversion : NULL);

static const struct column longest_columns[] = {
	{NULL, COLUMN_TID_NAME, FIELD(struct contention, longest_thread)},
	{"begin", COLUMN_TIME, FIELD(struct contention, longest_begin)},
	{"end", COLUMN_TIME, FIELD(struct contention, longest_end)},
	{0}};
static const struct column convoy_columns[] = {
	{"begin", COLUMN_TIME, FIELD(struct convoy, begin)},
	{"end", COLUMN_TIME, FIELD(struct convoy, end)},
	{"handovers", COLUMN_WHOLE, FIELD(struct convoy, handovers)},
	{"queue", COLUMN_WHOLE, FIELD(struct convoy, longest)},
	{0}};

const struct column contention_columns[] = {
	{"kind", COLUMN_TEXT, .text = kind},
	{"name", COLUMN_TEXT, .text = name},
	{"host", COLUMN_WHOLE, .number = host},
	{"pid", COLUMN_WHOLE, .number = pid, .none = NONE_NEGATIVE},
	{"waits", COLUMN_WHOLE, FIELD(struct contention, waits)},
	{"waiters", COLUMN_WHOLE, FIELD(struct contention, waiters)},
	{"ns", COLUMN_NS, FIELD(struct contention, ns)},
	{"queue", COLUMN_WHOLE, FIELD(struct contention, queue)},
	{"certainty", COLUMN_TEXT, FIELD(struct contention, inferred), .names = inferences},
	{"longest", COLUMN_OBJECT, .columns = longest_columns},
	{"holders", COLUMN_LIST, FIELD(struct contention, holders), .columns = holder_columns,
	 .limited = true},
	{"between_ns", COLUMN_NS, FIELD(struct contention, between)},
	{"convoy", COLUMN_OBJECT, .at = if_convoy, .columns = convoy_columns, .absent = true},
	{"priority_inversion", COLUMN_OBJECT, .at = if_inverted, .columns = inversion_columns,
	 .absent = true},
	{0}};

/* --- deadlocks ------------------------------------------------------------------------------ */

GETTER(const char *, stuck_on, struct stuck,
       session_text(report->session, lock_of(report, row->lock)->resource));

static const struct column stuck_columns[] = {
	{NULL, COLUMN_TID_NAME, FIELD(struct stuck, thread)},
	{"since", COLUMN_TIME, FIELD(struct stuck, since)},
	{"lock", COLUMN_TEXT, .text = stuck_on},
	{"owner", COLUMN_TID_NAME, FIELD(struct stuck, owner)},
	{0}};
static const struct column deadlock_columns[] = {
	{"certainty", COLUMN_TEXT, FIELD(struct deadlock, proved), .names = proofs},
	{"threads", COLUMN_LIST, FIELD(struct deadlock, members), .columns = stuck_columns},
	{0}};

GETTER(const void *, deadlocks, void, deadlocks_of(report->session));

const struct column report_deadlocks[] = {{"deadlocks", COLUMN_LIST, .at = deadlocks,
					   .stored = STORED_POINTERS, .columns = deadlock_columns},
					  {0}};

/* --- the lock of one wait ------------------------------------------------------------------- */

GETTER(const char *, lock_wait_kind, struct lock_wait, lock_kind_text(row->lock));
GETTER(const char *, lock_wait_name, struct lock_wait,
       session_text(report->session, row->lock->resource));

static const struct column lock_wait_columns[] = {
	{"kind", COLUMN_TEXT, .text = lock_wait_kind},
	{"name", COLUMN_TEXT, .text = lock_wait_name},
	{"holders", COLUMN_LIST, FIELD(struct lock_wait, holders), .columns = doing_columns,
	 .limited = true},
	{"sequence", COLUMN_LIST, FIELD(struct lock_wait, holdings), .columns = holding_columns,
	 .limited = true},
	{"between_ns", COLUMN_NS, FIELD(struct lock_wait, between)},
	{0}};

void json_put_lock(const struct report *report, const struct wait *wait)
{
	const struct session *session = report->session;
	struct lock_wait *lock =
		lock_wait_new(session, wait->block, wait->thread, wait->begin, wait->end);
	struct inversion inversion;

	if (!lock)
		return;
	lock_wait_look(session, lock, rows_limited(session, lock->holders->len));
	json_begin(report->output, "lock", '{', LINES_NOT);
	json_put_members(report, lock_wait_columns, lock);
	if (lock_wait_inversion(session, lock, wait->thread, wait->begin, wait->end, &inversion))
		json_put_row(report, "priority_inversion", inversion_columns, &inversion);
	json_end(report->output, '}');
	lock_wait_free(lock);
}
