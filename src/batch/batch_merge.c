/* SPDX-License-Identifier: MIT */
/* Adding up lines of `whylate batch`; see batch_parts.h.
 *
 * The sums are kept as the JSON that they are read from and written as. Lines come from other
 * processes, and maybe other programs: what is no number counts as 0, and sums stop at the largest
 * one.
 */
#include "batch/batch_parts.h"

#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "util/error.h"
#include "limits/limits_report.h"
#include "findings/findings.h"

static json_int_t integer(const json_t *from, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(from, key));

	return MAX(value, 0);
}

static json_int_t sum_of(json_int_t a, json_int_t b)
{
	json_int_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* A new record of a merged line: texts, and what others are added to. */
static void begin_record(json_t *to, const json_t *from, const struct column *columns)
{
	for (const struct column *column = columns; column->type; column++)
		if (column->merged == MERGED_FIRST)
			json_object_set(to, column->key, json_object_get(from, column->key));
		else if (column->merged == MERGED_ANY)
			json_object_set_new(to, column->key, json_false());
		else if (column->merged == MERGED_COUNTS)
			json_object_set_new(to, column->key, json_object());
}

static void set_sum(json_t *to, const json_t *from, const char *key)
{
	json_object_set_new(to, key, json_integer(sum_of(integer(to, key), integer(from, key))));
}

static void sum_counts(json_t *to, const json_t *from)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *) from, key,
			    value) if (strspn(key, "0123456789") == strlen(key) &&
				       strlen(key) < 5 &&
				       g_ascii_strtoull(key, NULL, 10) < MEASURE_BUCKETS)
		set_sum(to, from, key);
}

static void merge_member(json_t *to, const json_t *from, const struct column *column, bool first)
{
	const char *key = column->key;
	json_int_t value = integer(from, key), known = integer(to, key);

	switch (column->merged) {
	case MERGED_SUM:
		set_sum(to, from, key);
		break;
	case MERGED_LEAST:
	case MERGED_LARGEST:
		if (first || (column->merged == MERGED_LEAST ? value < known : value > known))
			json_object_set_new(to, key, json_integer(value));
		break;
	case MERGED_ANY:
		if (json_is_true(json_object_get(from, key)))
			json_object_set_new(to, key, json_true());
		break;
	case MERGED_COUNTS:
		sum_counts(json_object_get(to, key), json_object_get(from, key));
		break;
	default:
		break;
	}
}

static void merge_members(json_t *to, const json_t *from, const struct column *columns, bool first)
{
	for (const struct column *column = columns; column->type; column++)
		merge_member(to, from, column, first);
}

/* Adds it to the one of its name, which is what the first column says; NULL: texts are missing. */
static json_t *merge_record(json_t *records, const json_t *from, const struct column *columns)
{
	const char *name = json_string_value(json_object_get(from, columns->key));
	json_t *to;
	bool first;

	for (const struct column *column = columns; column->type; column++)
		if (column->merged == MERGED_FIRST &&
		    !json_is_string(json_object_get(from, column->key)))
			return NULL;
	to = json_object_get(records, name);
	first = !to;
	if (first) {
		to = json_object();
		begin_record(to, from, columns);
		json_object_set_new(records, name, to);
	}
	merge_members(to, from, columns, first);
	return to;
}

/* --- measures ---------------------------------------------------------------- */

static void latencies_of_json(const json_t *from, struct histogram *latencies)
{
	const char *key;
	json_t *value;

	if (!json_is_object(from))
		return;
	latencies->sum = integer(from, "sum_ns");
	latencies->min = integer(from, "min_ns");
	latencies->max = integer(from, "max_ns");
	latencies->counts = g_new0(uint64_t, MEASURE_BUCKETS);
	json_object_foreach(json_object_get(from, "buckets"), key, value)
	{
		guint64 bucket = g_ascii_strtoull(key, NULL, 10);

		if (bucket >= MEASURE_BUCKETS || json_integer_value(value) < 0)
			continue;
		latencies->counts[bucket] = (uint64_t) json_integer_value(value);
		latencies->count += latencies->counts[bucket]; /* so that both agree */
	}
}

static struct measures *measures_of_json(const json_t *list, bool merged)
{
	struct measures *measures = measures_empty();

