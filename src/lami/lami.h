/* SPDX-License-Identifier: MIT */
/* LAMI 1.0, the LTTng analyses' machine interface: whylate's tables for Trace Compass and
 * others that run analyses as programs of their own.
 *
 *   whylate-lami-NAME --mi-version, --metadata, --test-compatibility TRACE   cli/lami_programs.c
 *   whylate-lami-NAME [--begin NS] [--end NS] [--limit N] TRACE              tables, here
 *
 * Place: lami/, one more form of what the commands report: each analysis is run by the
 * command that gathers what it needs, and its figures are that command's. Source: the
 * specification lttng/lami-spec 1.0.1; what Trace Compass makes of it (LamiAnalysis.java):
 * a row's cells are of their columns' classes, or empty, or unknown.
 */
#ifndef WHYLATE_LAMI_LAMI_H
#define WHYLATE_LAMI_LAMI_H

#include <jansson.h>
#include <stdio.h>

#include "run/session.h"

/* Classes of data. A mixed column takes any. */
enum lami_class {
	LAMI_MIXED,
	LAMI_STRING,
	LAMI_NUMBER,
	LAMI_RATIO,
	LAMI_BOOL,
	LAMI_DURATION,
	LAMI_TIME_RANGE,
	LAMI_PROCESS,
	LAMI_SYSCALL,
	LAMI_IRQ,
	LAMI_DISK,
	LAMI_PATH,
};

struct lami_column {
	const char *title;
	enum lami_class class;
	const char *unit; /* of numbers, NULL */
};

#define LAMI_COLUMNS 16
struct lami_table {
	const char *name, *title;
	struct lami_column columns[LAMI_COLUMNS]; /* up to one without a title */
};

struct lami_report;

struct lami_analysis {
	const char *name;        /* whylate-lami-NAME */
	const char *title, *description;
	const char *tags[4];
	const char *command;     /* that gathers what it needs */
	bool of_threads;         /* … and must be told of which: of all, where none is named */
	const char *operations;  /* profile: patterns if none are asked for, spaces between */
	enum event_kind needs[4]; /* it has nothing to say of a trace that has none of these */
	const struct lami_table *tables[6];
	bool (*write)(struct lami_report *report, GError **error);
};

/* The analysis of that name, NULL; by number for lists. */
const struct lami_analysis *lami_find(const char *name);
const struct lami_analysis *lami_nth(guint number);

/* What it is and which tables it has: a JSON object, in one line. */
void lami_metadata(const struct lami_analysis *analysis, FILE *file);
/* The error object. */
void lami_error(const char *message, int code, FILE *file);
/* All tables that have a row. False: an error, and nothing was written. */
bool lami_write(const struct session *session, FILE *file, GError **error);

/* --- for the writers of tables ------------------------------------------------------------- */

struct lami_report {
	const struct session *session;  /* borrowed */
	FILE *file;
	const struct lami_table *table; /* the one that rows are of */
	uint64_t rows;                  /* of it */
	guint cells;                    /* of the row */
	bool any;         /* a table was begun */
};

/* Rows are of this table from now on; it appears with the first of them. */
void lami_begin(struct lami_report *report, const struct lami_table *table);
/* A new row; false: --limit leaves it and all further ones out. */
bool lami_row(struct lami_report *report);

/* The row's next cell. */
void lami_empty(struct lami_report *report);
void lami_unknown(struct lami_report *report);
/* NULL: empty. */
void lami_string(struct lami_report *report, const char *text);
void lami_number(struct lami_report *report, uint64_t number);
void lami_ratio(struct lami_report *report, int64_t part, int64_t whole);
void lami_bool(struct lami_report *report, bool value);
/* ns; negative: not known. */
void lami_duration(struct lami_report *report, int64_t ns);
/* Working, Interrupted, Blocked, Unknown: four cells; `wib`: ns by enum wib. */
void lami_wib(struct lami_report *report, const int64_t *wib);
#define LAMI_WIB_ORDER WIB_WORKING, WIB_INTERRUPTED, WIB_BLOCKED, WIB_UNKNOWN
#define LAMI_WIB_COLUMNS                                                                           \
	{"Working", LAMI_DURATION, NULL}, {"Interrupted", LAMI_DURATION, NULL},                    \
		{"Blocked", LAMI_DURATION, NULL},                                                  \
	{                                                                                          \
		"Unknown", LAMI_DURATION, NULL                                                     \
	}
void lami_time_range(struct lami_report *report, int64_t begin, int64_t end);
/* NO_THREAD: empty. */
void lami_process(struct lami_report *report, uint32_t thread);
void lami_syscall(struct lami_report *report, const char *name);
void lami_irq(struct lami_report *report, bool hard, uint32_t number, const char *name);
void lami_disk(struct lami_report *report, const char *name);
/* An interned key, 0: empty. Files are paths, devices disks, others "KIND:NAME". */
void lami_resource(struct lami_report *report, uint32_t resource);
/* Kind, label, and whether it is inferred: three cells. */
struct cause;
void lami_cause(struct lami_report *report, const struct cause *cause);
#define LAMI_CAUSE_COLUMNS                                                                         \
	{"Ended by", LAMI_STRING, NULL}, {"Which was", LAMI_STRING, NULL},                         \
	{                                                                                          \
		"Inferred", LAMI_BOOL, NULL                                                        \
	}

/* lami_threads.c, lami_path.c, lami_locks.c, lami_operations.c, lami_requests.c */
extern const struct lami_table lami_waits, lami_imposed, lami_each_wait, lami_threads, lami_states;
extern const struct lami_table lami_path_threads, lami_path_kinds, lami_steps;
extern const struct lami_table lami_locks, lami_holders, lami_deadlocks;
extern const struct lami_table lami_syscalls, lami_operations, lami_peaks, lami_roots;
extern const struct lami_table lami_queued, lami_served, lami_block_requests;
extern const struct lami_table lami_irqs, lami_softirqs, lami_vectors, lami_callbacks;
extern const struct lami_table lami_requests, lami_causes;
bool lami_write_blocked(struct lami_report *report, GError **error);
bool lami_write_waits(struct lami_report *report, GError **error);
bool lami_write_states(struct lami_report *report, GError **error);
bool lami_write_path(struct lami_report *report, GError **error);
bool lami_write_locks(struct lami_report *report, GError **error);
bool lami_write_latencies(struct lami_report *report, GError **error);
bool lami_write_peaks(struct lami_report *report, GError **error);
bool lami_write_block(struct lami_report *report, GError **error);
bool lami_write_interrupts(struct lami_report *report, GError **error);
bool lami_write_requests(struct lami_report *report, GError **error);

#endif
