/* SPDX-License-Identifier: MIT */
/* The Trace Server Protocol's XY charts: CPU use, requests that devices had at once, operations
 * over time, histograms of latencies.
 *
 * Part of tsp/. CPU use is worked out from the runs: a value is of the time from its step to the
 * next, in percent; of devices, the mean there (resource_rows.c). The others are `whylate
 * profile`'s: its histograms' buckets, and with --time-lapse its counts by segment; a value there
 * is the number of operations that began in the segment that begins at its x. An entry's id is made
 * of its name, as the list of profiles is another one in another range.
 */
#include "tsp/outputs.h"

#include <inttypes.h>
#include <string.h>

#include "ready/cpu_runs.h"
#include "tsp/report_json.h"

/* --- trees ----------------------------------------------------------------------------------- */

static void put_headers(struct asking *asking)
{
	json_begin(&asking->out, "headers", '[', LINES_NOT);
	json_begin(&asking->out, NULL, '{', LINES_NOT);
	json_put_text(&asking->out, "name", "Name");
	json_put_text(&asking->out, "tooltip", "");
	json_put_text(&asking->out, "dataType", "STRING");
	json_end(&asking->out, '}');
	json_end(&asking->out, ']');
}

static void put_entry(struct asking *asking, int64_t id, int64_t parent, const char *name,
		      bool is_default)
{
	json_begin(&asking->out, NULL, '{', LINES_NOT);
	json_put_whole(&asking->out, "id", id);
	json_put_whole(&asking->out, "parentId", parent);
	json_begin(&asking->out, "labels", '[', LINES_NOT);
	json_put_text(&asking->out, NULL, name);
	json_end(&asking->out, ']');
	json_put_bool(&asking->out, "hasData", true);
	json_put_bool(&asking->out, "isDefault", is_default);
	json_end(&asking->out, '}');
}

struct cpu_place {
	uint16_t host;
	uint32_t cpu;
	char *name; /* owned */
};

static void cpu_place_clear(gpointer place)
{
	g_free(((struct cpu_place *) place)->name);
}

/* struct cpu_place of all CPUs; a CPU's entry is its place + 2, that of all together 1. */
static GArray *cpu_places(const struct session *session)
{
	const struct trace *trace = &session->trace;
	GArray *places = g_array_new(FALSE, FALSE, sizeof(struct cpu_place));

	g_array_set_clear_func(places, cpu_place_clear);
	for (guint h = 0; h < trace->model.hosts->len; h++) {
		const struct host *host = model_host(&trace->model, h);
		const char *of = trace->model.hosts->len > 1 ? trace_host_name(trace, h) : NULL;

		for (guint i = 0; i < host->cpus->len; i++) {
			const struct cpu *cpu = host->cpus->pdata[i];
			struct cpu_place place = {(uint16_t) h, cpu->id,
						  g_strdup_printf("CPU %u%s%s", cpu->id,
								  of ? " of " : "", of ? of : "")};

			g_array_append_val(places, place);
		}
	}
	return places;
}

static void put_cpu_entries(struct asking *asking)
{
	g_autoptr(GArray) places = cpu_places(asking->server->session);

	put_entry(asking, 1, -1, "All CPUs", true);
	for (guint i = 0; i < places->len; i++)
		put_entry(asking, i + 2, 1, g_array_index(places, struct cpu_place, i).name, false);
}

/* "syscall:read", "block-served:vda"; split by thread and the like, of which. */
static char *profile_name(const json_t *profile)
{
	const char *operation = json_string_value(json_object_get(profile, "operation"));
	const char *label = json_string_value(json_object_get(profile, "label"));

	return label ? g_strdup_printf("%s %s", operation, label)
		     : g_strdup(operation ? operation : "");
}

static int64_t profile_entry(const json_t *profile)
{
	g_autofree char *name = profile_name(profile);

	return (int64_t) (g_str_hash(name) & INT32_MAX);
}

