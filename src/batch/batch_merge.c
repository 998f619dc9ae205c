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

#include "batch/batch_limits.h"

#include "report/report.h"
#include "util/error.h"
#include "limits/limits_report.h"
#include "findings/findings.h"

#define LATENCIES_KEPT 5 /* of a trace */
/* The same object gives the same bytes, whatever order it was made in. */
#define CANONICAL (JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(6))

static json_int_t integer(const json_t *from, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(from, key));

	return MAX(value, 0);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
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

/* --- lists in an order --------------------------------------------------------- */

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

/* --- profiles, findings, traces ---------------------------------------------- */

/* The trace that has most of a finding; of several the first by name. The title is that one's, as a
 * sentence says amounts. */
static void take_worst(json_t *to, const json_t *from, const char *trace, json_int_t ns)
{
	const char *has = json_string_value(json_object_get(to, "worst_trace"));
	json_int_t most = integer(to, "worst_ns");

	int order = has && trace ? strcmp(trace, has) : -1;

	if (order == 0) /* of two hosts */
		order = strcmp(text_of(from, "title"), text_of(to, "title"));
	if (!trace || (has && (ns < most || (ns == most && order >= 0))))
		return;
	json_object_set_new(to, "worst_trace", json_string(trace));
	json_object_set_new(to, "worst_ns", json_integer(ns));
	json_object_set(to, "title", json_object_get(from, "title"));
}

/* When the first and the last trace that has it began. */
static void take_times(json_t *to, json_int_t first, json_int_t last)
{
	bool known = json_object_get(to, "first_seen") != NULL;

	if (!known || first < integer(to, "first_seen"))
		json_object_set_new(to, "first_seen", json_integer(first));
	if (!known || last > integer(to, "last_seen"))
		json_object_set_new(to, "last_seen", json_integer(last));
}

/* Of a line; `trace`: NULL, if it is a sum. */
static void merge_finding(struct batch *batch, const json_t *from, const json_t *line,
			  const char *trace)
{
	json_t *to = merge_record(batch->findings, from, finding_columns);
	json_int_t traces = trace ? 1 : integer(from, "traces");
	json_int_t begin = integer(json_object_get(line, "window"), "begin");

	if (!to)
		return;
	json_object_set_new(to, "traces", json_integer(sum_of(integer(to, "traces"), traces)));
	if (trace) {
		take_worst(to, from, trace, integer(from, "ns"));
		take_times(to, begin, begin);
	} else {
		take_worst(to, from, json_string_value(json_object_get(from, "worst_trace")),
			   integer(from, "worst_ns"));
		if (json_object_get(from, "first_seen"))
			take_times(to, integer(from, "first_seen"), integer(from, "last_seen"));
	}
}

/* What stands out, else what others waited for most, else what is largest: long waits may be
 * nobody's trouble. */
static const json_t *telling_finding(const json_t *findings)
{
	const json_t *best = NULL;
	json_t *each;
	size_t i;

	json_array_foreach((json_t *) findings, i, each)
	{
		if (!best || batch_finding_group(each) < batch_finding_group(best))
			best = each;
	}
	return best;
}

/* Of the operations that took most. */
static void set_latencies(json_t *entry, const json_t *profiles)
{
	static const char *const kept[] = {"operation", "count", "sum_ns", "max_ns"};
	json_t *all = sorted(profiles, compare_sums), *list = json_array(), *each;
	size_t i;

	json_array_foreach(all, i, each)
	{
		json_t *one = json_object();

		if (i == LATENCIES_KEPT) {
			json_decref(one);
			break;
		}
		for (size_t k = 0; k < G_N_ELEMENTS(kept); k++)
			if (json_object_get(each, kept[k]))
				json_object_set(one, kept[k], json_object_get(each, kept[k]));
		json_array_append_new(list, one);
	}
	if (json_array_size(list))
		json_object_set(entry, "latencies", list);
	json_decref(list);
	json_decref(all);
}

