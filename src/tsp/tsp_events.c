/* SPDX-License-Identifier: MIT */
/* The Trace Server Protocol's table of events: those of the trace, as they were recorded.
 *
 * Part of tsp/. They are not kept: the trace is read again for them. What is kept is where every
 * so many-th of them is, so that any line is some thousands of events away at most:
 *
 *   events   0 ........ 8192 ........ 16384 ....     struct event_mark: its time, and how many
 *                       mark          mark           events before it have the same
 *
 * A line's number is the event's in the order of all readings. The marks are made, by one reading
 * of the trace, when the columns are asked for, which viewers do first.
 */
#include "tsp/outputs.h"

#include <inttypes.h>
#include <string.h>

#include "tsp/serve_trace.h"

#define MARKED 8192 /* every so many-th event */

struct event_mark {
	int64_t at;
	int64_t until; /* no event before it has a later time, in the hosts' common one */
	uint64_t ties; /* so many before it are at the same time */
};

struct events_index {
	GArray *marks; /* owned; struct event_mark */
	int64_t count;
};

enum {
	EVENT_TIME,
	EVENT_HOST,
	EVENT_CPU,
	EVENT_EVENT,
	EVENT_THREAD,
	EVENT_TID,
	EVENT_FIELDS,
};

static const struct table_column columns[TABLE_COLUMNS] = {
	{"Time", "ns since 1970", "TIMESTAMP"},
	{"Host", "", "STRING"},
	{"CPU", "", "NUMBER"},
	{"Event", "", "STRING"},
	{"Thread", "Which ran on the CPU then; of a switch, the one that ran before", "STRING"},
	{"TID", "", "NUMBER"},
	{"Fields", "Contexts and fields, as they were recorded", "STRING"},
};

void events_index_free(gpointer data)
{
	struct events_index *index = data;

	g_array_unref(index->marks);
	g_free(index);
}

/* --- where events are ------------------------------------------------------------------------ */

struct marking {
	struct events_index *index;
	int64_t last, until;
	uint64_t ties;
};

static enum list_wish mark_event(const struct event_line *line, void *data)
{
	struct marking *marking = data;
	struct event_mark mark;

	marking->ties = marking->index->count && line->at == marking->last ? marking->ties + 1 : 0;
	if (marking->index->count++ % MARKED == 0) {
		mark = (struct event_mark) {line->at, marking->until, marking->ties};
		g_array_append_val(marking->index->marks, mark);
	}
	marking->last = line->at;
	marking->until = MAX(marking->until, line->time);
	return LIST_ON;
}

static bool list(struct asking *asking, const struct event_list *wanted)
{
	const struct serve_trace *trace = asking->server->trace;
	g_autoptr(GError) error = NULL;

	if (trace->list(trace->session, trace->paths, wanted, &error))
		return true;
	asking_refuse(asking, 405, "Analysis cannot run", error->message);
	return false;
}

/* NULL: refused. */
static const struct events_index *events_index(struct asking *asking)
{
	struct marking marking = {.last = 0, .until = INT64_MIN};
	const struct event_list all = {INT64_MIN, mark_event, &marking};

	if (asking->server->events)
		return asking->server->events;
	marking.index = g_new0(struct events_index, 1);
	marking.index->marks = g_array_new(FALSE, FALSE, sizeof(struct event_mark));
	if (list(asking, &all))
		asking->server->events = marking.index;
	else
		events_index_free(marking.index);
	return asking->server->events;
}

void event_columns(struct asking *asking)
{
	if (events_index(asking))
		table_put_columns(asking, columns);
}

/* --- lines ----------------------------------------------------------------------------------- */

/* Who ran there. A switch is of the one who leaves. */
static uint32_t thread_of(const struct session *session, const struct event_line *line)
{
	const struct timeline *timeline = &session->trace.timeline;
	const struct host *host = model_host(&session->trace.model, line->host);
	int64_t time = line->time - (strcmp(line->name, "sched_switch") == 0);

	for (guint i = 0; i < host->cpus->len; i++) {
		const struct cpu *cpu = host->cpus->pdata[i];
		uint32_t at = cpu->id == line->cpu ? run_find(timeline, &cpu->runs, time)
						   : cpu->runs.used;

		if (at < cpu->runs.used && run_at(timeline, &cpu->runs, at)->begin <= time)
			return run_at(timeline, &cpu->runs, at)->thread;
	}
	return NO_THREAD;
}

static char *cell(const struct session *session, const struct event_line *line, int column)
{
	uint32_t thread;

	switch (column) {
	case EVENT_TIME:
		return g_strdup_printf("%" PRId64, line->time);
	case EVENT_HOST:
		return g_strdup(trace_host_name(&session->trace, line->host));
	case EVENT_CPU:
		return g_strdup_printf("%u", line->cpu);
	case EVENT_EVENT:
		return g_strdup(line->name);
	case EVENT_FIELDS:
		return g_strdup(line->fields ? line->fields : "");
	default:
		thread = thread_of(session, line);
		if (column == EVENT_THREAD)
			return g_strdup(thread == IDLE_THREAD ? "idle"
					: is_thread(thread)   ? session_thread_name(session, thread)
							      : "");
		return is_thread(thread)
			       ? g_strdup_printf("%d",
						 model_thread(&session->trace.model, thread)->tid)
			       : g_strdup("");
	}
}

/* Some lines one after the other. */
struct listed {
	struct asking *asking;
	struct asked_lines *asked;
	struct event_mark mark;
	uint64_t ties;  /* left to pass over */
	int64_t number; /* of the newest, from the mark's on; one before it: none yet */
	int64_t first, end; /* numbers: which are visited */
	int64_t found;  /* -1: none */
	enum list_wish (*visit)(struct listed *lines, const struct event_line *line);
};

