/* SPDX-License-Identifier: MIT */
/* The time graph of resources: who ran on each CPU, as the timeline has the runs, which interrupts
 * each CPU had, below it, and when block devices had requests (resource_rows.c); and of locks, who
 * held each, as contention/holders.h clips the holds. Part of tsp/. Where several hold a lock at
 * once, to read, the one who took it first is shown until he gives it up.
 */
#include "tsp/outputs.h"

#include <inttypes.h>

#include "contention/holders.h"
#include "latencies/operations.h"
#include "util/when.h"
#include "waits/state_names.h"

static void put_header(struct asking *asking, const char *name)
{
	json_begin(&asking->out, "headers", '[', LINES_NOT);
	json_begin(&asking->out, NULL, '{', LINES_NOT);
	json_put_text(&asking->out, "name", name);
	json_put_text(&asking->out, "tooltip", "");
	json_put_text(&asking->out, "dataType", "STRING");
	json_end(&asking->out, '}');
	json_end(&asking->out, ']');
}

static void put_entry(struct asking *asking, int64_t id, int64_t parent, const char *name,
		      bool has_data)
{
	const struct session *session = asking->server->session;

	json_begin(&asking->out, NULL, '{', LINES_NOT);
	json_put_whole(&asking->out, "id", id);
	json_put_whole(&asking->out, "parentId", parent);
	json_begin(&asking->out, "labels", '[', LINES_NOT);
	json_put_text(&asking->out, NULL, name);
	json_end(&asking->out, ']');
	json_put_whole(&asking->out, "start", session->asked.from);
	json_put_whole(&asking->out, "end", session->asked.to);
	json_put_bool(&asking->out, "hasData", has_data);
	json_end(&asking->out, '}');
}

/* --- the tree -------------------------------------------------------------------------------- */

/* Entries: CPUs in the order of hosts from 1; then hosts; then resource_rows() in their order. */
#define ENTRY_HOST 1000000
#define ENTRY_ROW 2000000

static void put_interrupts(struct asking *asking, uint16_t host, uint32_t cpu, int64_t parent)
{
	const GPtrArray *rows = resource_rows(asking->server);

	for (guint i = 0; i < rows->len; i++) {
		const struct resource_row *row = rows->pdata[i];

		if (!row_is_device(row) && row->host == host &&
		    row->cpu == (uint32_t) operation_cpu(cpu))
			put_entry(asking, ENTRY_ROW + i, parent, row->name, true);
	}
}

static void put_devices(struct asking *asking, uint16_t host, int64_t parent)
{
	const GPtrArray *rows = resource_rows(asking->server);

	for (guint i = 0; i < rows->len; i++) {
		const struct resource_row *row = rows->pdata[i];

		if (row_is_device(row) && row->host == host)
			put_entry(asking, ENTRY_ROW + i, parent, row->name, true);
	}
}

static void resources_tree(struct asking *asking, const struct derived *derived,
			   const struct times *range)
{
	const struct trace *trace = &asking->server->session->trace;
	bool several = trace->model.hosts->len > 1;
	int64_t id = 1;

	(void) derived;
	(void) range;
	put_header(asking, "Resource");
	json_begin(&asking->out, "entries", '[', LINES_NOT);
	for (guint h = 0; h < trace->model.hosts->len; h++) {
		const struct host *host = model_host(&trace->model, h);
		int64_t parent = several ? ENTRY_HOST + (int64_t) h : -1;

		if (several)
			put_entry(asking, parent, -1, trace_host_name(trace, h), false);
		for (guint i = 0; i < host->cpus->len; i++) {
			const struct cpu *cpu = host->cpus->pdata[i];
			g_autofree char *name = g_strdup_printf("CPU %u", cpu->id);

			put_entry(asking, id, parent, name, true);
			put_interrupts(asking, (uint16_t) h, cpu->id, id);
			id++;
		}
		put_devices(asking, (uint16_t) h, parent);
	}
	json_end(&asking->out, ']');
}

static bool resources_row(struct graph_row *row)
{
	const struct model *model = &row->server->session->trace.model;
	int64_t id = row->id - 1;

	if (row->id >= ENTRY_ROW) {
		const GPtrArray *rows = resource_rows(row->server);

		if (row->id >= ENTRY_ROW + (int64_t) rows->len)
			return false;
		row->resource = rows->pdata[row->id - ENTRY_ROW];
		return true;
	}
	for (guint h = 0; h < model->hosts->len && id >= 0; h++) {
		row->host = model_host(model, h);
		if (id < row->host->cpus->len) {
			row->cpu = row->host->cpus->pdata[id];
			return true;
		}
		id -= row->host->cpus->len;
	}
	return false;
}

/* --- states ---------------------------------------------------------------------------------- */

