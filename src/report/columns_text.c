/* SPDX-License-Identifier: MIT */
/* Records as tables and lists for people; see columns.h. */
#include "report/columns.h"

#include <inttypes.h>
#include <string.h>

#include "report/report.h"

static void write_spaces(struct output *output, int count)
{
	fprintf(output->file, "%*s", MAX(count, 0), "");
}

static const char *before_of(const struct column *column)
{
	return column->table.before ? column->table.before : column->table.place == 1 ? "  " : " ";
}

/* Columns that the one with `rest` has: what the terminal has beside the others. */
static int width_of(const struct report *report, const struct text_table *table,
		    const struct column *column)
{
	int rest = report->output->width - (int) strlen(before_of(column));

	if (!column->rest)
		return column->table.width;
	for (uint8_t place = 1; place <= CELLS_MAX; place++) {
		const void *row = NULL;
		const struct column *other =
			column_at_place(report, table->columns, offsetof(struct column, table),
					place, &row);

		if (other && other != column)
			rest -= (int) strlen(before_of(other)) + ABS(other->table.width);
	}
	return -MAX(rest, column->rest);
}

static char *cell_text(const struct report *report, const struct column *column,
		       const struct value *value)
{
	char buffer[48];

	if (value->none)
		return g_strdup("-");
	switch (column->type) {
	case COLUMN_NS:
		return g_strdup(when_duration(buffer, value->number));
	case COLUMN_TIME:
		return g_strdup(when_time(buffer, value->number,
					  report->session->asked.options->utc, false));
	case COLUMN_SHARE:
		return g_strdup_printf("%.1f %%", 100.0 * value->real);
	case COLUMN_BOOL:
		return g_strdup(value->number ? "*" : " ");
	case COLUMN_WHOLE:
		return g_strdup_printf("%" PRId64, value->number);
	default:
		return text_safe(value->text);
	}
}

static void write_cell(const struct report *report, const struct text_table *table,
		       const struct column *column, const char *text, int level)
{
	struct output *output = report->output;
	int width = width_of(report, table, column), indent = column->indents ? 2 * level : 0;
	bool in_bytes = table->in_bytes && !column->own_line;
	int length = indent + (int) (in_bytes ? (glong) strlen(text) : g_utf8_strlen(text, -1));

	fputs(before_of(column), output->file);
	if (width > 0)
		write_spaces(output, width - length);
	write_spaces(output, indent);
	fputs(text, output->file);
	if (width < 0 && column->own_line && length > -width) {
		fputc('\n', output->file);
		write_spaces(output, (int) strlen(before_of(column)) - width);
	} else if (width < 0) {
		write_spaces(output, -width - length);
	}
}

/* Some column says that events were lost. */
static bool is_marked(const struct report *report, const struct column *columns, const void *row)
{
	for (const struct column *column = columns; column->type; column++)
		if (column->mark == MARK_TELLS) {
			struct value value;

			column_read(report, column, row, &value);
			if (value.number)
				return true;
		}
	return false;
}

void text_table_heading(const struct report *report, const struct text_table *table)
{
	for (uint8_t place = 1; place <= CELLS_MAX; place++) {
		const void *row = NULL;
		const struct column *column =
			column_at_place(report, table->columns, offsetof(struct column, table),
					place, &row);

		if (column)
			write_cell(report, table, column, column->table.header, 0);
	}
	fputc('\n', report->output->file);
}

bool text_table_row(const struct report *report, const struct text_table *table, const void *row,
		    int level)
{
	bool marked = is_marked(report, table->columns, row);

	for (uint8_t place = 1; place <= CELLS_MAX; place++) {
		const void *of = row;
		const struct column *column =
			column_at_place(report, table->columns, offsetof(struct column, table),
					place, &of);
		g_autofree char *text = NULL;
		struct value value;

		if (!column)
			continue;
		column_read(report, column, of, &value);
		text = cell_text(report, column, &value);
		value_clear(&value);
		if (marked && column->mark == MARK_SHOWS) {
			char *plain = g_steal_pointer(&text);

			text = g_strconcat(plain, " *", NULL);
			g_free(plain);
		}
		write_cell(report, table, column, text, level);
	}
	fputc('\n', report->output->file);
	if (table->below)
		table->below(report, row);
	return marked;
}

void text_table(const struct report *report, const struct text_table *table, struct rows rows)
{
	guint shown = rows_limited(report->session, rows.count);
	bool marked = false;

	text_table_heading(report, table);
	for (guint i = 0; i < shown; i++) {
		const void *row = rows_at(&rows, i);

		marked |= text_table_row(report, table, table->row ? table->row(report, row) : row,
					 0);
	}
	if (table->note_first)
		text_gap_note(report->output, marked);
	text_omitted(report->output, rows.count - shown);
	if (!table->note_first)
		text_gap_note(report->output, marked);
}

void text_lines(const struct report *report, struct rows rows,
		void (*line)(const struct report *report, const void *row))
{
	guint shown = rows_limited(report->session, rows.count);

	for (guint i = 0; i < shown; i++)
		line(report, rows_at(&rows, i));
	text_omitted(report->output, rows.count - shown);
}

void text_omitted(const struct output *output, guint count)
{
	text_omitted_of(output, 2, count, "");
}

void text_omitted_of(const struct output *output, int indent, guint count, const char *of)
{
	if (count)
		fprintf(output->file, "%*s[... %u more%s; --limit 0 shows all ...]\n", indent, "",
			count, of);
}
