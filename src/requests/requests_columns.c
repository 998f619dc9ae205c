/* SPDX-License-Identifier: MIT */
/* Requests and their costs: what their records are made of, and JSON (whylate-requests-1) and CSV
 * of them. */
#include "requests/requests_columns.h"

#include <inttypes.h>
#include <string.h>

#include "findings/findings.h"
#include "requests/lattice.h"
#include "requests/path_tree.h"
#include "requests/requests_answer.h"
#include "tracking/request_path.h"
#include "limits/limits_report.h"

/* --- causes --------------------------------------------------------------------------------- */

char *metric_value_text(enum metric metric, int64_t value)
{
	char *text, *space;
	char buffer[32];

	if (metric == METRIC_CALLS)
		return g_strdup_printf("%" PRId64, value);
	if (metric != METRIC_DISK_BYTES && metric != METRIC_NET_BYTES)
		return g_strdup(when_duration(buffer, value));
	text = g_format_size_full((guint64) value, G_FORMAT_SIZE_DEFAULT);
	space = strstr(text, "\u00a0"); /* one that does not break */
	if (space)
		memmove(space + 1, space + 2, strlen(space + 2) + 1);
	if (space)
		*space = ' ';
	return text;
}

static const struct costs *costs_of_report(const struct report *report)
{
	return report->data;
}

static enum metric metric(const struct report *report)
{
	return metric_of(report->data);
}

GETTER(bool, counts_calls, void, metric(report) == METRIC_CALLS);
GETTER(bool, sums_up, void, metric(report) != METRIC_CALLS);

static char *cause_text(const struct report *report, const void *row)
{
	const struct user_cause *cause = row;

	(void) report;
	if (!cause->change)
		return g_strdup(cause->label);
	return g_strdup_printf("%s [%s]", cause->label, change_text(cause->change));
}

static void write_value(const struct report *report, const void *row)
{
	json_put_whole(report->output, metric_unit(metric(report)),
		       ((const struct charge *) row)->value);
}

GETTER(char *, value_text, struct charge, metric_value_text(metric(report), row->value));
GETTER(double, charge_share, struct charge,
       row->whole ? (double) row->value / (double) row->whole : 0);
GETTER(int64_t, id_of_cause, struct user_cause,
       user_request_at(costs_of_report(report)->requests, row->request)->id);
GETTER(const char *, user_can_change, struct user_cause, change_text(row->change));

/* Where a cause is seen most: a thread and a time, and the request. */
static const struct column example_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct user_cause, thread)},
	{"begin", COLUMN_TIME, FIELD(struct user_cause, begin)},
	{"end", COLUMN_TIME, FIELD(struct user_cause, end)},
	{"request", COLUMN_WHOLE, .number = id_of_cause},
	{0}};

GETTER(bool, is_mean, struct charge,
       !row->one && costs_of_report(report)->requests->listed->len > 1);
GETTER(const void *, known_worth, struct charge, row->saving.known ? row : NULL);

static const struct column worth_of_cause[] = {
	{"saved_ns", COLUMN_NS, FIELD(struct charge, saving.ns)},
	{"saved_from_ns", COLUMN_NS, FIELD(struct charge, saving.from)},
	{"saved_to_ns", COLUMN_NS, FIELD(struct charge, saving.to)},
	{"p90_saved_ns", COLUMN_NS, FIELD(struct charge, cause.p90.ns), .when = is_mean},
	{"p90_saved_from_ns", COLUMN_NS, FIELD(struct charge, cause.p90.from), .when = is_mean},
	{"p90_saved_to_ns", COLUMN_NS, FIELD(struct charge, cause.p90.to), .when = is_mean},
	{0}};

