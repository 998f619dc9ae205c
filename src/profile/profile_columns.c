/* SPDX-License-Identifier: MIT */
/* Profiles: what their records are made of, and JSON of them (whylate-profile-1); names and shape:
 * interface.md. What --save writes is the same, with nothing left out. */
#include "latencies/rhythm.h"
#include "profile/profile_report.h"
#include "profile/profile_what_if.h"

#include "findings/findings.h"
#include "latencies/roots.h"
#include "limits/limits_report.h"

static const struct profile_at *place(const struct report *report)
{
	return report->data;
}

/* A member that a bucket's number names, if there is something in it. */
static void put_bucket(struct output *output, guint bucket, int64_t count)
{
	char key[16];

	g_snprintf(key, sizeof key, "%u", bucket);
	if (count)
		json_put_whole(output, key, count);
}

/* --- parts of a peak ------------------------------------------------------------------------ */

static const struct column resource_columns[] = {
	{"resource", COLUMN_TEXT, FIELD(struct part_resource, key)},
	{"ns", COLUMN_NS, FIELD(struct part_resource, ns)},
	{"waits", COLUMN_WHOLE, FIELD(struct part_resource, count)},
	{0}};

static void write_by_bucket(const struct report *report, const void *row)
{
	const struct peak_range *range = &place(report)->peak->range;
	const struct part *part = row;

	if (!part->by_bucket)
		return;
	json_begin(report->output, "ns_by_bucket", '{', LINES_NOT);
	for (guint b = range->first; b <= range->last; b++)
		put_bucket(report->output, b, part->by_bucket[b - range->first]);
	json_end(report->output, '}');
}

GETTER(bool, has_parts, struct part, row->children->len > 0);
GETTER(bool, has_functions, struct part, row->functions && row->functions->len);

static const struct column own_columns[] = {
	{"own_maxcount", COLUMN_WHOLE, FIELD(struct part, own_maxcount)},
	{"own_ns", COLUMN_NS, FIELD(struct part, own_ns)},
	{"loops", COLUMN_WHOLE, FIELD(struct part, loops), .none = NONE_ZERO, .absent = true},
	{0}};

static const struct column part_columns[] = {
	{"node", COLUMN_TEXT, FIELD(struct part, node)},
	{"label", COLUMN_TEXT, FIELD(struct part, label), .absent = true},
	{"functions", COLUMN_LIST, FIELD(struct part, functions), .item = COLUMN_TEXT,
	 .when = has_functions},
	{"resources", COLUMN_LIST, FIELD(struct part, resources), .columns = resource_columns,
	 .absent = true, .limited = true},
	{"maxcount", COLUMN_WHOLE, FIELD(struct part, maxcount)},
	{"ns", COLUMN_NS, FIELD(struct part, ns)},
	{"operations", COLUMN_WHOLE, FIELD(struct part, operations)},
	{"root", COLUMN_BOOL, FIELD(struct part, root)},
	{NULL, COLUMN_OBJECT, .columns = own_columns, .when = has_parts},
	{"cut", COLUMN_BOOL, FIELD(struct part, cut), .none = NONE_ZERO, .absent = true},
	{"spans_gap", COLUMN_BOOL, FIELD(struct part, spans_gap), .none = NONE_ZERO,
	 .absent = true},
	{NULL, COLUMN_WRITTEN, .write = write_by_bucket},
	{"children", COLUMN_LIST, FIELD(struct part, children), .when = has_parts, .limited = true},
	{0}};

/* --- root causes ---------------------------------------------------------------------------- */

static void tell_watch(const struct report *report, const void *row)
{
	const struct example *example = row;

	json_tell_stretch(report, example->thread, example->begin, example->end);
}

static const void *example_of(const struct report *report, const void *row)
{
	const struct example *example = root_example(row);

	(void) report;
	return example->latency < 0 ? NULL : example;
}

GETTER(bool, is_of_thread, struct example, row->thread < report->session->trace.model.thread_count);
GETTER(bool, is_of_host, struct example, !is_of_thread(report, row));
GETTER(int64_t, host_of, struct example, row->thread - operation_of_host(0));

