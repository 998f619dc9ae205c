/* SPDX-License-Identifier: MIT */
/* The Trace Server Protocol's traces and experiment, health and identifier.
 *
 * Part of tsp/. There is one experiment, of all traces that the command named: they are one
 * recording, perhaps of several hosts. A client that opens them by their paths, as it does with
 * other servers, finds them; no other path is looked at. What a client closes is listed no more
 * until it is opened again.
 */
#include "tsp/asking.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "config.h"

#define TSP_VERSION "0.6.0"

void health(struct asking *asking)
{
	json_begin(&asking->out, NULL, '{', LINES_NOT);
	json_put_text(&asking->out, "status", "UP");
	json_end(&asking->out, '}');
}

void identifier(struct asking *asking)
{
	struct output *out = &asking->out;
	struct utsname name;

	if (uname(&name) != 0)
		memset(&name, 0, sizeof name);
	json_begin(out, NULL, '{', LINES_NOT);
	json_put_text(out, "version", PACKAGE_VERSION);
	json_put_text(out, "os", name.sysname);
	json_put_text(out, "osArch", name.machine);
	json_put_text(out, "osVersion", name.release);
	json_put_whole(out, "cpuCount", sysconf(_SC_NPROCESSORS_ONLN));
	json_put_whole(out, "maxMemory", (int64_t) sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
	json_put_text(out, "productId", "whylate");
	json_put_text(out, "tspVersion", TSP_VERSION);
	json_end(out, '}');
}

/* --- traces ---------------------------------------------------------------------------------- */

/* Until all is read: from the first event to the last one so far. */
static void put_span(struct asking *asking)
{
	const struct session *session = asking->server->session;
	const struct trace *trace = &session->trace;
	int64_t begin = trace->begin, end = trace->end;

	if (asking->server->reading) {
		begin = end = trace->flow.time;
		for (guint i = 0; i < trace->model.hosts->len; i++)
			if (model_host(&trace->model, i)->begin < begin)
				begin = model_host(&trace->model, i)->begin;
	}
	json_put_whole(&asking->out, "start", begin);
	json_put_whole(&asking->out, "end", end);
	json_put_whole(&asking->out, "nbEvents", (int64_t) trace->events);
	json_put_text(&asking->out, "indexingStatus",
		      asking->server->reading ? "RUNNING" : "COMPLETED");
}

/* Of one trace that was given as several directories only all together is known. */
static void put_properties(struct asking *asking)
{
	const struct model *model = &asking->server->session->trace.model;
	struct output *out = &asking->out;

	json_begin(out, "properties", '{', LINES_NOT);
	for (guint i = 0; i < model->hosts->len; i++) {
		const struct host *host = model_host(model, i);
		g_autofree char *number = model->hosts->len > 1 ? g_strdup_printf(" %u", i) : NULL;
		g_autofree char *name = g_strconcat("hostname", number, NULL);
		g_autofree char *kernel = g_strconcat("kernel", number, NULL);
		g_autofree char *tracer = g_strconcat("tracer", number, NULL);

		json_put_text(out, name, host->hostname ? host->hostname : "");
		json_put_text(out, kernel, host->kernel ? host->kernel : "");
		json_put_text(out, tracer, host->tracer ? host->tracer : "");
	}
	json_end(out, '}');
}

static void put_trace(struct asking *asking, const char *key, const struct served_trace *trace)
{
	struct output *out = &asking->out;

	json_begin(out, key, '{', LINES_NOT);
	json_put_text(out, "name", trace->name);
	json_put_text(out, "path", trace->path);
	json_put_text(out, "UUID", trace->uuid);
	put_span(asking);
	put_properties(asking);
	json_end(out, '}');
}

static struct served_trace *find_trace(const struct server *server, const char *uuid)
{
	for (guint i = 0; i < server->traces->len; i++) {
		struct served_trace *trace = server->traces->pdata[i];

		if (strcmp(trace->uuid, uuid) == 0)
			return trace;
	}
	return NULL;
}

void traces_list(struct asking *asking)
{
	const struct server *server = asking->server;

	json_begin(&asking->out, NULL, '[', LINES_NOT);
	for (guint i = 0; i < server->traces->len; i++) {
		const struct served_trace *trace = server->traces->pdata[i];

		if (trace->open)
			put_trace(asking, NULL, trace);
	}
	json_end(&asking->out, ']');
}

/* Compared as text: that a file is there or not is nobody's business. */
void traces_open(struct asking *asking)
{
	const char *uri = json_string_value(parameter(asking, "uri"));
	g_autofree char *path = NULL;

	if (!uri || !*uri) {
		asking_refuse(asking, 400, "Missing query parameters", "uri is missing");
		return;
	}
	path = g_canonicalize_filename(g_str_has_prefix(uri, "file://") ? uri + 7 : uri, "/");
	for (guint i = 0; i < asking->server->traces->len; i++) {
		struct served_trace *trace = asking->server->traces->pdata[i];

		if (strcmp(trace->path, path) != 0)
			continue;
		trace->open = true;
		put_trace(asking, NULL, trace);
		return;
	}
	asking_refuse(asking, 404, "No such trace",
		      "this server serves the traces that it was started with, and no others");
}

void trace_get(struct asking *asking)
{
	const struct served_trace *trace = find_trace(asking->server, asking->given[0]);

	if (trace)
		put_trace(asking, NULL, trace);
	else
		asking_refuse(asking, 404, "No such trace", NULL);
}

/* Nothing is deleted on disk, whatever deleteTrace says. */
void trace_close(struct asking *asking)
{
	struct served_trace *trace = find_trace(asking->server, asking->given[0]);

	if (!trace) {
		asking_refuse(asking, 404, "No such trace", NULL);
	} else if (asking->server->open) {
		asking_refuse_begin(asking, 409, "The trace is in use by at least one experiment",
				    NULL);
		put_trace(asking, "trace", trace);
		json_end(&asking->out, '}');
	} else {
		trace->open = false;
		put_trace(asking, NULL, trace);
	}
}

/* --- the experiment -------------------------------------------------------------------------- */

static void put_experiment(struct asking *asking, const char *key)
{
	const struct server *server = asking->server;
	struct output *out = &asking->out;

	json_begin(out, key, '{', LINES_NOT);
	json_put_text(out, "name", server->name);
	json_put_text(out, "UUID", server->uuid);
	put_span(asking);
	json_begin(out, "traces", '[', LINES_NOT);
	for (guint i = 0; i < server->traces->len; i++)
		put_trace(asking, NULL, server->traces->pdata[i]);
	json_end(out, ']');
	json_end(out, '}');
}

void experiments_list(struct asking *asking)
{
	json_begin(&asking->out, NULL, '[', LINES_NOT);
	if (asking->server->open)
		put_experiment(asking, NULL);
	json_end(&asking->out, ']');
}

/* How many different traces of this server are named; -1: one is none. */
static int count_named(const struct server *server, const json_t *uuids)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

	for (size_t i = 0; i < json_array_size(uuids); i++) {
		const char *uuid = json_string_value(json_array_get(uuids, i));
		struct served_trace *trace = uuid ? find_trace(server, uuid) : NULL;

		if (!trace)
			return -1;
		g_hash_table_add(seen, trace);
	}
	return (int) g_hash_table_size(seen);
}