/* The profile of that entry; NULL: none of the range. */
static const json_t *profile_at(const json_t *profiles, int64_t entry)
{
	for (size_t i = 0; i < json_array_size(profiles); i++)
		if (profile_entry(json_array_get(profiles, i)) == entry)
			return json_array_get(profiles, i);
	return NULL;
}

static char *device_name(const struct session *session, const struct resource_row *row)
{
	const struct trace *trace = &session->trace;

	return trace->model.hosts->len > 1
		       ? g_strdup_printf("%s of %s", row->name, trace_host_name(trace, row->host))
		       : g_strdup(row->name);
}

/* A device's entry is its row's place, from 1. */
static void put_queue_entries(struct asking *asking)
{
	const GPtrArray *rows = resource_rows(asking->server);

	for (guint i = 0; i < rows->len; i++) {
		g_autofree char *name = NULL;

		if (!row_is_device(rows->pdata[i]))
			continue;
		name = device_name(asking->server->session, rows->pdata[i]);
		put_entry(asking, i + 1, -1, name, true);
	}
}

#define DEFAULT_SERIES 3

static void put_profile_entries(struct asking *asking, const json_t *profiles)
{
	for (size_t i = 0; i < json_array_size(profiles); i++) {
		g_autofree char *name = profile_name(json_array_get(profiles, i));

		put_entry(asking, profile_entry(json_array_get(profiles, i)), -1, name,
			  i < DEFAULT_SERIES);
	}
}

static void put_tree(struct asking *asking, const struct output_row *row, const json_t *profiles)
{
	model_begin(asking);
	json_begin(&asking->out, "model", '{', LINES_NOT);
	put_headers(asking);
	json_begin(&asking->out, "entries", '[', LINES_NOT);
	if (profiles)
		put_profile_entries(asking, profiles);
	else if (row->queue)
		put_queue_entries(asking);
	else
		put_cpu_entries(asking);
	json_end(&asking->out, ']');
	json_end(&asking->out, '}');
	model_end(asking);
}

static void tree_of(struct asking *asking, const char *type)
{
	const struct output_row *row = output_row_find(asking, asking->given[1], type, NULL);
	struct times range;
	json_t *report = NULL;

	if (!row || !asked_times(asking, false, &range))
		return;
	/* an entry is the same whatever the range */
	range.from = asking->server->session->trace.begin;
	range.to = asking->server->session->trace.end;
	if (row->command) {
		report = report_json(asking, row->command, &range, row->given);
		if (!report)
			return;
	}
	put_tree(asking, row, row->command ? json_object_get(report, row->member) : NULL);
	json_decref(report);
}

void xy_tree(struct asking *asking)
{
	tree_of(asking, "TREE_TIME_XY");
}

void histogram_tree(struct asking *asking)
{
	tree_of(asking, "TREE_GENERIC_XY");
}

/* --- series ---------------------------------------------------------------------------------- */

static void put_axis(struct asking *asking, const char *key, const char *label, const char *unit,
		     const char *type)
{
	json_begin(&asking->out, key, '{', LINES_NOT);
	json_put_text(&asking->out, "label", label);
	json_put_text(&asking->out, "unit", unit);
	json_put_text(&asking->out, "dataType", type);
	json_end(&asking->out, '}');
}

static void begin_series(struct asking *asking, int64_t id, const char *name, const char *kind)
{
	struct output *out = &asking->out;

	json_begin(out, NULL, '{', LINES_NOT);
	json_put_whole(out, "seriesId", id);
	json_put_text(out, "seriesName", name);
	json_begin(out, "style", '{', LINES_NOT);
	json_begin(out, "values", '{', LINES_NOT);
	json_put_text(out, "series-type", kind);
	json_end(out, '}');
	json_end(out, '}');
}

static void begin_model(struct asking *asking, const char *title)
{
	model_begin(asking);
	json_begin(&asking->out, "model", '{', LINES_NOT);
	json_put_text(&asking->out, "title", title);
	json_begin(&asking->out, "series", '[', LINES_NOT);
}

