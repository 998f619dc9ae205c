/* SPDX-License-Identifier: MIT */
/* The Trace Server Protocol's time graphs: trees, states, arrows, tooltips.
 *
 * Part of tsp/. A range is looked at in so many steps as a client has pixels; of each row it gets
 * the states that hold those times, whole, with their true begins and ends:
 *
 *   steps    ^    ^    ^    ^    ^    ^
 *   states   ├ A ──────┤ B ├C┤ D ───────┤     A, B, D
 *
 * So cost follows the picture and not the trace. Without steps all states come, up to a limit.
 */
#include "tsp/outputs.h"

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

static void put_state(struct asking *asking, const struct graph *graph, const struct graph_row *row,
		      const struct shown *shown, bool wide)
{
	json_begin(&asking->out, NULL, '{', LINES_NOT);
	json_put_whole(&asking->out, "start", shown->begin);
	json_put_whole(&asking->out, "end", shown->end);
	graph->put(asking, row, shown, wide);
	json_end(&asking->out, '}');
}

/* Returns how many there were. */
static uint64_t put_states(struct asking *asking, const struct graph *graph,
			   const struct graph_row *row, const struct times *range, uint64_t most)
{
	int64_t step = range->steps > 1 ? (range->to - range->from) / (range->steps - 1) : 0;
	uint64_t count = 0;
	int64_t time = range->from;
	struct shown shown;

	while (time <= range->to && count < most && graph->at(row, time, &shown) &&
	       shown.begin <= range->to) {
		bool met = true;

		if (range->steps) { /* between two steps there may be some that are not looked at */
			int64_t i = times_step(range, MAX(shown.begin, range->from));

			met = i < range->steps && times_at(range, i) < shown.end;
			time = shown.end;
			i = times_step(range, time);
			if (i >= range->steps)
				time = INT64_MAX;
			else
				time = MAX(time, times_at(range, i));
		} else {
			time = shown.end;
		}
		if (!met)
			continue;
		put_state(asking, graph, row, &shown,
			  !range->steps || shown.end - shown.begin >= WIDE_STEPS * step);
		count++;
	}
	return count;
}

static void row_clear(struct graph_row *row)
{
	if (row->holds)
		g_array_unref(row->holds);
}

void graph_states(struct asking *asking)
{
	struct derived *derived;
	const struct output_row *of = find_graph(asking, &derived);
	g_autoptr(GArray) items = NULL;
	uint64_t count = 0;
	struct times range;

	if (!of || !asked_times(asking, true, &range) || !(items = asked_items(asking)))
		return;
	model_begin(asking);
	json_begin(&asking->out, "model", '{', LINES_NOT);
	json_begin(&asking->out, "rows", '[', LINES_NOT);
	for (guint i = 0; i < items->len; i++) {
		struct graph_row row = {.server = asking->server,
					.derived = derived,
					.id = g_array_index(items, int64_t, i)};

		if (!of->graph->row(&row))
			continue;
		json_begin(&asking->out, NULL, '{', LINES_NOT);
		json_put_whole(&asking->out, "entryId", row.id);
		json_begin(&asking->out, "states", '[', LINES_NOT);
		count += put_states(asking, of->graph, &row, &range, STATES_MAX + 1 - count);
		json_end(&asking->out, ']');
		json_end(&asking->out, '}');
		row_clear(&row);
		if (count > STATES_MAX) {
			asking_refuse(asking, 400, "Too many states",
				      "ask for fewer rows, a shorter range, or with nbTimes");
			return;
		}
	}
	json_end(&asking->out, ']');
	json_end(&asking->out, '}');
	model_end(asking);
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

void graph_tooltip(struct asking *asking)
{
	struct graph_row row = {.server = asking->server};
	struct derived *derived;
	const struct output_row *of = find_graph(asking, &derived);
	char text[48];
	struct shown shown;
	int64_t time;

	row.derived = derived;
	if (!of || !asked_row(asking, of->graph, &row, &time))
		return;
	model_begin(asking);
	json_begin(&asking->out, "model", '{', LINES_NOT);
	if (of->graph->at(&row, time, &shown) && shown.begin <= time) {
		of->graph->tell(asking, &row, &shown);
		tell_text(asking, "Begin", when_time(text, shown.begin, false, true));
		tell_text(asking, "End", when_time(text, shown.end, false, true));
		tell_text(asking, "Duration", when_duration(text, shown.end - shown.begin));
	}
	json_end(&asking->out, '}');
	model_end(asking);
	row_clear(&row);
}