const struct column charge_columns[] = {
	{"kind", COLUMN_TEXT, FIELD(struct charge, cause.kind), .table = {5, "KIND", -13, "  "}},
	{"label", COLUMN_TEXT, FIELD(struct charge, cause.label)},
	{NULL, COLUMN_WRITTEN, .write = write_value},
	{NULL, COLUMN_TEXT, .owned = value_text, .when = sums_up, .table = {2, "SUM", 10}},
	{NULL, COLUMN_TEXT, .owned = value_text, .when = counts_calls, .table = {2, "CALLS", 10}},
	{"share", COLUMN_SHARE, .real = charge_share, .table = {1, "SHARE", 7}},
	{"requests", COLUMN_WHOLE, FIELD(struct charge, cause.requests),
	 .table = {4, "REQUESTS", 8, ""}},
	{"user_can_change", COLUMN_TEXT, .text = user_can_change},
	{"spans_gap", COLUMN_BOOL, FIELD(struct charge, cause.spans_gap), .mark = MARK_TELLS,
	 .table = {3, " ", 1, ""}},
	{"example", COLUMN_OBJECT, .columns = example_columns},
	{"worth", COLUMN_OBJECT, .at = known_worth, .columns = worth_of_cause, .absent = true},
	{NULL, COLUMN_TEXT, .owned = cause_text, .table = {6, "CAUSE"}},
	{0}};

static const struct column first_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct user_cause, first_thread)},
	{"time", COLUMN_TIME, FIELD(struct user_cause, first)},
	{0}};

static const struct column summary_columns[] = {
	COLUMNS(charge_columns), {"first", COLUMN_OBJECT, .columns = first_columns}, {0}};

static void append_charge(GArray *list, struct charge charge)
{
	g_array_append_val(list, charge);
}

/* What saves most, then what takes most; whose worth is not known behind these. */
static int most_saved(gconstpointer a, gconstpointer b)
{
	const struct charge *x = a, *y = b;

	if (x->saving.known != y->saving.known)
		return x->saving.known ? -1 : 1;
	if (x->saving.known && x->saving.ns != y->saving.ns)
		return x->saving.ns > y->saving.ns ? -1 : 1;
	return (x->value < y->value) - (x->value > y->value);
}

GArray *charges_new(const struct costs *costs)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct charge));

	for (guint i = 0; i < costs->causes->len; i++) {
		const struct user_cause *cause =
			&g_array_index(costs->causes, struct user_cause, i);

		append_charge(list, (struct charge) {*cause, cause->value, costs->total,
						     cause->mean, false});
	}
	if (costs->requests->session->asked.options->order == BY_WORTH)
		g_array_sort(list, most_saved);
	return list;
}

GArray *charges_of_request(const struct costs *costs, guint listed)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct charge));
	guint first, end;
	int64_t whole = 0;

	costs_of(costs, listed, &first, &end);
	for (guint i = first; i < end; i++)
		whole += g_array_index(costs->costs, struct cost, i).value;
	for (guint i = first; i < end; i++) {
		const struct cost *cost = &g_array_index(costs->costs, struct cost, i);

		append_charge(list, (struct charge) {g_array_index(costs->causes, struct user_cause,
								   cost->cause),
						     cost->value, whole, cost->saving, true});
	}
	return list;
}

/* --- requests ------------------------------------------------------------------------------- */

static const struct thread *thread_at(const struct report *report, uint32_t thread)
{
	return model_thread(&report->session->trace.model, thread);
}

GETTER(const char *, kind, void, user_request_kind(costs_of_report(report)->requests));
GETTER(int64_t, length, struct user_request, row->end - row->begin);
GETTER(char *, label, struct user_request,
       user_request_label(costs_of_report(report)->requests, row));
GETTER(int64_t, host, struct user_request, thread_at(report, row->last)->host);
GETTER(int64_t, first_tid, struct user_request, thread_at(report, row->first)->tid);
GETTER(int64_t, last_tid, struct user_request, thread_at(report, row->last)->tid);

/* What a request is, without what it cost. */
static const struct column request_columns[] = {
	{"id", COLUMN_WHOLE, FIELD(struct user_request, id), .csv = {1}},
	{"kind", COLUMN_TEXT, .text = kind, .csv = {2}},
	{"begin", COLUMN_TIME, FIELD(struct user_request, begin), .csv = {6}},
	{"end", COLUMN_TIME, FIELD(struct user_request, end), .csv = {7}},
	{"ns", COLUMN_NS, .number = length, .csv = {8}},
	{"label", COLUMN_TEXT, .owned = label, .csv = {3}},
	{"host", COLUMN_WHOLE, .number = host, .csv = {4}},
	{"first_tid", COLUMN_WHOLE, .number = first_tid},
	{"last_tid", COLUMN_WHOLE, .number = last_tid, .csv = {5, "tid"}},
	{"unfinished", COLUMN_BOOL, FIELD(struct user_request, unfinished), .csv = {9}},
	{"spans_gap", COLUMN_BOOL, FIELD(struct user_request, spans_gap), .csv = {10}},
	{0}};

