/* SPDX-License-Identifier: MIT */
/* See profile_what_if.h. */
#include "profile/profile_what_if.h"

#include "profile/profile_report.h"
#include "run/option_values.h"

/* --- new lengths ----------------------------------------------------------------------------- */

static bool has_line(const struct operation *operation)
{
	return operation_has_thread(operation) && PACK_KIND(operation->what) != OPERATION_QUEUED &&
	       PACK_KIND(operation->what) != OPERATION_SERVED;
}

static struct way way_of(const struct operation *operation)
{
	return (struct way) {operation->thread, operation->thread, operation->begin,
			     operation_end(operation)};
}

static int64_t new_length(const struct operation *operation, void *data)
{
	const struct profile_what_if *what_if = data;
	struct way way = way_of(operation);

	return (int64_t) operation->duration -
	       (has_line(operation) ? retimed_saved(what_if->replay->retimed, CHANGED, &way) : 0);
}

/* What is not sure is summed up meanwhile: `from` is the least, `to` the most that it may be. */
static void add_up(guint place, const struct operation *operation, void *data)
{
	struct profile_what_if *what_if = data;
	const struct retimed *retimed = what_if->replay->retimed;
	struct gain *gain = &g_array_index(what_if->gains, struct gain, place);
	struct way way = way_of(operation);

	gain->recorded += (int64_t) operation->duration;
	if (!has_line(operation)) {
		what_if->kept = true;
		return;
	}
	gain->saved += retimed_saved(retimed, CHANGED, &way);
	gain->at_most += retimed_saved(retimed, FREE, &way);
	gain->from += retimed_saved(retimed, LEAST, &way);
	gain->to += retimed_saved(retimed, MOST, &way);
}

/* --- made ------------------------------------------------------------------------------------ */

static void join(struct way *way, const struct way *other)
{
	way->from = MIN(way->from, other->from);
	way->to = MAX(way->to, other->to);
}

/* For 'best' all operations; else one way of each of their threads, over all of its operations. */
static GArray *ways_of(const struct profiles *profiles, bool all)
{
	const struct pages *store = &profiles->session->trace.timeline.operations;
	struct profiles *counting = (struct profiles *) profiles; /* its look-ups are remembered */
	GArray *ways = g_array_new(FALSE, FALSE, sizeof(struct way));
	g_autofree guint *met = g_new0(guint, profiles->session->trace.model.thread_count + 1);

	for (uint32_t i = 1; i < store->used; i++) {
		const struct operation *operation = operation_at(store, i);
		struct way way = way_of(operation);

		pages_pass(store, i);
		if (!has_line(operation) || !profile_of(counting, operation, i))
			continue;
		if (!all && met[operation->thread]) {
			join(&g_array_index(ways, struct way, met[operation->thread] - 1), &way);
			continue;
		}
		g_array_append_val(ways, way);
		met[operation->thread] = ways->len;
	}
	return ways;
}

static int64_t size_of(int64_t ns)
{
	return ns < 0 ? -ns : ns;
}

static int most_first(gconstpointer a, gconstpointer b)
{
	const struct profile_change *x = a, *y = b;
	int64_t ns_x = size_of(x->gain.saved), ns_y = size_of(y->gain.saved);

	return ns_x != ns_y ? (ns_x > ns_y ? -1 : 1)
			    : (int) (x->changed->place > y->changed->place) -
				      (int) (x->changed->place < y->changed->place);
}

static bool is_changed(const struct profile *recorded, const struct profile *changed)
{
	return recorded->sum != changed->sum || recorded->max != changed->max ||
	       recorded->percentiles[0] != changed->percentiles[0];
}

static void gather(struct profile_what_if *what_if, const struct profiles *recorded)
{
	for (guint i = 0; i < recorded->list->len; i++) {
		struct gain *sums = &g_array_index(what_if->gains, struct gain, i);
		struct profile_change change = {g_ptr_array_index(recorded->list, i),
						g_ptr_array_index(what_if->profiles->list, i),
						*sums};

		change.gain.from = MIN(sums->saved, MIN(sums->from, sums->to));
		change.gain.to = MAX(sums->saved, MAX(sums->from, sums->to));
		if (is_changed(change.recorded, change.changed))
			g_array_append_val(what_if->changes, change);
		else
			what_if->alike++;
	}
	g_array_sort(what_if->changes, most_first);
}

struct profile_what_if *profile_what_if_new(const struct profiles *profiles, GError **error)
{
	const struct options *options = profiles->session->asked.options;
	bool best = replay_asks_for_best(options);
	g_autoptr(GArray) ways = ways_of(profiles, best);
	struct profile_what_if *what_if;
	struct replay *replay;

	replay = replay_new(profiles->session, ways, options->profile.operations->len > 0, error);
	if (!replay)
		return NULL;
	what_if = g_new0(struct profile_what_if, 1);
	what_if->replay = replay;
	what_if->lengths = (struct operation_lengths) {new_length, add_up, what_if};
	what_if->changes = g_array_new(FALSE, FALSE, sizeof(struct profile_change));
	what_if->gains = g_array_new(FALSE, TRUE, sizeof(struct gain));
	g_array_set_size(what_if->gains, profiles->list->len);
	what_if->profiles = profiles_of_lengths(profiles, &what_if->lengths);
	gather(what_if, profiles);
	return what_if;
}

void profile_what_if_free(struct profile_what_if *what_if)
{
	if (!what_if)
		return;
	g_array_free(what_if->changes, TRUE);
	g_array_free(what_if->gains, TRUE);
	profiles_free(what_if->profiles);
	replay_free(what_if->replay);
	g_free(what_if);
}

