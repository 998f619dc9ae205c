/* SPDX-License-Identifier: MIT */
/* What differs between two sides: what its records are made of, and JSON of them
 * (whylate-diff-1). Where sides are told beside each other, the report's session is the first
 * one's. */
#include "diff/diff_columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff/call_forks.h"
#include "diff/target.h"
#include "waits/state_names.h"

static const struct diff *diff_of(const struct report *report)
{
	return report->data;
}

/* The same for what is of one side. */
static struct report report_of(const struct report *report, int side)
{
	struct report of = *report;

	of.session = diff_of(report)->sides[side].session;
	return of;
}

static const struct user_request *listed_at(const struct side *side, guint i)
{
	return user_request_at(side->requests, g_array_index(side->requests->listed, uint32_t, i));
}

/* --- sides ---------------------------------------------------------------------------------- */

static guint write_ids(const struct report *report, const void *row)
{
	const struct side *side = row;

	for (guint i = 0; side->requests && i < side->requests->listed->len; i++)
		json_put_whole(report->output, NULL, listed_at(side, i)->id);
	return 0;
}

GETTER(double, mean, struct side, diff_of(report)->mean[row - diff_of(report)->sides]);

static const struct column window_columns[] = {{"begin", COLUMN_TIME, FIELD(struct side, from)},
					       {"end", COLUMN_TIME, FIELD(struct side, to)},
					       {0}};

static const struct column side_columns[] = {
	{"label", COLUMN_TEXT, FIELD(struct side, label)},
	COLUMNS(report_hosts),
	{"window", COLUMN_OBJECT, .columns = window_columns},
	{"requests", COLUMN_LIST, .each = write_ids},
	{"mean", COLUMN_WHOLE, .real = mean},
	{0}};

static void write_sides(const struct report *report, const void *row)
{
	static const char *const keys[] = {"a", "b"};
	const struct diff *diff = row;

	for (int side = 0; side < 2; side++) {
		struct report of = report_of(report, side);

		json_put_row(&of, keys[side], side_columns, &diff->sides[side]);
	}
}

/* --- causes --------------------------------------------------------------------------------- */

static double less(const struct difference *at)
{
	return at->mean[1] - at->mean[0];
}

static bool spans_gap(const struct difference *at)
{
	return (at->seen[0] && at->seen[0]->spans_gap) || (at->seen[1] && at->seen[1]->spans_gap);
}

static void write_share(const struct report *report, const void *row)
{
	double whole = diff_of(report)->mean[1] - diff_of(report)->mean[0];

	if (whole != 0)
		json_put_real(report->output, "share", less(row) / whole);
	else
		json_put_null(report->output, "share");
}

static int64_t request_id(const struct report *report, const void *row);

static const struct column example_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct user_cause, thread)},
	{"begin", COLUMN_TIME, FIELD(struct user_cause, begin)},
	{"end", COLUMN_TIME, FIELD(struct user_cause, end)},
	{"request", COLUMN_WHOLE, .number = request_id},
	{0}};

static void write_examples(const struct report *report, const void *row)
{
	static const char *const keys[] = {"a_example", "b_example"};
	const struct difference *at = row;

	for (int side = 0; side < 2; side++) {
		struct report of = report_of(report, side);

		of.data = &diff_of(report)->sides[side];
		if (at->seen[side])
			json_put_row(&of, keys[side], example_columns, at->seen[side]);
		else
			json_put_null(report->output, keys[side]);
	}
}

static int64_t request_id(const struct report *report, const void *row)
{
	const struct side *side = report->data;

	return user_request_at(side->requests, ((const struct user_cause *) row)->request)->id;
}

GETTER(double, difference, struct difference, less(row));
GETTER(int64_t, significant, struct difference, row->error < 0 ? -1 : row->significant);
GETTER(int64_t, gap, struct difference, spans_gap(row));
GETTER(const char *, change, struct difference, change_text(row->change));
GETTER(char *, difference_text, struct difference, diff_value_text(report->data, less(row), true));
GETTER(char *, text_of_a, struct difference, diff_value_text(report->data, row->mean[0], false));
GETTER(char *, text_of_b, struct difference, diff_value_text(report->data, row->mean[1], false));
GETTER(char *, touched_text, struct difference,
       g_strdup_printf("%u, %u", row->requests[0], row->requests[1]));
