/* SPDX-License-Identifier: MIT */
/* What threads and resources impose on others, as JSON: the overview's "waiting",
 * "waiting_sums" and "knots". Times are sums over the threads that waited.
 */
#include "overview/overview.h"

static void tell_wait(const struct report *report, const void *row)
{
	const struct imposer *imposer = row;

	json_tell_stretch(report, imposer->waiter, imposer->begin, imposer->end);
}

/* The wait that lost most to it. */
static const struct column example_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct imposer, waiter)},
	{NULL, COLUMN_WRITTEN, .write = tell_wait},
	{"begin", COLUMN_TIME, FIELD(struct imposer, begin)},
	{"end", COLUMN_TIME, FIELD(struct imposer, end)},
	{"ns", COLUMN_NS, FIELD(struct imposer, worst)},
	{0}};

GETTER(const char *, imposer_kind, struct imposer, row->resource ? "resource" : "thread");
GETTER(const void *, if_resource, struct imposer, row->resource ? row : NULL);
GETTER(const void *, if_thread, struct imposer, row->resource ? NULL : row);

static const struct column resource_columns[] = {
	{"kind", COLUMN_TEXT, .text = imposer_kind},
	{"host", COLUMN_WHOLE, FIELD(struct imposer, host)},
	{"resource", COLUMN_RESOURCE, FIELD(struct imposer, resource)},
	{0}};
static const struct column thread_imposer_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct imposer, thread)},
	{"kind", COLUMN_TEXT, .text = imposer_kind},
	{"working_ns", COLUMN_NS, FIELD(struct imposer, by[IMPOSED_WORK])},
	{"wait_cpu_ns", COLUMN_NS, FIELD(struct imposer, by[IMPOSED_CPU])},
	{"sleep_ns", COLUMN_NS, FIELD(struct imposer, by[IMPOSED_SLEEP])},
	{"device_ns", COLUMN_NS, FIELD(struct imposer, by[IMPOSED_DEVICE])},
	{"limit_ns", COLUMN_NS, FIELD(struct imposer, by[IMPOSED_LIMIT])},
	{"network_ns", COLUMN_NS, FIELD(struct imposer, by[IMPOSED_NETWORK])},
	{"silence_ns", COLUMN_NS, FIELD(struct imposer, by[IMPOSED_SILENCE])},
	{"other_ns", COLUMN_NS, FIELD(struct imposer, by[IMPOSED_OTHER])},
	{"ran_ns", COLUMN_NS, FIELD(struct imposer, by[IMPOSED_RAN])},
	{"in_way_ns", COLUMN_NS, FIELD(struct imposer, by[IMPOSED_IN_WAY])},
	{"through_ns", COLUMN_NS, FIELD(struct imposer, through)},
	{0}};

static const struct column imposer_columns[] = {
	{NULL, COLUMN_OBJECT, .at = if_resource, .columns = resource_columns},
	{NULL, COLUMN_OBJECT, .at = if_thread, .columns = thread_imposer_columns},
	{"ns", COLUMN_NS, FIELD(struct imposer, ns)},
	{"waiters", COLUMN_WHOLE, FIELD(struct imposer, waiters)},
	{"spans_gap", COLUMN_BOOL, FIELD(struct imposer, spans_gap)},
	{"example", COLUMN_OBJECT, .columns = example_columns},
	{0}};

GETTER(const char *, knot_kind, struct knot, row->circle ? "circle" : "bottleneck");
GETTER(bool, has_resource, struct knot, row->resource);
GETTER(double, knot_share, struct knot,
       share_rounded(row->ns, ((const struct overview_report *) report->data)->waiting->imposed));

static const struct column knot_columns[] = {
	{"kind", COLUMN_TEXT, .text = knot_kind},
	{"threads", COLUMN_LIST, FIELD(struct knot, threads), .item = COLUMN_THREAD},
	{"host", COLUMN_WHOLE, FIELD(struct knot, host), .when = has_resource},
	{"resource", COLUMN_RESOURCE, FIELD(struct knot, resource), .when = has_resource},
	{"ns", COLUMN_NS, FIELD(struct knot, ns)},
	{"share", COLUMN_SHARE, .real = knot_share},
	{"waiters", COLUMN_WHOLE, FIELD(struct knot, waiters)},
	{0}};

static const struct column sums_columns[] = {
	{"imposed_ns", COLUMN_NS, FIELD(struct waiting, imposed)},
	{"by_threads_ns", COLUMN_NS, FIELD(struct waiting, by_threads)},
	{"own_ns", COLUMN_NS, FIELD(struct waiting, own)},
	{"idle_ns", COLUMN_NS, FIELD(struct waiting, idle)},
	{"open_ns", COLUMN_NS, FIELD(struct waiting, open)},
	{"unknown_ns", COLUMN_NS, FIELD(struct waiting, unknown)},
	{"children_ns", COLUMN_NS, FIELD(struct waiting, children)},
	{"tracer_ns", COLUMN_NS, FIELD(struct waiting, tracer)},
	{"left_out_ns", COLUMN_NS, FIELD(struct waiting, left_out)},
	{"left_out", COLUMN_WHOLE, FIELD(struct waiting, left_out_count)},
	{0}};

const struct column waiting_columns[] = {
	{"waiting", COLUMN_LIST, FIELD(struct waiting, imposers), .columns = imposer_columns,
	 .limited = true},
	{"waiting_sums", COLUMN_OBJECT, .columns = sums_columns},
	{"knots", COLUMN_LIST, FIELD(struct waiting, knots), .columns = knot_columns},
	{0}};