static guint write_inner(const struct report *report, const void *row);

static const struct column inner_list[] = {{"inner", COLUMN_LIST, .each = write_inner}, {0}};
static const struct column inner_columns[] = {COLUMNS(request_columns), COLUMNS(inner_list), {0}};

static guint write_inner(const struct report *report, const void *row)
{
	const struct user_requests *requests = costs_of_report(report)->requests;
	const struct user_request *outer = row;
	guint place = (guint) (outer - user_request_at(requests, 0)) + 1;

	for (guint i = place; i < requests->list.used; i++) {
		const struct user_request *request = user_request_at(requests, i);

		if (request->begin > outer->end)
			break;
		if (request->parent == place)
			json_put_row(report, NULL, inner_columns, request);
	}
	return 0;
}

/* --- those that are listed: a row is its place in requests->listed --------------------------- */

static const struct user_cause *largest_cause(const struct costs *costs, guint listed)
{
	guint first, end;

	costs_of(costs, listed, &first, &end);
	return first < end ? &g_array_index(costs->causes, struct user_cause,
					    g_array_index(costs->costs, struct cost, first).cause)
			   : NULL;
}

static int64_t largest_value(const struct costs *costs, guint listed)
{
	guint first, end;

	costs_of(costs, listed, &first, &end);
	return first < end ? g_array_index(costs->costs, struct cost, first).value : -1;
}

static const struct column thread_cost_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct thread_cost, thread)},
	{"ns", COLUMN_NS, FIELD(struct thread_cost, ns)},
	{0}};

static GArray *threads_of(const struct report *report, const void *row)
{
	const struct costs *costs = report->data;
	guint first, end;

	thread_costs_of(costs, *(const guint *) row, &first, &end);
	return rows_between(costs->threads, first, end);
}

GETTER(const void *, request_of, guint, listed_request(report->data, *row));
GETTER(GArray *, charges_of, guint, charges_of_request(report->data, *row));
GETTER(const void *, cause_of, guint, largest_cause(report->data, *row));
GETTER(int64_t, value_of, guint, largest_value(report->data, *row));
GETTER(const char *, unit, void, metric_unit(metric(report)));

static const struct column largest_columns[] = {
	{NULL, COLUMN_TEXT, FIELD(struct user_cause, kind), .csv = {11, "cause_kind"}},
	{NULL, COLUMN_TEXT, FIELD(struct user_cause, label), .csv = {12, "cause"}},
	{NULL, COLUMN_TEXT, .text = unit, .csv = {14, "unit"}},
	{0}};

/* Of its way. */
static GArray *functions_of_request(const struct report *report, const void *row)
{
	const struct costs *costs = report->data;
	struct path *path;
	GArray *totals;

	if (!costs->functions || !costs->functions->len)
		return NULL;
	path = user_request_path(costs->requests, listed_request(costs, *(const guint *) row));
	totals = function_totals_new(report->session, path);
	path_free(path);
	return totals;
}

GETTER(GArray *, all_functions, void,
       ((const struct costs *) report->data)->functions &&
		       ((const struct costs *) report->data)->functions->len
	       ? g_array_ref(((const struct costs *) report->data)->functions)
	       : NULL);

static const struct column listed_columns[] = {
	{NULL, COLUMN_OBJECT, .at = request_of, .columns = request_columns},
	{"threads", COLUMN_LIST, .array = threads_of, .columns = thread_cost_columns},
	{"causes", COLUMN_LIST, .array = charges_of, .columns = charge_columns},
	{"functions", COLUMN_LIST, .array = functions_of_request, .columns = function_total_columns,
	 .absent = true},
	{NULL, COLUMN_OBJECT, .at = request_of, .columns = inner_list},
	{NULL, COLUMN_OBJECT, .at = cause_of, .columns = largest_columns},
	{NULL, COLUMN_WHOLE, .number = value_of, .none = NONE_NEGATIVE, .csv = {13, "value"}},
	{0}};