static void end_model(struct asking *asking)
{
	json_end(&asking->out, ']');
	json_end(&asking->out, '}');
	model_end(asking);
}

/* What is told of a profile. */
struct series {
	void (*put)(struct asking *asking, int64_t id, const json_t *profile,
		    const struct series *series);
	const struct times *range; /* borrowed; of time, or of latencies */
	int64_t step; /* ns, of segments of time */
};

/* --- CPU use --------------------------------------------------------------------------------- */

struct use {
	const struct times *range;
	int64_t *busy; /* owned; ns, by step */
};

/* Where the i-th step ends: where the next begins, the last at the range's end. */
static int64_t step_end(const struct times *range, int64_t i)
{
	return i + 1 < range->steps ? times_at(range, i + 1) : range->to;
}

static void add_run(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct use *use = data;
	int64_t i = times_step(use->range, begin);

	if (!is_thread(thread))
		return;
	if (i > 0 && (i >= use->range->steps || times_at(use->range, i) > begin))
		i--;
	for (; i < use->range->steps && times_at(use->range, i) < end; i++)
		use->busy[i] += MAX(0, MIN(end, step_end(use->range, i)) -
					       MAX(begin, times_at(use->range, i)));
}

static void add_cpu(struct use *use, const struct session *session, const struct cpu_place *place)
{
	int64_t from = MAX(use->range->from, session->trace.begin);
	int64_t to = MIN(use->range->to, session->trace.end);

	if (from < to)
		each_run(session, place->host, place->cpu, from, to, add_run, use);
}

static void put_steps(struct asking *asking, const struct times *range, int64_t id,
		      const char *name, const double *values, const char *label, const char *unit)
{
	struct output *out = &asking->out;

	begin_series(asking, id, name, "line");
	json_begin(out, "xValues", '[', LINES_NOT);
	for (int64_t i = 0; i < range->steps; i++)
		json_put_whole(out, NULL, times_at(range, i));
	json_end(out, ']');
	json_begin(out, "yValues", '[', LINES_NOT);
	for (int64_t i = 0; i < range->steps; i++)
		json_put_real(out, NULL, values[i]);
	json_end(out, ']');
	put_axis(asking, "xValuesDescription", "Time", "ns", "TIMESTAMP");
	put_axis(asking, "yValuesDescription", label, unit, "NUMBER");
	json_end(out, '}');
}

static void put_use(struct asking *asking, const struct use *use, int64_t id, const char *name,
		    guint cpus)
{
	g_autofree double *percent = g_new0(double, use->range->steps);

	for (int64_t i = 0; i < use->range->steps; i++) {
		int64_t length = step_end(use->range, i) - times_at(use->range, i);

		if (length > 0)
			percent[i] = 100.0 * (double) use->busy[i] / (double) length / cpus;
	}
	put_steps(asking, use->range, id, name, percent, "Busy", "%");
}

static void cpu_use(struct asking *asking, const struct times *range, const GArray *items)
{
	const struct session *session = asking->server->session;
	g_autoptr(GArray) places = cpu_places(session);

	begin_model(asking, "CPU use");
	for (guint i = 0; i < items->len; i++) {
		int64_t id = g_array_index(items, int64_t, i);
		struct use use = {range, NULL};

		if (id < 1 || id > (int64_t) places->len + 1)
			continue;
		use.busy = g_new0(int64_t, range->steps);
		for (guint c = 0; c < places->len; c++)
			if (id == 1 || id == (int64_t) c + 2)
				add_cpu(&use, session, &g_array_index(places, struct cpu_place, c));
		put_use(asking, &use, id,
			id == 1 ? "All CPUs" : g_array_index(places, struct cpu_place, id - 2).name,
			id == 1 ? places->len : 1);
		g_free(use.busy);
	}
	end_model(asking);
}

/* --- what devices had at once ---------------------------------------------------------------- */

