/* SPDX-License-Identifier: MIT */
/* Settings of many recordings, collected and told apart; see batch_settings.h. */
#include "batch/batch_settings.h"

#include <string.h>

#include "batch/batch_groups.h"

#define RARE 10 /* one of so many has it, at most */
#define RARE_TOLD 3

struct batch_settings {
	GPtrArray *recordings; /* owned; struct recording */
	GHashTable *base; /* owned; the values of the first that has settings beside it; NULL */
	GStringChunk *texts; /* owned; each text once: the same text is the same pointer */
	GHashTable *by_key;  /* owned; those of the sum */
	GPtrArray *differing; /* owned; … keys that not all have the same value of; NULL */
	struct trace_key highest; /* of the sample, once it is one */
	bool sampled;
};

static void recording_free(gpointer data)
{
	struct recording *recording = data;

	g_free(recording->trace);
	json_decref(recording->said);
	json_decref(recording->costs);
	json_decref(recording->means);
	g_hash_table_destroy(recording->own);
	g_free(recording);
}

struct batch_settings *batch_settings_new(void)
{
	struct batch_settings *settings = g_new0(struct batch_settings, 1);

	settings->recordings = g_ptr_array_new_with_free_func(recording_free);
	settings->texts = g_string_chunk_new(1 << 16);
	settings->by_key = g_hash_table_new(trace_key_hash, trace_key_equal);
	return settings;
}

void batch_settings_free(struct batch_settings *settings)
{
	g_ptr_array_free(settings->recordings, TRUE);
	g_clear_pointer(&settings->base, g_hash_table_destroy);
	g_string_chunk_free(settings->texts);
	g_hash_table_destroy(settings->by_key);
	g_clear_pointer(&settings->differing, g_ptr_array_unref);
	g_free(settings);
}

static const char *text_once(struct batch_settings *settings, const char *text)
{
	return g_string_chunk_insert_const(settings->texts, text);
}

static void take_values(struct batch_settings *settings, struct recording *recording,
			const json_t *kinds)
{
	const char *kind, *name;
	json_t *values, *value;

	json_object_foreach((json_t *) kinds, kind, values)
	{
		json_object_foreach(values, name, value)
		{
			g_autofree char *key = g_strconcat(kind, "\t", name, NULL);

			if (json_is_string(value) && recording_could_have(recording, key))
				g_hash_table_insert(
					recording->own, (gpointer) text_once(settings, key),
					(gpointer) text_once(settings, json_string_value(value)));
		}
	}
}

/* Most have most in common: only how they differ from the first is kept of each. */
static void rebase(struct batch_settings *settings, struct recording *recording)
{
	GHashTable *values = recording->own;
	GHashTableIter iter;
	gpointer key, value;

	recording->own = g_hash_table_new(g_str_hash, g_str_equal);
	if (!settings->base) {
		settings->base = recording->base = values;
		return;
	}
	recording->base = settings->base;
	g_hash_table_iter_init(&iter, values);
	while (g_hash_table_iter_next(&iter, &key, &value))
		if (g_hash_table_lookup(settings->base, key) != value)
			g_hash_table_insert(recording->own, key, value);
	g_hash_table_iter_init(&iter, settings->base);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		if (!g_hash_table_contains(values, key))
			g_hash_table_insert(recording->own, key, (gpointer) setting_none);
	g_hash_table_destroy(values);
}

static int by_trace_key(gconstpointer a, gconstpointer b)
{
	const struct recording *x = *(struct recording *const *) a,
			       *y = *(struct recording *const *) b;

	return memcmp(&x->key, &y->key, sizeof x->key);
}

/* Keeps the sample. The one that others are told from (`base`) may go: its values stay. */
static void keep_sample(struct batch_settings *settings)
{
	struct recording *last;

	if (settings->recordings->len <= SETTINGS_MOST)
		return;
	g_ptr_array_sort(settings->recordings, by_trace_key);
	g_ptr_array_set_size(settings->recordings, SETTINGS_MOST);
	last = g_ptr_array_index(settings->recordings, SETTINGS_MOST - 1);
	settings->highest = last->key;
	settings->sampled = true;
}

