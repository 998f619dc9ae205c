/* SPDX-License-Identifier: MIT */
/* The Trace Server Protocol's data trees: lists of the commands' JSON reports as tables.
 *
 * Part of tsp/. Columns are the members of the list's records, in their order, those of objects
 * within as "cause.kind"; lists within are left out, but for "children", which become entries
 * below. Cells are the values themselves, times in ns, so that clients can sort and add them up.
 */
#include "tsp/outputs.h"

#include <string.h>

#include "tsp/report_json.h"

#define COLUMNS_MAX 100

struct headers {
	GPtrArray *names;   /* owned strings */
	GHashTable *places; /* name -> its place, from 1 */
	GPtrArray *types;   /* static; data type, NULL: nothing but null was met */
};

static const char *type_of(const char *name, const json_t *value)
{
	const char *last = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;

	if (json_is_null(value))
		return NULL;
	if (!json_is_number(value))
		return "STRING";
	if (strcmp(last, "begin") == 0 || strcmp(last, "end") == 0 ||
	    g_str_has_suffix(last, "_begin") || g_str_has_suffix(last, "_end"))
		return "TIMESTAMP";
	return strcmp(last, "ns") == 0 || g_str_has_suffix(last, "_ns") ? "DURATION" : "NUMBER";
}

/* Calls for each value of the record: numbers, texts, true and false, null. */
static void each_value(const char *prefix, json_t *record,
		       void (*visit)(const char *name, json_t *value, void *data), void *data)
{
	const char *key;
	json_t *value;

	json_object_foreach(record, key, value)
	{
		g_autofree char *name = prefix ? g_strconcat(prefix, ".", key, NULL) : NULL;

		if (json_is_object(value))
			each_value(name ? name : key, value, visit, data);
		else if (!json_is_array(value))
			visit(name ? name : key, value, data);
	}
}

static void note_header(const char *name, json_t *value, void *data)
{
	struct headers *headers = data;
	guint place = GPOINTER_TO_UINT(g_hash_table_lookup(headers->places, name));
	const char *type = type_of(name, value);
	char *kept;

	if (place) {
		if (!headers->types->pdata[place - 1])
			headers->types->pdata[place - 1] = (gpointer) type;
		return;
	}
	if (headers->names->len >= COLUMNS_MAX)
		return;
	kept = g_strdup(name);
	g_ptr_array_add(headers->names, kept);
	g_ptr_array_add(headers->types, (gpointer) type);
	g_hash_table_insert(headers->places, kept, GUINT_TO_POINTER(headers->names->len));
}

static void note_headers(struct headers *headers, json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *record = json_array_get(list, i);

		each_value(NULL, record, note_header, headers);
		note_headers(headers, json_object_get(record, "children"));
	}
}

static char *cell_text(const json_t *value)
{
	if (json_is_string(value))
		return g_strdup(json_string_value(value));
	if (json_is_integer(value))
		return g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
	if (json_is_real(value)) {
		char text[G_ASCII_DTOSTR_BUF_SIZE];

		return g_strdup(g_ascii_dtostr(text, sizeof text, json_real_value(value)));
	}
	return g_strdup(json_is_true(value) ? "true" : json_is_false(value) ? "false" : "");
}

struct cells {
	const struct headers *headers;
	char **texts; /* by column; owned */
};

static void note_cell(const char *name, json_t *value, void *data)
{
	struct cells *cells = data;
	guint place = GPOINTER_TO_UINT(g_hash_table_lookup(cells->headers->places, name));

	if (place && !cells->texts[place - 1])
		cells->texts[place - 1] = cell_text(value);
}

static void put_entries(struct asking *asking, const struct headers *headers, json_t *list,
			int64_t parent, int64_t *id)
{
	struct output *out = &asking->out;

	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *record = json_array_get(list, i);
		struct cells cells = {headers, g_new0(char *, headers->names->len + 1)};
		int64_t mine = (*id)++;

		each_value(NULL, record, note_cell, &cells);
		json_begin(out, NULL, '{', LINES_NOT);
		json_put_whole(out, "id", mine);
		json_put_whole(out, "parentId", parent);
		json_begin(out, "labels", '[', LINES_NOT);
		for (guint c = 0; c < headers->names->len; c++) {
			json_put_text(out, NULL, cells.texts[c] ? cells.texts[c] : "");
			g_free(cells.texts[c]);
		}
		json_end(out, ']');
		json_put_bool(out, "hasData", true);
		json_end(out, '}');
		g_free(cells.texts);
		put_entries(asking, headers, json_object_get(record, "children"), mine, id);
	}
}

static void put_tree(struct asking *asking, json_t *list)
{
	struct headers headers = {g_ptr_array_new_with_free_func(g_free),
				  g_hash_table_new(g_str_hash, g_str_equal), g_ptr_array_new()};
	struct output *out = &asking->out;
	int64_t id = 1;

	note_headers(&headers, list);
	model_begin(asking);
	json_begin(out, "model", '{', LINES_NOT);
	json_begin(out, "headers", '[', LINES_NOT);
	for (guint i = 0; i < headers.names->len; i++) {
		json_begin(out, NULL, '{', LINES_NOT);
		json_put_text(out, "name", headers.names->pdata[i]);
		json_put_text(out, "tooltip", "");
		json_put_text(out, "dataType",
			      headers.types->pdata[i] ? headers.types->pdata[i] : "STRING");
		json_end(out, '}');
	}
	json_end(out, ']');
	json_begin(out, "entries", '[', LINES_NOT);
	put_entries(asking, &headers, list, -1, &id);
	json_end(out, ']');
	json_end(out, '}');
	model_end(asking);
	g_hash_table_unref(headers.places);
	g_ptr_array_unref(headers.types);
	g_ptr_array_unref(headers.names);
}

void data_tree(struct asking *asking)
{
	const struct output_row *row = output_row_find(asking, asking->given[1], "DATA_TREE", NULL);
	struct times range;
	json_t *report;

	if (!row || !asked_times(asking, false, &range))
		return;
	report = report_json(asking, row->command, &range, row->given);
	if (!report)
		return;
	put_tree(asking, json_object_get(report, row->member));
	json_decref(report);
}
