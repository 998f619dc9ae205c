/* SPDX-License-Identifier: MIT */
/* See page_lanes.h. In JSON a lane of waiting has, of each part, its mean number of waiting threads
 * in 16ths ("waiting"); a CPU's lane how much of 255 it was busy ("busy") and the row of who ran
 * there most, counted from 1, 0: one without a row ("who").
 */
#include "page/page_lanes.h"

#include <string.h>

#include "ready/cpu_runs.h"
#include "report/columns.h"
#include "waits/state_names.h"

#define CPU_LANES_MAX 16
#define SIXTEENTHS 16

void lanes_init(struct lanes *lanes, const struct page_rows *rows)
{
	lanes->rows = rows;
	lanes->from = rows->from;
	lanes->to = rows->to;
	lanes->resources = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	lanes->interrupts = g_hash_table_new_full(NULL, NULL, NULL, g_free);
}

void lanes_clear(struct lanes *lanes)
{
	g_hash_table_destroy(lanes->resources);
	g_hash_table_destroy(lanes->interrupts);
}

static int64_t part_begin(const struct lanes *lanes, guint part)
{
	int64_t length = lanes->to - lanes->from;

	return lanes->from + length / LANE_PARTS * part + length % LANE_PARTS * part / LANE_PARTS;
}

static guint part_of(const struct lanes *lanes, int64_t time)
{
	double length = (double) (lanes->to - lanes->from);
	double at = (double) (time - lanes->from) / length * LANE_PARTS;
	guint part = at > 0 ? MIN((guint) at, LANE_PARTS - 1) : 0;

	while (part && part_begin(lanes, part) > time)
		part--;
	while (part + 1 < LANE_PARTS && part_begin(lanes, part + 1) <= time)
		part++;
	return part;
}

static int64_t part_end(const struct lanes *lanes, guint part)
{
	return part + 1 == LANE_PARTS ? lanes->to : part_begin(lanes, part + 1);
}

/* ns of [begin, end) that are in it. */
static int64_t in_part(const struct lanes *lanes, guint part, int64_t begin, int64_t end)
{
	return MAX(MIN(end, part_end(lanes, part)) - MAX(begin, part_begin(lanes, part)), 0);
}

static void add_to(const struct lanes *lanes, GHashTable *table, uint32_t key, int64_t begin,
		   int64_t end)
{
	int64_t *parts;

	begin = MAX(begin, lanes->from);
	end = MIN(end, lanes->to);
	if (begin >= end)
		return;
	parts = g_hash_table_lookup(table, GUINT_TO_POINTER(key));
	if (!parts) {
		parts = g_new0(int64_t, LANE_PARTS);
		g_hash_table_insert(table, GUINT_TO_POINTER(key), parts);
	}
	for (guint part = part_of(lanes, begin); part < LANE_PARTS && part_begin(lanes, part) < end;
	     part++)
		parts[part] += in_part(lanes, part, begin, end);
}

void lanes_add(struct lanes *lanes, uint32_t resource, int64_t begin, int64_t end)
{
	if (resource)
		add_to(lanes, lanes->resources, resource, begin, end);
}

void lanes_add_interrupt(struct lanes *lanes, uint32_t leaf, int64_t begin, int64_t end)
{
	add_to(lanes, lanes->interrupts, leaf, begin, end);
}

/* --- resources ------------------------------------------------------------------------------ */

struct ranked {
	uint32_t resource;
	const int64_t *parts;
	int64_t ns;
};

static int most_waiting(gconstpointer a, gconstpointer b)
{
	const struct ranked *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->resource < y->resource ? -1 : x->resource > y->resource;
}

static GArray *ranked_new(GHashTable *lanes)
{
	GArray *ranked = g_array_new(FALSE, FALSE, sizeof(struct ranked));
	GHashTableIter iter;
	gpointer key, parts;

	g_hash_table_iter_init(&iter, lanes);
	while (g_hash_table_iter_next(&iter, &key, &parts)) {
		struct ranked one = {.resource = GPOINTER_TO_UINT(key), .parts = parts};

		for (guint i = 0; i < LANE_PARTS; i++)
			one.ns += one.parts[i];
		g_array_append_val(ranked, one);
	}
	g_array_sort(ranked, most_waiting);
	return ranked;
}

static void put_lane(const struct lanes *lanes, const struct ranked *one, const char *name,
		     bool interrupt, struct output *output)
{
	json_begin(output, NULL, '{', LINES_NOT);
	json_put_text(output, "name", name);
	if (interrupt)
		json_put_bool(output, "interrupt", true);
	json_put_whole(output, "ns", one->ns);
	json_begin(output, "waiting", '[', LINES_NOT);
	for (guint i = 0; i < LANE_PARTS; i++) {
		int64_t length = part_end(lanes, i) - part_begin(lanes, i);
		double mean = length ? (double) one->parts[i] / (double) length : 0;

		/* what is not nothing is seen */
		json_put_whole(output, NULL,
			       one->parts[i] ? MAX((int64_t) (mean * SIXTEENTHS + 0.5), 1) : 0);
	}
	json_end(output, ']');
	json_end(output, '}');
}

