/* SPDX-License-Identifier: MIT */
/* A trace's line of `whylate batch`; see batch_parts.h. What a member adds up to over traces
 * stands on its column (`merged`).
 */
#include "batch/batch_parts.h"

#include <string.h>

#include "findings/findings.h"
#include "imposed/wait_groups.h"
#include "imposed/waiting.h"
#include "latencies/roots.h"
#include "report/report.h"
#include "limits/limits_report.h"
#include "stands/stands.h"

/* What a line is made of. */
struct line {
	struct coverage coverage;
	bool damaged;
	GArray *findings;      /* owned; struct finding */
	struct profiles *fine; /* owned; NULL: none */
};

static void write_counts(const struct report *report, const uint64_t *counts)
{
	char key[16];

	json_begin(report->output, "buckets", '{', LINES_NOT);
	for (guint b = 0; counts && b < MEASURE_BUCKETS; b++)
		if (counts[b]) {
			g_snprintf(key, sizeof key, "%u", b);
			json_put_whole(report->output, key, (int64_t) counts[b]);
		}
	json_end(report->output, '}');
}

/* --- measures of limits --------------------------------------------------------------------- */

static void write_buckets(const struct report *report, const void *row)
{
	write_counts(report, ((const struct histogram *) row)->counts);
}

static const struct column histogram_columns[] = {
	{"count", COLUMN_WHOLE, FIELD(struct histogram, count)},
	{"sum_ns", COLUMN_NS, FIELD(struct histogram, sum)},
	{"min_ns", COLUMN_NS, FIELD(struct histogram, min)},
	{"max_ns", COLUMN_NS, FIELD(struct histogram, max)},
	{NULL, COLUMN_WRITTEN, .write = write_buckets},
	{0}};

static guint write_parts(const struct report *report, const void *row)
{
	const GArray *parts = ((const struct measure *) row)->parts;

	for (guint p = 0; p < parts->len; p++)
		json_put_whole(report->output, NULL, (int64_t) g_array_index(parts, double, p));
	return 0;
}

GETTER(const void *, sure, struct measure, row->sure.count ? &row->sure : NULL);
GETTER(const void *, doubtful, struct measure, row->doubtful.count ? &row->doubtful : NULL);
GETTER(bool, has_parts, struct measure, row->parts->len);
GETTER(bool, has_value, struct measure, !row->parts->len);
GETTER(int64_t, whole, struct measure, (int64_t) row->whole);
GETTER(int64_t, unknown, struct measure, (int64_t) row->unknown);
GETTER(int64_t, value, struct measure, (int64_t) row->value);

static const struct column measure_columns[] = {
	{"subject", COLUMN_TEXT, FIELD(struct measure, subject)},
	{"sure", COLUMN_OBJECT, .at = sure, .columns = histogram_columns, .absent = true},
	{"doubtful", COLUMN_OBJECT, .at = doubtful, .columns = histogram_columns, .absent = true},
	{"parts_ns", COLUMN_LIST, .each = write_parts, .when = has_parts},
	{"whole_ns", COLUMN_NS, .number = whole, .when = has_parts},
	{"unknown_ns", COLUMN_NS, .number = unknown, .when = has_parts},
	{"value", COLUMN_WHOLE, .number = value, .when = has_value},
	{"open", COLUMN_BOOL, FIELD(struct measure, open), .none = NONE_ZERO, .absent = true},
	{0}};

GETTER(const void *, measures, struct judgement, row->measures->list);
GETTER(const char *, lacks, struct judgement, row->measures->lacks);

const struct column batch_measured_columns[] = {
	{"measures", COLUMN_LIST, .at = measures, .stored = STORED_POINTERS,
	 .columns = measure_columns},
	{"lacks", COLUMN_TEXT, .text = lacks},
	{0}};

static const struct column limit_columns[] = {
	COLUMNS(judgement_columns), COLUMNS(batch_measured_columns), {0}};

/* --- the line ------------------------------------------------------------------------------- */

static void write_profile_buckets(const struct report *report, const void *row)
{
	write_counts(report, ((const struct profile *) row)->counts);
}

const struct column batch_profile_columns[] = {
	{"operation", COLUMN_TEXT, FIELD(struct profile, operation), .merged = MERGED_FIRST},
	{"count", COLUMN_WHOLE, FIELD(struct profile, count), .merged = MERGED_SUM},
	{"spans_gap", COLUMN_WHOLE, FIELD(struct profile, spans_gap), .merged = MERGED_SUM},
	{"sum_ns", COLUMN_NS, FIELD(struct profile, sum), .merged = MERGED_SUM},
	{"min_ns", COLUMN_NS, FIELD(struct profile, min), .merged = MERGED_LEAST},
	{"max_ns", COLUMN_NS, FIELD(struct profile, max), .merged = MERGED_LARGEST},
	{"buckets", COLUMN_WRITTEN, .write = write_profile_buckets, .merged = MERGED_COUNTS},
	{0}};