json_t *batch_entry_of(const json_t *line)
{
	static const char *const kept[] = {"trace",  "identity",    "status",       "messages",
					   "events", "lost_events", "lost_packets", "damaged",
					   "window", "trouble",     "page"};
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
				    json_pack("{s:O,s:O?,s:O,s:O}", "id",
					      json_object_get(finding, "id"), "kind",
					      json_object_get(finding, "kind"), "title",
					      json_object_get(finding, "title"), "ns",
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
	set_latencies(entry, json_object_get(line, "profiles"));
	return entry;
}

struct batch *batch_new(void)
{
	struct batch *batch = g_new0(struct batch, 1);

	batch->entries = batch_entries_new();
	batch->totals = json_object();
	merge_members(batch->totals, NULL, batch_line_columns, true); /* 0 of no trace */
	batch->statuses = json_object();
	batch->profiles = json_object();
	batch->findings = json_object();
	batch->limits = batch_limits_new();
	batch->settings = batch_settings_new();
	batch->outliers = batch_outliers_new();
	return batch;
}

void batch_free(struct batch *batch)
{
	batch_entries_free(batch->entries);
	json_decref(batch->totals);
	json_decref(batch->statuses);
	json_decref(batch->profiles);
	json_decref(batch->findings);
	json_decref(batch->missing);
	g_ptr_array_free(batch->limits, TRUE);
	batch_settings_free(batch->settings);
	batch_outliers_free(batch->outliers);
	g_free(batch);
}

static bool refuse(const char *why, GError **error)
{
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_DAMAGE, "%s", why);
	return false;
}

bool batch_is_sum(const json_t *line)
{
	return g_strcmp0(json_string_value(json_object_get(line, "kind")), "merged") == 0;
}

bool batch_check(const json_t *line, GError **error)
{
	const char *schema = json_string_value(json_object_get(line, "schema"));
	const char *kind = json_string_value(json_object_get(line, "kind"));
	const char *trace = json_string_value(json_object_get(line, "trace"));

	if (g_strcmp0(schema, BATCH_SCHEMA) != 0 || !kind || (!batch_is_sum(line) && !trace))
		return refuse("is not a line of whylate batch", error);
	if (json_object_get(line, "resolution") &&
	    integer(line, "resolution") != MEASURE_RESOLUTION)
		return refuse("has buckets of another resolution", error);
	return true;
}

/* Profiles, findings and limits; `trace` NULL: of a sum. */
static void add_records(struct batch *batch, const json_t *line, const char *trace)
{
	json_t *each;
	size_t i;

	json_array_foreach(json_object_get(line, "profiles"), i, each)
		merge_record(batch->profiles, each, batch_profile_columns);
	json_array_foreach(json_object_get(line, "findings"), i, each)
		merge_finding(batch, each, line, trace);
	json_array_foreach(json_object_get(line, "limits"), i, each)
		batch_limits_add(batch->limits, each, !trace);
}

/* What it has of settings is given anew in the end. */
static void add_entry(struct batch *batch, const json_t *entry, const struct trace_key *key,
		      const json_t *settings, const json_t *common)
{
	const char *trace = text_of(entry, "trace");
	char status[8];

	batch_settings_add(batch->settings, trace, key, json_object_get(entry, "window"), settings,
			   common);
	merge_members(batch->totals, entry, batch_line_columns, false);
	g_snprintf(status, sizeof status, "%d", (int) MIN(integer(entry, "status"), 255));
	json_object_set_new(batch->statuses, status,
			    json_integer(integer(batch->statuses, status) + 1));
	batch->lossy += !integer(entry, "status") && batch_lost_some(entry);
	batch_entries_add(batch->entries, trace, *key, entry);
}

void batch_add_line(struct batch *batch, const json_t *line, const struct trace_key *key)
{
	json_t *entry = batch_entry_of(line);

	add_records(batch, line, text_of(line, "trace"));
	batch_outliers_add(batch->outliers, line);
	add_entry(batch, entry, key, json_object_get(line, "settings"), NULL);
	json_decref(entry);
}

void batch_add_sum(struct batch *batch, const json_t *sum)
{
	add_records(batch, sum, NULL);
	batch_outliers_add_sum(batch->outliers, json_object_get(sum, "outliers"));
}

void batch_add_entry(struct batch *batch, const json_t *entry, const struct trace_key *key,
		     const json_t *common)
{
	json_t *plain = json_copy((json_t *) entry);

	json_object_del(plain, "settings");
	add_entry(batch, plain, key, json_object_get(entry, "settings"), common);
	json_decref(plain);
}

/* --- the sum ------------------------------------------------------------------ */

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

		histogram_of_json(profile, &measures_find(measures, "it")->sure);
		judgement = judgement_new(limit, measures);
		set_percentile(profile, judgement, percentiles[i].key);
		judgement_free(judgement);
		limit_free(limit);
	}
}

