/* SPDX-License-Identifier: MIT */
/* The LAMI analysis of requests: each one with its largest cause, and all causes; see lami.h. The
 * figures are those of `whylate requests`. `data` is struct costs.
 */
#include "lami/lami_analysis.h"
#include "tracking/request_costs.h"
#include "tracking/request_list.h"

static const struct costs *costs_of_report(const struct report *report)
{
	return report->data;
}

/* --- requests: a row is its place in requests->listed ---------------------------------------- */

static const struct user_request *request_at(const struct report *report, guint listed)
{
	const struct user_requests *requests = costs_of_report(report)->requests;

	return user_request_at(requests, g_array_index(requests->listed, uint32_t, listed));
}

/* NULL: nothing is known that it was spent on. */
static const struct cost *largest_cost(const struct report *report, guint listed)
{
	const struct costs *costs = report->data;
	guint first, end;

	costs_of(costs, listed, &first, &end);
	return first < end ? &g_array_index(costs->costs, struct cost, first) : NULL;
}

static const struct user_cause *largest_cause(const struct report *report, guint listed)
{
	const struct cost *cost = largest_cost(report, listed);

	return cost ? &g_array_index(costs_of_report(report)->causes, struct user_cause,
				     cost->cause)
		    : NULL;
}

static double largest_share(const struct report *report, guint listed)
{
	const struct user_request *request = request_at(report, listed);
	const struct cost *cost = largest_cost(report, listed);

	return cost ? lami_ratio(cost->value, request->end - request->begin) : -1;
}

GETTER(const void *, request, guint, request_at(report, *row));
GETTER(char *, label, struct user_request,
       user_request_label(costs_of_report(report)->requests, row));
GETTER(const char *, cause_kind, guint,
       largest_cause(report, *row) ? largest_cause(report, *row)->kind : NULL);
GETTER(const char *, cause_label, guint,
       largest_cause(report, *row) ? largest_cause(report, *row)->label : NULL);
GETTER(int64_t, value, guint, largest_cost(report, *row) ? largest_cost(report, *row)->value : -1);
GETTER(double, cost_share, guint, largest_share(report, *row));

static const struct column request_columns[] = {
	{NULL, COLUMN_WHOLE, FIELD(struct user_request, id), .lami = {"Number"}},
	{NULL, COLUMN_TEXT, .owned = label, .lami = {"Request"}},
	{NULL, COLUMN_THREAD, FIELD(struct user_request, last), .lami = {"Finished by"}},
	{NULL, COLUMN_RANGE, FIELD_RANGE(struct user_request, begin, end), .lami = {"When"}},
	{0}};

static const struct column whole_columns[] = {
	{NULL, COLUMN_BOOL, FIELD(struct user_request, unfinished), .lami = {"Unfinished"}},
	{NULL, COLUMN_BOOL, FIELD(struct user_request, spans_gap), .lami = {"Spans lost events"}},
	{0}};

static const struct column listed_columns[] = {
	{NULL, COLUMN_OBJECT, .at = request, .columns = request_columns},
	{NULL, COLUMN_TEXT, .text = cause_kind, .lami = {"Largest cause", .unknown = true}},
	{NULL, COLUMN_TEXT, .text = cause_label, .lami = {"Which was", .unknown = true}},
	{NULL, COLUMN_NS, .number = value, .lami = {"Of it"}},
	{NULL, COLUMN_SHARE, .real = cost_share, .lami = {"Share"}},
	{NULL, COLUMN_OBJECT, .at = request, .columns = whole_columns},
	{0}};

static const struct lami_table request_table = {"requests", "Requests, the slowest first",
						listed_columns, NULL};

/* --- causes --------------------------------------------------------------------------------- */

GETTER(double, share, struct user_cause, lami_ratio(row->value, costs_of_report(report)->total));
GETTER(const char *, change, struct user_cause, change_text(row->change));

static const struct column cause_columns[] = {
	{NULL, COLUMN_TEXT, FIELD(struct user_cause, kind), .lami = {"Cause"}},
	{NULL, COLUMN_TEXT, FIELD(struct user_cause, label), .lami = {"Which was"}},
	{NULL, COLUMN_NS, FIELD(struct user_cause, value), .lami = {"Time"}},
	{NULL, COLUMN_SHARE, .real = share, .lami = {"Share"}},
	{NULL, COLUMN_WHOLE, FIELD(struct user_cause, requests), .lami = {"Requests", "requests"}},
	{NULL, COLUMN_TEXT, .text = change, .lami = {"To be changed by"}},
	{NULL, COLUMN_THREAD, FIELD(struct user_cause, thread), .lami = {"Seen most in"}},
	{NULL, COLUMN_RANGE, FIELD_RANGE(struct user_cause, begin, end), .lami = {"When"}},
	{NULL, COLUMN_BOOL, FIELD(struct user_cause, spans_gap), .lami = {"Spans lost events"}},
	{0}};

static const struct lami_table cause_table = {"causes", "Where the time of all requests went",
					      cause_columns, NULL};

static bool write_requests(struct lami_writer *writer, GError **error)
{
	const struct session *session = writer->report.session;
	struct request_scope scope = {session->asked.options->requests.picks, "pick",
				      session->asked.from, session->asked.to};
	struct user_requests *requests = user_requests_new(session, &scope, error);
	g_autoptr(GArray) order = NULL;
	struct costs *costs;

	if (!requests)
		return false;
	costs = costs_new(requests);
	order = requests_by_latency(requests, requests->listed, true);
	writer->report.data = costs;
	lami_rows(writer, &request_table, ROWS(order));
	lami_rows(writer, &cause_table, ROWS(costs->causes));
	writer->report.data = NULL;
	costs_free(costs);
	user_requests_free(requests);
	return true;
}

const struct lami_analysis lami_requests = {
	.name = "requests",
	.title = "whylate: requests and what they cost",
	.description = "What servers, or --preset's others, were asked for: how long each took, "
		       "its largest cause, and what all of them together spent their time on.",
	.tags = {"top", "log"},
	.command = "requests",
	.needs = {EV_SYSCALL_ENTRY},
	.tables = {&request_table, &cause_table},
	.write = write_requests};
