/* SPDX-License-Identifier: MIT */
/* The tables as CSV (RFC 4180, a head line each): one, or all of them as files
 * of a directory, which appear together when all are written.
 *
 * Part of export/. No value is an empty cell. What begins like a formula is
 * kept from spreadsheets as in all our CSV (csv_cell()).
 */
#include "export/export_formats.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/export_tables.h"
#include "report/report.h"
#include "util/error.h"

struct writer {
	FILE *files[TABLE_COUNT]; /* borrowed; NULL: not wanted */
	bool inside[TABLE_COUNT]; /* a row has begun */
};

static FILE *cell(struct writer *writer, enum table table)
{
	if (writer->inside[table])
		fputc(',', writer->files[table]);
	writer->inside[table] = true;
	return writer->files[table];
}

static void put_integer(enum table table, int64_t value, void *data)
{
	char digits[TEXT_DECIMAL];

	fputs(text_decimal(digits, value), cell(data, table));
}

static void put_text(enum table table, const char *value, void *data)
{
	FILE *file = cell(data, table);

	if (value)
		csv_cell(file, value);
}

static void put_none(enum table table, void *data)
{
	cell(data, table);
}

static void put_end(enum table table, void *data)
{
	struct writer *writer = data;

	fputs("\r\n", writer->files[table]);
	writer->inside[table] = false;
}

static void write_tables(struct walk *walk, struct writer *writer)
{
	struct row_sink sink = {.integer = put_integer,
				.text = put_text,
				.none = put_none,
				.end = put_end,
				.data = writer};

	for (int t = 0; t < TABLE_COUNT; t++) {
		if (!writer->files[t])
			continue;
		sink.wanted |= 1u << t;
		for (const struct export_column *column = table_specs[t].columns; column->name;
		     column++)
			put_text((enum table) t, column->name, writer);
		put_end((enum table) t, writer);
	}
	tables_write(walk, &sink);
}

bool export_csv(struct walk *walk, FILE *file, GError **error)
{
	const char *table = walk->session->asked.options->export.table;
	struct writer writer = {0};

	(void) error;
	for (int t = 0; t < TABLE_COUNT; t++)
		if (strcmp(table_specs[t].name, table) == 0)
			writer.files[t] = file;
	write_tables(walk, &writer);
	return true;
}

/* `made`: it was not there before. */
static bool make_directory(char *directory, bool *made, GError **error)
{
	struct stat status;

	*made = g_mkdir(directory, 0777) == 0;
	if (*made)
		output_made(directory);
	if (*made || (errno == EEXIST && stat(directory, &status) == 0 && S_ISDIR(status.st_mode)))
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT,
		    "cannot write the directory %s: %s%s", directory, g_strerror(errno),
		    errno == EEXIST ? "; --table NAME writes one table to a file" : "");
	return false;
}

bool export_csv_all(struct walk *walk, const char *directory, GError **error)
{
	struct output outputs[TABLE_COUNT] = {0};
	struct writer writer = {0};
	g_autofree char *place = g_strdup(directory);
	bool made, ok = make_directory(place, &made, error);

	for (int t = 0; t < TABLE_COUNT && ok; t++) {
		g_autofree char *name = g_strconcat(table_specs[t].name, ".csv", NULL);
		g_autofree char *path = g_build_filename(directory, name, NULL);

		ok = output_open(&outputs[t], path, error);
		writer.files[t] = outputs[t].file;
	}
	if (ok)
		write_tables(walk, &writer);
	ok = ok && !session_interrupted(walk->session);
	for (int t = 0; t < TABLE_COUNT && ok; t++) /* a full disk is told before any appears */
		ok = output_flush(&outputs[t], error);
	for (int t = 0; t < TABLE_COUNT && ok; t++)
		ok = output_commit(&outputs[t], error);
	for (int t = 0; t < TABLE_COUNT; t++) {
		if (!ok && made && outputs[t].place)
			g_unlink(outputs[t].place); /* one that has its name already */
		output_clear(&outputs[t]);
	}
	if (!ok && made)
		g_rmdir(directory);
	output_made(NULL);
	return ok;
}