GETTER(char *, marks_text, struct difference,
       g_strdup_printf("%c%c", spans_gap(row) ? '*' : ' ', difference_is_chance(row) ? '?' : ' '));
GETTER(char *, cause_text, struct difference,
       row->change ? g_strdup_printf("%s [%s]", row->label, change_text(row->change))
		   : g_strdup(row->label));

const struct column difference_columns[] = {
	{"kind", COLUMN_TEXT, FIELD(struct difference, kind), .table = {6, "KIND", -13}},
	{"label", COLUMN_TEXT, FIELD(struct difference, label)},
	{"a", COLUMN_WHOLE, FIELD(struct difference, mean[0])},
	{"b", COLUMN_WHOLE, FIELD(struct difference, mean[1])},
	{"difference", COLUMN_WHOLE, .real = difference},
	{"a_requests", COLUMN_WHOLE, FIELD(struct difference, requests[0])},
	{"b_requests", COLUMN_WHOLE, FIELD(struct difference, requests[1])},
	{NULL, COLUMN_WRITTEN, .write = write_share},
	{"error", COLUMN_WHOLE, FIELD(struct difference, error), .none = NONE_NEGATIVE},
	{"significant", COLUMN_BOOL, .number = significant, .none = NONE_NEGATIVE},
	{"user_can_change", COLUMN_TEXT, .text = change},
	{"spans_gap", COLUMN_BOOL, .number = gap, .mark = MARK_TELLS},
	{NULL, COLUMN_WRITTEN, .write = write_examples},
	{NULL, COLUMN_TEXT, .owned = difference_text, .table = {1, "DIFFERENCE", 11}},
	{NULL, COLUMN_TEXT, .owned = text_of_a, .table = {2, "A", 10}},
	{NULL, COLUMN_TEXT, .owned = text_of_b, .table = {3, "B", 10}},
	{NULL, COLUMN_TEXT, .owned = touched_text, .table = {4, "IN A, B", 11, "  "}},
	{NULL, COLUMN_TEXT, .owned = marks_text, .table = {5, "", 2}},
	{NULL, COLUMN_TEXT, .owned = cause_text, .table = {7, "CAUSE"}},
	{0}};

/* --- steps ---------------------------------------------------------------------------------- */

GETTER(int64_t, step_length, struct step, row->end - row->begin);

static const struct column step_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct step, thread)},
	{"begin", COLUMN_TIME, FIELD(struct step, begin)},
	{"end", COLUMN_TIME, FIELD(struct step, end)},
	{"ns", COLUMN_NS, .number = step_length},
	{"kind", COLUMN_TEXT, FIELD(struct step, kind)},
	{"label", COLUMN_TEXT, FIELD(struct step, label)},
	{0}};

static void write_steps(const struct report *report, const void *row)
{
	static const char *const keys[] = {"a_steps", "b_steps"};
	const struct divergence *at = row;

	for (int side = 0; side < 2; side++) {
		const GArray *steps = diff_of(report)->alignment->steps[side];
		struct report of = report_of(report, side);

		json_begin(report->output, keys[side], '[', LINES_NOT);
		for (guint i = at->from[side]; i < at->until[side]; i++)
			json_put_row(&of, NULL, step_columns,
				     &g_array_index(steps, struct step, i));
		json_end(report->output, ']');
	}
}

static int64_t aligned_id(const struct report *report, int side)
{
	const struct diff *diff = report->data;

	return user_request_at(diff->sides[side].requests, diff->aligned[side])->id;
}

GETTER(int64_t, id_of_a, void, aligned_id(report, 0));
GETTER(int64_t, id_of_b, void, aligned_id(report, 1));

static const struct column divergence_columns[] = {
	{"a_ns", COLUMN_NS, FIELD(struct divergence, ns[0])},
	{"b_ns", COLUMN_NS, FIELD(struct divergence, ns[1])},
	{"difference", COLUMN_NS, FIELD(struct divergence, difference)},
	{NULL, COLUMN_WRITTEN, .write = write_steps},
	{0}};