static enum list_wish visit_line(const struct event_line *line, void *data)
{
	struct listed *lines = data;

	if (!line->fields) { /* else it is the same one again */
		if (line->at < lines->mark.at)
			return LIST_ON;
		if (line->at == lines->mark.at && lines->ties) {
			lines->ties--;
			return LIST_ON;
		}
		lines->number++;
	}
	if (lines->number < lines->first)
		return LIST_ON;
	return lines->number < lines->end ? lines->visit(lines, line) : LIST_ENOUGH;
}

/* False: refused. */
static bool visit_lines(struct listed *lines, const struct events_index *index, int64_t first,
			int64_t end)
{
	guint mark = (guint) (first / MARKED);
	struct event_list wanted = {.visit = visit_line, .data = lines};

	if (first >= end || mark >= index->marks->len)
		return true;
	lines->mark = g_array_index(index->marks, struct event_mark, mark);
	lines->ties = lines->mark.ties;
	lines->number = (int64_t) mark * MARKED - 1;
	lines->first = first;
	lines->end = end;
	wanted.from = lines->mark.at;
	return list(lines->asking, &wanted);
}

/* LIST_ENOUGH: it does not; LIST_ON: it does. */
static enum list_wish is_wanted(struct listed *lines, const struct event_line *line)
{
	for (int i = 0; i < TABLE_COLUMNS; i++) {
		struct line_search *wanted = &lines->asked->wanted[i];
		g_autofree char *text = NULL;

		if (!wanted->text)
			continue;
		if (i == EVENT_FIELDS && !line->fields)
			return LIST_FIELDS;
		text = cell(lines->asking->server->session, line, i);
		if (!line_search_finds(wanted, text))
			return LIST_ENOUGH;
	}
	return LIST_ON;
}

static enum list_wish search_line(struct listed *lines, const struct event_line *line)
{
	enum list_wish wish = is_wanted(lines, line);

	if (wish == LIST_FIELDS)
		return LIST_FIELDS;
	if (wish == LIST_ON)
		lines->found = lines->number;
	return wish == LIST_ON && !lines->asked->back ? LIST_ENOUGH : LIST_ON;
}

/* Onwards until one is found; back mark by mark, the last one of each. */
static bool search(struct listed *lines, const struct events_index *index, int64_t at)
{
	int64_t end = MIN(at + 1, index->count);
	bool ok = true;

	lines->visit = search_line;
	lines->found = -1;
	if (!lines->asked->back)
		return visit_lines(lines, index, at, index->count);
	while (ok && end > 0 && lines->found < 0) {
		int64_t begin = (end - 1) / MARKED * MARKED;

		ok = visit_lines(lines, index, begin, end);
		end = begin;
	}
	return ok;
}

static enum list_wish find_time(struct listed *lines, const struct event_line *line)
{
	if (line->time < lines->asked->time)
		return LIST_ON;
	lines->found = lines->number;
	return LIST_ENOUGH;
}

/* The first line at that time or later; behind the last one if there is none. */
static bool seek_time(struct listed *lines, const struct events_index *index, int64_t time)
{
	guint low = 0, high = index->marks->len;

	while (low < high) { /* the first mark that such a line is before */
		guint middle = low + (high - low) / 2;

		if (g_array_index(index->marks, struct event_mark, middle).until < time)
			low = middle + 1;
		else
			high = middle;
	}
	lines->visit = find_time;
	lines->found = index->count;
	return visit_lines(lines, index, low ? (int64_t) (low - 1) * MARKED : 0, index->count);
}

static enum list_wish put_line(struct listed *lines, const struct event_line *line)
{
	struct asked_lines *asked = lines->asked;
	enum list_wish wish = is_wanted(lines, line);
	char *cells[TABLE_COLUMNS] = {0};

	for (guint i = 0; i < asked->ids_count; i++)
		if (asked->ids[i] == EVENT_FIELDS && !line->fields)
			wish = LIST_FIELDS;
	if (wish == LIST_FIELDS)
		return wish;
	for (guint i = 0; i < asked->ids_count; i++)
		if (!cells[asked->ids[i]])
			cells[asked->ids[i]] =
				cell(lines->asking->server->session, line, asked->ids[i]);
	table_put_line(lines->asking, asked, lines->number, cells,
		       asked->searches && wish == LIST_ON);
	for (int i = 0; i < TABLE_COLUMNS; i++)
		g_free(cells[i]);
	return lines->number + 1 < lines->end ? LIST_ON : LIST_ENOUGH;
}

void event_lines(struct asking *asking, struct asked_lines *asked)
{
	const struct events_index *index = events_index(asking);
	struct listed lines = {.asking = asking, .asked = asked};

	if (!index)
		return;
	if (asked->timed) {
		if (!seek_time(&lines, index, asked->time))
			return;
		asked->index = lines.found;
	}
	if (asked->searches && asked->directed) {
		if (!search(&lines, index, asked->index))
			return;
		if (lines.found < 0 && search_gave_up(asking, asked))
			return;
		asked->index = lines.found;
		asked->count = lines.found < 0 ? 0 : asked->count;
	}
	asked->index = CLAMP(asked->index, 0, index->count);
	table_begin(asking, asked, asked->index, index->count);
	lines.visit = put_line;
	if (visit_lines(&lines, index, asked->index,
			MIN(index->count, asked->index + asked->count)))
		table_end(asking);
}
