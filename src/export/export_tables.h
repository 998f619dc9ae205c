/* SPDX-License-Identifier: MIT */
/* The exports as tables: which there are, their columns, and their rows.
 *
 * Part of export/. One definition for csv and sqlite, which only write cells.
 * Keys are numbers from 1 in the order of the walk; times are ns from the
 * trace's clock origin. whylate-export(1) says what each column means.
 */
#ifndef WHYLATE_EXPORT_EXPORT_TABLES_H
#define WHYLATE_EXPORT_EXPORT_TABLES_H

#include "export/export_walk.h"

enum table {
	TABLE_HOSTS,
	TABLE_THREADS,
	TABLE_INTERVALS,
	TABLE_BLOCKS,
	TABLE_WAKEUPS,
	TABLE_SYSCALLS,
	TABLE_RUNS,
	TABLE_COUNTERS,
	TABLE_COUNTED_RUNS,
	TABLE_COUNT
};

struct export_column {
	const char *name;
	const char *type; /* SQL: "INTEGER NOT NULL" …; of the first one a key */
};

struct table_spec {
	const char *name;
	const struct export_column *columns; /* ends with name NULL */
};

extern const struct table_spec table_specs[TABLE_COUNT];

/* Where rows go: cells from the first column to the last, then the row's end. */
struct row_sink {
	unsigned wanted; /* bit per enum table; no others are made */
	void (*integer)(enum table table, int64_t value, void *data);
	void (*text)(enum table table, const char *value, void *data); /* NULL: no value */
	void (*none)(enum table table, void *data);
	void (*end)(enum table table, void *data);
	void *data;
};

/* All rows of the tables wanted. */
void tables_write(struct walk *walk, const struct row_sink *sink);

#endif