static const struct column of_thread[] = {{NULL, COLUMN_THREAD, FIELD(struct example, thread)},
					  {NULL, COLUMN_WRITTEN, .write = tell_watch},
					  {0}};
static const struct column of_host[] = {{"host", COLUMN_WHOLE, .number = host_of},
					{"tid", COLUMN_WHOLE, .none = NONE_ZERO},
					{"pid", COLUMN_WHOLE, .none = NONE_ZERO},
					{"name", COLUMN_WHOLE, .none = NONE_ZERO},
					{0}};

static const struct column example_columns[] = {
	{NULL, COLUMN_OBJECT, .columns = of_thread, .when = is_of_thread},
	{NULL, COLUMN_OBJECT, .columns = of_host, .when = is_of_host},
	{"begin", COLUMN_TIME, FIELD(struct example, begin)},
	{"end", COLUMN_TIME, FIELD(struct example, end)},
	{0}};

static guint write_path(const struct report *report, const void *row)
{
	g_autoptr(GPtrArray) path = root_path(row);

	for (guint i = 0; i < path->len; i++)
		json_put_text(report->output, NULL, g_ptr_array_index(path, i));
	return 0;
}

GETTER(double, share_of_peak, struct root, share_rounded(row->ns, place(report)->peak->sum));

GETTER(const void *, known_saving, struct root, row->saving.known ? &row->saving : NULL);

static const struct column saving_columns[] = {
	{"saved_ns", COLUMN_NS, FIELD(struct saving, ns)},
	{"saved_from_ns", COLUMN_NS, FIELD(struct saving, from)},
	{"saved_to_ns", COLUMN_NS, FIELD(struct saving, to)},
	{0}};

GETTER(int64_t, samples, struct root, row->sampled.samples);
GETTER(GArray *, functions, struct root,
       row->sampled.functions ? g_array_ref(row->sampled.functions) : NULL);

static const struct column root_columns[] = {
	{"path", COLUMN_LIST, .each = write_path},
	{"maxcount", COLUMN_WHOLE, FIELD(struct root, maxcount)},
	{"share", COLUMN_SHARE, .real = share_of_peak},
	{"ns", COLUMN_NS, FIELD(struct root, ns)},
	{"worth", COLUMN_OBJECT, .at = known_saving, .columns = saving_columns, .absent = true},
	{"samples", COLUMN_WHOLE, .number = samples, .none = NONE_ZERO, .absent = true},
	{"functions", COLUMN_LIST, .array = functions, .columns = sampled_columns, .absent = true},
	{"example", COLUMN_OBJECT, .at = example_of, .columns = example_columns},
	{0}};

/* --- peaks ---------------------------------------------------------------------------------- */

static void write_most_time(const struct report *report, const void *row)
{
	struct root most;

	if (roots_most_time(row, &most))
		json_put_row(report, "most_time", root_columns, &most);
}

GETTER(int64_t, peak_number, struct peak,
       row - &g_array_index(place(report)->profile->peaks, struct peak, 0) + 1);
GETTER(const void *, traits, struct peak, peak_traits(place(report)->apart, row));
GETTER(bool, was_searched, struct peak, row->roots != NULL);
GETTER(const char *, status, struct peak, peak_status_text(row->status));
GETTER(GArray *, roots_shown, struct peak,
       rows_between(row->roots, 0, report_limited(report, row->roots->len)));
GETTER(int64_t, roots_omitted, struct peak,
       row->roots->len - report_limited(report, row->roots->len));

static const struct column search_columns[] = {
	{"sum_ns", COLUMN_NS, FIELD(struct peak, sum)},
	{"spans_gap", COLUMN_WHOLE, FIELD(struct peak, spans_gap)},
	{"status", COLUMN_TEXT, .text = status},
	{"roots_omitted", COLUMN_WHOLE, .number = roots_omitted, .none = NONE_ZERO, .absent = true},
	{"roots", COLUMN_LIST, .array = roots_shown, .columns = root_columns},
	{NULL, COLUMN_WRITTEN, .write = write_most_time},
	{"tree", COLUMN_OBJECT, FIELD(struct peak, tree), .columns = part_columns},
	{0}};