	measures->merged = merged;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *from = json_array_get(list, i);
		const char *subject = json_string_value(json_object_get(from, "subject"));
		const json_t *parts = json_object_get(from, "parts_ns");
		struct measure *measure;

		if (!subject)
			continue;
		measure = measures_find(measures, subject);
		latencies_of_json(json_object_get(from, "sure"), &measure->sure);
		latencies_of_json(json_object_get(from, "doubtful"), &measure->doubtful);
		for (size_t p = 0; p < json_array_size(parts); p++) {
			double ns = (double) MAX(json_integer_value(json_array_get(parts, p)), 0);

			g_array_append_val(measure->parts, ns);
		}
		measure->whole = (double) integer(from, "whole_ns");
		measure->unknown = (double) integer(from, "unknown_ns");
		measure->value = (double) integer(from, "value");
		measure->open = json_is_true(json_object_get(from, "open"));
	}
	return measures;
}

static void batch_limit_free(gpointer data)
{
	struct batch_limit *at = data;

	g_free(at->key);
	limit_free(at->limit);
	measures_free(at->measures);
	g_clear_pointer(&at->judgement, judgement_free);
	g_free(at);
}

static struct batch_limit *limit_of(struct batch *batch, const char *name, const char *text)
{
	g_autofree char *key = g_strconcat(name ? name : "", name ? ": " : "", text, NULL);
	struct batch_limit *at;
	struct limit *limit;
	guint place = 0;

	for (; place < batch->limits->len; place++) {
		int order;

		at = g_ptr_array_index(batch->limits, place);
		order = strcmp(at->key, key);
		if (order == 0)
			return at;
		if (order > 0)
			break;
	}
	limit = limit_parse(text, NULL);
	if (!limit)
		return NULL;
	limit->name = g_strdup(name);
	at = g_new0(struct batch_limit, 1);
	at->key = g_steal_pointer(&key);
	at->limit = limit;
	at->measures = measures_empty();
	g_ptr_array_insert(batch->limits, (gint) place, at);
	return at;
}

static void merge_limit(struct batch *batch, const json_t *from, bool merged)
{
	const char *text = json_string_value(json_object_get(from, "limit"));
	const char *name = json_string_value(json_object_get(from, "name"));
	const char *lacks = json_string_value(json_object_get(from, "lacks"));
	const char *outcome = json_string_value(json_object_get(from, "outcome"));
	struct batch_limit *at = text ? limit_of(batch, name, text) : NULL;
	struct measures *measures;

	if (!at)
		return;
	measures = measures_of_json(json_object_get(from, "measures"), merged);
	measures_add(at->measures, measures, at->limit);
	measures_free(measures);
	/* whichever came first: the least, so that order does not matter */
	if (lacks && (!at->measures->lacks || strcmp(lacks, at->measures->lacks) < 0)) {
		g_free(at->measures->lacks);
		at->measures->lacks = g_strdup(lacks);
	}
	if (merged) {
		at->exceeded += (guint) integer(from, "traces_exceeded");
		at->not_judged += (guint) integer(from, "traces_not_judged");
	} else {
		at->exceeded += g_strcmp0(outcome, "exceeded") == 0;
		at->not_judged += g_strcmp0(outcome, "not-judged") == 0;
	}
}

/* --- profiles, findings, traces ---------------------------------------------- */

/* The trace that has most of a finding; of several the first by name. The title is that one's, as a
 * sentence says amounts. */
static void take_worst(json_t *to, const json_t *from, const char *trace, json_int_t ns)
{
	const char *has = json_string_value(json_object_get(to, "worst_trace"));
	json_int_t most = integer(to, "worst_ns");

	if (!trace || (has && (ns < most || (ns == most && strcmp(trace, has) >= 0))))
		return;
	json_object_set_new(to, "worst_trace", json_string(trace));
	json_object_set_new(to, "worst_ns", json_integer(ns));
	json_object_set(to, "title", json_object_get(from, "title"));
}

