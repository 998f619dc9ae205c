/* SPDX-License-Identifier: MIT */
/* The Trace Server Protocol's time graphs: trees, states, arrows, styles,
 * tooltips.
 *
 * Part of tsp/. A range is looked at in so many steps as a client has pixels; of each row it gets
 * the states that hold those times, whole, with their true begins and ends:
 *
 *   steps    ^    ^    ^    ^    ^    ^
 *   states   ├ A ──────┤ B ├C┤ D ───────┤     A, B, D
 *
 * So cost follows the picture and not the trace. Without steps all states come, up to a limit.
 */
#include "tsp/state_filter.h"
#include "tsp/outputs.h"

#include <inttypes.h>

#include <string.h>

#include "util/when.h"

#define STATES_MAX 500000
/* From so many steps on there is room for words, and time to find them. */
#define WIDE_STEPS 4

static const struct output_row *find_graph(struct asking *asking, struct derived **derived)
{
	const struct output_row *row =
		output_row_find(asking, asking->given[1], "TIME_GRAPH", derived);

	if (row && row->graph == &graph_path && !*derived) {
		asking_refuse(asking, 405, "Analysis cannot run",
			      "derive an output of this one first, of a thread");
		return NULL;
	}
	return row;
}

void graph_tree(struct asking *asking)
{
	struct derived *derived;
	const struct output_row *row = find_graph(asking, &derived);
	struct times range;

	if (!row || !asked_times(asking, false, &range))
		return;
	model_begin(asking);
	json_begin(&asking->out, "model", '{', LINES_NOT);
	row->graph->tree(asking, derived, &range);
	json_end(&asking->out, '}');
	model_end(asking);
}

/* --- states ---------------------------------------------------------------------------------- */

/* What filters look at: all that a tooltip has, and who. */
static GPtrArray *facts_of(struct asking *asking, const struct graph *graph,
			   const struct graph_row *row, const struct shown *shown)
{
	const struct session *session = row->server->session;
	GPtrArray *facts = g_ptr_array_new_with_free_func(g_free);
	char text[32];

	asking->told = facts;
	if (is_thread(shown->thread)) {
		const struct thread *life = model_thread(&session->trace.model, shown->thread);

		tell_text(asking, "thread", session_thread_name(session, shown->thread));
		g_snprintf(text, sizeof text, "%d", life->tid);
		tell_text(asking, "thread", text);
		g_snprintf(text, sizeof text, "%d", thread_process(life));
		tell_text(asking, "process", text);
	}
	graph->tell(asking, row, shown);
	g_snprintf(text, sizeof text, "%" PRId64, shown->end - shown->begin);
	tell_text(asking, "duration", text);
	asking->told = NULL;
	return facts;
}

static unsigned tags_of(struct asking *asking, const struct graph *graph,
			const struct graph_row *row, const struct shown *shown,
			const struct filter *filter)
{
	g_autoptr(GPtrArray) facts = facts_of(asking, graph, row, shown);

	return filter_tags(filter, facts);
}

static void put_state(struct asking *asking, const struct graph *graph, const struct graph_row *row,
		      const struct shown *shown, bool wide, unsigned tags)
{
	json_begin(&asking->out, NULL, '{', LINES_NOT);
	json_put_whole(&asking->out, "start", shown->begin);
	json_put_whole(&asking->out, "end", shown->end);
	graph->put(asking, row, shown, wide);
	if (tags)
		json_put_whole(&asking->out, "tags", tags);
	json_end(&asking->out, '}');
}

/* The states of a row one after the other: which are asked for. */
struct walked {
	const struct times *range;
	bool deep;     /* those that match are, too: of those before the same step the first */
	int64_t found; /* the step before which one was */
	uint64_t left; /* so many may be looked at */
};

/* It holds one of the times that are asked for. */
static bool is_met(const struct times *range, const struct shown *shown)
{
	int64_t i = times_step(range, MAX(shown->begin, range->from));

	return !range->steps || (i < range->steps && times_at(range, i) < shown->end);
}