/* --- when its operations happened ------------------------------------------------------------ */

GETTER(int64_t, period, struct rhythm, row->period.ns);
GETTER(int64_t, gap_least, struct rhythm, row->period.least);
GETTER(int64_t, gap_most, struct rhythm, row->period.most);
GETTER(int64_t, occasions, struct rhythm, row->period.times);
GETTER(double, period_chance, struct rhythm, row->period.chance);
GETTER(bool, has_period, struct rhythm, row->has_period);

static const struct column period_columns[] = {
	{"ns", COLUMN_NS, .number = period},
	{"least_ns", COLUMN_NS, .number = gap_least},
	{"most_ns", COLUMN_NS, .number = gap_most},
	{"times", COLUMN_WHOLE, .number = occasions},
	{"chance", COLUMN_REAL, .real = period_chance},
	{0}};

GETTER(char *, followed, struct rhythm, operation_name(report->session, row->what));
GETTER(const char *, follower_of, struct rhythm, session_thread_name(report->session, row->thread));
GETTER(int64_t, lag_least, struct rhythm, row->lag.least);
GETTER(int64_t, lag_most, struct rhythm, row->lag.most);
GETTER(int64_t, lag_hits, struct rhythm, row->lag.hits);
GETTER(int64_t, lag_times, struct rhythm, row->lag.times);
GETTER(double, lag_chance, struct rhythm, row->lag.chance);
GETTER(bool, has_lag, struct rhythm, row->has_lag);

static const struct column lag_columns[] = {
	{"thread", COLUMN_TEXT, .text = follower_of},
	{"operation", COLUMN_TEXT, .owned = followed},
	{"first_of_several", COLUMN_BOOL, FIELD(struct rhythm, bursts)},
	{"least_ns", COLUMN_NS, .number = lag_least},
	{"most_ns", COLUMN_NS, .number = lag_most},
	{"count", COLUMN_WHOLE, .number = lag_hits},
	{"times", COLUMN_WHOLE, .number = lag_times},
	{"chance", COLUMN_REAL, .real = lag_chance},
	{0}};

GETTER(int64_t, occasion, int64_t, *row);

static const struct column occasion_columns[] = {{"time", COLUMN_TIME, .number = occasion}, {0}};

static const struct column rhythm_columns[] = {
	{"sentence", COLUMN_TEXT, FIELD(struct rhythm, sentence)},
	{"period", COLUMN_OBJECT, .columns = period_columns, .when = has_period},
	{"follows", COLUMN_OBJECT, .columns = lag_columns, .when = has_lag},
	{"occasions", COLUMN_LIST, FIELD(struct rhythm, times), .columns = occasion_columns},
	{0}};

static const struct column peak_columns[] = {
	{"peak", COLUMN_WHOLE, .number = peak_number},
	{"first_bucket", COLUMN_WHOLE, FIELD(struct peak, range.first)},
	{"mode_bucket", COLUMN_WHOLE, FIELD(struct peak, range.mode)},
	{"last_bucket", COLUMN_WHOLE, FIELD(struct peak, range.last)},
	{"count", COLUMN_WHOLE, FIELD(struct peak, count)},
	{"rhythm", COLUMN_OBJECT, FIELD(struct peak, rhythm), .columns = rhythm_columns,
	 .absent = true},
	{NULL, COLUMN_OBJECT, .columns = search_columns, .when = was_searched},
	{NULL, COLUMN_OBJECT, .at = traits, .columns = traits_columns},
	{0}};

static guint write_peaks(const struct report *report, const void *row)
{
	struct profile_at at = *place(report);
	struct report of_peak = *report;

	of_peak.data = &at;
	at.profile = row;
	for (guint i = 0; i < at.profile->peaks->len; i++) {
		at.peak = &g_array_index(at.profile->peaks, struct peak, i);
		json_put_row(&of_peak, NULL, peak_columns, at.peak);
	}
	return 0;
}