int ascending(gconstpointer a, gconstpointer b)
{
	guint x = *(const guint *) a, y = *(const guint *) b;

	return x < y ? -1 : x > y;
}

/* --limit keeps the slowest; they are told in order of their begin. */
static GArray *shown(const struct costs *costs)
{
	GArray *order = requests_by_latency(costs->requests, costs->requests->listed, true);

	g_array_set_size(order, rows_limited(costs->requests->session, order->len));
	g_array_sort(order, ascending);
	return order;
}

GETTER(GArray *, shown_requests, void, shown(report->data));
GETTER(int64_t, omitted, struct user_requests,
       row->listed->len - rows_limited(report->session, row->listed->len));

/* --- all requests together -------------------------------------------------------------------- */

static const struct lattice *lattice_of(const struct report *report)
{
	return report->data;
}

static const struct column node_columns[] = {
	{"label", COLUMN_TEXT, FIELD(struct lattice_node, label)},
	{"requests", COLUMN_WHOLE, FIELD(struct lattice_node, requests)},
	{"ns", COLUMN_NS, FIELD(struct lattice_node, ns)},
	{"rest_ns", COLUMN_NS, FIELD(struct lattice_node, rest)},
	{0}};

static const struct column edge_columns[] = {
	{"from", COLUMN_WHOLE, FIELD(struct lattice_edge, from)},
	{"to", COLUMN_WHOLE, FIELD(struct lattice_edge, to)},
	{"requests", COLUMN_WHOLE, FIELD(struct lattice_edge, requests)},
	{"cost_ns", COLUMN_NS, FIELD(struct lattice_edge, cost)},
	{"condition", COLUMN_WHOLE, FIELD(struct lattice_edge, condition), .none = NONE_ZERO},
	{0}};

static guint write_ids(const struct report *report, const void *row)
{
	const struct lattice *lattice = report->data;
	const GArray *merged = ((const struct condition *) row)->requests;

	for (guint k = 0; k < merged->len; k++) {
		uint32_t listed =
			g_array_index(lattice->merged, uint32_t, g_array_index(merged, guint, k));

		json_put_whole(report->output, NULL, listed_request(lattice->costs, listed)->id);
	}
	return 0;
}

GETTER(int64_t, condition_id, struct condition,
       row - &g_array_index(lattice_of(report)->conditions, struct condition, 0) + 1);
GETTER(int64_t, mean, struct condition, (int64_t) row->mean[1]);
GETTER(int64_t, mean_of_others, struct condition, (int64_t) row->mean[0]);
GETTER(const void *, edge_at, guint,
       &g_array_index(lattice_of(report)->edges, struct lattice_edge, *row));

static const struct column condition_columns[] = {
	{"id", COLUMN_WHOLE, .number = condition_id},
	{"requests", COLUMN_LIST, .each = write_ids},
	{"cost_ns", COLUMN_NS, FIELD(struct condition, cost)},
	{"mean_ns", COLUMN_NS, .number = mean},
	{"others_mean_ns", COLUMN_NS, .number = mean_of_others},
	{"branches", COLUMN_LIST, FIELD(struct condition, edges), .row = edge_at,
	 .columns = edge_columns},
	{0}};

static const struct column lattice_columns[] = {
	{"merged", COLUMN_WHOLE, FIELD(struct lattice, merged)},
	{"nodes", COLUMN_LIST, FIELD(struct lattice, nodes), .columns = node_columns},
	{"edges", COLUMN_LIST, FIELD(struct lattice, edges), .columns = edge_columns},
	{"conditions", COLUMN_LIST, FIELD(struct lattice, conditions),
	 .columns = condition_columns},
	{0}};

GETTER(int64_t, p50, struct tree_node, tree_percentile(row, 50));
GETTER(int64_t, p95, struct tree_node, tree_percentile(row, 95));
GETTER(int64_t, p99, struct tree_node, tree_percentile(row, 99));

