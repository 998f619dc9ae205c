/* SPDX-License-Identifier: MIT */
/* What is served, and how it is named; see asking.h. */
#include "tsp/asking.h"

#include "tsp/outputs.h"

static void bookmark_free(gpointer data)
{
	struct bookmark *bookmark = data;

	g_free(bookmark->name);
	g_free(bookmark);
}

static void served_trace_free(gpointer data)
{
	struct served_trace *trace = data;

	g_free(trace->path);
	g_free(trace->name);
	g_free(trace);
}

static struct served_trace *served_trace_new(const char *path)
{
	struct served_trace *trace = g_new0(struct served_trace, 1);

	trace->path = g_canonicalize_filename(path, NULL);
	trace->name = g_path_get_basename(trace->path);
	trace->open = true;
	uuid_of(trace->path, trace->uuid);
	return trace;
}

void server_init(struct server *server, const GPtrArray *paths)
{
	g_autoptr(GString) name = g_string_new(NULL), all = g_string_new("experiment:");

	*server = (struct server) {.open = true};
	server->traces = g_ptr_array_new_with_free_func(served_trace_free);
	for (guint i = 0; i < paths->len; i++) {
		struct served_trace *served = served_trace_new(paths->pdata[i]);

		g_string_append_printf(name, "%s%s", i ? ", " : "", served->name);
		g_string_append_printf(all, "\n%s", served->path);
		g_ptr_array_add(server->traces, served);
	}
	uuid_of(all->str, server->uuid);
	server->name = g_string_free(g_steal_pointer(&name), FALSE);
	server->bookmarks = g_ptr_array_new_with_free_func(bookmark_free);
	server->derived = g_ptr_array_new_with_free_func(derived_free);
}

void server_begin(struct server *server, const struct serve_trace *trace)
{
	server->trace = trace;
	server->session = trace->session;
	server->reading = false;
	walk_init(&server->walk, trace->session);
	state_names_init(&server->states, trace->session);
}

void server_clear(struct server *server)
{
	g_ptr_array_unref(server->traces);
	g_ptr_array_unref(server->bookmarks);
	g_ptr_array_unref(server->derived);
	g_clear_pointer(&server->events, events_index_free);
	if (server->resources)
		g_ptr_array_unref(server->resources);
	if (server->trace) {
		walk_clear(&server->walk);
		state_names_clear(&server->states);
	}
	g_free(server->name);
}