/* --- profiles ------------------------------------------------------------------------------- */

static guint write_buckets(const struct report *report, const void *row)
{
	return profile_put_buckets(report, &place(report)->profiles->buckets,
				   ((const struct profile *) row)->counts);
}

GETTER(bool, has_compared, struct profile, place(report)->compared != NULL);

/* The file's, of the same profile; empty if it has none. */
static guint write_saved_buckets(const struct report *report, const void *row)
{
	const struct buckets *buckets = &place(report)->profiles->buckets;
	g_autofree uint64_t *counts = g_new0(uint64_t, buckets->count + 1);

	return saved_counts(place(report)->compared, row, counts, buckets->count)
		       ? profile_put_buckets(report, buckets, counts)
		       : 0;
}

static guint write_lapses(const struct report *report, const void *row)
{
	const struct profiles *profiles = place(report)->profiles;
	const GArray *lapses = ((const struct profile *) row)->lapses;

	for (guint i = 0; i < lapses->len; i++) {
		const struct lapse *lapse = &g_array_index(lapses, struct lapse, i);

		if (!lapse->counts)
			continue;
		json_begin(report->output, NULL, '{', LINES_NOT);
		json_put_whole(report->output, "begin",
			       profiles->session->asked.from + (int64_t) i * profiles->lapse_step);
		json_begin(report->output, "counts", '{', LINES_NOT);
		for (guint b = 0; b < profiles->buckets.count; b++)
			put_bucket(report->output, b, (int64_t) lapse->counts[b]);
		json_end(report->output, '}');
		json_end(report->output, '}');
	}
	return 0;
}

GETTER(bool, has_lapses, struct profile, row->lapses != NULL);
GETTER(int64_t, lapse_step, void, place(report)->profiles->lapse_step);
GETTER(int64_t, resolution, void, place(report)->profiles->buckets.resolution);
GETTER(char *, title, struct profile, profile_title(row));

static const struct column lapse_columns[] = {{"step_ns", COLUMN_NS, .number = lapse_step},
					      {"rows", COLUMN_LIST, .each = write_lapses},
					      {0}};

/* --- numbers that latencies follow ---------------------------------------------------------- */

static guint write_points(const struct report *report, const void *row)
{
	const GArray *points = ((const struct correlation *) row)->points;

	for (guint i = 0; i < points->len; i++) {
		const struct point *point = &g_array_index(points, struct point, i);

		json_begin(report->output, NULL, '[', LINES_NOT);
		json_put_whole(report->output, NULL, (int64_t) point->x);
		json_put_whole(report->output, NULL, (int64_t) point->y);
		json_end(report->output, ']');
	}
	return 0;
}

static const struct column correlation_columns[] = {
	{"field", COLUMN_TEXT, FIELD(struct correlation, field)},
	{"operations", COLUMN_WHOLE, FIELD(struct correlation, count)},
	{"slope_ns", COLUMN_REAL, FIELD(struct correlation, slope)},
	{"base_ns", COLUMN_REAL, FIELD(struct correlation, middle)},
	{"share", COLUMN_REAL, FIELD(struct correlation, share)},
	{"sentence", COLUMN_TEXT, FIELD(struct correlation, sentence)},
	{"points", COLUMN_LIST, .each = write_points},
	{0}};

GETTER(const void *, correlations, struct profile, profile_correlations(place(report)->apart, row));

