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

/* --- interrupts and devices: resource_rows.c ------------------------------------------------- */

/* From `time` on a device has so many requests. */
struct depth {
	int64_t time;
	int64_t requests;
};

struct resource_row {
	uint16_t host;
	uint32_t cpu;  /* of an interrupt */
	uint32_t what; /* PACK of operation_kind: IRQ, vector, softIRQ, request served */
	char *name;    /* owned: "irq:25 ahci", "vda" */
	GArray *operations; /* owned; uint32_t by begin: their numbers in the store */
	GArray *depths;     /* owned; struct depth by time, of a device; NULL: interrupts, which
			       come one after the other */
};

/* Owned by the server; struct resource_row: interrupts by host, CPU, kind and number, then
 * devices. */
const GPtrArray *resource_rows(struct server *server);
static inline bool row_is_device(const struct resource_row *row)
{
	return row->depths != NULL;
}
const struct operation *
resource_operation(const struct session *session, const struct resource_row *row, guint i);
/* The depth that holds at `time`; the first, if that begins later. The last
 * is of no requests; a device whose requests took no time has none. */
guint depth_find(const struct resource_row *row, int64_t time);

/* --- tables ---------------------------------------------------------------------------------- */

#define TABLE_COLUMNS 7

struct table_column {
	const char *name, *description, *type;
};

/* What a cell is searched for: a regular expression, as the protocol says, anywhere in it. One
 * without a sign that has a meaning is looked for as it is. Expressions can be made to take any
 * time: of each cell a bounded number of steps is tried, and that this was not enough is said. */
struct line_search {
	const char *text; /* borrowed; NULL: anything is found */
	GRegex *regex; /* owned; NULL: the text as it is */
	bool gave_up; /* of some cell it is not known whether it has it */
};

/* False and `error`: it is no regular expression, or too long. */
bool line_search_init(struct line_search *search, const char *expression, GError **error);
void line_search_clear(struct line_search *search);
bool line_search_finds(struct line_search *search, const char *cell);

/* Which lines of a table are asked for. */
struct asked_lines {
	int64_t index, count;
	int64_t time; /* the first line from then on instead, if timed */
	bool timed;
	int ids[TABLE_COLUMNS];
	guint ids_count;
	struct line_search wanted[TABLE_COLUMNS]; /* owned */
	bool searches; /* some column has an expression */
	bool directed, back; /* the lines begin at the next match, or the one before */
};

/* table_lines.c */
void asked_lines_clear(struct asked_lines *lines);
/* Nothing was found, and of some lines that is not known: refused. */
bool search_gave_up(struct asking *asking, const struct asked_lines *lines);
void table_put_columns(struct asking *asking, const struct table_column *columns);
/* The answer's begin; lines follow, then table_end(). */
void table_begin(struct asking *asking, const struct asked_lines *lines, int64_t low, int64_t size);
void table_end(struct asking *asking);
/* A line of cells' texts, by column; NULL: "". */
void table_put_line(struct asking *asking, const struct asked_lines *lines, int64_t index,
		    char *const *cells, bool matches);
/* tsp_events.c: the table of events. */
#define EVENTS_TABLE "events"
void event_columns(struct asking *asking);
void event_lines(struct asking *asking, struct asked_lines *lines);
void events_index_free(gpointer index);

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
