/* SPDX-License-Identifier: MIT */
/* The outputs that are served: one row each. Place: tsp/. */
#ifndef WHYLATE_TSP_OUTPUTS_H
#define WHYLATE_TSP_OUTPUTS_H

#include "tsp/derived.h"
#include "tsp/asking.h"

/* One state of a row of a time graph. */
struct shown {
	int64_t begin, end;
	uint32_t thread; /* whose state, or who runs there, holds it */
	struct span span; /* a thread's: as it is in the timeline, whole; else of leaf 0 */
	const struct hold *hold; /* a lock's; borrowed, NULL */
	const struct operation *operation; /* an interrupt's; borrowed, NULL */
	int64_t requests; /* a device's: so many at once */
};

struct graph;

/* A row that a client asks for, by its entry's id. */
struct graph_row {
	struct server *server;
	const struct derived *derived; /* critical path; NULL */
	int64_t id;
	uint32_t thread;
	const struct host *host;
	const struct cpu *cpu;
	const struct resource_row *resource; /* interrupt, device */
	const struct lock *lock;
	GArray *holds; /* owned; struct hold by begin, of a lock; NULL */
};

/* A time graph. */
struct graph {
	void (*tree)(struct asking *asking, const struct derived *derived,
		     const struct times *range);
	/* False: there is no row of that id, or it has no states. */
	bool (*row)(struct graph_row *row);
	/* The state that holds `time`, else the next after it; false: there is none. */
	bool (*at)(const struct graph_row *row, int64_t time, struct shown *shown);
	/* Its label and style; `wide`: there is room for words. */
	void (*put)(struct asking *asking, const struct graph_row *row, const struct shown *shown,
		    bool wide);
	void (*arrows)(struct asking *asking, const struct derived *derived,
		       const struct times *range); /* NULL: none */
	/* More of a state; NULL: no more. */
	void (*tell)(struct asking *asking, const struct graph_row *row, const struct shown *shown);
};

extern const struct graph graph_threads, graph_resources, graph_locks, graph_path;

struct output_row {
	const char *id, *name, *description, *type;
	const struct graph *graph; /* of time graphs */
	/* what is taken from a command's JSON: */
	const char *command, *member;
	const char *given[4]; /* option, value, option, value */
	bool queue; /* a chart of how many requests devices had at once */
};

/* graph_resources.c: of trees of time graphs with one column, whose rows are there all the time. */
void graph_header(struct asking *asking, const char *name);
void graph_entry(struct asking *asking, int64_t id, int64_t parent, const char *name,
		 bool has_data);

/* NULL: there is none, and that is said. `type` NULL: any. A derived output has the row of what it
 * is derived from. */
const struct output_row *
output_row_find(struct asking *asking, const char *id, const char *type, struct derived **derived);

/* The ids of entries: a process's is odd, a thread's even. */
int64_t thread_entry(uint32_t thread);

/* styles.c: all of them; the key of a style by what a state is. */
void put_styles(struct asking *asking);
const char *state_style(uint32_t leaf);
void put_style(struct asking *asking, const char *key);

#endif