/* `trace`: NULL, if it is of several already. */
static void merge_finding(struct batch *batch, const json_t *from, const char *trace)
{
	json_t *to = merge_record(batch->findings, from, finding_columns);
	json_int_t traces = trace ? 1 : integer(from, "traces");

	if (!to)
		return;
	json_object_set_new(to, "traces", json_integer(sum_of(integer(to, "traces"), traces)));
	if (trace)
		take_worst(to, from, trace, integer(from, "ns"));
	else
		take_worst(to, from, json_string_value(json_object_get(from, "worst_trace")),
			   integer(from, "worst_ns"));
}

/* What others waited for most, else what is largest: long waits may be nobody's trouble. */
static const json_t *telling_finding(const json_t *findings)
{
	json_t *each;
	size_t i;

	json_array_foreach((json_t *) findings, i,
			   each) if (g_strcmp0(json_string_value(json_object_get(each, "kind")),
					       "imposer") == 0) return each;
	return json_array_get(findings, 0);
}

/* What the list of traces says of one. */
static json_t *entry_of(const json_t *line)
{
	static const char *const kept[] = {"trace",       "status",       "messages", "events",
					   "lost_events", "lost_packets", "damaged",  "window",
					   "trouble",     "page"};
	const json_t *host = json_array_get(json_object_get(line, "hosts"), 0);
	const json_t *finding = telling_finding(json_object_get(line, "findings"));
	json_t *entry = json_object(), *exceeded = json_array();

	for (size_t i = 0; i < G_N_ELEMENTS(kept); i++)
		if (json_object_get(line, kept[i]))
			json_object_set(entry, kept[i], json_object_get(line, kept[i]));
	if (host)
		json_object_set(entry, "hostname", json_object_get(host, "hostname"));
	if (finding)
		json_object_set_new(entry, "finding",
				    json_pack("{s:O,s:O,s:O}", "id", json_object_get(finding, "id"),
					      "title", json_object_get(finding, "title"), "ns",
					      json_object_get(finding, "ns")));
	for (size_t i = 0; i < json_array_size(json_object_get(line, "limits")); i++) {
		const json_t *limit = json_array_get(json_object_get(line, "limits"), i);
		const char *outcome = json_string_value(json_object_get(limit, "outcome"));

		if (g_strcmp0(outcome, "exceeded") == 0 || g_strcmp0(outcome, "not-judged") == 0)
			json_array_append_new(exceeded,
					      json_pack("{s:O?,s:O?,s:O?,s:O?}", "name",
							json_object_get(limit, "name"), "limit",
							json_object_get(limit, "limit"), "outcome",
							json_object_get(limit, "outcome"), "cause",
							json_object_get(limit, "cause")));
	}
	json_object_set_new(entry, "limits", exceeded);
	return entry;
}

struct batch *batch_new(void)
{
	struct batch *batch = g_new0(struct batch, 1);

	batch->traces = json_array();
	batch->profiles = json_object();
	batch->findings = json_object();
	batch->limits = g_ptr_array_new_with_free_func(batch_limit_free);
	batch->settings = batch_settings_new();
	return batch;
}

void batch_free(struct batch *batch)
{
	json_decref(batch->traces);
	json_decref(batch->profiles);
	json_decref(batch->findings);
	g_ptr_array_free(batch->limits, TRUE);
	batch_settings_free(batch->settings);
	g_free(batch);
}

static bool refuse(struct batch *batch, const char *why, GError **error)
{
	batch->bad_lines++;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_DAMAGE, "%s", why);
	return false;
}

/* Those of a sum; what they have of settings is given anew in the end. */
static void add_entries(struct batch *batch, const json_t *line)
{
	const json_t *common = json_object_get(json_object_get(line, "settings"), "common");
	json_t *each;
	size_t i;

	json_array_foreach(json_object_get(line, "traces"), i, each)
	{
		json_t *entry = json_copy(each);

		batch_settings_add(batch->settings, entry, json_object_get(each, "settings"),
				   common);
		json_object_del(entry, "settings");
		json_array_append_new(batch->traces, entry);
	}
}

