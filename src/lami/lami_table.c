/* SPDX-License-Identifier: MIT */
/* Records as LAMI's tables; see lami_table.h. */
#include "lami/lami_table.h"

#include <jansson.h>
#include <string.h>

#include "waits/causality.h"
#include "waits/state_names.h"

static const char *class_of(const struct column *column)
{
	static const char *const of_class[] = {
		[LAMI_SYSCALL] = "syscall", [LAMI_DISK] = "disk", [LAMI_IRQ] = "irq"};
	static const char *const of_type[] = {
		[COLUMN_TEXT] = "string",      [COLUMN_NAME] = "string",
		[COLUMN_LEAF] = "string",      [COLUMN_WHOLE] = "number",
		[COLUMN_NS] = "duration",      [COLUMN_SHARE] = "ratio",
		[COLUMN_BOOL] = "bool",        [COLUMN_THREAD] = "process",
		[COLUMN_RANGE] = "time-range", [COLUMN_RESOURCE] = "mixed"};

	return column->lami.class ? of_class[column->lami.class] : of_type[column->type];
}

GETTER(const char *, cause_kind, struct cause, cause_kind_text(row->kind));
GETTER(const char *, cause_label, struct cause, row->label && *row->label ? row->label : NULL);

const struct column lami_cause_columns[] = {
	{NULL, COLUMN_TEXT, .text = cause_kind, .lami = {"Ended by"}},
	{NULL, COLUMN_TEXT, .text = cause_label, .lami = {"Which was"}},
	{NULL, COLUMN_BOOL, FIELD(struct cause, inferred), .lami = {"Inferred"}},
	{0}};

/* --- cells ---------------------------------------------------------------------------------- */

static void put_time(struct output *output, const char *key, int64_t time)
{
	json_begin(output, key, '{', LINES_NOT);
	json_put_text(output, "class", "timestamp");
	json_put_whole(output, "value", time);
	json_end(output, '}');
}

static void put_range(struct output *output, int64_t begin, int64_t end)
{
	put_time(output, "begin", begin);
	put_time(output, "end", end);
}

static void put_process(const struct report *report, uint32_t thread)
{
	const struct session *session = report->session;
	const struct thread *life = model_thread(&session->trace.model, thread);
	g_autofree char *name = g_strconcat(session_thread_name(session, thread),
					    session_on(session, thread), NULL);

	json_put_text(report->output, "name", name);
	if (life->pid > 0)
		json_put_whole(report->output, "pid", life->pid);
	json_put_whole(report->output, "tid", life->tid);
}

/* Files are paths, devices disks, others strings "KIND:NAME": that is how a cell may be mixed. */
static void put_resource(struct output *output, const char *key)
{
	const char *kind = resource_kind(key), *name = resource_name(key);
	bool is_file = strcmp(kind, "file") == 0, is_device = strcmp(kind, "device") == 0;
	g_autofree char *text = NULL;

	if (!is_file && !is_device && strcmp(kind, name) != 0)
		name = text = g_strdup_printf("%s:%s", kind, name);
	json_put_text(output, "class", is_file ? "path" : is_device ? "disk" : "string");
	json_put_text(output, is_file ? "path" : is_device ? "name" : "value", name);
}

