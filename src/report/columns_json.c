/* SPDX-License-Identifier: MIT */
/* Records as JSON, written as they are read: nothing is kept but the place that the writer is at.
 * Spaces and numbers are those of json_dumpf(); see columns.h and interface.md, "JSON".
 */
#include "report/columns.h"

#include <jansson.h>
#include <string.h>

#include "config.h"
#include "report/report.h"
#include "waits/causality.h"
#include "waits/state_names.h"

static enum lines lines_at(const struct json_place *json)
{
	return json->depth < G_N_ELEMENTS(json->lines) ? json->lines[json->depth] : LINES_NOT;
}

void json_put_key(struct output *output, const char *key)
{
	struct json_place *json = &output->json;
	enum lines lines = lines_at(json);

	if (json->depth && json->more)
		fputs(lines ? ",\n" : json->compact ? "," : ", ", output->file);
	else if (lines == LINES_EACH)
		fputc('\n', output->file);
	if (key) {
		fputc('"', output->file);
		fputs(key, output->file);
		fputs(json->compact ? "\":" : "\": ", output->file);
	}
	json->more = true;
}

void json_begin(struct output *output, const char *key, char bracket, enum lines lines)
{
	struct json_place *json = &output->json;

	json_put_key(output, key);
	fputc(bracket, output->file);
	json->depth++;
	if (json->depth < G_N_ELEMENTS(json->lines))
		json->lines[json->depth] = (uint8_t) lines;
	json->more = false;
}

void json_end(struct output *output, char bracket)
{
	g_assert(output->json.depth);
	output->json.depth--;
	output->json.more = true;
	fputc(bracket, output->file);
}

void json_put_null(struct output *output, const char *key)
{
	json_put_key(output, key);
	fputs("null", output->file);
}

void json_put_bool(struct output *output, const char *key, bool value)
{
	json_put_key(output, key);
	fputs(value ? "true" : "false", output->file);
}

void json_put_whole(struct output *output, const char *key, int64_t number)
{
	char digits[TEXT_DECIMAL];

	json_put_key(output, key);
	fputs(text_decimal(digits, number), output->file);
}

void json_put_real(struct output *output, const char *key, double number)
{
	json_t *value = json_real(number);

	json_put_key(output, key);
	json_dumpf(value, output->file, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
	json_decref(value);
}

static void put_escaped(FILE *file, guchar c)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *at = strchr(from, c);

	if (at)
		fprintf(file, "\\%c", to[at - from]);
	else
		fprintf(file, "\\u%04X", c);
}

void json_put_text(struct output *output, const char *key, const char *text)
{
	g_autofree char *valid = NULL;
	const char *from, *at;

	if (!text) {
		json_put_null(output, key);
		return;
	}
	if (!g_utf8_validate(text, -1, NULL))
		text = valid = g_utf8_make_valid(text, -1);
	json_put_key(output, key);
	fputc('"', output->file);
	for (from = at = text; *at; at++)
		if ((guchar) *at < 0x20 || *at == '"' || *at == '\\') {
			fwrite(from, 1, (size_t) (at - from), output->file);
			put_escaped(output->file, (guchar) *at);
			from = at + 1;
		}
	fwrite(from, 1, (size_t) (at - from), output->file);
	fputc('"', output->file);
}

/* --- columns -------------------------------------------------------------------------------- */

void json_tell_thread(const struct report *report, uint32_t thread)
{
	const struct json_watch *watch = report->output->watch;

	if (watch)
		watch->thread(watch->data, thread);
}

void json_tell_stretch(const struct report *report, uint32_t thread, int64_t begin, int64_t end)
{
	const struct json_watch *watch = report->output->watch;

	if (watch)
		watch->stretch(watch->data, thread, begin, end);
}

bool json_is_full(const struct report *report, guint written)
{
	const struct json_watch *watch = report->output->watch;

	return watch && watch->full(watch->data, written);
}

static void put_thread(const struct report *report, enum column_type type, uint32_t thread)
{
	if (type == COLUMN_THREAD)
		json_tell_thread(report, thread);
	json_put_members(report, type == COLUMN_THREAD ? thread_columns : tid_name_columns,
			 &thread);
}

static void put_resource(struct output *output, const char *key, const char *resource)
{
	json_begin(output, key, '{', LINES_NOT);
	json_put_text(output, "kind", resource_kind(resource));
	json_put_text(output, "name", resource_name(resource));
	json_end(output, '}');
}