bool batch_add(struct batch *batch, const json_t *line, GError **error)
{
	const char *schema = json_string_value(json_object_get(line, "schema"));
	const char *kind = json_string_value(json_object_get(line, "kind"));
	const char *trace = json_string_value(json_object_get(line, "trace"));
	bool merged = g_strcmp0(kind, "merged") == 0;
	json_t *each;
	size_t i;

	if (g_strcmp0(schema, BATCH_SCHEMA) != 0 || !kind || (!merged && !trace))
		return refuse(batch, "is no line of whylate batch", error);
	if (json_object_get(line, "resolution") &&
	    integer(line, "resolution") != MEASURE_RESOLUTION)
		return refuse(batch, "has buckets of another resolution", error);
	if (merged) {
		add_entries(batch, line);
		batch->bad_lines += (guint) integer(line, "bad_lines");
	} else {
		each = entry_of(line);
		batch_settings_add(batch->settings, each, json_object_get(line, "settings"), NULL);
		json_array_append_new(batch->traces, each);
	}
	json_array_foreach(json_object_get(line, "profiles"), i, each)
		merge_record(batch->profiles, each, batch_profile_columns);
	json_array_foreach(json_object_get(line, "findings"), i, each)
		merge_finding(batch, each, merged ? NULL : trace);
	json_array_foreach(json_object_get(line, "limits"), i, each)
		merge_limit(batch, each, merged);
	return true;
}

/* --- the sum ------------------------------------------------------------------ */

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static int compare_traces(gconstpointer a, gconstpointer b)
{
	const json_t *x = *(json_t *const *) a, *y = *(json_t *const *) b;
	int order = strcmp(text_of(x, "trace"), text_of(y, "trace"));
	json_int_t first = integer(x, "status"), second = integer(y, "status");

	return order ? order : first < second ? -1 : first > second;
}

static int largest_first(gconstpointer a, gconstpointer b, const char *key, const char *name)
{
	const json_t *x = *(json_t *const *) a, *y = *(json_t *const *) b;
	json_int_t first = integer(x, key), second = integer(y, key);

	return first != second ? (first > second ? -1 : 1)
			       : strcmp(text_of(x, name), text_of(y, name));
}

static int compare_sums(gconstpointer a, gconstpointer b)
{
	return largest_first(a, b, "sum_ns", "operation");
}

static int compare_times(gconstpointer a, gconstpointer b)
{
	return largest_first(a, b, "ns", "id");
}

/* The values of an array or object, sorted; a new reference. */
static json_t *sorted(const json_t *from, GCompareFunc order)
{
	g_autoptr(GPtrArray) values = g_ptr_array_new();
	json_t *list = json_array(), *value;
	const char *key;
	size_t i;

	json_array_foreach((json_t *) from, i, value) g_ptr_array_add(values, value);
	json_object_foreach((json_t *) from, key, value) g_ptr_array_add(values, value);
	g_ptr_array_sort(values, order);
	for (guint k = 0; k < values->len; k++)
		json_array_append(list, values->pdata[k]);
	return list;
}

/* From which to which value it is, of what the buckets tell. */
static void set_percentile(json_t *profile, const struct judgement *judgement, const char *key)
{
	json_object_set_new(profile, key,
			    judgement->measured ? json_pack("[I,I]", (json_int_t) judgement->low,
							    (json_int_t) judgement->high)
						: json_null());
}

static void set_percentiles(json_t *profile)
{
	static const struct {
		const char *key, *limit;
	} percentiles[] = {{"p50_ns", "p50(*) > 0"},
			   {"p90_ns", "p90(*) > 0"},
			   {"p99_ns", "p99(*) > 0"}};

	for (size_t i = 0; i < G_N_ELEMENTS(percentiles); i++) {
		struct limit *limit = limit_parse(percentiles[i].limit, NULL);
		struct measures *measures = measures_empty();
		struct judgement *judgement;

		latencies_of_json(profile, &measures_find(measures, "it")->sure);
		judgement = judgement_new(limit, measures);
		set_percentile(profile, judgement, percentiles[i].key);
		judgement_free(judgement);
		limit_free(limit);
	}
}

static const struct column limit_columns[] = {
	{NULL, COLUMN_OBJECT, FIELD(struct batch_limit, judgement), .columns = judgement_columns},
	{"traces_exceeded", COLUMN_WHOLE, FIELD(struct batch_limit, exceeded)},
	{"traces_not_judged", COLUMN_WHOLE, FIELD(struct batch_limit, not_judged)},
	{NULL, COLUMN_OBJECT, FIELD(struct batch_limit, judgement),
	 .columns = batch_measured_columns},
	{0}};