static void put_waiting(const struct lanes *lanes, guint most, struct output *output)
{
	g_autoptr(GArray) ranked = ranked_new(lanes->resources);

	for (guint i = 0; i < ranked->len && i < most; i++) {
		const struct ranked *one = &g_array_index(ranked, struct ranked, i);

		put_lane(lanes, one, session_text(lanes->rows->session, one->resource), false,
			 output);
	}
}

/* Named as states are, without what all have in common: "softirq:3". */
static void put_interrupts(const struct lanes *lanes, guint most, struct output *output)
{
	g_autoptr(GArray) ranked = ranked_new(lanes->interrupts);

	for (guint i = 0; i < ranked->len && i < most; i++) {
		const struct ranked *one = &g_array_index(ranked, struct ranked, i);
		g_autofree char *key = leaf_key(lanes->rows->session, one->resource);
		const char *name = strchr(key, '/');

		put_lane(lanes, one, name ? name + 1 : key, true, output);
	}
}

/* --- CPUs ----------------------------------------------------------------------------------- */

struct cpu_lane {
	const struct lanes *lanes;
	int64_t busy[LANE_PARTS], most[LANE_PARTS]; /* ns */
	guint who[LANE_PARTS];
	GHashTable *sums; /* thread -> ns in `part`, as a pointer */
	guint part;
};

static void add_in_part(struct cpu_lane *lane, guint part, uint32_t thread, int64_t ns)
{
	int64_t sum;

	if (part != lane->part) {
		g_hash_table_remove_all(lane->sums);
		lane->part = part;
	}
	sum = GPOINTER_TO_SIZE(g_hash_table_lookup(lane->sums, GUINT_TO_POINTER(thread))) + ns;
	g_hash_table_insert(lane->sums, GUINT_TO_POINTER(thread), GSIZE_TO_POINTER((gsize) sum));
	lane->busy[part] += ns;
	if (sum > lane->most[part]) {
		lane->most[part] = sum;
		lane->who[part] = page_row_number(lane->lanes->rows, thread);
	}
}

static void add_run(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct cpu_lane *lane = data;

	if (!is_thread(thread) || begin >= end)
		return;
	for (guint part = part_of(lane->lanes, begin);
	     part < LANE_PARTS && part_begin(lane->lanes, part) < end; part++)
		add_in_part(lane, part, thread, in_part(lane->lanes, part, begin, end));
}

static void put_cpu(const struct lanes *lanes, uint16_t host, uint32_t cpu, struct output *output)
{
	const struct session *session = lanes->rows->session;
	g_autofree struct cpu_lane *lane = g_new0(struct cpu_lane, 1);
	g_autofree char *name = g_strdup_printf("cpu:%u", cpu);

	lane->lanes = lanes;
	lane->sums = g_hash_table_new(NULL, NULL);
	each_run(session, host, cpu, lanes->from, lanes->to, add_run, lane);
	g_hash_table_destroy(lane->sums);
	if (*session->found.runs_read >= RUNS_READ_MAX) /* not all of them: better none */
		return;
	json_begin(output, NULL, '{', LINES_NOT);
	json_put_text(output, "name", name);
	json_put_whole(output, "host", host);
	json_begin(output, "busy", '[', LINES_NOT);
	for (guint i = 0; i < LANE_PARTS; i++) {
		int64_t length = MAX(part_end(lanes, i) - part_begin(lanes, i), 1);

		json_put_whole(output, NULL,
			       (int64_t) ((double) lane->busy[i] / (double) length * 255 + 0.5));
	}
	json_end(output, ']');
	json_begin(output, "who", '[', LINES_NOT);
	for (guint i = 0; i < LANE_PARTS; i++)
		json_put_whole(output, NULL, lane->who[i]);
	json_end(output, ']');
	json_end(output, '}');
}

void lanes_write(const struct lanes *lanes, guint most, struct output *output)
{
	const struct session *session = lanes->rows->session;
	guint cpus = 0;

	json_begin(output, "lanes", '[', LINES_EACH);
	put_waiting(lanes, most, output);
	put_interrupts(lanes, most / 2, output);
	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, (uint16_t) i);

		for (guint n = 0; n < host->cpus->len && cpus < CPU_LANES_MAX; n++, cpus++) {
			const struct cpu *cpu = g_ptr_array_index(host->cpus, n);

			put_cpu(lanes, (uint16_t) i, cpu->id, output);
		}
	}
	json_end(output, ']');
}
