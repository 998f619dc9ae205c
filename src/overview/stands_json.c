/* SPDX-License-Identifier: MIT */
/* What stands out, as JSON: the overview's "stands_out" and "waited_for". Names: interface.md. */
#include "overview/overview.h"
#include "run/command.h"

GETTER(const char *, kind, struct stand, stand_kind_name((enum stand_kind) row->fact->kind));
GETTER(const char *, id, struct stand, *row->id ? row->id : NULL);
GETTER(const char *, certainty, struct stand, row->fact->inferred ? "inferred" : "seen");
GETTER(double, share, struct stand, share_rounded(row->fact->most, row->fact->life));
GETTER(const char *, object, struct stand,
       row->fact->object ? session_text(report->session, row->fact->object) : NULL);

/* Without the trace's path: a plugin does not know it, and writes the same bytes. */
static char *command(const struct report *report, const void *data)
{
	const struct stand *row = data;

	return *row->id ? suggested_command(report->session,
					    &(struct suggestion) {.command = "explain",
								  .word = row->id,
								  .any_trace = true})
			: NULL;
}

static const struct column fact_columns[] = {
	{"ns", COLUMN_NS, FIELD(struct fact, ns)},
	{"worth_ns", COLUMN_NS, FIELD(struct fact, most)},
	{"threads", COLUMN_WHOLE, FIELD(struct fact, threads)},
	{"count", COLUMN_WHOLE, FIELD(struct fact, count)},
	{"spans_gap", COLUMN_BOOL, FIELD(struct fact, spans_gap)},
	{0}};
static const struct column who_columns[] = {
	{"thread", COLUMN_TID_NAME, FIELD(struct fact, victim)},
	{"subject", COLUMN_TID_NAME, FIELD(struct fact, subject)},
	{0}};

const struct column stand_columns[] = {
	{"kind", COLUMN_TEXT, .text = kind},
	{NULL, COLUMN_OBJECT, FIELD(struct stand, fact), .columns = who_columns},
	{"object", COLUMN_TEXT, .text = object},
	{NULL, COLUMN_OBJECT, FIELD(struct stand, fact), .columns = fact_columns},
	{"saved_ns", COLUMN_NS, FIELD(struct stand, saved), .none = NONE_LOWEST, .absent = true},
	{"saved_from_ns", COLUMN_NS, FIELD(struct stand, saved_from), .none = NONE_LOWEST,
	 .absent = true},
	{"saved_to_ns", COLUMN_NS, FIELD(struct stand, saved_to), .none = NONE_LOWEST,
	 .absent = true},
	{"share", COLUMN_SHARE, .real = share},
	{"certainty", COLUMN_TEXT, .text = certainty},
	{"sentence", COLUMN_TEXT, FIELD(struct stand, sentence)},
	{"finding", COLUMN_TEXT, .text = id},
	{"command", COLUMN_TEXT, .owned = command},
	{0}};

const struct column waited_columns[] = {
	{"threads", COLUMN_WHOLE, FIELD(struct stands, waiters)},
	{"cpu_ns", COLUMN_NS, FIELD(struct stands, waited[FOR_CPU])},
	{"lock_ns", COLUMN_NS, FIELD(struct stands, waited[FOR_LOCK])},
	{"disk_ns", COLUMN_NS, FIELD(struct stands, waited[FOR_DISK])},
	{"network_ns", COLUMN_NS, FIELD(struct stands, waited[FOR_NETWORK])},
	{"memory_ns", COLUMN_NS, FIELD(struct stands, waited[FOR_MEMORY])},
	{"limit_ns", COLUMN_NS, FIELD(struct stands, waited[FOR_LIMIT])},
	{"interrupt_ns", COLUMN_NS, FIELD(struct stands, waited[FOR_INTERRUPT])},
	{"child_ns", COLUMN_NS, FIELD(struct stands, waited[FOR_CHILDREN])},
	{"thread_ns", COLUMN_NS, FIELD(struct stands, waited[FOR_THREADS])},
	{"other_ns", COLUMN_NS, FIELD(struct stands, waited[FOR_REST])},
	{0}};

const struct column stands_columns[] = {
	{"stands_out", COLUMN_LIST, FIELD(struct stands, items), .columns = stand_columns},
	{"unexplained", COLUMN_TEXT, FIELD(struct stands, unexplained)},
	{"waited_for", COLUMN_OBJECT, .columns = waited_columns},
	{0}};