static const struct column alignment_columns[] = {
	{"a", COLUMN_WHOLE, .number = id_of_a},
	{"b", COLUMN_WHOLE, .number = id_of_b},
	{"matched", COLUMN_WHOLE, FIELD(struct alignment, matched)},
	{"a_matched_ns", COLUMN_NS, FIELD(struct alignment, matched_ns[0])},
	{"b_matched_ns", COLUMN_NS, FIELD(struct alignment, matched_ns[1])},
	{"a_left_out_ns", COLUMN_NS, FIELD(struct alignment, left_out_ns[0])},
	{"b_left_out_ns", COLUMN_NS, FIELD(struct alignment, left_out_ns[1])},
	{"divergences", COLUMN_LIST, FIELD(struct alignment, divergences),
	 .columns = divergence_columns, .limited = true},
	{0}};

/* --- system calls --------------------------------------------------------------------------- */

static guint write_parts(const struct report *report, const void *row)
{
	const struct call_difference *call = row;
	struct output *output = report->output;

	for (int part = 0; part < CALL_PARTS; part++) {
		double a = call->parts[0][part], b = call->parts[1][part];

		if (a <= 0 && b <= 0)
			continue;
		json_begin(output, NULL, '{', LINES_NOT);
		json_put_text(output, "what", call_part_text((enum call_part) part));
		json_put_whole(output, "a", llround(a));
		json_put_whole(output, "b", llround(b));
		json_put_whole(output, "difference", llround(b - a));
		json_end(output, '}');
	}
	return 0;
}

static const char *call_name(const struct diff *diff, const struct call_difference *call)
{
	int side = call->name[0] ? 0 : 1;

	return session_text(diff->sides[side].session, call->name[side]);
}

/* "1.033 ms, 1.210 ms" */
static char *pair_text(const struct call_difference *call, const double *values)
{
	char a[32], b[32];

	return g_strdup_printf("%s, %s", call->name[0] ? when_duration(a, llround(values[0])) : "-",
			       call->name[1] ? when_duration(b, llround(values[1])) : "-");
}

static char *change_of_sum(const struct call_difference *call)
{
	char ns[32];

	return g_strconcat(call->contribution < 0 ? "-" : "+",
			   when_duration(ns, llround(fabs(call->contribution))), NULL);
}

GETTER(const char *, name, struct call_difference, call_name(report->data, row));
GETTER(double, distance, struct call_difference, call_on_both(row) ? row->distance : -1);
GETTER(double, least_distance, struct call_difference, call_on_both(row) ? row->floor : -1);
GETTER(int64_t, call_significant, struct call_difference,
       call_on_both(row) ? row->significant : -1);
GETTER(char *, counts_text, struct call_difference,
       g_strdup_printf("%" PRIu64 ", %" PRIu64, row->count[0], row->count[1]));
GETTER(char *, medians_text, struct call_difference, pair_text(row, row->median));
GETTER(char *, means_text, struct call_difference, pair_text(row, row->mean));
GETTER(char *, sum_text, struct call_difference, change_of_sum(row));
GETTER(char *, distance_text, struct call_difference,
       call_on_both(row) ? g_strdup_printf("%.2f", row->distance) : NULL);
GETTER(const char *, chance_text, struct call_difference,
       call_on_both(row) && !row->significant ? " (chance)" : "");

