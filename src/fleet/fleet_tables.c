/* SPDX-License-Identifier: MIT */
/* See fleet_tables.h: each table as TABLE.csv (RFC 4180; a type for each column, no value is an
 * empty field), so that it becomes Parquet as it is, and all of them in fleet.sqlite.
 *
 *   traces      one row a trace        latencies   its costliest operations
 *   findings    over all traces        operations  over all traces
 *
 * Times are nanoseconds, since 1970 or long. What a column is called is what JSON calls it.
 */
#include "fleet/fleet_tables.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "report/output.h"
#include "util/error.h"

#define COLUMNS_MAX 16

enum table { TABLE_TRACES, TABLE_LATENCIES, TABLE_FINDINGS, TABLE_OPERATIONS, TABLES };

static const struct {
	const char *name;
	const char *columns[COLUMNS_MAX]; /* NULL-ended; text ones begin with '$' */
} tables[TABLES] = {
	[TABLE_TRACES] = {"traces",
			  {"$trace", "$identity", "status", "$outcome", "$hostname", "begin", "end",
			   "events", "lost_events", "lost_packets", "$finding_id", "$finding_kind",
			   "$finding", "finding_ns", "$page", NULL}},
	[TABLE_LATENCIES] = {"latencies",
			     {"$trace", "$operation", "count", "sum_ns", "max_ns", NULL}},
	[TABLE_FINDINGS] = {"findings",
			    {"$id", "$kind", "$title", "ns", "count", "traces", "first_seen",
			     "last_seen", "$worst_trace", "worst_ns", NULL}},
	[TABLE_OPERATIONS] = {"operations",
			      {"$operation", "count", "sum_ns", "min_ns", "max_ns", NULL}},
};

struct sink {
	struct output csv[TABLES];
	sqlite3 *sqlite;
	sqlite3_stmt *inserts[TABLES];
	int trouble; /* the first error of SQLite's */
};

static bool is_text(const char *column)
{
	return *column == '$';
}

static void note(struct sink *sink, int code)
{
	if (sink->trouble == SQLITE_OK && code != SQLITE_OK && code != SQLITE_DONE)
		sink->trouble = code;
}

/* --- rows ------------------------------------------------------------------------------------ */

