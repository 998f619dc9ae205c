/* SPDX-License-Identifier: MIT */
/* What a server is given: a trace that was read, and how more of it is. Place: tsp/. */
#ifndef WHYLATE_TSP_SERVE_TRACE_H
#define WHYLATE_TSP_SERVE_TRACE_H

#include <glib.h>
#include <stdbool.h>

struct options;
struct session;

/* What is served, and how more of it is read. */
struct serve_trace {
	struct session *session; /* finished: of all threads, of all time */
	GPtrArray *paths;        /* strings, as the user gave them */
	/* Finds the events that a question names; the trace is read again for them. */
	bool (*match)(struct session *session, GPtrArray *paths, GError **error);
	/* Answers a question that needs more than was read, from the trace: to standard output.
	 * Returns the exit status; `heard` gets what was told (owned by the caller). */
	int (*run)(struct options *options, GPtrArray *paths, char **heard);
};

#endif