const struct column profile_columns[] = {
	{NULL, COLUMN_TEXT, .owned = title, .mark = MARK_SHOWS, .own_line = true, .rest = 20,
	 .table = {1, "OPERATION"}},
	{"operation", COLUMN_TEXT, FIELD(struct profile, operation)},
	{"label", COLUMN_TEXT, FIELD(struct profile, label), .absent = true},
	{"scope", COLUMN_OBJECT, .columns = profile_scope_columns},
	{"resolution", COLUMN_WHOLE, .number = resolution},
	{"count", COLUMN_WHOLE, FIELD(struct profile, count), .table = {2, "COUNT", 8}},
	{"spans_gap", COLUMN_WHOLE, FIELD(struct profile, spans_gap), .mark = MARK_TELLS},
	{"sum_ns", COLUMN_NS, FIELD(struct profile, sum), .table = {3, "TOTAL", 8}},
	{"min_ns", COLUMN_NS, FIELD(struct profile, min)},
	{"max_ns", COLUMN_NS, FIELD(struct profile, max), .table = {6, "MAX", 8}},
	{"p50_ns", COLUMN_NS, FIELD(struct profile, percentiles[0]), .none = NONE_NEGATIVE,
	 .table = {4, "P50", 8}},
	{"p90_ns", COLUMN_NS, FIELD(struct profile, percentiles[1]), .none = NONE_NEGATIVE},
	{"p99_ns", COLUMN_NS, FIELD(struct profile, percentiles[2]), .none = NONE_NEGATIVE,
	 .table = {5, "P99", 8}},
	{"buckets", COLUMN_LIST, .each = write_buckets},
	{"saved_buckets", COLUMN_LIST, .each = write_saved_buckets, .when = has_compared},
	{"peaks", COLUMN_LIST, .each = write_peaks},
	{NULL, COLUMN_WHOLE, FIELD(struct profile, peaks), .table = {7, "PEAKS", 5}},
	{"correlations", COLUMN_LIST, .at = correlations, .stored = STORED_POINTERS,
	 .columns = correlation_columns, .absent = true},
	{"time_lapse", COLUMN_OBJECT, .columns = lapse_columns, .when = has_lapses},
	{0}};

/* --- comparison ----------------------------------------------------------------------------- */

static void write_compared_scope(const struct report *report, const void *row)
{
	const struct compared *compared = row;

	profile_put_scope(report, compared->per, compared->scope);
}

/* Of operations that both sides have. */
static char *octaves(const struct compared *compared, const char *format, double value)
{
	return compared->distance < 0 ? NULL : g_strdup_printf(format, value);
}

GETTER(bool, on_both_sides, struct compared, row->distance >= 0);
GETTER(bool, on_one_side, struct compared, row->distance < 0);
GETTER(char *, compared_title, struct compared,
       *row->scope ? g_strconcat(row->operation, ", ", row->scope, NULL)
		   : g_strdup(row->operation));
GETTER(char *, distance_text, struct compared, octaves(row, "%.3f", row->distance));
GETTER(char *, slower_text, struct compared, octaves(row, "%+.3f", row->slower));
GETTER(char *, noise_text, struct compared, octaves(row, "%.3f", row->noise));
GETTER(const char *, changed_text, struct compared, row->changed ? "  changed" : "");

static const struct column compared_scope[] = {
	{NULL, COLUMN_WRITTEN, .write = write_compared_scope}, {0}};

const struct column compared_columns[] = {
	{NULL, COLUMN_TEXT, .owned = compared_title, .table = {1, "OPERATION", -30}},
	{NULL, COLUMN_TEXT, .owned = distance_text, .table = {2, "OCTAVES", 8}},
	{NULL, COLUMN_TEXT, .owned = slower_text, .table = {3, "SLOWER", 8}},
	{NULL, COLUMN_TEXT, .owned = noise_text, .table = {4, "NOISE", 8}},
	{"operation", COLUMN_TEXT, FIELD(struct compared, operation)},
	{"scope", COLUMN_OBJECT, .columns = compared_scope},
	{"distance", COLUMN_REAL, FIELD(struct compared, distance), .none = NONE_NEGATIVE},
	{"slower", COLUMN_REAL, FIELD(struct compared, slower), .when = on_both_sides},
	{"slower", COLUMN_REAL, FIELD(struct compared, distance), .none = NONE_NEGATIVE,
	 .when = on_one_side},
	{"noise", COLUMN_REAL, FIELD(struct compared, noise), .none = NONE_NEGATIVE},
	{"changed", COLUMN_BOOL, FIELD(struct compared, changed)},
	{"count", COLUMN_WHOLE, FIELD(struct compared, count), .table = {5, "COUNT", 8}},
	{"saved_count", COLUMN_WHOLE, FIELD(struct compared, saved_count),
	 .table = {6, "SAVED", 8}},
	{NULL, COLUMN_TEXT, .text = changed_text, .table = {7, "", 0, ""}},
	{0}};

