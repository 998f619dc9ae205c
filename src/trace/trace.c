/* SPDX-License-Identifier: MIT */
/* Keeping what readers tell; see trace.h. */
#include "trace/trace.h"

#include <string.h>

#include "flow/forget.h"
#include "kernel/kernel_events.h"

#ifndef STORE_MEMORY
#define STORE_MEMORY (48u << 20) /* bytes of timeline in memory before it spills */
#endif

static void damage_clear(gpointer data)
{
	struct damage *damage = data;

	g_free(damage->file);
	g_free(damage->what);
}

static uint32_t add_host(void *data, const struct host_info *info)
{
	struct trace *trace = data;
	struct host *host;

	for (guint i = 0; i < trace->model.hosts->len; i++) {
		host = model_host(&trace->model, i);
		if (g_strcmp0(host->hostname, info->hostname) == 0 &&
		    g_strcmp0(host->clock_uuid, info->clock_uuid) == 0) {
			if (host->abi == ABI_UNKNOWN) /* another channel may show it */
				host->abi = info->abi;
			return i;
		}
	}
	host = host_new(&trace->model);
	host->hostname = g_strdup(info->hostname);
	host->uuid = g_strdup(info->trace_uuid);
	host->clock_uuid = g_strdup(info->clock_uuid);
	host->clock_offset = info->clock_offset;
	host->has_clock_offset = info->has_clock_offset;
	host->abi = info->abi;
	if (info->tracer)
		host_set_tracer(host, info->kernel_release, info->tracer);
	else
		host_set_versions(host, info->kernel_release, info->tracer_major,
				  info->tracer_minor, info->tracer_patch);
	return trace->model.hosts->len - 1;
}

static uint32_t user_host(void *data, const char *hostname, const char *clock_uuid)
{
	const struct trace *trace = data;
	uint32_t found = UINT32_MAX;

	for (guint i = trace->model.hosts->len; i-- > 0;) {
		const struct host *host = model_host(&trace->model, i);

		if (g_strcmp0(host->hostname, hostname) != 0)
			continue;
		if (g_strcmp0(host->clock_uuid, clock_uuid) == 0)
			return i;
		if (!clock_uuid || !host->clock_uuid) /* else it is of another boot */
			found = i;
	}
	return found;
}

static void leave_user(void *data)
{
	struct trace *trace = data;

	trace->user_apart += !trace->restored;
}

static void place(void *data, const char *directory)
{
	struct trace *trace = data;

	if (!trace->place)
		trace->place = g_strdup(directory);
}

static struct event_class declare(void *data, const char *event_name, enum class_origin origin)
{
	struct trace *trace = data;
	struct intern *names = trace->model.names;
	struct event_class class =
		origin == ORIGIN_USER     ? event_class_of_user(names, event_name)
		: strchr(event_name, ':') ? event_class_of_tracepoint(names, event_name)
					  : event_class_of(names, event_name);

	if (origin == ORIGIN_PROBE)
		event_class_of_probe(names, event_name, &class);
	if (origin == ORIGIN_PLACE)
		event_class_of_place(names, event_name, &class);
	trace->kinds[class.kind] = true;
	trace->flow.has_waking |= class.kind == EV_SCHED_WAKING;
	trace->flow.has_guest_entries |= class.kind == EV_KVM_ENTRY;
	trace->flow.has_bios |= class.kind == EV_BLOCK_BIO;
	if (!g_hash_table_add(trace->class_names, GUINT_TO_POINTER(class.name)))
		trace->flow.has_copies = true;
	return class;
}

static uint32_t shape(void *data, const char *names)
{
	return intern_id(((struct trace *) data)->model.names, names);
}

static void begin(void *data, uint32_t host, uint32_t cpu, int64_t time)
{
	struct trace *trace = data;

	if (!trace->restored)
		flow_packet(&trace->flow, host, cpu, trace_time(time));
}

static void lose(void *data, const struct lost_events *lost)
{
	struct trace *trace = data;
	int64_t from = trace_time(lost->begin);
	int64_t to = lost->end == INT64_MAX ? INT64_MAX : trace_time(lost->end);

	if (trace->restored)
		return;
	if (lost->user)
		flow_user_lost(&trace->flow, lost->host, lost->cpu, from, to, lost->count);
	else
		flow_lost(&trace->flow, lost->host, lost->cpu, from, to, lost->count,
			  lost->packets);
}

static void passed_until(void *data, int64_t time)
{
	struct trace *trace = data;

	trace->passed_until = time;
	trace->events = 0;
	flow_begin_counts(&trace->flow, time);
	for (guint i = 0; i < trace->model.hosts->len; i++)
		model_host(&trace->model, i)->passed_until = time;
}

static void passed_from(void *data, int64_t time)
{
	struct trace *trace = data;

	trace->passed_from = time;
	trace->flow.passes_over = true;
	memcpy(trace->flow.odd_read, trace->flow.odd, sizeof trace->flow.odd);
	for (guint i = 0; i < trace->model.hosts->len; i++)
		model_host(&trace->model, i)->passed_from = time;
}

static void damage(void *data, const char *file, uint64_t bytes, uint64_t total, const char *what)
{
	struct trace *trace = data;
	struct damage damage = {g_strdup(file), g_strdup(what), bytes, total};

	g_array_append_val(trace->damages, damage);
}

static void damage_user(void *data, const char *path, const char *what)
{
	struct trace *trace = data;

	if (!trace->restored) /* else it is known */
		g_ptr_array_add(trace->user_damages, g_strdup_printf("%s: %s", path, what));
}

static void stop(void *data, const char *why)
{
	struct trace *trace = data;

	if (!trace->stopped)
		trace->stopped = g_strdup(why);
}

void trace_init(struct trace *trace)
{
	trace->passed_until = INT64_MIN;
	trace->passed_from = INT64_MAX;
	trace->sink = (struct event_sink) {
		.data = trace,
		.add_host = add_host,
		.user_host = user_host,
		.leave_user = leave_user,
		.place = place,
		.declare = declare,
		.shape = shape,
		.begin = begin,
		.lose = lose,
		.passed_until = passed_until,
		.passed_from = passed_from,
		.damage = damage,
		.damage_user = damage_user,
		.stop = stop};
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

void trace_note_places(struct trace *trace)
{
	trace->places = trace->sink.places = event_places_new();
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

void trace_forget_operations(struct trace *trace)
{
	struct flow *flow = &trace->flow;

	flow->odd[ODD_FUNCTION] = flow->odd[ODD_USER_FUNCTION] = flow->odd[ODD_USER_THREAD] = 0;
	idmap_clear(&flow->callbacks);
	idmap_init(&flow->callbacks);
}
