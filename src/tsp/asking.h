/* SPDX-License-Identifier: MIT */
/* A question that came by HTTP, and what is common to all answers; the routes. Part of tsp/
 * (serve.h). */
#ifndef WHYLATE_TSP_ASKING_H
#define WHYLATE_TSP_ASKING_H

#include <jansson.h>

#include "export/export_names.h"
#include "export/export_walk.h"
#include "report/columns.h"
#include "run/session.h"
#include "tsp/serve_trace.h"

#define UUID_LENGTH 37

/* A trace as the user named it. */
struct served_trace {
	char *path; /* owned; absolute */
	char *name; /* owned */
	char uuid[UUID_LENGTH];
	bool open; /* a client has not closed it */
};

struct bookmark {
	char *name; /* owned */
	char uuid[UUID_LENGTH];
	int64_t begin, end;
};

/* A critical path that a client asked for. */
struct derived;
struct events_index;

/* What is served, and what clients made of it. */
struct server {
	struct session *session; /* borrowed; of all threads, of all time; finished, unless: */
	bool reading;            /* … it is still being read */
	double done;             /* how much of it, of 1; 0: not known */
	GPtrArray *traces;       /* owned; struct served_trace */
	char uuid[UUID_LENGTH];  /* the experiment's: all of the traces */
	char *name;              /* owned; the experiment's */
	bool open;               /* a client has not closed it */
	GPtrArray *bookmarks;    /* owned; struct bookmark */
	GPtrArray *derived;      /* owned; struct derived */
	struct events_index *events; /* owned; where events are, NULL: not yet */
	GPtrArray *resources;    /* owned; resource_rows() makes them; NULL: not yet */
	uint32_t made;           /* derived outputs and bookmarks so far */
	struct walk walk;        /* threads and processes in the order of the exports */
	struct state_names states;
	const struct serve_trace *trace; /* borrowed; how to read it again */
};

/* Of the traces at those paths; server_begin(): when they are read. */
void server_init(struct server *server, const GPtrArray *paths);
void server_begin(struct server *server, const struct serve_trace *trace);
void server_clear(struct server *server);
/* A name-based UUID (RFC 4122, version 5, of whylate's own name space). */
void uuid_of(const char *text, char uuid[UUID_LENGTH]);

/* --- a question ------------------------------------------------------------------------------ */

#define WORDS_MAX 12

/* One request, and its answer as far as it is written. */
struct asking {
	struct server *server;
	const char *method; /* borrowed; "HEAD" is "GET" */
	GPtrArray *query;   /* owned; strings, names and values in turn: what follows the "?" */
	const char *body;   /* borrowed */
	size_t body_length;

	GStrv words;                   /* owned; the path's */
	const char *given[WORDS_MAX];  /* borrowed; those that the route leaves open */
	json_t *content;               /* owned; the body, NULL */
	json_t *parameters;            /* borrowed of it: "parameters", NULL */

	unsigned status; /* HTTP's */
	const char *type; /* static; of what is written */
	GPtrArray *told; /* borrowed; names and values: tell_text() adds to it; NULL: it writes */
	const char *also; /* static; "GET, POST": what else the path takes, NULL */
	struct output out; /* JSON is written here */
	char *text;        /* owned; what was written, after asking_end() */
	size_t length;
};

void asking_begin(struct asking *asking, struct server *server, const char *method);
/* What was written is in `text`. */
void asking_end(struct asking *asking);
void asking_clear(struct asking *asking);
/* Drops what was written, for an error (ErrorResponse). `detail` NULL: none. */
void asking_refuse(struct asking *asking, unsigned status, const char *title, const char *detail);
/* The same, for an error that has more members: the caller ends the object. */
void asking_refuse_begin(struct asking *asking, unsigned status, const char *title,
			 const char *detail);

/* A row of a tooltip; nothing if there is no text. */
void tell_text(struct asking *asking, const char *name, const char *text);
/* "model" and what goes with it. */
void model_begin(struct asking *asking);
void model_end(struct asking *asking);
/* Members of `parameters`; NULL: there is none of that type. */
json_t *parameter(const struct asking *asking, const char *name);
/* An integer; false: it is none. */
bool parameter_whole(const json_t *value, int64_t *number);

/* A time range, and in how many steps it is to be sampled. */
struct times {
	int64_t from, to; /* both within */
	int64_t steps;    /* 0: all there is */
};
#define STEPS_MAX 65536
/* requested_timerange, or requested_times; all of the trace where neither is given and it need not
 * be. False: refused. */
bool asked_times(struct asking *asking, bool needed, struct times *range);
/* The i-th time to be looked at, from 0. */
int64_t times_at(const struct times *range, int64_t i);
/* The first one at `time` or later. */
int64_t times_step(const struct times *range, int64_t time);
/* requested_items: int64_t, each once; NULL: refused. Free with g_array_unref(). */
GArray *asked_items(struct asking *asking);

/* --- who answers ----------------------------------------------------------------------------- */

typedef void serve_handler(struct asking *asking);

/* tsp_traces.c */
serve_handler health, identifier, traces_list, traces_open, trace_get, trace_close,
	experiments_list, experiments_open, experiment_get, experiment_close, marker_sets;
/* tsp_bookmarks.c */
serve_handler bookmarks_list, bookmark_make, bookmark_get, bookmark_change, bookmark_remove;
/* tsp_outputs.c */
serve_handler outputs_list, output_get, output_derive, output_remove, output_config_types,
	output_config_type, config_types, config_none;
/* tsp_graph.c */
serve_handler output_styles, graph_tree, graph_states, graph_arrows, graph_tooltip;
/* tsp_trees.c, tsp_xy.c, tsp_annotations.c, tsp_table.c */
serve_handler data_tree, xy_tree, xy_values, histogram_tree, histogram_values,
	annotation_categories, annotations_get, table_columns, table_lines;

#endif