const struct column call_difference_columns[] = {
	{"name", COLUMN_TEXT, .text = name, .table = {1, "", -16}},
	{"a_count", COLUMN_WHOLE, FIELD(struct call_difference, count[0])},
	{"b_count", COLUMN_WHOLE, FIELD(struct call_difference, count[1])},
	{"a_mean", COLUMN_WHOLE, FIELD(struct call_difference, mean[0])},
	{"b_mean", COLUMN_WHOLE, FIELD(struct call_difference, mean[1])},
	{"contribution", COLUMN_WHOLE, FIELD(struct call_difference, contribution)},
	{"a_median", COLUMN_WHOLE, FIELD(struct call_difference, median[0])},
	{"b_median", COLUMN_WHOLE, FIELD(struct call_difference, median[1])},
	{"distance", COLUMN_REAL, .real = distance, .none = NONE_NEGATIVE},
	{"floor", COLUMN_REAL, .real = least_distance, .none = NONE_NEGATIVE},
	{"significant", COLUMN_BOOL, .number = call_significant, .none = NONE_NEGATIVE},
	{"a_looked_at", COLUMN_WHOLE, FIELD(struct call_difference, looked_at[0])},
	{"b_looked_at", COLUMN_WHOLE, FIELD(struct call_difference, looked_at[1])},
	{"made_of", COLUMN_LIST, .each = write_parts},
	{NULL, COLUMN_OBJECT, FIELD(struct call_difference, traits), .columns = traits_columns},
	{NULL, COLUMN_TEXT, .owned = counts_text, .table = {2, "CALLS A, B", 15}},
	{NULL, COLUMN_TEXT, .owned = medians_text, .table = {3, "MEDIAN A, B", 21}},
	{NULL, COLUMN_TEXT, .owned = means_text, .table = {4, "MEAN A, B", 21}},
	{NULL, COLUMN_TEXT, .owned = sum_text, .table = {5, "SUM B-A", 11}},
	{NULL, COLUMN_TEXT, .owned = distance_text, .table = {6, "OCTAVES", 8}},
	{NULL, COLUMN_TEXT, .text = chance_text, .table = {7, "", 0, ""}},
	{0}};

/* --- functions ------------------------------------------------------------------------------ */

static void write_threads(const struct report *report, const void *row)
{
	static const struct column sides[][2] = {
		{{"a", COLUMN_THREAD, FIELD(struct call_fork, thread[0])}, {0}},
		{{"b", COLUMN_THREAD, FIELD(struct call_fork, thread[1])}, {0}}};

	for (int side = 0; side < 2; side++) {
		struct report of = report_of(report, side);

		json_put_members(&of, sides[side], row);
	}
}

GETTER(const void *, a_next, struct call_fork, row->next[0] ? row : NULL);
GETTER(const void *, b_next, struct call_fork, row->next[1] ? row : NULL);

static const struct column a_next_columns[] = {
	{"name", COLUMN_TEXT, FIELD(struct call_fork, next[0])},
	{"time", COLUMN_TIME, FIELD(struct call_fork, at[0])},
	{0}};
static const struct column b_next_columns[] = {
	{"name", COLUMN_TEXT, FIELD(struct call_fork, next[1])},
	{"time", COLUMN_TIME, FIELD(struct call_fork, at[1])},
	{0}};

static const struct column fork_columns[] = {
	{NULL, COLUMN_WRITTEN, .write = write_threads},
	{"a_calls", COLUMN_WHOLE, FIELD(struct call_fork, calls[0])},
	{"b_calls", COLUMN_WHOLE, FIELD(struct call_fork, calls[1])},
	{"alike", COLUMN_WHOLE, FIELD(struct call_fork, alike)},
	{"same", COLUMN_BOOL, FIELD(struct call_fork, same)},
	{"stack", COLUMN_LIST, FIELD(struct call_fork, stack), .item = COLUMN_TEXT},
	{"a_next", COLUMN_OBJECT, .at = a_next, .columns = a_next_columns},
	{"b_next", COLUMN_OBJECT, .at = b_next, .columns = b_next_columns},
	{0}};

/* --- the ways to a target --------------------------------------------------------------------- */

/* The thread on both sides; null: not on that one. */
static void write_pair(const struct report *report, const uint32_t threads[2])
{
	static const char *const keys[] = {"a", "b"};
	static const struct column columns[] = {{NULL, COLUMN_THREAD, ROW_NUMBER}, {0}};

	for (int side = 0; side < 2; side++) {
		struct report of = *report;

		of.session = diff_of(report)->sides[side].session;
		if (is_thread(threads[side]))
			json_put_row(&of, keys[side], columns, &threads[side]);
		else
			json_put_null(report->output, keys[side]);
	}
}

