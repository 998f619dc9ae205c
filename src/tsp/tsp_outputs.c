/* SPDX-License-Identifier: MIT */
/* The Trace Server Protocol's list of outputs, and what can be derived of them. Part of tsp/. */
#include "tsp/outputs.h"

#include <string.h>

#define PATH_TYPE "whylate.critical-path.thread"

static const struct output_row rows[] = {
	{"threads", "Threads", "What each thread did and what it waited for, with wake-ups",
	 "TIME_GRAPH", .graph = &graph_threads},
	{"critical-path", "Critical path",
	 "Where the time of one thread went; derive an output to say which", "NONE",
	 .graph = &graph_path},
	{"resources", "Resources",
	 "Who ran on each CPU, and which interrupts; when block devices had requests", "TIME_GRAPH",
	 .graph = &graph_resources},
	{"locks", "Locks", "Who held each lock", "TIME_GRAPH", .graph = &graph_locks},
	{"cpu-use", "CPU use", "How busy each CPU was, in percent", "TREE_TIME_XY", .graph = NULL},
	{"disk", "Disk requests", "Block requests that were issued in each step, by device",
	 "TREE_TIME_XY", .command = "profile", .member = "profiles",
	 .given = {"operation", "block-served:*"}},
	{"disk-queue", "Disk queue", "How many requests each block device had at once",
	 "TREE_TIME_XY", .queue = true},
	{"time-lapse", "System calls over time", "System calls that began in each step, by name",
	 "TREE_TIME_XY", .command = "profile", .member = "profiles"},
	{"latencies", "Latencies", "How many system calls took how long, by name",
	 "TREE_GENERIC_XY", .command = "profile", .member = "profiles"},
	{"states", "States", "How long each thread worked, was interrupted, and waited",
	 "DATA_TREE", .command = "overview", .member = "threads"},
	{"waits", "Waits", "What threads waited for, the longest first", "DATA_TREE",
	 .command = "overview", .member = "waits"},
	{"bottlenecks", "Bottlenecks", "Threads and resources that others waited for", "DATA_TREE",
	 .command = "overview", .member = "waiting"},
	{"requests", "Requests", "The requests that servers answered", "DATA_TREE",
	 .command = "requests", .member = "requests"},
	{"findings", "Findings", "What stands out, under ids that stay", "DATA_TREE",
	 .command = "overview", .member = "findings"},
	{EVENTS_TABLE, "Events", "What was recorded, in the order of time", "TABLE", .graph = NULL},
	{"operations", "Operations", "System calls and interrupts in the order in which they ended",
	 "TABLE", .graph = NULL},
};

const struct output_row *
output_row_find(struct asking *asking, const char *id, const char *type, struct derived **derived)
{
	struct derived *found = derived_find(asking->server, id);

	if (derived)
		*derived = found;
	if (found && (!type || strcmp(type, "TIME_GRAPH") == 0))
		id = "critical-path";
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (strcmp(rows[i].id, id) == 0 &&
		    (!type || strcmp(rows[i].type, type) == 0 ||
		     (rows[i].graph && strcmp(type, "TIME_GRAPH") == 0)))
			return &rows[i];
	asking_refuse(asking, 404, "Experiment or output provider not found", NULL);
	return NULL;
}

/* --- descriptors ----------------------------------------------------------------------------- */

static void put_capability(struct asking *asking, const char *name)
{
	json_begin(&asking->out, "capabilities", '{', LINES_NOT);
	json_put_bool(&asking->out, name, true);
	json_end(&asking->out, '}');
}

static void put_row(struct asking *asking, const struct output_row *row)
{
	struct output *out = &asking->out;

	json_begin(out, NULL, '{', LINES_NOT);
	json_put_text(out, "id", row->id);
	json_put_text(out, "name", row->name);
	json_put_text(out, "description", row->description);
	json_put_text(out, "type", row->type);
	if (strcmp(row->type, "NONE") == 0)
		put_capability(asking, "canCreate");
	json_end(out, '}');
}

static void put_derived(struct asking *asking, const struct derived *derived)
{
	struct output *out = &asking->out;

	json_begin(out, NULL, '{', LINES_NOT);
	json_put_text(out, "id", derived->id);
	json_put_text(out, "parentId", "critical-path");
	json_put_text(out, "name", derived->name);
	json_put_text(out, "description", "Where the time of one thread went");
	json_put_text(out, "type", "TIME_GRAPH");
	json_begin(out, "configuration", '{', LINES_NOT);
	json_put_text(out, "id", derived->id);
	json_put_text(out, "name", derived->name);
	json_put_text(out, "sourceTypeId", PATH_TYPE);
	json_begin(out, "parameters", '{', LINES_NOT);
	json_put_text(out, "thread", derived->asked);
	json_put_whole(out, "start", derived->from);
	json_put_whole(out, "end", derived->to);
	json_end(out, '}');
	json_end(out, '}');
	put_capability(asking, "canDelete");
	json_end(out, '}');
}

