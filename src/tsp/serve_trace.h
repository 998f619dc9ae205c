/* SPDX-License-Identifier: MIT */
/* What a server is given: a trace that was read, and how more of it is. Place: tsp/. */
#ifndef WHYLATE_TSP_SERVE_TRACE_H
#define WHYLATE_TSP_SERVE_TRACE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct options;
struct session;

/* An event as it was recorded. */
struct event_line {
	int64_t at;   /* ns, as its host's clock had it: by this they are in order */
	int64_t time; /* in the time common to all hosts */
	uint32_t host, cpu;
	const char *name;   /* borrowed */
	const char *fields; /* borrowed; NULL: not asked for */
};

enum list_wish {
	LIST_ON,     /* the next one */
	LIST_FIELDS, /* the same again, with its fields */
	LIST_ENOUGH,
};

/* Which events are wanted. */
struct event_list {
	int64_t from; /* those from then on; some before it may come too */
	enum list_wish (*visit)(const struct event_line *line, void *data);
	void *data;
};

/* What is served, and how more of it is read. */
struct serve_trace {
	struct session *session; /* finished: of all threads, of all time */
	GPtrArray *paths;        /* strings, as the user gave them */
	/* Finds the events that a question names; the trace is read again for them. */
	bool (*match)(struct session *session, GPtrArray *paths, GError **error);
	/* Goes through events, in the order of all readings. */
	bool (*list)(struct session *session, GPtrArray *paths, const struct event_list *list,
		     GError **error);
	/* Answers a question that needs more than was read, from the trace: to standard output.
	 * Returns the exit status; `heard` gets what was told (owned by the caller). */
	int (*run)(struct options *options, GPtrArray *paths, char **heard);
};

#endif