static void put_field(FILE *file, const json_t *value)
{
	const char *text = json_string_value(value);

	if (json_is_integer(value)) {
		fprintf(file, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		return;
	}
	if (!text)
		return;
	fputc('"', file);
	for (; *text; text++)
		fputs(*text == '"' ? "\"\"" : (char[]) {*text, '\0'}, file);
	fputc('"', file);
}

/* `values`: borrowed, as many as the table has columns; NULL: none. */
static void put_row(struct sink *sink, enum table table, const json_t *const *values)
{
	FILE *file = sink->csv[table].file;
	sqlite3_stmt *insert = sink->inserts[table];

	for (int i = 0; tables[table].columns[i]; i++) {
		const json_t *value = values[i];

		if (i)
			fputc(',', file);
		put_field(file, value);
		if (json_is_integer(value))
			note(sink, sqlite3_bind_int64(insert, i + 1, json_integer_value(value)));
		else if (json_is_string(value))
			note(sink, sqlite3_bind_text(insert, i + 1, json_string_value(value), -1,
						     SQLITE_TRANSIENT));
		else
			note(sink, sqlite3_bind_null(insert, i + 1));
	}
	fputs("\r\n", file);
	note(sink, sqlite3_step(insert));
	note(sink, sqlite3_reset(insert));
}

/* The members that the columns are called. */
static void put_object(struct sink *sink, enum table table, const json_t *object)
{
	const json_t *values[COLUMNS_MAX] = {NULL};

	for (int i = 0; tables[table].columns[i]; i++) {
		const char *column = tables[table].columns[i];

		values[i] = json_object_get(object, column + is_text(column));
	}
	put_row(sink, table, values);
}

static void put_trace(void *data, const json_t *trace)
{
	struct sink *sink = data;
	const json_t *finding = json_object_get(trace, "finding"),
		     *window = json_object_get(trace, "window"),
		     *name = json_object_get(trace, "trace");
	json_t *outcome = json_string(batch_outcome(trace)), *each;
	const json_t *values[COLUMNS_MAX] = {
		name,
		json_object_get(trace, "identity"),
		json_object_get(trace, "status"),
		outcome,
		json_object_get(trace, "hostname"),
		json_object_get(window, "begin"),
		json_object_get(window, "end"),
		json_object_get(trace, "events"),
		json_object_get(trace, "lost_events"),
		json_object_get(trace, "lost_packets"),
		json_object_get(finding, "id"),
		json_object_get(finding, "kind"),
		json_object_get(finding, "title"),
		json_object_get(finding, "ns"),
		json_object_get(trace, "page")};
	size_t i;

	put_row(sink, TABLE_TRACES, values);
	json_decref(outcome);
	json_array_foreach(json_object_get(trace, "latencies"), i, each)
	{
		const json_t *latency[COLUMNS_MAX] = {
			name, json_object_get(each, "operation"), json_object_get(each, "count"),
			json_object_get(each, "sum_ns"), json_object_get(each, "max_ns")};

		put_row(sink, TABLE_LATENCIES, latency);
	}
}

static bool put_all(struct sink *sink, struct batch *batch, const json_t *merged)
{
	json_t *each;
	size_t i;

	json_array_foreach(json_object_get(merged, "findings"), i, each)
		put_object(sink, TABLE_FINDINGS, each);
	json_array_foreach(json_object_get(merged, "profiles"), i, each)
		put_object(sink, TABLE_OPERATIONS, each);
	return batch_each(batch, put_trace, sink);
}

/* --- files ----------------------------------------------------------------------------------- */

static void begin_table(struct sink *sink, enum table table)
{
	g_autoptr(GString) create = g_string_new(NULL), insert = g_string_new(NULL);

	g_string_printf(create, "CREATE TABLE %s (", tables[table].name);
	g_string_printf(insert, "INSERT INTO %s VALUES (", tables[table].name);
	for (int i = 0; tables[table].columns[i]; i++) {
		const char *column = tables[table].columns[i], *name = column + is_text(column);

		g_string_append_printf(create, "%s\"%s\" %s", i ? ", " : "", name,
				       is_text(column) ? "TEXT" : "INTEGER");
		g_string_append(insert, i ? ", ?" : "?");
		fprintf(sink->csv[table].file, "%s%s", i ? "," : "", name);
	}
	fputs("\r\n", sink->csv[table].file);
	g_string_append(create, ")");
	g_string_append(insert, ")");
	note(sink, sqlite3_exec(sink->sqlite, create->str, NULL, NULL, NULL));
	note(sink, sqlite3_prepare_v2(sink->sqlite, insert->str, -1, &sink->inserts[table], NULL));
}

/* The database is made beside its place, and takes it when all is in it. */
static bool write_all(struct sink *sink, struct batch *batch, const json_t *merged,
		      const char *path, GError **error)
{
	g_autofree char *fresh = g_strconcat(path, ".part", NULL);
	bool whole;

	remove(fresh);
	note(sink, sqlite3_open(fresh, &sink->sqlite));
	note(sink, sqlite3_exec(sink->sqlite, "BEGIN", NULL, NULL, NULL));
	for (int i = 0; i < TABLES; i++)
		begin_table(sink, (enum table) i);
	whole = sink->trouble == SQLITE_OK && put_all(sink, batch, merged);
	note(sink, sqlite3_exec(sink->sqlite, "COMMIT", NULL, NULL, NULL));
	for (int i = 0; i < TABLES; i++)
		sqlite3_finalize(sink->inserts[i]);
	note(sink, sqlite3_close(sink->sqlite));
	if (sink->trouble == SQLITE_OK && whole && rename(fresh, path) == 0)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT, "cannot write %s: %s", path,
		    sink->trouble != SQLITE_OK ? sqlite3_errstr(sink->trouble)
		    : whole                    ? g_strerror(errno)
					       : "what was kept cannot be read back");
	remove(fresh);
	return false;
}

bool fleet_tables_write(struct batch *batch, const json_t *merged, const char *directory,
			GError **error)
{
	g_autofree char *path = g_build_filename(directory, "fleet.sqlite", NULL);
	struct sink sink = {0};
	bool ok = g_mkdir_with_parents(directory, 0777) == 0;
	int opened = 0;

	if (!ok)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT, "cannot make %s: %s",
			    directory, g_strerror(errno));
	for (; ok && opened < TABLES; opened++) {
		g_autofree char *name = g_strconcat(tables[opened].name, ".csv", NULL);
		g_autofree char *csv = g_build_filename(directory, name, NULL);

		ok = output_open(&sink.csv[opened], csv, error);
	}
	ok = ok && write_all(&sink, batch, merged, path, error);
	for (int i = 0; i < opened; i++) {
		ok = ok && output_commit(&sink.csv[i], error);
		output_clear(&sink.csv[i]);
	}
	return ok;
}