static void write_target_pair(const struct report *report, const void *row)
{
	write_pair(report, ((const struct target *) row)->thread);
}

static void write_part_pair(const struct report *report, const void *row)
{
	write_pair(report, ((const struct target_part *) row)->thread);
}

static const struct session *told_of(const struct report *report, const struct target_part *part)
{
	return diff_of(report)->sides[part->side].session;
}

GETTER(int64_t, time_of_a, struct target, target_ns(row, 0));
GETTER(int64_t, time_of_b, struct target, target_ns(row, 1));
GETTER(int64_t, time_difference, struct target, target_ns(row, 1) - target_ns(row, 0));
GETTER(int64_t, part_less, struct target_part, part_difference(row));
GETTER(char *, part_leaf, struct target_part, leaf_key(told_of(report, row), row->leaf));
GETTER(const char *, part_resource, struct target_part,
       row->resource ? session_text(told_of(report, row), row->resource) : NULL);
GETTER(const char *, part_cause, struct target_part, cause_kind_text(row->cause));
static const struct column target_part_columns[] = {
	{"thread", COLUMN_TEXT, FIELD(struct target_part, label)},
	{NULL, COLUMN_WRITTEN, .write = write_part_pair},
	{"leaf", COLUMN_TEXT, .owned = part_leaf},
	{"resource", COLUMN_TEXT, .text = part_resource},
	{"cause", COLUMN_TEXT, .text = part_cause},
	{"a_ns", COLUMN_NS, FIELD(struct target_part, ns[0])},
	{"b_ns", COLUMN_NS, FIELD(struct target_part, ns[1])},
	{"difference_ns", COLUMN_NS, .number = part_less},
	{"a_count", COLUMN_WHOLE, FIELD(struct target_part, count[0])},
	{"b_count", COLUMN_WHOLE, FIELD(struct target_part, count[1])},
	{"spans_gap", COLUMN_BOOL, FIELD(struct target_part, spans_gap)},
	{"sentence", COLUMN_TEXT, FIELD(struct target_part, sentence)},
	{0}};

static const struct column target_columns[] = {
	{NULL, COLUMN_WRITTEN, .write = write_target_pair},
	{"begin", COLUMN_TEXT, FIELD(struct target, begin)},
	{"end", COLUMN_TEXT, FIELD(struct target, end)},
	{"a_ns", COLUMN_NS, .number = time_of_a},
	{"b_ns", COLUMN_NS, .number = time_of_b},
	{"difference_ns", COLUMN_NS, .number = time_difference},
	{"verdict", COLUMN_TEXT, FIELD(struct target, verdict)},
	{"caution", COLUMN_TEXT, FIELD(struct target, caution)},
	{"parts", COLUMN_LIST, FIELD(struct target, parts), .columns = target_part_columns,
	 .limited = true},
	{0}};

/* --- the report ----------------------------------------------------------------------------- */

static void write_other_coverage(const struct report *report, const void *row)
{
	struct report of = report_of(report, 1);
	struct coverage coverage;

	(void) row;
	if (of.session == report->session || of.session->recorded) {
		json_put_null(report->output, "b_coverage");
		return;
	}
	coverage_init(&coverage, of.session);
	json_put_row(&of, "b_coverage", coverage_columns, &coverage);
	coverage_clear(&coverage);
}

GETTER(const char *, unit, void, metric_unit(report->session->asked.options->requests.metric));
GETTER(double, whole_difference, struct diff, row->mean[1] - row->mean[0]);

static void write_answer(const struct report *report, const void *row)
{
	json_put_answer(report->output, diff_answer(row));
}

GETTER(double, a_mean, struct function_difference, row->mean[0]);
GETTER(double, b_mean, struct function_difference, row->mean[1]);
GETTER(double, function_difference, struct function_difference, row->mean[1] - row->mean[0]);
GETTER(int64_t, a_samples, struct function_difference, row->samples[0]);
GETTER(const char *, called_from, struct function_difference,
       row->caller[1] ? row->caller[1] : row->caller[0]);
