/* SPDX-License-Identifier: MIT */
/* What the overview's records are made of, and JSON of them (whylate-overview-1); shapes as in the
 * delay report. */
#include "overview/failed_calls.h"
#include "overview/overview.h"
#include "overview/overview_what_if.h"

#include "run/containers.h"
#include "findings/findings.h"
#include "limits/limits_report.h"

GETTER(int64_t, tid, struct thread_total,
       model_thread(&report->session->trace.model, row->thread)->tid);
GETTER(const char *, thread_name, struct thread_total,
       session_thread_name(report->session, row->thread));
GETTER(bool, several_hosts, void, report->session->trace.model.hosts->len > 1);
GETTER(const char *, thread_host, struct thread_total,
       trace_host_name(&report->session->trace,
		       model_thread(&report->session->trace.model, row->thread)->host));

const struct column thread_total_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct thread_total, thread)},
	{"begin", COLUMN_TIME, FIELD(struct thread_total, begin)},
	{"end", COLUMN_TIME, FIELD(struct thread_total, end)},
	{"working_ns", COLUMN_NS, FIELD(struct thread_total, wib[WIB_WORKING]),
	 .table = {3, "WORKING", 10}},
	{"interrupted_ns", COLUMN_NS, FIELD(struct thread_total, wib[WIB_INTERRUPTED]),
	 .table = {4, "INTERRUPTED", 11}},
	{"ready_ns", COLUMN_NS, FIELD(struct thread_total, ready)},
	{"blocked_ns", COLUMN_NS, FIELD(struct thread_total, wib[WIB_BLOCKED]),
	 .table = {5, "BLOCKED", 10}},
	{"unknown_ns", COLUMN_NS, FIELD(struct thread_total, wib[WIB_UNKNOWN]),
	 .table = {6, "UNKNOWN", 10}},
	{NULL, COLUMN_WHOLE, .number = tid, .table = {1, "TID", 7}},
	{NULL, COLUMN_TEXT, .text = thread_name, .table = {2, "NAME", -16}},
	{NULL, COLUMN_TEXT, .text = thread_host, .when = several_hosts,
	 .table = {7, "HOST", 0, "  "}},
	{0}};

static const struct column group_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct wait_group, thread)},
	{"leaf", COLUMN_LEAF, FIELD(struct wait_group, leaf)},
	{"resource", COLUMN_RESOURCE, FIELD(struct wait_group, resource), .none = NONE_ZERO,
	 .absent = true},
	{"ns", COLUMN_NS, FIELD(struct wait_group, ns)},
	{"count", COLUMN_WHOLE, FIELD(struct wait_group, count)},
	{"longest_ns", COLUMN_NS, FIELD(struct wait_group, longest)},
	{"longest_begin", COLUMN_TIME, FIELD(struct wait_group, longest_begin)},
	{"spans_gap", COLUMN_BOOL, FIELD(struct wait_group, spans_gap)},
	{"cause", COLUMN_OBJECT, FIELD_HERE(struct wait_group, cause), .columns = cause_columns},
	{0}};

GETTER(int64_t, mean, struct call_total, row->stat.total / (int64_t) row->stat.count);

const struct column call_columns[] = {
	{"name", COLUMN_NAME, FIELD(struct call_total, name), .mark = MARK_SHOWS,
	 .table = {1, "NAME", -24}},
	{"count", COLUMN_WHOLE, FIELD(struct call_total, stat.count), .table = {2, "CALLS", 10}},
	{"spans_gap", COLUMN_WHOLE, FIELD(struct call_total, stat.spans_gap), .mark = MARK_TELLS},
	{"sum_ns", COLUMN_NS, FIELD(struct call_total, stat.total), .table = {3, "TOTAL", 10}},
	{"max_ns", COLUMN_NS, FIELD(struct call_total, stat.longest), .table = {5, "LONGEST", 10}},
	{"modes", COLUMN_WHOLE, FIELD(struct call_total, peaks), .table = {6, "PEAKS", 6}},
	{NULL, COLUMN_NS, .number = mean, .table = {4, "MEAN", 10}},
	{0}};