/* Of one depth, over [begin, end): to the steps that it is in. */
static void add_depth(const struct times *range, double *means, int64_t begin, int64_t end,
		      int64_t requests)
{
	int64_t i = times_step(range, begin);

	if (i > 0 && (i >= range->steps || times_at(range, i) > begin))
		i--;
	for (; i < range->steps && times_at(range, i) < end; i++) {
		int64_t length = step_end(range, i) - times_at(range, i);
		int64_t within = MIN(end, step_end(range, i)) - MAX(begin, times_at(range, i));

		if (within > 0)
			means[i] += (double) requests * (double) within / (double) length;
	}
}

static void put_device(struct asking *asking, const struct times *range,
		       const struct resource_row *row, int64_t id)
{
	g_autofree double *means = g_new0(double, range->steps);
	g_autofree char *name = device_name(asking->server->session, row);

	for (guint i = depth_find(row, range->from); i + 1 < row->depths->len; i++) {
		const struct depth *depth = &g_array_index(row->depths, struct depth, i);

		if (depth->time >= range->to)
			break;
		if (depth->requests)
			add_depth(range, means, MAX(depth->time, range->from), depth[1].time,
				  depth->requests);
	}
	put_steps(asking, range, id, name, means, "Requests at once", "");
}

static void queue_values(struct asking *asking, const struct times *range, const GArray *items)
{
	const GPtrArray *rows = resource_rows(asking->server);

	begin_model(asking, "Disk queue");
	for (guint i = 0; i < items->len; i++) {
		int64_t id = g_array_index(items, int64_t, i);

		if (id >= 1 && id <= rows->len && row_is_device(rows->pdata[id - 1]))
			put_device(asking, range, rows->pdata[id - 1], id);
	}
	end_model(asking);
}

/* --- operations over time -------------------------------------------------------------------- */

/* Segments of the report, as those without operations are not in it: [begin, begin + step). */
static void put_lapse(struct asking *asking, int64_t id, const json_t *profile,
		      const struct series *series)
{
	const struct times *range = series->range;
	int64_t step = series->step;
	const json_t *rows = json_object_get(json_object_get(profile, "time_lapse"), "rows");
	g_autofree char *name = profile_name(profile);
	int64_t segments = (range->to - range->from + step - 1) / step;
	g_autofree int64_t *counts = g_new0(int64_t, segments + 1);
	struct output *out = &asking->out;

	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *row = json_array_get(rows, i), *of = json_object_get(row, "counts"), *count;
		int64_t begin = json_integer_value(json_object_get(row, "begin"));
		int64_t at = (begin - range->from) / step;
		const char *bucket;

		json_object_foreach(of, bucket, count) if (at >= 0 && at < segments)
			counts[at] += json_integer_value(count);
	}
	begin_series(asking, id, name, "bar");
	json_begin(out, "xValues", '[', LINES_NOT);
	for (int64_t i = 0; i < segments; i++)
		json_put_whole(out, NULL, range->from + i * step);
	json_end(out, ']');
	json_begin(out, "yValues", '[', LINES_NOT);
	for (int64_t i = 0; i < segments; i++)
		json_put_whole(out, NULL, counts[i]);
	json_end(out, ']');
	put_axis(asking, "xValuesDescription", "Time", "ns", "TIMESTAMP");
	put_axis(asking, "yValuesDescription", "Operations", "", "NUMBER");
	json_end(out, '}');
}

/* The series of those entries that the report's list has. */
static void put_profiles(struct asking *asking, const struct output_row *row, const json_t *report,
			 const GArray *items, const struct series *series)
{
	const json_t *profiles = json_object_get(report, row->member);

	begin_model(asking, row->name);
	for (guint i = 0; i < items->len; i++) {
		int64_t id = g_array_index(items, int64_t, i);
		const json_t *profile = profile_at(profiles, id);

		if (profile)
			series->put(asking, id, profile, series);
	}
	end_model(asking);
}

#define SEGMENTS_MAX 2000

