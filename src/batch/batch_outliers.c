/* SPDX-License-Identifier: MIT */
/* See batch_outliers.h. */
#include "batch/batch_outliers.h"

#include <math.h>
#include <string.h>

#include "batch/batch_expected.h"
#include "limits/measure.h"
#include "util/when.h"

#define LARGEST 10 /* traces kept of a measure */
#define TOLD 10
#define MEASURED_LEAST 8 /* traces, for quartiles to mean something */
#define COUNT_LEAST 5 /* operations, for a mean to */
#define FENCE 3 /* distances of the quartiles */
#define FACTOR_LEAST 2 /* of Q3 */
#define EXCESS_LEAST 1000000 /* ns; of costs: of each second */

struct batch_outliers {
	GHashTable *measures; /* owned; "of\twhat" -> owned JSON */
	struct buckets buckets;
};

static void json_free(gpointer json)
{
	json_decref(json);
}

struct batch_outliers *batch_outliers_new(void)
{
	struct batch_outliers *outliers = g_new0(struct batch_outliers, 1);

	outliers->measures = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, json_free);
	buckets_init(&outliers->buckets, MEASURE_RESOLUTION);
	return outliers;
}

void batch_outliers_free(struct batch_outliers *outliers)
{
	g_hash_table_destroy(outliers->measures);
	buckets_clear(&outliers->buckets);
	g_free(outliers);
}

static const char *text_of(const json_t *from, const char *key)
{
	const char *text = json_string_value(json_object_get(from, key));

	return text ? text : "";
}

static json_int_t integer(const json_t *from, const char *key)
{
	return MAX(json_integer_value(json_object_get(from, key)), 0);
}

static void add_to(json_t *to, const char *key, json_int_t count)
{
	json_int_t sum;

	if (__builtin_add_overflow(integer(to, key), count, &sum))
		sum = INT64_MAX;
	json_object_set_new(to, key, json_integer(sum));
}

static json_t *measure_of(struct batch_outliers *outliers, const char *of, const char *what)
{
	g_autofree char *key = g_strconcat(of, "\t", what, NULL);
	json_t *measure = g_hash_table_lookup(outliers->measures, key);

	if (!measure) {
		measure = json_pack("{s:s,s:s,s:i,s:{},s:[]}", "of", of, "what", what, "traces", 0,
				    "buckets", "largest");
		g_hash_table_insert(outliers->measures, g_steal_pointer(&key), measure);
	}
	return measure;
}

/* The larger first; of the same the first by name. */
static bool is_before(const json_t *a, const json_t *b)
{
	json_int_t x = integer(a, "ns"), y = integer(b, "ns");
	int order = strcmp(text_of(a, "trace"), text_of(b, "trace"));

	return x != y  ? x > y
	       : order ? order < 0
		       : strcmp(text_of(a, "identity"), text_of(b, "identity")) < 0;
}

static void keep_largest(json_t *measure, json_t *one)
{
	json_t *list = json_object_get(measure, "largest");
	size_t at = json_array_size(list);

	while (at && is_before(one, json_array_get(list, at - 1)))
		at--;
	json_array_insert(list, at, one);
	if (json_array_size(list) > LARGEST)
		json_array_remove(list, LARGEST);
}

static void add_value(struct batch_outliers *outliers, const char *of, const char *what,
		      const json_t *line, json_int_t ns, json_int_t count)
{
	json_t *measure = measure_of(outliers, of, what), *one;
	char bucket[16];

	g_snprintf(bucket, sizeof bucket, "%u", bucket_of(&outliers->buckets, ns));
	add_to(measure, "traces", 1);
	add_to(json_object_get(measure, "buckets"), bucket, 1);
	one = json_pack("{s:O,s:I,s:I}", "trace", json_object_get(line, "trace"), "ns", ns, "count",
			count);
	if (json_object_get(line, "identity"))
		json_object_set(one, "identity", json_object_get(line, "identity"));
	keep_largest(measure, one);
	json_decref(one);
}

void batch_outliers_add(struct batch_outliers *outliers, const json_t *line)
{
	const json_t *window = json_object_get(line, "window");
	double seconds = (double) (integer(window, "end") - integer(window, "begin")) / 1e9;
	json_t *each;
	const char *name;
	size_t i;

	json_array_foreach(json_object_get(line, "profiles"), i, each)
	{
		json_int_t count = integer(each, "count");

		if (count >= COUNT_LEAST && *text_of(each, "operation"))
			add_value(outliers, "operation", text_of(each, "operation"), line,
				  integer(each, "sum_ns") / count, count);
	}
	json_object_foreach(json_object_get(json_object_get(line, "settings"), "costs_ns"), name,
			    each) if (seconds > 0)
		add_value(outliers, "cost", name, line,
			  llround((double) MAX(json_integer_value(each), 0) / seconds), 1);
}

void batch_outliers_add_sum(struct batch_outliers *outliers, const json_t *of)
{
	json_t *each, *one, *count;
	const char *bucket;
	size_t i, k;

	json_array_foreach(json_object_get(of, "measures"), i, each)
	{
		json_t *to = measure_of(outliers, text_of(each, "of"), text_of(each, "what"));

		add_to(to, "traces", integer(each, "traces"));
		json_object_foreach(json_object_get(each, "buckets"), bucket,
				    count) if (g_ascii_strtoull(bucket, NULL, 10) < MEASURE_BUCKETS)
			add_to(json_object_get(to, "buckets"), bucket,
			       MAX(json_integer_value(count), 0));
		json_array_foreach(json_object_get(each, "largest"), k,
				   one) if (json_is_string(json_object_get(one, "trace")))
			keep_largest(to, one);
	}
}