/* Where the next state is looked for. */
static int64_t next_time(const struct walked *walked, const struct shown *shown)
{
	const struct times *range = walked->range;
	int64_t i;

	if (!range->steps || walked->deep)
		return shown->end;
	i = times_step(range, shown->end);
	return i >= range->steps ? INT64_MAX : MAX(shown->end, times_at(range, i));
}

/* Between two times one that matches. */
static bool is_found(struct walked *walked, const struct shown *shown, unsigned tags)
{
	int64_t i = times_step(walked->range, shown->begin);

	if (!walked->deep || tags || i == walked->found)
		return false;
	walked->found = i;
	return true;
}

#define LOOKED_AT_MAX 3000000

/* Returns how many there were. */
static uint64_t put_states(struct asking *asking, const struct graph *graph,
			   const struct graph_row *row, struct walked *walked,
			   const struct filter *filter, uint64_t most)
{
	const struct times *range = walked->range;
	int64_t step = range->steps > 1 ? (range->to - range->from) / (range->steps - 1) : 0;
	bool filters = !filter_is_empty(filter);
	int64_t time = range->from;
	struct shown shown;
	uint64_t count = 0;

	while (time <= range->to && count < most && walked->left && graph->at(row, time, &shown) &&
	       shown.begin <= range->to) {
		bool met = is_met(range, &shown);
		unsigned tags = 0;

		walked->left--;
		time = next_time(walked, &shown);
		if (filters && (met || walked->deep))
			tags = tags_of(asking, graph, row, &shown, filter);
		if ((!met && !is_found(walked, &shown, tags)) || (tags & TAG_EXCLUDED))
			continue;
		put_state(asking, graph, row, &shown,
			  !range->steps || shown.end - shown.begin >= WIDE_STEPS * step, tags);
		count++;
	}
	return count;
}

static void row_clear(struct graph_row *row)
{
	if (row->holds)
		g_array_unref(row->holds);
}

static void put_rows(struct asking *asking, const struct graph *graph,
		     const struct derived *derived, const GArray *items, const struct times *range,
		     const struct filter *filter)
{
	struct walked walked = {range, filter->deep && range->steps && !filter_is_empty(filter), -1,
				LOOKED_AT_MAX};
	uint64_t count = 0;

	model_begin(asking);
	json_begin(&asking->out, "model", '{', LINES_NOT);
	json_begin(&asking->out, "rows", '[', LINES_NOT);
	for (guint i = 0; i < items->len; i++) {
		struct graph_row row = {.server = asking->server,
					.derived = derived,
					.id = g_array_index(items, int64_t, i)};

		if (!graph->row(&row))
			continue;
		walked.found = -1;
		json_begin(&asking->out, NULL, '{', LINES_NOT);
		json_put_whole(&asking->out, "entryId", row.id);
		json_begin(&asking->out, "states", '[', LINES_NOT);
		count += put_states(asking, graph, &row, &walked, filter, STATES_MAX + 1 - count);
		json_end(&asking->out, ']');
		json_end(&asking->out, '}');
		row_clear(&row);
		if (count > STATES_MAX || !walked.left) {
			asking_refuse(asking, 400, "Too many states",
				      "ask for fewer rows, a shorter range, or with nbTimes");
			return;
		}
	}
	json_end(&asking->out, ']');
	json_end(&asking->out, '}');
	model_end(asking);
}

void graph_states(struct asking *asking)
{
	struct derived *derived;
	const struct output_row *of = find_graph(asking, &derived);
	g_autoptr(GArray) items = NULL;
	struct filter filter;
	struct times range;

	if (!of || !asked_times(asking, true, &range) || !(items = asked_items(asking)) ||
	    !filter_take(asking, &filter))
		return;
	put_rows(asking, of->graph, derived, items, &range, &filter);
	filter_clear(&filter);
}