/* With more digits than in other JSON. */
static void put_ratio(const struct output *output, double ratio)
{
	json_t *value = json_real(ratio);

	fputs(",\"value\":", output->file);
	json_dumpf(value, output->file, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
	json_decref(value);
}

static void put_members(const struct report *report, const struct column *column,
			const struct value *value)
{
	struct output *output = report->output;
	const int64_t *range = value->row;

	switch (column->type) {
	case COLUMN_SHARE:
		put_ratio(output, value->real);
		break;
	case COLUMN_BOOL:
		json_put_bool(output, "value", value->number);
		break;
	case COLUMN_RANGE:
		put_range(output, range[0], range[1]);
		break;
	case COLUMN_THREAD:
		put_process(report, (uint32_t) value->number);
		break;
	case COLUMN_WRITTEN:
		column->write(report, value->row);
		break;
	case COLUMN_TEXT:
	case COLUMN_NAME:
	case COLUMN_LEAF:
		json_put_text(output, column->lami.class ? "name" : "value", value->text);
		break;
	default:
		json_put_whole(output, "value", value->number);
	}
}

/* Durations and ratios below 0 are not known. */
static bool is_unknown(const struct column *column, const struct value *value)
{
	return value->none ? column->lami.unknown
			   : (column->type == COLUMN_NS && value->number < 0) ||
				     (column->type == COLUMN_SHARE && value->real < 0);
}

/* There is nothing to write: no value, a resource without a name, a thread that is none. */
static bool is_empty(const struct report *report, const struct column *column,
		     const struct value *value)
{
	return value->none ||
	       (column->type == COLUMN_RESOURCE && (!value->number || !*value->text)) ||
	       (column->type == COLUMN_THREAD &&
		value->number >= report->session->trace.model.thread_count);
}

static void put_cell(const struct report *report, const struct lami_table *table,
		     const struct column *column, const void *row)
{
	struct output *output = report->output;
	struct value value = {.none = true};

	(void) table;
	if (row)
		column_read(report, column, row, &value);
	if (row && is_unknown(column, &value)) {
		json_begin(output, NULL, '{', LINES_NOT);
		json_put_text(output, "class", "unknown");
		json_end(output, '}');
	} else if (is_empty(report, column, &value)) {
		json_put_null(output, NULL);
	} else {
		json_begin(output, NULL, '{', LINES_NOT);
		if (column->type == COLUMN_RESOURCE) {
			put_resource(output, value.text);
		} else {
			json_put_text(output, "class", class_of(column));
			put_members(report, column, &value);
		}
		json_end(output, '}');
	}
	value_clear(&value);
}

static void describe_cell(const struct report *report, const struct lami_table *table,
			  const struct column *column, const void *row)
{
	struct output *output = report->output;
	const struct lami_cell *cell = &column->lami;

	(void) row;
	json_begin(output, NULL, '{', LINES_NOT);
	json_put_text(output, "title", cell->title);
	json_put_text(output, "class", class_of(column));
	if (cell->unit)
		json_put_text(output, "unit", *cell->unit ? cell->unit : table->unit);
	json_end(output, '}');
}

/* Of a row that is NULL all are empty. */
static void each_cell(const struct report *report, const struct lami_table *table,
		      const struct column *columns, const void *row,
		      void (*put)(const struct report *report, const struct lami_table *table,
				  const struct column *column, const void *row))
{
	for (const struct column *column = columns; column->type; column++) {
		struct value value = {0};

		if (column->lami.title) {
			put(report, table, column, row);
		} else if (column->type == COLUMN_OBJECT && !column->key) {
			if (row)
				column_read(report, column, row, &value);
			each_cell(report, table, column->columns, value.row, put);
		}
	}
}

/* --- tables --------------------------------------------------------------------------------- */

void lami_describe(const struct report *report, const struct lami_table *table)
{
	json_begin(report->output, table->name, '{', LINES_NOT);
	json_put_text(report->output, "title", table->title);
	json_begin(report->output, "column-descriptions", '[', LINES_NOT);
	each_cell(report, table, table->columns, NULL, describe_cell);
	json_end(report->output, ']');
	json_end(report->output, '}');
}

static void open_results(struct output *output)
{
	if (output->json.depth)
		return;
	json_begin(output, NULL, '{', LINES_NOT);
	json_begin(output, "results", '[', LINES_EACH);
}

static void open_table(const struct lami_writer *writer)
{
	const struct session *session = writer->report.session;
	struct output *output = writer->report.output;

	open_results(output);
	json_begin(output, NULL, '{', LINES_NOT);
	json_begin(output, "time-range", '{', LINES_NOT);
	json_put_text(output, "class", "time-range");
	put_range(output, session->asked.from, session->asked.to);
	json_end(output, '}');
	json_put_text(output, "class", writer->table->name);
	json_begin(output, "data", '[', LINES_EACH);
}

static void close_table(struct lami_writer *writer)
{
	if (writer->rows) {
		json_end(writer->report.output, ']');
		json_end(writer->report.output, '}');
	}
	writer->rows = 0;
}

void lami_begin(struct lami_writer *writer, const struct lami_table *table)
{
	close_table(writer);
	writer->table = table;
}

bool lami_is_full(const struct lami_writer *writer)
{
	return rows_limited(writer->report.session, writer->rows + 1) == writer->rows;
}

void lami_row(struct lami_writer *writer, const void *row)
{
	if (lami_is_full(writer))
		return;
	if (!writer->rows++)
		open_table(writer);
	json_begin(writer->report.output, NULL, '[', LINES_NOT);
	each_cell(&writer->report, writer->table, writer->table->columns, row, put_cell);
	json_end(writer->report.output, ']');
}

void lami_rows(struct lami_writer *writer, const struct lami_table *table, struct rows rows)
{
	lami_begin(writer, table);
	for (guint i = 0; i < rows.count && !lami_is_full(writer); i++)
		lami_row(writer, rows_at(&rows, i));
}

void lami_end(struct lami_writer *writer)
{
	struct output *output = writer->report.output;

	close_table(writer);
	open_results(output);
	if (output->json.more)
		fputc('\n', output->file);
	json_end(output, ']');
	json_end(output, '}');
	fputc('\n', output->file);
}
