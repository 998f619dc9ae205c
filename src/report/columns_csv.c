/* SPDX-License-Identifier: MIT */
/* Records as CSV (RFC 4180); see columns.h. */
#include "report/columns.h"

#include <string.h>

#include "report/report.h"

/* What begins like a formula is not left for a spreadsheet to run. */
void csv_cell(FILE *file, const char *text)
{
	g_autofree char *made = text_is_plain(text) ? NULL : text_safe(text);
	const char *safe = made ? made : text, *p;

	if (!strpbrk(safe, ",\"") && !strchr("=+-@", *safe ? *safe : ' ')) {
		fputs(safe, file);
		return;
	}
	fputs(strchr("=+-@", *safe) ? "\"'" : "\"", file);
	for (p = safe; *p; p++) {
		if (*p == '"')
			fputc('"', file);
		fputc(*p, file);
	}
	fputc('"', file);
}

/* A thread is several cells. */
static void put_cells(const struct report *report, const struct column *columns, const void *row,
		      bool heading);

static void put_cell(const struct report *report, const struct column *column, const void *row)
{
	FILE *file = report->output->file;
	char digits[TEXT_DECIMAL];
	struct value value;
	uint32_t thread;

	column_read(report, column, row, &value);
	thread = (uint32_t) value.number;
	if (column->type == COLUMN_THREAD)
		put_cells(report, thread_columns, &thread, false);
	else if (value.none)
		;
	else if (column->type == COLUMN_BOOL)
		fputs(value.number ? "true" : "false", file);
	else if (value.text)
		csv_cell(file, value.text);
	else
		fputs(text_decimal(digits, value.number), file);
	value_clear(&value);
}

static void put_cells(const struct report *report, const struct column *columns, const void *row,
		      bool heading)
{
	FILE *file = report->output->file;

	for (uint8_t place = 1; place <= CELLS_MAX; place++) {
		const void *of = row;
		const struct column *column =
			column_at_place(report, columns, offsetof(struct column, csv), place, &of);

		if (!column)
			break;
		if (place > 1)
			fputc(',', file);
		if (of)
			put_cell(report, column, of);
		else if (heading && column->type == COLUMN_THREAD)
			put_cells(report, thread_columns, NULL, true);
		else if (heading)
			fputs(column->csv.header ? column->csv.header : column->key, file);
	}
}

void csv_heading(const struct report *report, const struct column *columns)
{
	put_cells(report, columns, NULL, true);
	fputs("\r\n", report->output->file);
}

void csv_row(const struct report *report, const struct column *columns, const void *row)
{
	put_cells(report, columns, row, false);
	fputs("\r\n", report->output->file);
}

void csv_rows(const struct report *report, const struct column *columns, struct rows rows)
{
	for (guint i = 0; i < rows.count; i++)
		csv_row(report, columns, rows_at(&rows, i));
}
