/* SPDX-License-Identifier: MIT */
/* A trace's settings, inputs and costs in its line of `whylate batch`; see batch_settings.h. */
#include "batch/batch_groups.h"
#include "batch/batch_settings.h"

#include <string.h>

#include "report/report.h"
#include "settings/costs_touched.h"
#include "settings/recorded.h"

/* Adds it to the table of its kind: of several values the values in order. */
static void add_value(GHashTable *kinds, const char *kind, const char *name, const char *value)
{
	GHashTable *values = g_hash_table_lookup(kinds, kind);
	g_autofree char *valid = g_utf8_make_valid(name, -1), *text = g_utf8_make_valid(value, -1);
	const char *has;

	if (!values) {
		values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
		g_hash_table_insert(kinds, g_strdup(kind), values);
	}
	has = g_hash_table_lookup(values, valid);
	g_hash_table_insert(values, g_steal_pointer(&valid),
			    has ? g_strconcat(has, "; ", text, NULL) : g_steal_pointer(&text));
}

static int by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(a, b);
}

static void write_values(struct output *output, GHashTable *kinds)
{
	GList *names = g_list_sort(g_hash_table_get_keys(kinds), by_name);

	json_begin(output, "values", '{', LINES_NOT);
	for (GList *kind = names; kind; kind = kind->next) {
		GHashTable *values = g_hash_table_lookup(kinds, kind->data);
		GList *inside = g_list_sort(g_hash_table_get_keys(values), by_name);

		json_begin(output, kind->data, '{', LINES_NOT);
		for (GList *name = inside; name; name = name->next)
			json_put_text(output, name->data, g_hash_table_lookup(values, name->data));
		json_end(output, '}');
		g_list_free(inside);
	}
	json_end(output, '}');
	g_list_free(names);
}

static void add_host(GHashTable *kinds, const struct host *host)
{
	g_autofree char *cpus = g_strdup_printf("%u", host->cpus->len);
	const char *const values[][2] = {{"name", host->hostname},
					 {"kernel", host->kernel},
					 {"tracer", host->tracer},
					 {"CPUs", cpus}};

	for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
		if (values[i][1])
			add_value(kinds, SETTINGS_HOST, values[i][0], values[i][1]);
}

static void take_name(void *data, const char *name, int64_t ns)
{
	(void) ns;
	g_ptr_array_add(data, (gpointer) name);
}

static int by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

static void write_costs(struct output *output, const struct touched *touched)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	touched_each_cost(touched, take_name, names);
	g_ptr_array_sort(names, by_text);
	json_begin(output, "costs_ns", '{', LINES_NOT);
	for (guint i = 0; i < names->len; i++) {
		g_autofree char *valid = g_utf8_make_valid(names->pdata[i], -1);

		json_put_whole(output, valid, touched_cost(touched, names->pdata[i]));
	}
	json_end(output, '}');
}

static void write_means(struct output *output, const struct profiles *profiles)
{
	json_begin(output, "means_ns", '{', LINES_NOT);
	for (guint i = 0; i < profiles->list->len; i++) {
		const struct profile *profile = g_ptr_array_index(profiles->list, i);

		if (profile->count)
			json_put_whole(output, profile->operation,
				       profile->sum / (int64_t) profile->count);
	}
	json_end(output, '}');
}

static void table_free(gpointer table)
{
	g_hash_table_destroy(table);
}

void line_settings_write(const struct session *session, const struct profiles *profiles,
			 struct output *output)
{
	g_autoptr(GHashTable)
		kinds = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, table_free);
	struct touched *touched;
	bool recorded;

	if (session->asked.options->anonymiser)
		return;
	touched = touched_new(session);
	recorded = settings_beside(session, add_value, kinds);
	touched_each_file(touched, kinds, SETTINGS_READ, add_value);
	if (session->trace.model.hosts->len)
		add_host(kinds, g_ptr_array_index(session->trace.model.hosts, 0));
	json_begin(output, "settings", '{', LINES_NOT);
	json_put_bool(output, "recorded", recorded);
	write_values(output, kinds);
	write_costs(output, touched);
	if (profiles && session->asked.options->profile.operations->len)
		write_means(output, profiles);
	json_end(output, '}');
	touched_free(touched);
}