const struct column tree_columns[] = {
	{"label", COLUMN_TEXT, FIELD(struct tree_node, label), .table = {5, "", 0, "  "},
	 .indents = true},
	{"ns", COLUMN_NS, FIELD(struct tree_node, ns)},
	{"requests", COLUMN_WHOLE, FIELD(struct tree_node, values), .table = {1, "REQUESTS", 8}},
	{"p50_ns", COLUMN_NS, .number = p50, .table = {2, "P50", 10}},
	{"p95_ns", COLUMN_NS, .number = p95, .table = {3, "P95", 10}},
	{"p99_ns", COLUMN_NS, .number = p99, .table = {4, "P99", 10}},
	{"children", COLUMN_LIST, FIELD(struct tree_node, children)},
	{0}};

/* Their ways, which latency alone has. */
static void write_ways(const struct report *report, const void *row)
{
	const struct requests_report *made = row;
	struct report of_lattice = *report;
	struct lattice *lattice;

	if (!made->tree)
		return;
	json_put_row(report, "tree", tree_columns, made->tree);
	of_lattice.data = lattice = lattice_new(report->data, 0);
	json_put_row(&of_lattice, "lattice", lattice_columns, lattice);
	lattice_free(lattice);
}

static void write_answer(const struct report *report, const void *row)
{
	const struct requests_report *made = row;
	g_autoptr(GArray) order = requests_by_latency(made->requests, made->requests->listed, true);

	json_put_answer(report->output, requests_answer(made->costs, order, made->apart));
}

static char *remarks(const struct report *report, const void *row)
{
	const struct requests_report *made = row;
	char *text = requests_remarks(made->costs, made->requests->listed->len);

	(void) report;
	if (*text)
		return text;
	g_free(text);
	return NULL;
}

/* --- reports -------------------------------------------------------------------------------- */

static const char *const metrics[] = {"latency",   "cpu",       "wait", "disk-bytes",
				      "disk-time", "net-bytes", "calls"};

GETTER(GArray *, all_charges, void, charges_new(report->data));
GETTER(GArray *, findings, void, findings_of_costs(report->data));
GETTER(const char *, metric_name, void, metrics[metric(report)]);
GETTER(const char *, follow, void,
       report->session->asked.options->requests.follow == FOLLOW_FLOW ? "flow" : "thread");
GETTER(int64_t, not_followed, void, costs_of_report(report)->not_followed);

static const struct column report_columns[] = {
	COLUMNS(report_head),
	COLUMNS(report_limits),
	{"findings", COLUMN_LIST, .array = findings, .columns = finding_columns, .limited = true},
	{0}};

static const struct column list_columns[] = {
	{"metric", COLUMN_TEXT, .text = metric_name},
	{"follow", COLUMN_TEXT, .text = follow},
	{"count", COLUMN_WHOLE, FIELD(struct user_requests, listed)},
	{"not_picked", COLUMN_WHOLE, FIELD(struct user_requests, omitted)},
	{"of_tracer", COLUMN_WHOLE, FIELD(struct user_requests, of_tracer)},
	{"not_followed", COLUMN_WHOLE, .number = not_followed},
	{"inferred_connections", COLUMN_WHOLE, FIELD(struct user_requests, inferred)},
	{"undecided_connections", COLUMN_WHOLE, FIELD(struct user_requests, undecided)},
	{"unknown_connections", COLUMN_WHOLE, FIELD(struct user_requests, unknown_ends)},
	{"requests", COLUMN_LIST, .array = shown_requests, .columns = listed_columns,
	 .lines = LINES_BETWEEN},
	{"requests_omitted", COLUMN_WHOLE, .number = omitted, .none = NONE_ZERO, .absent = true},
	{"summary", COLUMN_LIST, .array = all_charges, .columns = summary_columns},
	{"functions", COLUMN_LIST, .array = all_functions, .columns = function_total_columns,
	 .absent = true},
	{0}};

static const struct column rest_columns[] = {
	{"unassigned_ns", COLUMN_NS, FIELD(struct user_requests, unassigned_ns)},
	{"unassigned_working_ns", COLUMN_NS, FIELD(struct user_requests, unassigned_working_ns)},
	{0}};

/* --- what sets groups of them apart ---------------------------------------------------------- */

GETTER(char *, group_pick, struct request_group,
       row->peak ? g_strdup_printf("peak:%u", row->peak) : NULL);

