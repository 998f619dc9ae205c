/* SPDX-License-Identifier: MIT */
/* The Trace Server Protocol's tables, and the one of all system calls and interrupts that
 * were seen from their entry to their exit, in the order in which they ended, as that is how they
 * are stored.
 *
 * Part of tsp/. An index is the place in the store, so any line is found at once; a search goes
 * through the lines from where it begins.
 */
#include "tsp/outputs.h"

#include <inttypes.h>
#include <string.h>

#include "latencies/operations.h"

enum {
	COLUMN_BEGIN,
	COLUMN_LASTED,
	COLUMN_OPERATION,
	COLUMN_WHO,
	COLUMN_NUMBER,
	COLUMN_CPU,
	COLUMN_ON,
};

static const struct table_column columns[TABLE_COLUMNS] = {
	{"Begin", "When it was entered, ns since 1970", "TIMESTAMP"},
	{"Duration", "ns", "DURATION"},
	{"Operation", "", "STRING"},
	{"Thread", "", "STRING"},
	{"TID", "", "NUMBER"},
	{"CPU", "Where it ended", "NUMBER"},
	{"On", "The file, socket or pipe", "STRING"},
};

#define LINES_MAX 10000

static bool is_table(struct asking *asking)
{
	return output_row_find(asking, asking->given[1], "TABLE", NULL);
}

static bool is_of_events(const struct asking *asking)
{
	return strcmp(asking->given[1], EVENTS_TABLE) == 0;
}

void table_columns(struct asking *asking)
{
	if (!is_table(asking))
		return;
	if (is_of_events(asking))
		event_columns(asking);
	else
		table_put_columns(asking, columns);
}

/* Lines are numbered from 0; the store's records from 1. */
static int64_t line_count(const struct session *session)
{
	return session->trace.timeline.operations.used ? session->trace.timeline.operations.used - 1
						       : 0;
}

static const struct operation *line_at(const struct session *session, int64_t line)
{
	return operation_at(&session->trace.timeline.operations, (uint32_t) line + 1);
}

static char *cell(const struct session *session, const struct operation *operation, int column)
{
	switch (column) {
	case COLUMN_BEGIN:
		return g_strdup_printf("%" PRId64, operation->begin);
	case COLUMN_LASTED:
		return g_strdup_printf("%" PRIu64, (uint64_t) operation->duration);
	case COLUMN_OPERATION:
		return operation_name(session, operation->what);
	case COLUMN_WHO:
		return g_strdup(operation_has_thread(operation)
					? session_thread_name(session, operation->thread)
					: "");
	case COLUMN_NUMBER:
		return operation_has_thread(operation)
			       ? g_strdup_printf("%d", model_thread(&session->trace.model,
								    operation->thread)
							       ->tid)
			       : g_strdup("");
	case COLUMN_CPU:
		return operation->cpu == OPERATION_CPU_UNKNOWN
			       ? g_strdup("")
			       : g_strdup_printf("%u", (unsigned) operation->cpu);
	default:
		return g_strdup(operation->ref ? session_text(session, operation->ref) : "");
	}
}

/* --- what is asked --------------------------------------------------------------------------- */