GETTER(const char *, container_kind, struct container,
       row->kind == NAMESPACE_PID ? "pid" : "cgroup");
GETTER(int64_t, level, struct container, row->kind == NAMESPACE_PID ? (int64_t) row->level : -1);
GETTER(GArray *, containers, void, containers_new(report->session));

static const struct column container_columns[] = {
	{"host", COLUMN_WHOLE, FIELD(struct container, host)},
	{"kind", COLUMN_TEXT, .text = container_kind},
	{"namespace", COLUMN_WHOLE, FIELD(struct container, number)},
	{"level", COLUMN_WHOLE, .number = level, .none = NONE_NEGATIVE},
	{"parent", COLUMN_WHOLE, FIELD(struct container, parent), .none = NONE_ZERO},
	{"first", COLUMN_THREAD, FIELD(struct container, first)},
	{"threads", COLUMN_WHOLE, FIELD(struct container, threads)},
	{"names", COLUMN_LIST, FIELD(struct container, names), .item = COLUMN_NAME},
	{0}};

static const struct column idle_columns[] = {
	{"threads", COLUMN_WHOLE, FIELD(struct overview, idle)},
	{"blocked_ns", COLUMN_NS, FIELD(struct overview, idle_ns)},
	{"kernel_threads", COLUMN_WHOLE, FIELD(struct overview, kernel_threads)},
	{0}};

static const struct column first_columns[] = {
	{"threads", COLUMN_LIST, FIELD(struct overview, threads), .columns = thread_total_columns,
	 .limited = true, .tells_all = true},
	{"waits", COLUMN_LIST, FIELD(struct overview, waits), .columns = group_columns,
	 .limited = true, .tells_all = true},
	{0}};
static const struct column last_columns[] = {
	{"system_calls", COLUMN_LIST, FIELD(struct overview, calls), .columns = call_columns,
	 .limited = true},
	{"idle", COLUMN_OBJECT, .columns = idle_columns},
	{"idle_threads", COLUMN_LIST, FIELD(struct overview, idle), .item = COLUMN_THREAD,
	 .limited = true, .tells_all = true},
	{0}};

GETTER(int64_t, not_kept, void, (int64_t) failed_calls_not_kept(report->session));

static const struct column report_columns[] = {
	COLUMNS(report_head),
	COLUMNS(report_limits),
	{NULL, COLUMN_OBJECT, FIELD(struct overview_report, stands), .columns = stands_columns},
	{"what_if", COLUMN_OBJECT, FIELD(struct overview_report, what_if),
	 .columns = overview_what_if_columns, .absent = true},
	{"configuration", COLUMN_LIST, FIELD(struct overview_report, configuration),
	 .columns = configuration_columns, .limited = true},
	{"failed_calls", COLUMN_LIST, FIELD(struct overview_report, failed),
	 .columns = failed_calls_columns, .limited = true},
	{"failed_calls_not_kept", COLUMN_WHOLE, .number = not_kept, .none = NONE_ZERO,
	 .absent = true},
	{"findings", COLUMN_LIST, FIELD(struct overview_report, findings),
	 .columns = finding_columns, .limited = true},
	{NULL, COLUMN_OBJECT, FIELD(struct overview_report, overview), .columns = first_columns},
	{"locks", COLUMN_LIST, FIELD(struct overview_report, locks), .columns = contention_columns,
	 .limited = true},
	COLUMNS(report_deadlocks),
	{NULL, COLUMN_OBJECT, FIELD(struct overview_report, waiting), .columns = waiting_columns},
	{NULL, COLUMN_OBJECT, FIELD(struct overview_report, overview), .columns = last_columns},
	{"containers", COLUMN_LIST, .array = containers, .columns = container_columns,
	 .limited = true, .tells_all = true},
	{0}};

void overview_json(const struct overview_report *made, struct output *output)
{
	struct report report = {made->session, made, output};

	json_report(&report, "whylate-overview-1", report_columns, made);
}
