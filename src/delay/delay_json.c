/* SPDX-License-Identifier: MIT */
/* The delay report as JSON; names and shape: interface.md. */
#include "delay/delay.h"

#include "path/path_sums.h"
#include "samples/programs.h"
#include "findings/findings.h"
#include "limits/limits_report.h"
#include "waits/idle.h"

/* --- the states of a thread ------------------------------------------------------------------ */

static void put_elements(const struct report *report, const struct node *node)
{
	if (!node->parent)
		return;
	put_elements(report, node->parent);
	json_put_text(report->output, NULL, node->element);
}

static guint put_path(const struct report *report, const void *row)
{
	put_elements(report, row);
	return 0;
}

GETTER(char *, key, struct node, node_key(row));
GETTER(bool, has_counters, struct node, row->counters.runs > 0);

static const struct column node_columns[] = {
	{"id", COLUMN_WHOLE, FIELD(struct node, id)},
	{"key", COLUMN_TEXT, .owned = key},
	{"path", COLUMN_LIST, .each = put_path},
	{"label", COLUMN_TEXT, FIELD(struct node, label)},
	{"ns", COLUMN_NS, FIELD(struct node, ns)},
	{"count", COLUMN_WHOLE, FIELD(struct node, count)},
	{"spans_gap", COLUMN_BOOL, FIELD(struct node, spans_gap)},
	{"samples", COLUMN_WHOLE, FIELD(struct node, sampled.samples), .none = NONE_ZERO,
	 .absent = true},
	{"interrupt_samples", COLUMN_WHOLE, FIELD(struct node, sampled.in_interrupts),
	 .none = NONE_ZERO, .absent = true},
	{"functions", COLUMN_LIST, FIELD(struct node, sampled.functions),
	 .columns = sampled_columns, .absent = true, .limited = true},
	{"counters", COLUMN_OBJECT, FIELD_HERE(struct node, counters), .columns = counters_columns,
	 .when = has_counters, .absent = true},
	{"children", COLUMN_LIST, FIELD(struct node, children)},
	{0}};

GETTER(int64_t, length, struct instance, row->end - row->begin);

static const struct column instance_columns[] = {
	{"begin", COLUMN_TIME, FIELD(struct instance, begin)},
	{"end", COLUMN_TIME, FIELD(struct instance, end)},
	{"ns", COLUMN_NS, .number = length},
	{"spans_gap", COLUMN_BOOL, FIELD(struct instance, spans_gap), .none = NONE_ZERO,
	 .absent = true},
	{0}};

/* Members are the nodes' ids. */
static void put_instances(const struct report *report, const struct node *node)
{
	char key[32];

	g_snprintf(key, sizeof key, "%u", node->id);
	json_put_rows(report, key, instance_columns, ROWS(node->instances));
	g_snprintf(key, sizeof key, "%u_omitted", node->id);
	if (node->count > node->instances->len)
		json_put_whole(report->output, key, (int64_t) (node->count - node->instances->len));
	for (guint i = 0; i < node->children->len; i++)
		put_instances(report, g_ptr_array_index(node->children, i));
}

static const struct column stretch_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct stretch, thread)},
	{"begin", COLUMN_TIME, FIELD(struct stretch, begin)},
	{"end", COLUMN_TIME, FIELD(struct stretch, end)},
	{0}};

static void put_thread(const struct report *report, guint place, const void *threads)
{
	const struct stretch *stretch =
		&g_array_index((const GArray *) threads, struct stretch, place);
	struct output *output = report->output;
	struct node *summary =
		summary_new(report->session, stretch->thread, stretch->begin, stretch->end);
	uint32_t omitted;
	GPtrArray *waits =
		causality_new(report->session, stretch->thread, stretch->begin, stretch->end,
			      report->session->asked.options->limit, &omitted);

	json_begin(output, NULL, '{', LINES_NOT);
	json_put_members(report, stretch_columns, stretch);
	json_put_row(report, "summary", node_columns, summary);
	json_begin(output, "instances", '{', LINES_NOT);
	put_instances(report, summary);
	json_end(output, '}');
	json_put_rows(report, "causality", wait_columns, ROWS(waits));
	if (omitted)
		json_put_whole(output, "causality_omitted", omitted);
	json_end(output, '}');
	node_free(summary);
	g_ptr_array_free(waits, TRUE);
}

static guint put_threads(const struct report *report, const void *row)
{
	const GArray *threads = ((const struct delay *) row)->threads;
	bool beside = idle_know_for(report->session, threads->len);
	guint shown = json_put_parts(report, threads->len, beside, put_thread, threads);
	for (guint i = shown; i < threads->len; i++)
		json_tell_thread(report, g_array_index(threads, struct stretch, i).thread);
	return threads->len - shown;
}

/* --- the report ----------------------------------------------------------------------------- */

GETTER(uint32_t, target, void, report->session->asked.target);
GETTER(const void *, target_match, void,
       target(report, row) == NO_THREAD ? NULL : &report->session->asked.matches[MATCH_TARGET]);
GETTER(int64_t, target_thread, void, target(report, row));

static const struct column target_columns[] = {{"event", COLUMN_NAME, FIELD(struct match, event)},
					       {"time", COLUMN_TIME, FIELD(struct match, time)},
					       {NULL, COLUMN_TID_NAME, .number = target_thread},
					       {0}};

static void put_totals(const struct report *report, const void *row)
{
	const struct path *path = ((const struct delay *) row)->path;
	struct path_totals totals = {0};
	struct report of_totals = *report;

	of_totals.data = &totals;
	if (path)
		path_totals_init(&totals, report->session, path);
	json_put_row(&of_totals, "critical_path_totals", path_totals_columns, &totals);
	if (path)
		path_totals_clear(&totals);
}

static void put_sample_notes(const struct report *report, const void *row)
{
	g_autoptr(GPtrArray) notes = program_notes(report->session);

	(void) row;
	if (!notes->len)
		return;
	json_begin(report->output, "sample_notes", '[', LINES_NOT);
	for (guint i = 0; i < notes->len; i++)
		json_put_text(report->output, NULL, notes->pdata[i]);
	json_end(report->output, ']');
}

static const struct column report_columns[] = {
	COLUMNS(report_head),
	COLUMNS(report_limits),
	{"findings", COLUMN_LIST, FIELD(struct delay, findings), .columns = finding_columns,
	 .limited = true},
	{"target", COLUMN_OBJECT, .at = target_match, .columns = target_columns},
	{"verdict", COLUMN_LIST, FIELD(struct delay, verdict), .item = COLUMN_TEXT},
	{"configuration", COLUMN_LIST, FIELD(struct delay, configuration),
	 .columns = configuration_columns},
	{"worth", COLUMN_LIST, FIELD(struct delay, worths), .columns = worth_columns},
	{"lineage", COLUMN_LIST, FIELD(struct delay, lineage), .columns = stretch_columns},
	{"locks", COLUMN_LIST, FIELD(struct delay, locks), .columns = contention_columns,
	 .limited = true},
	{"threads", COLUMN_LIST, .each = put_threads, .lines = LINES_EACH},
	COLUMNS(critical_path_columns),
	{NULL, COLUMN_WRITTEN, .write = put_totals},
	{NULL, COLUMN_WRITTEN, .write = put_sample_notes},
	{"what_if", COLUMN_OBJECT, FIELD(struct delay, what_if), .columns = what_if_columns,
	 .absent = true},
	{0}};

void delay_json(const struct delay *delay, struct output *output)
{
	struct report report = {delay->session, delay, output};

	json_report(&report, "whylate-delay-1", report_columns, delay);
}