/* The first line that ended at `time` or later. */
static int64_t line_of_time(const struct session *session, int64_t time)
{
	int64_t low = 0, high = line_count(session);

	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		if (operation_end(line_at(session, middle)) < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool take_columns(struct asking *asking, struct asked_lines *lines)
{
	const json_t *ids = parameter(asking, "requested_table_column_ids");
	int64_t id;

	if (json_array_size(ids) > TABLE_COLUMNS)
		return false;
	for (size_t i = 0; i < json_array_size(ids); i++) {
		if (!parameter_whole(json_array_get(ids, i), &id) || id < 0 || id >= TABLE_COLUMNS)
			return false;
		lines->ids[lines->ids_count++] = (int) id;
	}
	for (int i = 0; !json_array_size(ids) && i < TABLE_COLUMNS; i++)
		lines->ids[lines->ids_count++] = i;
	return true;
}

static bool take_search(struct asking *asking, struct asked_lines *lines, GError **error)
{
	json_t *wanted = parameter(asking, "table_search_expressions"), *text;
	const char *direction = json_string_value(parameter(asking, "table_search_direction"));
	const char *key;

	json_object_foreach(wanted, key, text)
	{
		guint64 id;

		if (!g_ascii_string_to_unsigned(key, 10, 0, TABLE_COLUMNS - 1, &id, NULL) ||
		    !json_is_string(text) || lines->wanted[id].text ||
		    !line_search_init(&lines->wanted[id], json_string_value(text), error))
			return false;
		lines->searches = true;
	}
	lines->back = g_strcmp0(direction, "PREVIOUS") == 0;
	return !direction || lines->back || strcmp(direction, "NEXT") == 0;
}

static bool take_lines(struct asking *asking, struct asked_lines *lines)
{
	const json_t *index = parameter(asking, "requested_table_index");
	const json_t *times = parameter(asking, "requested_times");
	const char *wrong = NULL;
	g_autoptr(GError) error = NULL;

	*lines = (struct asked_lines) {0};
	if (!parameter_whole(parameter(asking, "requested_table_count"), &lines->count) ||
	    lines->count < 0 || lines->count > LINES_MAX)
		wrong = "requested_table_count must be 0 to 10000";
	else if (index && (!parameter_whole(index, &lines->index) || lines->index < 0))
		wrong = "requested_table_index must be 0 or more";
	else if (!index && json_array_size(times) &&
		 !parameter_whole(json_array_get(times, 0), &lines->time))
		wrong = "requested_times must be integers";
	else if (!take_columns(asking, lines))
		wrong = "requested_table_column_ids must be ids of columns";
	else if (!take_search(asking, lines, &error))
		wrong = error ? error->message
			      : "table_search_expressions must be regular expressions by column, "
				"the direction NEXT or PREVIOUS";
	if (wrong) {
		asking_refuse(asking, 400, "Missing query parameters", wrong);
		return false;
	}
	lines->timed = !index && json_array_size(times);
	lines->directed = parameter(asking, "table_search_direction") != NULL;
	return true;
}

/* --- lines ----------------------------------------------------------------------------------- */

static bool is_wanted(const struct session *session, struct asked_lines *lines, int64_t line)
{
	const struct operation *operation = line_at(session, line);

	for (int i = 0; i < TABLE_COLUMNS; i++) {
		g_autofree char *text = lines->wanted[i].text ? cell(session, operation, i) : NULL;

		if (text && !line_search_finds(&lines->wanted[i], text))
			return false;
	}
	return true;
}

/* Where a search ends: -1 if nothing is found. */
static int64_t search(const struct session *session, struct asked_lines *lines)
{
	int64_t count = line_count(session), step = lines->back ? -1 : 1;

	for (int64_t i = MIN(lines->index, count - 1); i >= 0 && i < count; i += step)
		if (is_wanted(session, lines, i))
			return i;
	return -1;
}

static void put_line(struct asking *asking, struct asked_lines *lines, int64_t line)
{
	const struct session *session = asking->server->session;
	char *cells[TABLE_COLUMNS] = {0};

	for (guint i = 0; i < lines->ids_count; i++)
		if (!cells[lines->ids[i]])
			cells[lines->ids[i]] = cell(session, line_at(session, line), lines->ids[i]);
	table_put_line(asking, lines, line, cells,
		       lines->searches && is_wanted(session, lines, line));
	for (int i = 0; i < TABLE_COLUMNS; i++)
		g_free(cells[i]);
}

static void operation_lines(struct asking *asking, struct asked_lines *lines)
{
	const struct session *session = asking->server->session;
	int64_t count = line_count(session);

	if (lines->timed)
		lines->index = line_of_time(session, lines->time);
	if (lines->searches && lines->directed) {
		lines->index = search(session, lines);
		if (lines->index < 0 && search_gave_up(asking, lines))
			return;
		lines->count = lines->index < 0 ? 0 : lines->count;
	}
	lines->index = CLAMP(lines->index, 0, count);
	table_begin(asking, lines, lines->index, count);
	for (int64_t i = lines->index; i < MIN(count, lines->index + lines->count); i++)
		put_line(asking, lines, i);
	table_end(asking);
}

void table_lines(struct asking *asking)
{
	struct asked_lines lines;

	if (!is_table(asking))
		return;
	if (take_lines(asking, &lines)) {
		if (is_of_events(asking))
			event_lines(asking, &lines);
		else
			operation_lines(asking, &lines);
	}
	asked_lines_clear(&lines);
}