static void put_value(const struct report *report, const char *key, const struct column *column,
		      const struct value *value)
{
	struct output *output = report->output;

	switch (column->type) {
	case COLUMN_REAL:
	case COLUMN_SHARE:
		json_put_real(output, key, value->real);
		break;
	case COLUMN_BOOL:
		json_put_bool(output, key, value->number);
		break;
	case COLUMN_TEXT:
	case COLUMN_NAME:
	case COLUMN_LEAF:
		json_put_text(output, key, value->text);
		break;
	case COLUMN_RESOURCE:
		put_resource(output, key, value->text);
		break;
	case COLUMN_THREAD:
	case COLUMN_TID_NAME:
		json_begin(output, key, '{', LINES_NOT);
		put_thread(report, column->type, (uint32_t) value->number);
		json_end(output, '}');
		break;
	case COLUMN_OBJECT:
		json_put_row(report, key, column->columns, value->row);
		break;
	default:
		json_put_whole(output, key, value->number);
	}
}

/* The threads of a row that is not written. */
static void tell_threads(const struct report *report, const struct column *columns, const void *row)
{
	for (const struct column *column = columns; column->type; column++)
		if (column->type == COLUMN_THREAD) {
			struct value value;

			column_read(report, column, row, &value);
			if (!value.none)
				json_tell_thread(report, (uint32_t) value.number);
		}
}

/* `columns`: those that the list's own is among. */
static guint put_rows(const struct report *report, const struct column *columns,
		      const struct column *list, struct rows rows)
{
	const struct column item[] = {
		{.type = list->item,
		 .stored = rows.stored == STORED_POINTERS ? STORED_HERE : STORED_UINT32},
		{0}};
	guint shown = list->limited ? report_limited(report, rows.count) : rows.count;

	for (guint i = 0; i < shown; i++) {
		const void *row = rows_at(&rows, i);
		struct value value;

		if (json_is_full(report, i)) {
			shown = i;
			break;
		}
		if (list->item) {
			column_read(report, item, row, &value);
			put_value(report, NULL, item, &value);
			value_clear(&value);
			continue;
		}
		if (list->row)
			row = list->row(report, row);
		if (row)
			json_put_row(report, NULL, list->columns ? list->columns : columns, row);
	}
	for (guint i = shown; list->tells_all && i < rows.count; i++)
		tell_threads(report, list->item ? item : list->columns, rows_at(&rows, i));
	return rows.count - shown;
}

static void put_list(const struct report *report, const struct column *columns,
		     const struct column *column, const void *row)
{
	struct value value = {0};
	guint omitted;

	if (!column->each)
		column_read(report, column, row, &value);
	if (value.none && column->absent)
		return;
	json_begin(report->output, column->key, '[', column->lines);
	if (column->each)
		omitted = column->each(report, row);
	else
		omitted = put_rows(report, columns, column,
				   column->stored == STORED_POINTERS ? rows_of_pointers(value.row)
								     : rows_of_array(value.row));
	json_end(report->output, ']');
	if (omitted) {
		g_autofree char *key = g_strconcat(column->key, "_omitted", NULL);

		json_put_whole(report->output, key, omitted);
	}
	value_clear(&value);
}

static void put_column(const struct report *report, const struct column *columns,
		       const struct column *column, const void *row)
{
	bool threads = column->type == COLUMN_THREAD || column->type == COLUMN_TID_NAME;
	struct value value;

	if (!column_is_there(report, column, row))
		return;
	if (column->type == COLUMN_WRITTEN) {
		column->write(report, row);
		return;
	}
	if (!column->key && column->type != COLUMN_OBJECT && !threads)
		return;
	if (column->type == COLUMN_LIST) {
		put_list(report, columns, column, row);
		return;
	}
	column_read(report, column, row, &value);
	if (value.none) {
		if (column->key && !column->absent)
			json_put_null(report->output, column->key);
	} else if (column->key) {
		put_value(report, column->key, column, &value);
	} else if (threads) {
		put_thread(report, column->type, (uint32_t) value.number);
	} else {
		json_put_members(report, column->columns, value.row);
	}
	value_clear(&value);
}

void json_put_members(const struct report *report, const struct column *columns, const void *row)
{
	for (const struct column *column = columns; column->type; column++)
		put_column(report, columns, column, row);
}

void json_put_rows(const struct report *report, const char *key, const struct column *columns,
		   struct rows rows)
{
	json_begin(report->output, key, '[', LINES_NOT);
	for (guint i = 0; i < rows.count; i++)
		json_put_row(report, NULL, columns, rows_at(&rows, i));
	json_end(report->output, ']');
}

void json_put_row(const struct report *report, const char *key, const struct column *columns,
		  const void *row)
{
	json_begin(report->output, key, '{', LINES_NOT);
	json_put_members(report, columns, row);
	json_end(report->output, '}');
}

void json_report(const struct report *report, const char *schema, const struct column *columns,
		 const void *row)
{
	struct output *output = report->output;

	json_begin(output, NULL, '{', LINES_BETWEEN);
	json_put_text(output, "schema", schema);
	json_begin(output, "tool", '{', LINES_NOT);
	json_put_text(output, "name", "whylate");
	json_put_text(output, "version", PACKAGE_VERSION);
	json_end(output, '}');
	json_put_members(report, columns, row);
	json_end(output, '}');
	fputc('\n', output->file);
}