GETTER(int64_t, b_samples, struct function_difference, row->samples[1]);
/* --- hardware counters ---------------------------------------------------------------------- */

GETTER(const char *, counted_factor_name, struct counter_difference,
       counted_factor_text(row->factor));

static const struct column counter_difference_columns[] = {
	{"label", COLUMN_TEXT, FIELD(struct counter_difference, label)},
	{"cause", COLUMN_TEXT, .text = counted_factor_name},
	{"share", COLUMN_REAL, FIELD(struct counter_difference, share)},
	{"a", COLUMN_OBJECT, FIELD_HERE(struct counter_difference, side[0]),
	 .columns = counters_columns},
	{"b", COLUMN_OBJECT, FIELD_HERE(struct counter_difference, side[1]),
	 .columns = counters_columns},
	{"sentence", COLUMN_TEXT, FIELD(struct counter_difference, sentence)},
	{0}};

GETTER(GArray *, functions, struct diff, row->functions->len ? g_array_ref(row->functions) : NULL);

const struct column function_difference_columns[] = {
	{"name", COLUMN_TEXT, FIELD(struct function_difference, name),
	 .table = {7, "FUNCTION", 0, "  "}},
	{"file", COLUMN_TEXT, FIELD(struct function_difference, file)},
	{"called_from", COLUMN_TEXT, .text = called_from, .table = {8, "CALLER", 0, "  ◄ "}},
	{"a_samples", COLUMN_WHOLE, .number = a_samples, .table = {4, "SAMPLES A", 9}},
	{"b_samples", COLUMN_WHOLE, .number = b_samples, .table = {5, "B", 6}},
	{"a_ns", COLUMN_NS, .real = a_mean, .table = {1, "A", 9}},
	{"b_ns", COLUMN_NS, .real = b_mean, .table = {2, "B", 9}},
	{"difference_ns", COLUMN_NS, .real = function_difference},
	{"error_ns", COLUMN_NS, FIELD(struct function_difference, error), .table = {3, "ERROR", 9}},
	{"significant", COLUMN_BOOL, FIELD(struct function_difference, significant)},
	{0}};
GETTER(const void *, replay, struct diff, row->retimed ? row->retimed->replay : NULL);

static const struct column report_columns[] = {
	COLUMNS(report_coverage),
	{"what_if", COLUMN_OBJECT, .at = replay, .columns = replay_columns, .absent = true},
	{NULL, COLUMN_WRITTEN, .write = write_answer},
	{NULL, COLUMN_WRITTEN, .write = write_other_coverage},
	{"unit", COLUMN_TEXT, .text = unit},
	{NULL, COLUMN_WRITTEN, .write = write_sides},
	{"difference", COLUMN_WHOLE, .real = whole_difference},
	{"target", COLUMN_OBJECT, FIELD(struct diff, target), .columns = target_columns},
	{"changed_most", COLUMN_OBJECT, FIELD(struct diff, most), .columns = target_columns},
	{NULL, COLUMN_OBJECT, FIELD(struct diff, traits), .columns = traits_columns},
	{"causes", COLUMN_LIST, FIELD(struct diff, causes), .columns = difference_columns},
	{"alignment", COLUMN_OBJECT, FIELD(struct diff, alignment), .columns = alignment_columns},
	{"calls", COLUMN_LIST, FIELD(struct diff, calls), .columns = call_difference_columns,
	 .limited = true},
	{"counters", COLUMN_LIST, FIELD(struct diff, counters),
	 .columns = counter_difference_columns, .absent = true, .limited = true},
	{"functions", COLUMN_LIST, .array = functions, .columns = function_difference_columns,
	 .limited = true, .absent = true},
	{"settings", COLUMN_OBJECT, FIELD(struct diff, settings), .columns = settings_columns,
	 .absent = true},
	{"call_sequences", COLUMN_LIST, FIELD(struct diff, forks), .columns = fork_columns,
	 .limited = true},
	{0}};

void diff_json(const struct diff *diff, struct output *output)
{
	struct report report = {diff->sides[0].session, diff, output};

	json_report(&report, "whylate-diff-1", report_columns, diff);
}
