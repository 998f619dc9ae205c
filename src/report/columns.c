/* SPDX-License-Identifier: MIT */
/* Reading the values of columns; see columns.h. */
#include "report/columns.h"

#include <math.h>

#include "model/container.h"
#include "waits/summary.h"

static int64_t stored_number(const struct column *column, const void *place)
{
	switch (column->stored) {
	case STORED_INT64:
		return *(const int64_t *) place;
	case STORED_UINT64:
		return (int64_t) *(const uint64_t *) place;
	case STORED_INT32:
		return *(const int32_t *) place;
	case STORED_UINT32:
		return *(const uint32_t *) place;
	case STORED_UINT16:
		return *(const uint16_t *) place;
	case STORED_UINT8:
		return *(const uint8_t *) place;
	case STORED_BOOL:
		return *(const bool *) place;
	case STORED_ARRAY:
		return (*(GArray *const *) place)->len;
	case STORED_POINTERS:
		return (*(GPtrArray *const *) place)->len;
	default:
		return 0;
	}
}

static void read_stored(const struct column *column, const void *row, struct value *value)
{
	const void *place = (const char *) row + column->offset;

	switch (column->stored) {
	case STORED_NOT:
		value->row = row;
		break;
	case STORED_DOUBLE:
		value->real = *(const double *) place;
		break;
	case STORED_STRING:
		value->text = *(const char *const *) place;
		break;
	case STORED_ARRAY:
	case STORED_POINTERS:
		if (column->type == COLUMN_WHOLE) {
			value->number = stored_number(column, place);
			break;
		}
		/* fall through */
	case STORED_POINTER:
		value->row = *(const void *const *) place;
		break;
	case STORED_HERE:
		value->text = place;
		value->row = place;
		break;
	default:
		value->number = stored_number(column, place);
	}
}

static void read_raw(const struct report *report, const struct column *column, const void *row,
		     struct value *value)
{
	if (column->number)
		value->number = column->number(report, row);
	else if (column->real)
		value->real = column->real(report, row);
	else if (column->text)
		value->text = column->text(report, row);
	else if (column->owned)
		value->text = value->owned = column->owned(report, row);
	else if (column->array)
		value->row = value->array = column->array(report, row);
	else if (column->at)
		value->row = column->at(report, row);
	else
		read_stored(column, row, value);
}

void column_read(const struct report *report, const struct column *column, const void *row,
		 struct value *value)
{
	*value = (struct value) {0};
	read_raw(report, column, row, value);
	value->none = (column->none == NONE_ZERO && !value->number) ||
		      (column->none == NONE_LOWEST && value->number == INT64_MIN) ||
		      (column->none == NONE_NEGATIVE && (value->number < 0 || value->real < 0));
	if (value->none)
		return;
	switch (column->type) {
	case COLUMN_WHOLE:
	case COLUMN_NS:
		if (column->real || column->stored == STORED_DOUBLE)
			value->number = llround(value->real);
		break;
	case COLUMN_NAME:
	case COLUMN_RESOURCE:
		value->text = session_text(report->session, (uint32_t) value->number);
		break;
	case COLUMN_LEAF:
		value->text = value->owned = leaf_key(report->session, (uint32_t) value->number);
		break;
	case COLUMN_TEXT:
		if (column->names)
			value->text = column->names[value->number];
		value->none = !value->text;
		break;
	case COLUMN_THREAD:
	case COLUMN_TID_NAME:
		value->none = !is_thread((uint32_t) value->number);
		break;
	case COLUMN_OBJECT:
	case COLUMN_LIST:
		value->none = !value->row;
		break;
	default:
		break;
	}
}

void value_clear(struct value *value)
{
	g_free(value->owned);
	g_clear_pointer(&value->array, g_array_unref);
}

bool column_is_there(const struct report *report, const struct column *column, const void *row)
{
	return !column->when || column->when(report, row);
}