/* --- what is told ----------------------------------------------------------------------------- */

struct outlier {
	const json_t *measure, *one;
	double median, excess;
};

/* Where that share of the traces is: the least of its bucket. */
static double quantile(const json_t *measure, double share)
{
	const json_t *buckets = json_object_get(measure, "buckets");
	json_int_t wanted = (json_int_t) ceil(share * (double) integer(measure, "traces"));
	char key[16];

	for (guint b = 0; b < MEASURE_BUCKETS; b++) {
		g_snprintf(key, sizeof key, "%u", b);
		wanted -= integer(buckets, key);
		if (wanted <= 0)
			return (double) MAX(bucket_from(MEASURE_RESOLUTION, b), 1);
	}
	return INFINITY;
}

static void find_outliers(const json_t *measure, GArray *found)
{
	double low = quantile(measure, 0.25), high = quantile(measure, 0.75),
	       median = quantile(measure, 0.5),
	       fence = high * MAX(pow(high / low, FENCE), FACTOR_LEAST);
	json_t *one;
	size_t i;

	if (integer(measure, "traces") < MEASURED_LEAST)
		return;
	json_array_foreach(json_object_get(measure, "largest"), i, one)
	{
		double ns = (double) integer(one, "ns");
		struct outlier outlier = {measure, one, median,
					  (ns - median) * (double) integer(one, "count")};

		if (ns > fence && outlier.excess > EXCESS_LEAST)
			g_array_append_val(found, outlier);
	}
}

static gint most_excess(gconstpointer a, gconstpointer b)
{
	const struct outlier *x = a, *y = b;
	int order = strcmp(text_of(x->one, "trace"), text_of(y->one, "trace"));

	if (x->excess != y->excess)
		return x->excess > y->excess ? -1 : 1;
	order = order ? order : strcmp(text_of(x->one, "identity"), text_of(y->one, "identity"));
	return order ? order : strcmp(text_of(x->measure, "what"), text_of(y->measure, "what"));
}

static void append_rare(GString *text, const json_t *rare)
{
	json_t *each;
	size_t i;

	json_array_foreach((json_t *) rare, i, each) g_string_append_printf(
		text, "%s %s %s = '%.48s' (%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT ")",
		i ? "," : "; few others have", text_of(each, "kind"), text_of(each, "name"),
		text_of(each, "value"), integer(each, "traces"), integer(each, "of"));
}

static json_t *outlier_json(const struct outlier *outlier, const struct batch_settings *settings)
{
	const char *trace = text_of(outlier->one, "trace"),
		   *identity = json_string_value(json_object_get(outlier->one, "identity"));
	bool cost = strcmp(text_of(outlier->measure, "of"), "cost") == 0;
	json_int_t ns = integer(outlier->one, "ns");
	g_autoptr(GString) text = g_string_new(NULL);
	char took[32], usual[32];
	struct trace_key key;
	json_t *rare, *json;

	if (!trace_key_of_identity(&key, identity))
		trace_key_of_path(&key, trace);
	rare = batch_settings_rare(settings, &key);
	g_string_printf(text,
			"%s: %s took %s%s, %.2g times the median (%s) of %" JSON_INTEGER_FORMAT
			" traces",
			trace, text_of(outlier->measure, "what"), when_duration(took, ns),
			cost ? " of each second" : " in the mean", (double) ns / outlier->median,
			when_duration(usual, (int64_t) outlier->median),
			integer(outlier->measure, "traces"));
	append_rare(text, rare);
	json = json_copy((json_t *) outlier->one);
	json_object_set(json, "of", json_object_get(outlier->measure, "of"));
	json_object_set(json, "what", json_object_get(outlier->measure, "what"));
	json_object_set_new(json, "median_ns", json_integer((json_int_t) outlier->median));
	json_object_set_new(json, "excess_ns", json_integer(llround(outlier->excess)));
	json_object_set_new(json, "few_others_have", rare);
	json_object_set_new(json, "sentence", json_string(text->str));
	return json;
}

static gint by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(a, b);
}

json_t *batch_outliers_sum(struct batch_outliers *outliers, const struct batch_settings *settings)
{
	g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct outlier));
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	GList *names = g_list_sort(g_hash_table_get_keys(outliers->measures), by_text);
	json_t *measures = json_array(), *told = json_array();

	for (GList *name = names; name; name = name->next) {
		json_t *measure = g_hash_table_lookup(outliers->measures, name->data);

		json_array_append(measures, measure);
		find_outliers(measure, found);
	}
	g_list_free(names);
	g_array_sort(found, most_excess);
	for (guint i = 0; i < found->len && json_array_size(told) < TOLD; i++) {
		const struct outlier *each = &g_array_index(found, struct outlier, i);

		if (g_hash_table_add(seen, (gpointer) text_of(each->one, "trace")))
			json_array_append_new(told, outlier_json(each, settings));
	}
	if (json_array_size(measures))
		return json_pack("{s:o,s:o}", "told", told, "measures", measures);
	json_decref(told);
	json_decref(measures);
	return NULL;
}
