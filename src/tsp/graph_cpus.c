/* SPDX-License-Identifier: MIT */
/* The time graphs of CPUs, who ran on each, and of locks, who held each. Part of tsp/: runs as
 * the timeline has them, holds as contention/holders.h clips them. Where several hold a lock at
 * once, to read, the one who took it first is shown until he gives it up.
 */
#include "tsp/outputs.h"

#include <inttypes.h>

#include "contention/holders.h"
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

/* --- CPUs ------------------------------------------------------------------------------------ */

/* Of CPUs in the order of hosts, from 1; hosts are below 0. */
static void cpus_tree(struct asking *asking, const struct derived *derived,
		      const struct times *range)
{
	const struct trace *trace = &asking->server->session->trace;
	bool several = trace->model.hosts->len > 1;
	int64_t id = 1, of_host = 1000000;

	(void) derived;
	(void) range;
	put_header(asking, "CPU");
	json_begin(&asking->out, "entries", '[', LINES_NOT);
	for (guint h = 0; h < trace->model.hosts->len; h++) {
		const struct host *host = model_host(&trace->model, h);

		if (several)
			put_entry(asking, of_host + h, -1, trace_host_name(trace, h), false);
		for (guint i = 0; i < host->cpus->len; i++) {
			const struct cpu *cpu = host->cpus->pdata[i];
			g_autofree char *name = g_strdup_printf("CPU %u", cpu->id);

			put_entry(asking, id++, several ? of_host + h : -1, name, true);
		}
	}
	json_end(&asking->out, ']');
}

static bool cpus_row(struct graph_row *row)
{
	const struct model *model = &row->server->session->trace.model;
	int64_t id = row->id - 1;

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

static bool cpus_at(const struct graph_row *row, int64_t time, struct shown *shown)
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

static void cpus_put(struct asking *asking, const struct graph_row *row, const struct shown *shown,
		     bool wide)
{
	put_style(asking, shown->thread == IDLE_THREAD ? "idle"
			  : is_thread(shown->thread)   ? "running"
						       : "unknown");
	if (wide)
		json_put_text(&asking->out, "label", run_name(row->server->session, shown->thread));
}

static void cpus_tell(struct asking *asking, const struct graph_row *row, const struct shown *shown)
{
	tell_text(asking, "Ran", run_name(row->server->session, shown->thread));
}

const struct graph graph_cpus = {
	.tree = cpus_tree, .row = cpus_row, .at = cpus_at, .put = cpus_put, .tell = cpus_tell};

/* --- locks ----------------------------------------------------------------------------------- */

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
