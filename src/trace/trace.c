/* SPDX-License-Identifier: MIT */
/* Keeping what readers tell; see trace.h. */
#include "trace/trace.h"

#include "trace/clocks.h"

#define STORE_MEMORY (48u << 20) /* bytes of timeline in memory before it spills */

static void damage_clear(gpointer data)
{
	struct damage *damage = data;

	g_free(damage->file);
	g_free(damage->what);
}

void trace_init(struct trace *trace)
{
	model_init(&trace->model);
	timeline_init(&trace->timeline, STORE_MEMORY);
	flow_init(&trace->flow, &trace->model, &trace->timeline);
	trace->class_names = g_hash_table_new(NULL, NULL);
	trace->damages = g_array_new(FALSE, FALSE, sizeof(struct damage));
	g_array_set_clear_func(trace->damages, damage_clear);
	trace->user_damages = g_ptr_array_new_with_free_func(g_free);
}

void trace_clear(struct trace *trace)
{
	flow_clear(&trace->flow);
	timeline_clear(&trace->timeline);
	model_clear(&trace->model);
	processes_clear(&trace->processes);
	g_hash_table_destroy(trace->class_names);
	g_array_free(trace->damages, TRUE);
	g_ptr_array_free(trace->user_damages, TRUE);
	event_places_free(trace->places);
	g_free(trace->place);
	g_free(trace->stopped);
}

/* All hosts to one time; what packets woke to who sent them. */
static bool bring_together(struct trace *trace, const GPtrArray *clock_offsets, GError **error)
{
	struct pairs pairs;
	bool ok;

	pairs_init(&pairs, &trace->timeline);
	ok = clocks_find(trace, &pairs, clock_offsets, error);
	if (ok) {
		clocks_shift(trace);
		clocks_follow(trace, &pairs);
	}
	pairs_clear(&pairs);
	return ok;
}

bool trace_gather(struct trace *trace, const GPtrArray *clock_offsets, GError **error)
{
	flow_end(&trace->flow);
	if (trace->events && !bring_together(trace, clock_offsets, error))
		return false;
	trace->names_gathered = intern_count(trace->model.names);
	trace->operations_gathered = trace->timeline.operations.used;
	return true;
}

const char *trace_host_name(const struct trace *trace, uint32_t index)
{
	const struct host *host = model_host(&trace->model, index);
	const char *name = host->hostname ? host->hostname : "(no name)";
	char text[128];

	for (guint i = 0; i < trace->model.hosts->len; i++)
		if (i != index &&
		    g_strcmp0(model_host(&trace->model, i)->hostname, host->hostname) == 0) {
			g_snprintf(text, sizeof text, "%s (host %u)", name, index);
			return intern_text(trace->model.names, intern_id(trace->model.names, text));
		}
	return name;
}