void batch_settings_add(struct batch_settings *settings, const char *trace,
			const struct trace_key *key, const json_t *window, const json_t *of,
			const json_t *common)
{
	struct recording *recording;
	json_int_t end = json_integer_value(json_object_get(window, "end"));

	if (!json_is_object(of) || !json_is_object(window) ||
	    (settings->sampled && memcmp(key, &settings->highest, sizeof *key) > 0))
		return;
	recording = g_new0(struct recording, 1);
	recording->trace = g_strdup(trace);
	recording->key = *key;
	recording->recorded = json_is_true(json_object_get(of, "recorded"));
	recording->costs = json_incref(json_object_get(of, "costs_ns"));
	recording->means = json_incref(json_object_get(of, "means_ns"));
	recording->begin = json_integer_value(json_object_get(window, "begin"));
	recording->seconds = (double) (end - recording->begin) / 1e9;
	recording->own = g_hash_table_new(g_str_hash, g_str_equal);
	take_values(settings, recording, common);
	take_values(settings, recording, json_object_get(of, "values"));
	if (recording->recorded)
		rebase(settings, recording);
	g_ptr_array_add(settings->recordings, recording);
	if (settings->recordings->len >= 2 * SETTINGS_MOST)
		keep_sample(settings);
}

/* --- the sum ---------------------------------------------------------------------------------- */

static int by_time(gconstpointer a, gconstpointer b)
{
	const struct recording *x = *(struct recording *const *) a,
			       *y = *(struct recording *const *) b;
	int order = strcmp(x->trace, y->trace);

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return order ? order : memcmp(&x->key, &y->key, sizeof x->key);
}

static int by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Puts the text "KIND\tNAME" into {KIND: {NAME: value}}. */
static void put_value(json_t *kinds, const char *key, const char *value)
{
	const char *tab = strchr(key, '\t');
	g_autofree char *kind = g_strndup(key, (gsize) (tab - key));
	json_t *values = json_object_get(kinds, kind);

	if (!values) {
		values = json_object();
		json_object_set_new(kinds, kind, values);
	}
	json_object_set_new(values, tab + 1, json_string(value));
}

/* What all that could have it have; NULL: not the same. */
static const char *common_value(const struct batch_settings *settings, const char *key)
{
	const char *value = NULL;

	for (guint i = 0; i < settings->recordings->len; i++) {
		const struct recording *at = g_ptr_array_index(settings->recordings, i);
		const char *has = recording_value(at, key);

		if (!recording_could_have(at, key))
			continue;
		if (!has || (value && has != value))
			return NULL;
		value = has;
	}
	return value;
}

static void add_keys(GHashTable *values, GHashTable *seen, GPtrArray *keys)
{
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, values);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		if (g_hash_table_add(seen, key))
			g_ptr_array_add(keys, key);
}

/* Those of all recordings, sorted; borrowed. */
static GPtrArray *all_keys(const struct batch_settings *settings)
{
	GPtrArray *keys = g_ptr_array_new();
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	if (settings->base)
		add_keys(settings->base, seen, keys);
	for (guint i = 0; i < settings->recordings->len; i++)
		add_keys(((struct recording *) settings->recordings->pdata[i])->own, seen, keys);
	g_ptr_array_sort(keys, by_text);
	return keys;
}

/* What the entry of a trace has besides what all have. */
static void put_own(struct recording *recording, const GPtrArray *differing)
{
	json_t *own = json_object(), *values = json_object();

	json_object_set_new(own, "recorded", json_boolean(recording->recorded));
	for (guint i = 0; i < differing->len; i++) {
		const char *value = recording_value(recording, differing->pdata[i]);

		if (value)
			put_value(values, differing->pdata[i], value);
	}
	json_object_set_new(own, "values", values);
	if (recording->costs)
		json_object_set(own, "costs_ns", recording->costs);
	if (recording->means)
		json_object_set(own, "means_ns", recording->means);
	recording->said = own;
}