json_t *batch_merged(struct batch *batch)
{
	json_t *merged = json_object(), *each;
	json_t *profiles = sorted(batch->profiles, compare_sums),
	       *settings = batch_settings_sum(batch->settings),
	       *outliers = batch_outliers_sum(batch->outliers, batch->settings);
	size_t i;

	json_object_set_new(merged, "schema", json_string(BATCH_SCHEMA));
	json_object_set_new(merged, "kind", json_string("merged"));
	json_object_set_new(merged, "status", json_integer(0)); /* its place */
	json_object_set(merged, "statuses", batch->statuses);
	json_object_set_new(merged, "bad_lines", json_integer(batch->bad_lines));
	json_object_set_new(merged, "repeated", json_integer(batch->repeated));
	if (batch->missing)
		json_object_set(merged, "missing", batch->missing);
	json_object_update(merged, batch->totals);
	json_object_set_new(merged, "limits", batch_limits_merged(batch->limits));
	json_object_set_new(merged, "findings", sorted(batch->findings, compare_times));
	json_object_set_new(merged, "resolution", json_integer(MEASURE_RESOLUTION));
	json_array_foreach(profiles, i, each) set_percentiles(each);
	json_object_set_new(merged, "profiles", profiles);
	if (settings)
		json_object_set_new(merged, "settings", settings);
	if (outliers)
		json_object_set_new(merged, "outliers", outliers);
	json_object_set_new(merged, "status", json_integer(batch_status(merged)));
	return merged;
}

/* With what is to be done with each. */
struct giving {
	struct batch *batch;
	batch_take *take;
	void *data;
};

static void give(void *data, const struct trace_key *key, json_t *entry)
{
	const struct giving *giving = data;
	json_t *own = batch_settings_own(giving->batch->settings, key);

	if (own)
		json_object_set(entry, "settings", own);
	giving->take(giving->data, entry);
}

bool batch_each(struct batch *batch, batch_take *take, void *data)
{
	struct giving giving = {batch, take, data};

	return batch_entries_each(batch->entries, give, &giving);
}

struct writing {
	FILE *file;
	bool more;
};

static void write_entry(void *data, const json_t *entry)
{
	struct writing *writing = data;

	fputs(writing->more ? "," : "", writing->file);
	json_dumpf(entry, writing->file, CANONICAL);
	writing->more = true;
}

bool batch_write(struct batch *batch, const json_t *merged, FILE *file)
{
	struct writing writing = {file, false};
	const char *key;
	json_t *value;
	bool all;

	fputc('{', file);
	json_object_foreach((json_t *) merged, key, value)
	{
		fprintf(file, "\"%s\":", key);
		json_dumpf(value, file, CANONICAL | JSON_ENCODE_ANY);
		fputc(',', file);
	}
	fputs("\"traces\":[", file);
	all = batch_each(batch, write_entry, &writing);
	fputs("]}\n", file);
	return all;
}

/* Of status 4: what could not be read, what could not be judged, or both. */
static const char *trouble_text(const json_t *trace)
{
	static const struct {
		const char *name, *text;
	} words[] = {{"no-answer", "no answer"},
		     {"not-whole", "not whole"},
		     {"limit-not-judged", "a limit not judged"}};
	const json_t *trouble = json_object_get(trace, "trouble");
	const char *first = json_string_value(json_array_get(trouble, 0));

	if (json_array_size(trouble) > 1)
		return "not whole, and a limit not judged";
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (g_strcmp0(first, words[i].name) == 0)
			return words[i].text;
	return "not whole, or a limit not judged"; /* a line of an older version */
}

const char *batch_outcome(const json_t *trace)
{
	switch (integer(trace, "status")) {
	case 0:
		return batch_lost_some(trace) ? "read, but events were lost" : "good";
	case 1:
		return "a limit is exceeded";
	case 2:
		return "not as asked for";
	case 3:
		return "could not be read";
	case 4:
		return trouble_text(trace);
	default:
		return "the analysis failed";
	}
}

enum finding_group batch_finding_group(const json_t *finding)
{
	const char *kind = text_of(finding, "kind");

	return strcmp(kind, "answer") == 0    ? FINDING_STANDS_OUT
	       : strcmp(kind, "imposer") == 0 ? FINDING_IMPOSED
					      : FINDING_REST;
}

bool batch_lost_some(const json_t *trace)
{
	return integer(trace, "lost_events") || integer(trace, "lost_packets");
}

int batch_status(const json_t *merged)
{
	const json_t *statuses = json_object_get(merged, "statuses");
	json_int_t all = 0;
	bool trouble = integer(merged, "bad_lines") > 0 ||
		       json_array_size(json_object_get(merged, "missing"));
	const char *key;
	json_t *limit;
	json_t *count;
	size_t i;

	json_object_foreach((json_t *) statuses, key, count) all += json_integer_value(count);
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
	if (integer(statuses, "2") == all)
		return WHYLATE_ERROR_USAGE;
	if (integer(statuses, "3") == all)
		return WHYLATE_ERROR_NO_TRACE;
	return trouble || integer(statuses, "0") != all ? WHYLATE_ERROR_DAMAGE : 0;
}