void experiments_open(struct asking *asking)
{
	struct server *server = asking->server;
	const json_t *uuids = parameter(asking, "traces");
	int named;

	if (!json_is_array(uuids) || !json_array_size(uuids) ||
	    !json_is_string(parameter(asking, "name"))) {
		asking_refuse(asking, 400, "Missing query parameters",
			      "name and traces are needed");
		return;
	}
	named = count_named(server, uuids);
	if (named < 0) {
		asking->status = 204;
		return;
	}
	if ((guint) named < server->traces->len) {
		asking_refuse_begin(asking, 409, "There is one experiment, of all traces", NULL);
		put_experiment(asking, "experiment");
		json_end(&asking->out, '}');
		return;
	}
	server->open = true;
	for (guint i = 0; i < server->traces->len; i++)
		((struct served_trace *) server->traces->pdata[i])->open = true;
	put_experiment(asking, NULL);
}

static bool is_experiment(struct asking *asking)
{
	if (strcmp(asking->given[0], asking->server->uuid) == 0)
		return true;
	asking_refuse(asking, 404, "No such experiment", NULL);
	return false;
}

void experiment_get(struct asking *asking)
{
	if (is_experiment(asking))
		put_experiment(asking, NULL);
}

void experiment_close(struct asking *asking)
{
	if (!is_experiment(asking))
		return;
	asking->server->open = false;
	put_experiment(asking, NULL);
}

void marker_sets(struct asking *asking)
{
	model_begin(asking);
	json_begin(&asking->out, "model", '[', LINES_NOT);
	json_end(&asking->out, ']');
	model_end(asking);
}