static void write_settings(const struct report *report, const void *row)
{
	line_settings_write(report->session, ((const struct line *) row)->fine, report->output);
}

GETTER(const char *, schema, void, BATCH_SCHEMA);
GETTER(const char *, kind, void, "trace");
GETTER(int64_t, resolution, void, MEASURE_RESOLUTION);
GETTER(const void *, limits, void, report->session->found.judged);
GETTER(const void *, profiles, struct line, row->fine ? row->fine->list : NULL);

const struct column batch_line_columns[] = {
	{"schema", COLUMN_TEXT, .text = schema},
	{"kind", COLUMN_TEXT, .text = kind},
	COLUMNS(report_hosts),
	COLUMNS(report_window),
	{"events", COLUMN_WHOLE, FIELD(struct line, coverage.events), .merged = MERGED_SUM},
	{"lost_events", COLUMN_WHOLE, FIELD(struct line, coverage.discarded_events),
	 .merged = MERGED_SUM},
	{"lost_packets", COLUMN_WHOLE, FIELD(struct line, coverage.discarded_packets),
	 .merged = MERGED_SUM},
	{"damaged", COLUMN_BOOL, FIELD(struct line, damaged)},
	{"limits", COLUMN_LIST, .at = limits, .stored = STORED_POINTERS, .columns = limit_columns},
	{"findings", COLUMN_LIST, FIELD(struct line, findings), .columns = finding_columns},
	{"resolution", COLUMN_WHOLE, .number = resolution},
	{"profiles", COLUMN_LIST, .at = profiles, .stored = STORED_POINTERS,
	 .columns = batch_profile_columns},
	{"settings", COLUMN_WRITTEN, .write = write_settings},
	{0}};

/* So that none of them is cut off: shells that wait for their programs have longer ones. Peaks of
 * the tracer's threads are left out, as its waits are. */
static GArray *answers_first(GArray *findings, const bool *tracers)
{
	GArray *list = findings_new();

	for (int rest = 0; rest < 2; rest++)
		for (guint i = 0; i < findings->len; i++) {
			struct finding *finding = &g_array_index(findings, struct finding, i);
			bool is_answer = finding->title && strcmp(finding->kind, "answer") == 0;

			if (!finding->title || is_answer == (rest != 0) ||
			    (strcmp(finding->kind, "peak") == 0 && is_thread(finding->thread) &&
			     tracers[finding->thread]))
				continue;
			g_array_append_val(list, *finding);
			finding->title = NULL; /* the list's now */
		}
	g_array_unref(findings);
	return list;
}

/* What stands out, the largest waits, bottlenecks and peaks. */
static GArray *line_findings(const struct session *session, const struct profiles *peaks)
{
	GArray *findings = findings_new();
	g_autofree bool *tracers = session_tracers(session); /* nobody's trouble */
	struct overview *overview = overview_new(session);
	struct waiting *waiting = waiting_new(session);
	struct stands *stands = stands_new(session, waiting);

	findings_add_stands(findings, session, stands);
	findings_add_waits(findings, session, overview->waits, tracers);
	findings_add_imposers(findings, session, waiting);
	if (peaks)
		findings_add_profiles(findings, peaks);
	findings_sort(findings);
	findings = answers_first(findings, tracers);
	g_array_set_size(findings, rows_limited(session, findings->len));
	stands_free(stands);
	waiting_free(waiting);
	overview_free(overview);
	return findings;
}

void batch_line_write(const struct session *session, struct output *output)
{
	/* a pattern that names nothing here is no failure of this trace */
	struct line line = {.damaged = session->trace.damages->len || session->trace.stopped,
			    .fine = profiles_new(session, MEASURE_RESOLUTION, NULL)};
	struct profiles *peaks = profiles_new(session, 1, NULL);
	struct report report = {session, NULL, output};

	coverage_init(&line.coverage, session);
	if (peaks)
		roots_search(peaks);
	line.findings = line_findings(session, peaks);
	output->json.compact = true;
	json_put_row(&report, NULL, batch_line_columns, &line);
	fputc('\n', output->file);
	g_array_unref(line.findings);
	coverage_clear(&line.coverage);
	profiles_free(peaks);
	profiles_free(line.fine);
}
