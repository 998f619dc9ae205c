/* SPDX-License-Identifier: MIT */
/* Limits over many traces; see batch_limits.h. */
#include "batch/batch_limits.h"

#include <stdlib.h>
#include <string.h>

#include "batch/batch_parts.h"
#include "limits/limits_report.h"
#include "report/report.h"

/* A limit over all traces. */
struct batch_limit {
	char *key;            /* owned; name and text */
	struct limit *limit;  /* owned */
	struct measures *measures; /* owned; given to the judgement in the end */
	guint exceeded, not_judged; /* traces */
	struct judgement *judgement; /* owned; in the end */
};

static json_int_t integer(const json_t *from, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(from, key));

	return MAX(value, 0);
}

void histogram_of_json(const json_t *from, struct histogram *latencies)
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
		histogram_of_json(json_object_get(from, "sure"), &measure->sure);
		histogram_of_json(json_object_get(from, "doubtful"), &measure->doubtful);
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

static struct batch_limit *limit_of(GPtrArray *limits, const char *name, const char *text)
{
	g_autofree char *key = g_strconcat(name ? name : "", name ? ": " : "", text, NULL);
	struct batch_limit *at;
	struct limit *limit;
	guint place = 0;

	for (; place < limits->len; place++) {
		int order;

		at = g_ptr_array_index(limits, place);
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
	g_ptr_array_insert(limits, (gint) place, at);
	return at;
}

void batch_limits_add(GPtrArray *limits, const json_t *from, bool merged)
{
	const char *text = json_string_value(json_object_get(from, "limit"));
	const char *name = json_string_value(json_object_get(from, "name"));
	const char *lacks = json_string_value(json_object_get(from, "lacks"));
	const char *outcome = json_string_value(json_object_get(from, "outcome"));
	struct batch_limit *at = text ? limit_of(limits, name, text) : NULL;
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

GPtrArray *batch_limits_new(void)
{
	return g_ptr_array_new_with_free_func(batch_limit_free);
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

json_t *batch_limits_merged(GPtrArray *limits)
{
	json_t *list = json_array();

	for (guint i = 0; i < limits->len; i++) {
		struct batch_limit *at = g_ptr_array_index(limits, i);

		at->judgement = judgement_new(at->limit, g_steal_pointer(&at->measures));
		json_array_append_new(list, limit_json(at));
	}
	return list;
}