json_t *batch_settings_sum(struct batch_settings *settings)
{
	g_autoptr(GPtrArray) keys = NULL;
	GPtrArray *differing = g_ptr_array_new();
	json_t *sum, *common, *differences;
	guint recorded = 0, tried = 0, names = 0;

	settings->differing = differing;
	if (!settings->recordings->len)
		return NULL;
	keep_sample(settings);
	g_ptr_array_sort(settings->recordings, by_time);
	keys = all_keys(settings);
	common = json_object();
	for (guint i = 0; i < keys->len; i++) {
		const char *value = common_value(settings, keys->pdata[i]);

		if (value)
			put_value(common, keys->pdata[i], value);
		else
			g_ptr_array_add(differing, keys->pdata[i]);
	}
	for (guint i = 0; i < settings->recordings->len; i++) {
		struct recording *at = g_ptr_array_index(settings->recordings, i);

		recorded += at->recorded;
		put_own(at, differing);
		g_hash_table_insert(settings->by_key, &at->key, at);
	}
	differences = groups_differences(settings->recordings, differing, &tried, &names);
	sum = json_object();
	json_object_set_new(sum, "recorded", json_integer(recorded));
	json_object_set_new(sum, "tried", json_integer(tried));
	json_object_set_new(sum, "names", json_integer(names));
	json_object_set_new(sum, "differences", differences);
	json_object_set_new(sum, "common", common);
	return sum;
}

json_t *batch_settings_own(const struct batch_settings *settings, const struct trace_key *key)
{
	const struct recording *at = g_hash_table_lookup(settings->by_key, key);

	return at ? at->said : NULL;
}

struct rare {
	const char *key, *value;
	guint traces, of;
};

/* How many have the value that it has; false: too many have one of their own. */
static bool count_value(const struct batch_settings *settings, struct rare *rare)
{
	g_autoptr(GHashTable) values = g_hash_table_new(g_direct_hash, g_direct_equal);

	for (guint i = 0; i < settings->recordings->len; i++) {
		const struct recording *at = g_ptr_array_index(settings->recordings, i);
		const char *value = recording_value(at, rare->key);

		if (!recording_could_have(at, rare->key))
			continue;
		rare->of++;
		rare->traces += value == rare->value;
		g_hash_table_add(values, (gpointer) value);
	}
	return g_hash_table_size(values) * 2 <= rare->of;
}

static gint rarest_first(gconstpointer a, gconstpointer b)
{
	const struct rare *x = a, *y = b;

	return x->traces != y->traces ? (x->traces < y->traces ? -1 : 1) : strcmp(x->key, y->key);
}

json_t *batch_settings_rare(const struct batch_settings *settings, const struct trace_key *key)
{
	const struct recording *at = g_hash_table_lookup(settings->by_key, key);
	g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct rare));
	json_t *list = json_array();

	for (guint i = 0; at && i < settings->differing->len; i++) {
		struct rare rare = {.key = settings->differing->pdata[i]};

		rare.value = recording_value(at, rare.key);
		if (rare.value && count_value(settings, &rare) && rare.traces * RARE <= rare.of)
			g_array_append_val(found, rare);
	}
	g_array_sort(found, rarest_first);
	for (guint i = 0; i < MIN(found->len, RARE_TOLD); i++) {
		const struct rare *rare = &g_array_index(found, struct rare, i);
		const char *tab = strchr(rare->key, '\t');

		json_array_append_new(list, json_pack("{s:s%,s:s,s:s,s:i,s:i}", "kind", rare->key,
						      (size_t) (tab - rare->key), "name", tab + 1,
						      "value", rare->value, "traces",
						      (int) rare->traces, "of", (int) rare->of));
	}
	return list;
}