const struct column *column_at_place(const struct report *report, const struct column *columns,
				     size_t which, uint8_t place, const void **row)
{
	for (const struct column *column = columns; column->type; column++) {
		const struct shown_at *cell =
			(const struct shown_at *) (const void *) ((const char *) column + which);
		struct value value = {0};
		const struct column *found;
		bool parts = column->type == COLUMN_OBJECT && !column->key;

		if ((cell->place != place && !parts) || !column_is_there(report, column, *row))
			continue;
		if (cell->place == place)
			return column;
		if (*row)
			column_read(report, column, *row, &value);
		found = column_at_place(report, column->columns, which, place, &value.row);
		if (found) {
			*row = value.row;
			return found;
		}
	}
	return NULL;
}

/* GLib asks for an array that may change, to say what lies in it. */
static guint row_size(const GArray *rows)
{
	return g_array_get_element_size((GArray *) rows);
}

const void *rows_at(const struct rows *rows, guint i)
{
	if (rows->stored == STORED_POINTERS)
		return g_ptr_array_index((const GPtrArray *) rows->list, i);
	return ((const GArray *) rows->list)->data + (gsize) i * row_size(rows->list);
}

GArray *rows_between(const GArray *rows, guint first, guint end)
{
	GArray *list = g_array_new(FALSE, FALSE, row_size(rows));

	if (first < end) /* an empty array has no data to point into */
		g_array_append_vals(list, rows->data + (gsize) first * row_size(rows), end - first);
	return list;
}

guint rows_limited(const struct session *session, guint count)
{
	guint limit = session->asked.options->limit;

	return limit ? MIN(limit, count) : count;
}

guint report_limited(const struct report *report, guint count)
{
	return report->output->json.whole ? count : rows_limited(report->session, count);
}

/* --- threads -------------------------------------------------------------------------------- */

static const struct thread *life_of(const struct report *report, const void *row)
{
	return model_thread(&report->session->trace.model, *(const uint32_t *) row);
}

GETTER(int64_t, host_of, void, life_of(report, row)->host);
GETTER(int64_t, tid_of, void, life_of(report, row)->tid);
GETTER(int64_t, pid_of, void, life_of(report, row)->pid);
GETTER(const char *, name_of, uint32_t, session_thread_name(report->session, *row));

/* Innermost PID namespace, and TID and PID in it; of a thread of the host's there are none. */
static bool inner_ids(const struct report *report, const uint32_t *row, struct ids *ids)
{
	return thread_inner_ids(&report->session->trace.model, life_of(report, row), ids);
}

static bool is_inside(const struct report *report, const void *row)
{
	struct ids ids;

	return row && inner_ids(report, row, &ids);
}

static int64_t inner_tid(const struct report *report, const void *row)
{
	struct ids ids;

	return inner_ids(report, row, &ids) ? ids.tid : 0;
}

static int64_t inner_pid(const struct report *report, const void *row)
{
	struct ids ids;

	return inner_ids(report, row, &ids) ? ids.pid : 0;
}

GETTER(int64_t, pid_namespace, void,
       thread_place(&report->session->trace.model, life_of(report, row))->pid_ns);

const struct column tid_name_columns[] = {{"host", COLUMN_WHOLE, .number = host_of},
					  {"tid", COLUMN_WHOLE, .number = tid_of},
					  {"name", COLUMN_TEXT, .text = name_of},
					  {0}};

const struct column thread_columns[] = {
	{"host", COLUMN_WHOLE, .number = host_of, .csv = {1}},
	{"tid", COLUMN_WHOLE, .number = tid_of, .csv = {2}},
	{"pid", COLUMN_WHOLE, .number = pid_of, .none = NONE_NEGATIVE, .csv = {3}},
	{"name", COLUMN_TEXT, .text = name_of, .csv = {4}},
	{"pid_ns", COLUMN_WHOLE, .number = pid_namespace, .none = NONE_ZERO, .when = is_inside},
	{"vtid", COLUMN_WHOLE, .number = inner_tid, .none = NONE_ZERO, .when = is_inside},
	{"vpid", COLUMN_WHOLE, .number = inner_pid, .none = NONE_ZERO, .when = is_inside},
	{0}};