void outputs_list(struct asking *asking)
{
	const GPtrArray *derived = asking->server->derived;

	json_begin(&asking->out, NULL, '[', LINES_NOT);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		put_row(asking, &rows[i]);
	for (guint i = 0; i < derived->len; i++)
		put_derived(asking, derived->pdata[i]);
	json_end(&asking->out, ']');
}

void output_get(struct asking *asking)
{
	struct derived *derived;
	const struct output_row *row = output_row_find(asking, asking->given[1], NULL, &derived);

	if (derived)
		put_derived(asking, derived);
	else if (row)
		put_row(asking, row);
}

/* --- derived outputs ------------------------------------------------------------------------- */

void output_derive(struct asking *asking)
{
	const json_t *body = asking->content;
	const char *type = json_string_value(json_object_get(body, "sourceTypeId"));
	const char *name = json_string_value(json_object_get(body, "name"));
	const char *thread = json_string_value(parameter(asking, "thread"));
	const json_t *number = parameter(asking, "thread"), *begin = parameter(asking, "start"),
		     *end = parameter(asking, "end");
	const struct session *session = asking->server->session;
	g_autofree char *tid =
		json_is_integer(number) ? g_strdup_printf("%d", (int) json_integer_value(number))
					: NULL;
	int64_t from = session->asked.from, to = session->asked.to;
	struct derived *derived, *of;
	const struct output_row *row = output_row_find(asking, asking->given[1], NULL, &of);

	if (!row)
		return;
	if (strcmp(row->type, "NONE") != 0 || of || g_strcmp0(type, PATH_TYPE) != 0) {
		asking_refuse(asking, 400, "Invalid query parameters",
			      "the output derives no others of that sourceTypeId");
		return;
	}
	if (!name) {
		asking_refuse(asking, 400, "Missing query parameters", "name is missing");
		return;
	}
	if ((!thread && !tid) || (begin && !parameter_whole(begin, &from)) ||
	    (end && !parameter_whole(end, &to)) || from < session->asked.from ||
	    to > session->asked.to || from >= to) {
		asking_refuse(asking, 400, "Invalid query parameters",
			      "thread is needed (a TID or a name); start and end are times within "
			      "the trace");
		return;
	}
	derived = derived_new(asking, *name ? name : NULL, thread ? thread : tid, from, to);
	if (derived)
		put_derived(asking, derived);
}

void output_remove(struct asking *asking)
{
	struct derived *derived = derived_find(asking->server, asking->given[2]);

	if (!derived || strcmp(asking->given[1], "critical-path") != 0) {
		asking_refuse(asking, 404, "Experiment or output provider not found", NULL);
		return;
	}
	put_derived(asking, derived);
	g_ptr_array_remove(asking->server->derived, derived);
}

/* --- configurations -------------------------------------------------------------------------- */

static void put_parameter(struct asking *asking, const char *name, const char *type, bool required,
			  const char *description)
{
	json_begin(&asking->out, NULL, '{', LINES_NOT);
	json_put_text(&asking->out, "keyName", name);
	json_put_text(&asking->out, "dataType", type);
	json_put_bool(&asking->out, "required", required);
	json_put_text(&asking->out, "description", description);
	json_end(&asking->out, '}');
}

static void put_path_type(struct asking *asking)
{
	struct output *out = &asking->out;

	json_begin(out, NULL, '{', LINES_NOT);
	json_put_text(out, "id", PATH_TYPE);
	json_put_text(out, "name", "Critical path of a thread");
	json_put_text(out, "description", "Whose critical path, and from when to when");
	json_begin(out, "parameterDescriptors", '[', LINES_NOT);
	put_parameter(asking, "thread", "STRING", true, "A TID or the name of one thread");
	put_parameter(asking, "start", "NUMBER", false, "ns; the trace's begin if absent");
	put_parameter(asking, "end", "NUMBER", false, "ns; the trace's end if absent");
	json_end(out, ']');
	json_end(out, '}');
}

void output_config_types(struct asking *asking)
{
	struct derived *derived;
	const struct output_row *row = output_row_find(asking, asking->given[1], NULL, &derived);

	if (!row)
		return;
	json_begin(&asking->out, NULL, '[', LINES_NOT);
	if (!derived && strcmp(row->type, "NONE") == 0)
		put_path_type(asking);
	json_end(&asking->out, ']');
}

void output_config_type(struct asking *asking)
{
	const struct output_row *row = output_row_find(asking, asking->given[1], NULL, NULL);

	if (!row)
		return;
	if (strcmp(row->type, "NONE") == 0 && strcmp(asking->given[2], PATH_TYPE) == 0)
		put_path_type(asking);
	else
		asking_refuse(asking, 404, "No such configuration source type", NULL);
}

/* Of the server as a whole there is nothing to configure. */
void config_types(struct asking *asking)
{
	json_begin(&asking->out, NULL, '[', LINES_NOT);
	json_end(&asking->out, ']');
}

void config_none(struct asking *asking)
{
	asking_refuse(asking, 404, "No such configuration source type or configuration instance",
		      NULL);
}