static bool cpu_at(const struct graph_row *row, int64_t time, struct shown *shown)
{
	const struct session *session = row->server->session;
	const struct timeline *timeline = &session->trace.timeline;
	const struct log *runs = &row->cpu->runs;
	uint32_t at = run_find(timeline, runs, time);

	if (at == runs->used) /* before the first, or there is none */
		at = 0;
	if (at >= runs->used)
		return false;
	*shown = (struct shown) {
		.begin = MAX(run_at(timeline, runs, at)->begin, session->asked.from),
		.end = at + 1 < runs->used
			       ? MIN(run_at(timeline, runs, at + 1)->begin, session->asked.to)
			       : session->asked.to,
		.thread = run_at(timeline, runs, at)->thread};
	return shown->end > time && shown->begin < shown->end;
}

static bool interrupt_at(const struct graph_row *row, int64_t time, struct shown *shown)
{
	const struct session *session = row->server->session;
	guint low = 0, high = row->resource->operations->len;
	const struct operation *found;

	while (low < high) { /* they come one after the other */
		guint middle = low + (high - low) / 2;

		if (operation_end(resource_operation(session, row->resource, middle)) <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == row->resource->operations->len)
		return false;
	found = resource_operation(session, row->resource, low);
	*shown = (struct shown) {.begin = found->begin,
				 .end = operation_end(found),
				 .thread = operation_has_thread(found) ? found->thread : NO_THREAD,
				 .operation = found};
	return true;
}

static bool device_at(const struct graph_row *row, int64_t time, struct shown *shown)
{
	const GArray *depths = row->resource->depths;
	guint i = depth_find(row->resource, time);

	for (; i + 1 < depths->len; i++) {
		const struct depth *depth = &g_array_index(depths, struct depth, i);

		if (!depth->requests)
			continue;
		*shown = (struct shown) {.begin = depth->time,
					 .end = depth[1].time,
					 .thread = NO_THREAD,
					 .requests = depth->requests};
		return true;
	}
	return false;
}

static bool resources_at(const struct graph_row *row, int64_t time, struct shown *shown)
{
	if (row->cpu)
		return cpu_at(row, time, shown);
	return row_is_device(row->resource) ? device_at(row, time, shown)
					    : interrupt_at(row, time, shown);
}

static void resources_put(struct asking *asking, const struct graph_row *row,
			  const struct shown *shown, bool wide)
{
	char text[32];

	if (row->cpu) {
		put_style(asking, shown->thread == IDLE_THREAD ? "idle"
				  : is_thread(shown->thread)   ? "running"
							       : "unknown");
		if (wide)
			json_put_text(&asking->out, "label",
				      run_name(row->server->session, shown->thread));
		return;
	}
	if (!row_is_device(row->resource)) {
		put_style(asking,
			  PACK_KIND(row->resource->what) == OPERATION_SOFTIRQ ? "softirq" : "irq");
		return;
	}
	put_style(asking, "device-busy");
	g_snprintf(text, sizeof text, "%" PRId64, shown->requests);
	if (wide)
		json_put_text(&asking->out, "label", text);
}

/* --- tooltips -------------------------------------------------------------------------------- */

#define TOLD_MAX 5
#define LOOKED_MAX 4096 /* requests before; one that takes so long is not told */

/* Who asked for what the device had, the newest first. */
static void tell_requests(struct asking *asking, const struct graph_row *row,
			  const struct shown *shown)
{
	const struct session *session = row->server->session;
	const GArray *operations = row->resource->operations;
	guint low = 0, high = operations->len, told = 0;

	while (low < high) { /* the first that begins after it */
		guint middle = low + (high - low) / 2;

		if (resource_operation(session, row->resource, middle)->begin <= shown->begin)
			low = middle + 1;
		else
			high = middle;
	}
	for (guint i = 0; i < MIN(low, LOOKED_MAX) && told < MIN(shown->requests, TOLD_MAX); i++) {
		const struct operation *one =
			resource_operation(session, row->resource, low - 1 - i);
		g_autofree char *name = NULL, *said = NULL;
		char took[48];

		if (operation_end(one) < shown->end)
			continue;
		name = g_strdup_printf("Request %u", ++told);
		said = g_strdup_printf(
			"%s%s%s, %s",
			operation_has_thread(one) ? session_thread_name(session, one->thread)
						  : "who asked is not known",
			one->ref ? " in " : "", one->ref ? session_text(session, one->ref) : "",
			when_duration(took, (int64_t) one->duration));
		tell_text(asking, name, said);
	}
}

static void resources_tell(struct asking *asking, const struct graph_row *row,
			   const struct shown *shown)
{
	const struct session *session = row->server->session;
	char text[32];

	if (row->cpu) {
		tell_text(asking, "Ran", run_name(session, shown->thread));
	} else if (!row_is_device(row->resource)) {
		tell_text(asking, "Interrupt", row->resource->name);
		tell_text(asking, "Interrupted",
			  is_thread(shown->thread) ? session_thread_name(session, shown->thread)
						   : "the idle loop, or not known");
	} else {
		g_snprintf(text, sizeof text, "%" PRId64, shown->requests);
		tell_text(asking, "Device", row->resource->name);
		tell_text(asking, "Requests at once", text);
		tell_requests(asking, row, shown);
	}
}

const struct graph graph_resources = {.tree = resources_tree,
				      .row = resources_row,
				      .at = resources_at,
				      .put = resources_put,
				      .tell = resources_tell};

/* --- locks ------------------------------------------------------------------------------------ */

static bool is_shown(const struct lock *lock)
{
	return !lock->free && (lock->holds.used || (lock->open && lock->open->len)) &&
	       lock_is_one(lock);
}

static void locks_tree(struct asking *asking, const struct derived *derived,
		       const struct times *range)
{
	const struct session *session = asking->server->session;
	const struct flow *flow = &session->trace.flow;

	(void) derived;
	(void) range;
	put_header(asking, "Lock");
	json_begin(&asking->out, "entries", '[', LINES_NOT);
	for (guint i = 1; i <= flow->locks->len; i++) {
		const struct lock *lock = lock_at(flow, i);
		g_autofree char *name = NULL;

		if (!is_shown(lock))
			continue;
		name = lock->pid >= 0
			       ? g_strdup_printf("%s %s of process %d", lock_kind_text(lock),
						 session_text(session, lock->resource), lock->pid)
			       : g_strdup_printf("%s %s", lock_kind_text(lock),
						 session_text(session, lock->resource));
		put_entry(asking, i, -1, name, true);
	}
	json_end(&asking->out, ']');
}

static int earlier(gconstpointer a, gconstpointer b)
{
	const struct hold *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static void add_hold(struct graph_row *row, const struct hold *hold)
{
	const struct session *session = row->server->session;
	struct holding known = hold_clipped(session, row->lock, hold);
	struct hold clipped = *hold;

	clipped.begin = MAX(known.begin, session->asked.from);
	clipped.end = MIN(known.end, session->asked.to);
	if (clipped.begin < clipped.end)
		g_array_append_val(row->holds, clipped);
}

static bool locks_row(struct graph_row *row)
{
	const struct session *session = row->server->session;
	const struct flow *flow = &session->trace.flow;
	int64_t until = INT64_MIN;
	guint kept = 0;

	if (row->id < 1 || row->id > flow->locks->len ||
	    !is_shown(lock_at(flow, (uint32_t) row->id)))
		return false;
	row->lock = lock_at(flow, (uint32_t) row->id);
	row->holds = g_array_new(FALSE, FALSE, sizeof(struct hold));
	for (uint32_t i = 0; i < row->lock->holds.used; i++)
		add_hold(row, hold_at(&session->trace.timeline.holds, &row->lock->holds, i));
	for (guint i = 0; row->lock->open && i < row->lock->open->len; i++)
		add_hold(row, &g_array_index(row->lock->open, struct hold, i));
	g_array_sort(row->holds, earlier);
	for (guint i = 0; i < row->holds->len; i++) { /* one after the other */
		struct hold hold = g_array_index(row->holds, struct hold, i);

		hold.begin = MAX(hold.begin, until);
		if (hold.begin >= hold.end)
			continue;
		until = hold.end;
		g_array_index(row->holds, struct hold, kept++) = hold;
	}
	g_array_set_size(row->holds, kept);
	return true;
}

static bool locks_at(const struct graph_row *row, int64_t time, struct shown *shown)
{
	guint low = 0, high = row->holds->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(row->holds, struct hold, middle).end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == row->holds->len)
		return false;
	*shown = (struct shown) {.hold = &g_array_index(row->holds, struct hold, low)};
	shown->begin = shown->hold->begin;
	shown->end = shown->hold->end;
	shown->thread = shown->hold->thread;
	return true;
}

static void locks_put(struct asking *asking, const struct graph_row *row, const struct shown *shown,
		      bool wide)
{
	put_style(asking, shown->hold->proved ? "held" : "held-inferred");
	if (wide)
		json_put_text(&asking->out, "label", run_name(row->server->session, shown->thread));
}

static void locks_tell(struct asking *asking, const struct graph_row *row,
		       const struct shown *shown)
{
	tell_text(asking, "Held by", run_name(row->server->session, shown->thread));
	tell_text(asking, "Certainty", shown->hold->proved ? "seen" : "inferred");
	if (!shown->hold->taken)
		tell_text(asking, "Note", "when it was taken was not seen: this is the earliest");
}

const struct graph graph_locks = {
	.tree = locks_tree, .row = locks_row, .at = locks_at, .put = locks_put, .tell = locks_tell};