const struct profile *profile_then(const struct profile_what_if *what_if,
				   const struct profile *recorded)
{
	for (guint i = 0; what_if && i < what_if->changes->len; i++) {
		const struct profile_change *change =
			&g_array_index(what_if->changes, struct profile_change, i);

		if (change->recorded == recorded)
			return change->changed;
	}
	return NULL;
}

/* --- told ------------------------------------------------------------------------------------ */

GETTER(char *, title, struct profile_change, profile_title(row->recorded));
GETTER(const void *, of_recorded, struct profile_change, row->recorded);
GETTER(const void *, of_changed, struct profile_change, row->changed);

static const struct column recorded_cells[] = {
	{NULL, COLUMN_WHOLE, FIELD(struct profile, count), .table = {2, "COUNT", 8}},
	{NULL, COLUMN_NS, FIELD(struct profile, sum), .table = {3, "TOTAL", 8}},
	{NULL, COLUMN_NS, FIELD(struct profile, percentiles[0]), .table = {5, "P50", 8}},
	{NULL, COLUMN_NS, FIELD(struct profile, percentiles[2]), .table = {7, "P99", 8}},
	{0}};
static const struct column changed_cells[] = {
	{NULL, COLUMN_NS, FIELD(struct profile, sum), .table = {4, "THEN", 8}},
	{NULL, COLUMN_NS, FIELD(struct profile, percentiles[0]), .table = {6, "THEN", 8}},
	{NULL, COLUMN_NS, FIELD(struct profile, percentiles[2]), .table = {8, "THEN", 8}},
	{0}};
static const struct column change_table[] = {
	{NULL, COLUMN_TEXT, .owned = title, .own_line = true, .rest = 20,
	 .table = {1, "OPERATION"}},
	{NULL, COLUMN_OBJECT, .at = of_recorded, .columns = recorded_cells},
	{NULL, COLUMN_OBJECT, .at = of_changed, .columns = changed_cells},
	{0}};

/* What changes most, in a sentence. */
static void answer_text(const struct profile_what_if *what_if, struct output *output)
{
	const struct profile_change *first =
		&g_array_index(what_if->changes, struct profile_change, 0);
	g_autofree char *title = profile_title(first->recorded), *of = NULL, *gain = NULL;
	g_autofree char *line = NULL;

	of = g_strdup_printf("%" G_GUINT64_FORMAT " operation%s", first->recorded->count,
			     first->recorded->count == 1 ? "" : "s in all");
	gain = gain_words(&first->gain, of);
	line = g_strdup_printf("%s: %s", title, gain);
	text_wrapped(output, line, 2, 2);
}

void profile_what_if_text(const struct profile_what_if *what_if, const struct report *report)
{
	g_autofree char *limits = replay_limits(what_if->replay);
	static const struct text_table table = {.columns = change_table, .in_bytes = true};
	struct output *output = report->output;
	int64_t recorded = 0;

	for (guint i = 0; i < what_if->gains->len; i++)
		recorded += g_array_index(what_if->gains, struct gain, i).recorded;
	replay_heading(what_if->replay, recorded, output);
	if (what_if->changes->len) {
		answer_text(what_if, output);
		text_table(report, &table, ROWS(what_if->changes));
	}
	if (what_if->alike)
		fprintf(output->file, "  %s%u operation%s %s as long as recorded.\n",
			what_if->changes->len ? "The other " : "All ", what_if->alike,
			what_if->alike == 1 ? "" : "s", what_if->alike == 1 ? "takes" : "take");
	if (what_if->kept)
		text_wrapped(output,
			     "Requests of disks, and interrupts of no thread, keep their length.",
			     2, 2);
	text_wrapped(output, limits, 2, 2);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static guint write_buckets(const struct report *report, const void *row)
{
	const struct profile_at *at = report->data;

	return profile_put_buckets(report, &at->profiles->buckets,
				   ((const struct profile *) row)->counts);
}

static const struct column length_columns[] = {
	{"sum_ns", COLUMN_NS, FIELD(struct profile, sum)},
	{"min_ns", COLUMN_NS, FIELD(struct profile, min)},
	{"max_ns", COLUMN_NS, FIELD(struct profile, max)},
	{"p50_ns", COLUMN_NS, FIELD(struct profile, percentiles[0])},
	{"p90_ns", COLUMN_NS, FIELD(struct profile, percentiles[1])},
	{"p99_ns", COLUMN_NS, FIELD(struct profile, percentiles[2])},
	{"buckets", COLUMN_LIST, .each = write_buckets},
	{0}};

static const struct column names[] = {
	{"operation", COLUMN_TEXT, FIELD(struct profile, operation)},
	{"label", COLUMN_TEXT, FIELD(struct profile, label), .absent = true},
	{"scope", COLUMN_OBJECT, .columns = profile_scope_columns},
	{"count", COLUMN_WHOLE, FIELD(struct profile, count)},
	{0}};

static const struct column change_columns[] = {
	{NULL, COLUMN_OBJECT, .at = of_recorded, .columns = names},
	{NULL, COLUMN_OBJECT, FIELD_HERE(struct profile_change, gain), .columns = gain_columns},
	{"recorded", COLUMN_OBJECT, .at = of_recorded, .columns = length_columns},
	{"changed", COLUMN_OBJECT, .at = of_changed, .columns = length_columns},
	{0}};

GETTER(const void *, replay, struct profile_what_if, row->replay);

const struct column profile_what_if_columns[] = {
	{NULL, COLUMN_OBJECT, .at = replay, .columns = replay_columns},
	{"alike", COLUMN_WHOLE, FIELD(struct profile_what_if, alike)},
	{"operations", COLUMN_LIST, FIELD(struct profile_what_if, changes),
	 .columns = change_columns, .limited = true},
	{0}};