static void lapses(struct asking *asking, const struct output_row *row, struct times *range,
		   const GArray *items)
{
	int64_t steps = CLAMP(range->steps, 1, SEGMENTS_MAX), step;
	const char *given[7] = {0};
	g_autofree char *text = NULL;
	json_t *report;
	size_t count = 0;

	range->from = MAX(range->from, asking->server->session->trace.begin);
	range->to = MIN(range->to, asking->server->session->trace.end);
	step = MAX(1, (range->to - range->from + steps - 1) / steps);
	text = g_strdup_printf("%" PRId64 "ns", step);
	for (; row->given[count]; count++)
		given[count] = row->given[count];
	given[count++] = "time-lapse";
	given[count++] = text;
	report = report_json(asking, row->command, range, given);
	if (!report)
		return;
	put_profiles(asking, row, report, items, &(struct series) {put_lapse, range, step});
	json_decref(report);
}

void xy_values(struct asking *asking)
{
	const struct output_row *row =
		output_row_find(asking, asking->given[1], "TREE_TIME_XY", NULL);
	g_autoptr(GArray) items = NULL;
	struct times range;

	if (!row || !asked_times(asking, true, &range) || !(items = asked_items(asking)))
		return;
	if (!range.steps)
		range.steps = 1000;
	if (row->command)
		lapses(asking, row, &range, items);
	else if (row->queue)
		queue_values(asking, &range, items);
	else
		cpu_use(asking, &range, items);
}

/* --- histograms ------------------------------------------------------------------------------ */

static int64_t bucket_value(const json_t *bucket, const char *member)
{
	return json_integer_value(json_object_get(bucket, member));
}

/* The buckets that the range of latencies meets. */
static void put_histogram(struct asking *asking, int64_t id, const json_t *profile,
			  const struct series *series)
{
	const struct times *range = series->range;
	const json_t *buckets = json_object_get(profile, "buckets");
	g_autoptr(GPtrArray) met = g_ptr_array_new();
	g_autofree char *name = profile_name(profile);
	struct output *out = &asking->out;

	for (size_t i = 0; i < json_array_size(buckets); i++) {
		json_t *bucket = json_array_get(buckets, i);

		if (bucket_value(bucket, "from_ns") <= range->to &&
		    bucket_value(bucket, "to_ns") > range->from)
			g_ptr_array_add(met, bucket);
	}
	begin_series(asking, id, name, "bar");
	json_begin(out, "xRanges", '[', LINES_NOT);
	for (guint i = 0; i < met->len; i++) {
		json_begin(out, NULL, '{', LINES_NOT);
		json_put_whole(out, "start", bucket_value(met->pdata[i], "from_ns"));
		json_put_whole(out, "end", bucket_value(met->pdata[i], "to_ns") - 1);
		json_end(out, '}');
	}
	json_end(out, ']');
	json_begin(out, "yValues", '[', LINES_NOT);
	for (guint i = 0; i < met->len; i++)
		json_put_whole(out, NULL, bucket_value(met->pdata[i], "count"));
	json_end(out, ']');
	put_axis(asking, "xValuesDescription", "Latency", "ns", "DURATION");
	put_axis(asking, "yValuesDescription", "Operations", "", "NUMBER");
	json_end(out, '}');
}

/* The range is of latencies, not of time: it has the buckets that it is met by, of all the trace's
 * operations. */
void histogram_values(struct asking *asking)
{
	const struct output_row *row =
		output_row_find(asking, asking->given[1], "TREE_GENERIC_XY", NULL);
	g_autoptr(GArray) items = NULL;
	struct times range, all;
	json_t *report;

	if (!row || !asked_times(asking, true, &range) || !(items = asked_items(asking)))
		return;
	all = (struct times) {asking->server->session->trace.begin,
			      asking->server->session->trace.end, 0};
	report = report_json(asking, row->command, &all, row->given);
	if (!report)
		return;
	put_profiles(asking, row, report, items, &(struct series) {put_histogram, &range, 0});
	json_decref(report);
}