guint comparison_changed(const GArray *comparison)
{
	guint changed = 0;

	for (guint i = 0; i < comparison->len; i++)
		changed += g_array_index(comparison, struct compared, i).changed;
	return changed;
}

GETTER(const char *, compared_file, void, report->session->asked.options->profile.compare);
GETTER(double, threshold, void, report->session->asked.options->profile.threshold);
GETTER(int64_t, changed, struct profile_report, comparison_changed(row->comparison));

static const struct column comparison_columns[] = {
	{"file", COLUMN_TEXT, .text = compared_file},
	{"threshold", COLUMN_REAL, .real = threshold},
	{"changed", COLUMN_WHOLE, .number = changed},
	{"operations", COLUMN_LIST, FIELD(struct profile_report, comparison),
	 .columns = compared_columns, .limited = true},
	{0}};

/* --- the report ----------------------------------------------------------------------------- */

GArray *profile_findings(const struct profiles *profiles)
{
	GArray *findings = findings_new();

	findings_add_profiles(findings, profiles);
	findings_sort(findings);
	return findings;
}

static void write_recordings(const struct report *report, const void *row)
{
	const struct profile_report *made = row;
	json_t *recordings = saved_recordings(made->resumed, made->session);

	json_put_key(report->output, "recordings");
	json_dumpf(recordings, report->output->file, JSON_REAL_PRECISION(6));
	json_decref(recordings);
}

GETTER(GArray *, findings, struct profile_report, profile_findings(row->profiles));
/* What is saved is no answer. */
GETTER(GArray *, answer, struct profile_report,
       report->output->json.whole ? NULL : profile_sentences(row->profiles, row->apart));

static const struct column sentence_columns[] = {
	{"profile", COLUMN_WHOLE, FIELD(struct profile_sentence, profile)},
	{"peak", COLUMN_WHOLE, FIELD(struct profile_sentence, peak)},
	{"sentence", COLUMN_TEXT, FIELD(struct profile_sentence, text)},
	{0}};

GETTER(char *, filters, void, saved_filters(report->session->asked.options));
GETTER(const void *, all_profiles, struct profile_report, row->profiles->list);
/* What is saved is no comparison. */
GETTER(bool, is_compared, struct profile_report, row->comparison && !report->output->json.whole);

GETTER(bool, is_asked, struct profile_report, row->what_if && !report->output->json.whole);

static const struct column report_columns[] = {
	COLUMNS(report_head),
	COLUMNS(report_limits),
	{"findings", COLUMN_LIST, .array = findings, .columns = finding_columns, .limited = true},
	{"answer", COLUMN_LIST, .array = answer, .columns = sentence_columns, .absent = true},
	{"filters", COLUMN_TEXT, .owned = filters},
	{NULL, COLUMN_WRITTEN, .write = write_recordings},
	{"profiles", COLUMN_LIST, .at = all_profiles, .stored = STORED_POINTERS,
	 .columns = profile_columns, .limited = true, .lines = LINES_BETWEEN},
	{"comparison", COLUMN_OBJECT, .columns = comparison_columns, .when = is_compared},
	{"what_if", COLUMN_OBJECT, FIELD(struct profile_report, what_if),
	 .columns = profile_what_if_columns, .when = is_asked},
	{0}};

void profile_json(const struct profile_report *made, struct output *output)
{
	struct profile_at at = {.profiles = made->profiles,
				.apart = made->apart,
				.compared = output->json.whole ? NULL : made->compared};
	struct report report = {made->session, &at, output};

	json_report(&report, "whylate-profile-1", report_columns, made);
}