/* A new reference. */
static json_t *limit_json(const struct batch_limit *limit)
{
	char *text = NULL;
	size_t size;
	struct output output = {.file = open_memstream(&text, &size)};
	struct report report = {NULL, NULL, &output};
	json_t *object;

	json_put_row(&report, NULL, limit_columns, limit);
	fclose(output.file);
	object = json_loadb(text, size, 0, NULL);
	free(text);
	return object;
}

static json_t *merged_limits(struct batch *batch)
{
	json_t *list = json_array();

	for (guint i = 0; i < batch->limits->len; i++) {
		struct batch_limit *at = g_ptr_array_index(batch->limits, i);

		at->judgement = judgement_new(at->limit, g_steal_pointer(&at->measures));
		json_array_append_new(list, limit_json(at));
	}
	return list;
}

/* How many traces ended with each status. */
static json_t *statuses(const json_t *traces)
{
	json_t *counts = json_object(), *trace;
	size_t i;

	json_array_foreach((json_t *) traces, i, trace)
	{
		char key[8];

		g_snprintf(key, sizeof key, "%d", (int) MIN(integer(trace, "status"), 255));
		json_object_set_new(counts, key, json_integer(integer(counts, key) + 1));
	}
	return counts;
}

json_t *batch_merged(struct batch *batch)
{
	json_t *merged = json_object(), *traces = sorted(batch->traces, compare_traces), *each;
	json_t *profiles = sorted(batch->profiles, compare_sums),
	       *settings = batch_settings_sum(batch->settings);
	size_t i;

	json_object_set_new(merged, "schema", json_string(BATCH_SCHEMA));
	json_object_set_new(merged, "kind", json_string("merged"));
	json_object_set_new(merged, "status", json_integer(0)); /* its place */
	json_object_set_new(merged, "statuses", statuses(traces));
	json_object_set_new(merged, "bad_lines", json_integer(batch->bad_lines));
	merge_members(merged, NULL, batch_line_columns, true); /* 0 of no trace */
	json_array_foreach(traces, i, each) merge_members(merged, each, batch_line_columns, false);
	json_object_set_new(merged, "limits", merged_limits(batch));
	json_object_set_new(merged, "findings", sorted(batch->findings, compare_times));
	json_object_set_new(merged, "resolution", json_integer(MEASURE_RESOLUTION));
	json_array_foreach(profiles, i, each) set_percentiles(each);
	json_object_set_new(merged, "profiles", profiles);
	if (settings)
		json_object_set_new(merged, "settings", settings);
	json_object_set_new(merged, "traces", traces);
	json_object_set_new(merged, "status", json_integer(batch_status(merged)));
	return merged;
}

bool batch_lost_some(const json_t *trace)
{
	return integer(trace, "lost_events") || integer(trace, "lost_packets");
}

json_int_t batch_lossy(const json_t *merged)
{
	json_int_t number = 0;
	json_t *each;
	size_t i;

	json_array_foreach(json_object_get(merged, "traces"), i, each)
		number += !integer(each, "status") && batch_lost_some(each);
	return number;
}

int batch_status(const json_t *merged)
{
	const json_t *statuses = json_object_get(merged, "statuses");
	size_t all = json_array_size(json_object_get(merged, "traces"));
	bool trouble = integer(merged, "bad_lines") > 0;
	json_t *limit;
	size_t i;

	if (integer(statuses, "1"))
		return 1;
	json_array_foreach(json_object_get(merged, "limits"), i, limit)
	{
		if (strcmp(text_of(limit, "outcome"), outcome_text(OUTCOME_EXCEEDED)) == 0)
			return 1;
		trouble |= strcmp(text_of(limit, "outcome"), outcome_text(OUTCOME_NOT_JUDGED)) == 0;
	}
	if (!all)
		return trouble ? WHYLATE_ERROR_DAMAGE : WHYLATE_ERROR_NO_TRACE;
	if ((size_t) integer(statuses, "2") == all)
		return WHYLATE_ERROR_USAGE;
	if ((size_t) integer(statuses, "3") == all)
		return WHYLATE_ERROR_NO_TRACE;
	return trouble || (size_t) integer(statuses, "0") != all ? WHYLATE_ERROR_DAMAGE : 0;
}