static const struct column group_columns[] = {
	{"pick", COLUMN_TEXT, .owned = group_pick},
	{"from_ns", COLUMN_NS, FIELD(struct request_group, from)},
	{"to_ns", COLUMN_NS, FIELD(struct request_group, to)},
	{"count", COLUMN_WHOLE, FIELD(struct request_group, count)},
	{"of", COLUMN_WHOLE, FIELD(struct request_group, all)},
	{NULL, COLUMN_OBJECT, FIELD(struct request_group, traits), .columns = traits_columns},
	{0}};

static const struct column apart_columns[] = {
	{"groups", COLUMN_LIST, FIELD(struct requests_apart, groups), .columns = group_columns},
	{"groups_spread", COLUMN_BOOL, FIELD(struct requests_apart, spread)},
	{0}};

static const struct column made_columns[] = {
	{NULL, COLUMN_OBJECT, FIELD(struct requests_report, requests), .columns = report_columns},
	{NULL, COLUMN_WRITTEN, .write = write_answer},
	{"remarks", COLUMN_TEXT, .owned = remarks, .absent = true},
	{NULL, COLUMN_OBJECT, FIELD(struct requests_report, requests), .columns = list_columns},
	{NULL, COLUMN_WRITTEN, .write = write_ways},
	{NULL, COLUMN_OBJECT, FIELD(struct requests_report, requests), .columns = rest_columns},
	{"configuration", COLUMN_LIST, FIELD(struct requests_report, configuration),
	 .columns = configuration_columns},
	{NULL, COLUMN_OBJECT, FIELD(struct requests_report, apart), .columns = apart_columns},
	{"what_if", COLUMN_OBJECT, FIELD(struct requests_report, what_if),
	 .columns = requests_what_if_columns, .absent = true},
	{0}};

void requests_json(const struct requests_report *made, struct output *output)
{
	struct report report = {made->requests->session, made->costs, output};

	json_report(&report, "whylate-requests-1", made_columns, made);
}

/* A request that is listed, and the group that is told apart of which it is one; NULL: none. */
struct csv_row {
	guint listed;
	const struct request_group *group;
};

static char *goes_with(const struct report *report, const void *row)
{
	const struct csv_row *at = row;
	GString *text;

	(void) report;
	if (!at->group || !at->group->traits->told->len)
		return NULL;
	text = g_string_new(NULL);
	for (guint i = 0; i < at->group->traits->told->len; i++) {
		const struct trait_told *told = g_ptr_array_index(at->group->traits->told, i);

		g_string_append_printf(text, "%s%s", i ? ". " : "", told->sentence);
	}
	return g_string_free(text, FALSE);
}

GETTER(const void *, listed_of, struct csv_row, &row->listed);
GETTER(char *, csv_group, struct csv_row,
       !row->group        ? NULL
       : row->group->peak ? g_strdup_printf("peak:%u", row->group->peak)
			  : g_strdup("slow"));

static const struct column csv_columns[] = {
	{NULL, COLUMN_OBJECT, .at = listed_of, .columns = listed_columns},
	{NULL, COLUMN_TEXT, .owned = csv_group, .csv = {15, "group"}},
	{NULL, COLUMN_TEXT, .owned = goes_with, .csv = {16, "goes_with"}},
	{0}};

/* Those that did not end, or span lost events, are in none. */
static const struct request_group *
group_of(const struct requests_apart *apart, const struct user_request *request)
{
	int64_t ns = request->end - request->begin;

	for (guint i = 0; apart && i < apart->groups->len; i++) {
		const struct request_group *at =
			&g_array_index(apart->groups, struct request_group, i);

		if (!request->unfinished && !request->spans_gap && ns >= at->from && ns <= at->to)
			return at;
	}
	return NULL;
}

void requests_csv(const struct requests_report *made, struct output *output)
{
	const struct costs *costs = made->costs;
	struct report report = {costs->requests->session, costs, output};
	g_autoptr(GArray) rows = shown(costs);

	csv_heading(&report, csv_columns);
	for (guint i = 0; i < rows->len; i++) {
		struct csv_row row = {.listed = g_array_index(rows, guint, i)};

		row.group = group_of(made->apart, listed_request(costs, row.listed));
		csv_row(&report, csv_columns, &row);
	}
}