void graph_arrows(struct asking *asking)
{
	struct derived *derived;
	const struct output_row *of = find_graph(asking, &derived);
	struct times range;

	if (!of || !asked_times(asking, true, &range))
		return;
	if (!range.steps)
		range.steps = 1000;
	model_begin(asking);
	json_begin(&asking->out, "model", '[', LINES_NOT);
	if (of->graph->arrows)
		of->graph->arrows(asking, derived, &range);
	json_end(&asking->out, ']');
	model_end(asking);
}

/* --- styles ---------------------------------------------------------------------------------- */

/* The same for all outputs. */
void output_styles(struct asking *asking)
{
	if (!output_row_find(asking, asking->given[1], NULL, NULL))
		return;
	model_begin(asking);
	json_begin(&asking->out, "model", '{', LINES_NOT);
	json_begin(&asking->out, "styles", '{', LINES_NOT);
	put_styles(asking);
	json_end(&asking->out, '}');
	json_end(&asking->out, '}');
	model_end(asking);
}

/* --- tooltips -------------------------------------------------------------------------------- */

static bool asked_row(struct asking *asking, const struct graph *graph, struct graph_row *row,
		      int64_t *time)
{
	const json_t *times = parameter(asking, "requested_times");
	g_autoptr(GArray) items = NULL;

	if (json_array_size(times) != 1 || !parameter_whole(json_array_get(times, 0), time)) {
		asking_refuse(asking, 400, "Missing query parameters",
			      "requested_times must be one time");
		return false;
	}
	items = asked_items(asking);
	if (!items)
		return false;
	row->id = items->len == 1 ? g_array_index(items, int64_t, 0) : -1;
	if (items->len == 1 && graph->row(row))
		return true;
	asking_refuse(asking, 400, "Missing query parameters",
		      "requested_items must be one entry of the output");
	return false;
}

/* What a client points at. */
struct element {
	bool state; /* else an arrow or an annotation, which it has the words of */
	int64_t time, duration;
};

static bool asked_element(struct asking *asking, struct element *element)
{
	static const char *const types[] = {"STATE", "ARROW", "ANNOTATION"};
	const json_t *given = parameter(asking, "requested_element");
	const char *type = json_string_value(json_object_get(given, "elementType"));
	bool known = false;

	for (size_t i = 0; type && i < G_N_ELEMENTS(types); i++)
		known |= g_ascii_strcasecmp(type, types[i]) == 0;
	if (!known || !parameter_whole(json_object_get(given, "time"), &element->time) ||
	    !parameter_whole(json_object_get(given, "duration"), &element->duration)) {
		asking_refuse(asking, 400, "Missing query parameters",
			      "requested_element needs elementType (STATE, ARROW or ANNOTATION), "
			      "time and duration");
		return false;
	}
	element->state = g_ascii_strcasecmp(type, types[0]) == 0;
	return true;
}

static void tell_times(struct asking *asking, int64_t begin, int64_t end)
{
	char text[48];

	tell_text(asking, "Begin", when_time(text, begin, false, true));
	tell_text(asking, "End", when_time(text, end, false, true));
	tell_text(asking, "Duration", when_duration(text, end - begin));
}

void graph_tooltip(struct asking *asking)
{
	struct graph_row row = {.server = asking->server};
	struct derived *derived;
	const struct output_row *of = find_graph(asking, &derived);
	struct element element;
	struct shown shown;
	int64_t time;

	row.derived = derived;
	if (!of || !asked_element(asking, &element) || !asked_row(asking, of->graph, &row, &time))
		return;
	model_begin(asking);
	json_begin(&asking->out, "model", '{', LINES_NOT);
	if (!element.state) {
		tell_times(asking, element.time,
			   trace_time(element.time + trace_time(element.duration)));
	} else if (of->graph->at(&row, time, &shown) && shown.begin <= time) {
		of->graph->tell(asking, &row, &shown);
		tell_times(asking, shown.begin, shown.end);
	}
	json_end(&asking->out, '}');
	model_end(asking);
	row_clear(&row);
}
