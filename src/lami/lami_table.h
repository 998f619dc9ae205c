/* SPDX-License-Identifier: MIT */
/* LAMI's tables: a writer over columns (report/columns.h), of those that have a title in `lami`.
 *
 * Place: lami/, below the analyses (lami_*.c), which hand it row after row. A table appears with
 * its first row, and --limit cuts each.
 */
#ifndef WHYLATE_LAMI_LAMI_TABLE_H
#define WHYLATE_LAMI_LAMI_TABLE_H

#include "report/columns.h"

struct lami_table {
	const char *name, *title;
	const struct column *columns;
	const char *unit; /* of columns whose unit is "" */
};

struct lami_writer {
	struct report report;
	const struct lami_table *table; /* the one that rows are of */
	guint rows; /* of it */
};

/* Rows are of this table from now on. */
void lami_begin(struct lami_writer *writer, const struct lami_table *table);
/* --limit leaves out all further rows of this table. */
bool lami_is_full(const struct lami_writer *writer);
/* The next row; left out if the table is full. */
void lami_row(struct lami_writer *writer, const void *row);
/* A table of all these. */
void lami_rows(struct lami_writer *writer, const struct lami_table *table, struct rows rows);
/* After the last table. */
void lami_end(struct lami_writer *writer);

/* In metadata: a member that describes the table. */
void lami_describe(const struct report *report, const struct lami_table *table);

/* Of struct cause: kind, label, and whether it is inferred. */
extern const struct column lami_cause_columns[];
/* Of a whole that is 0 it is not known. */
static inline double lami_ratio(int64_t part, int64_t whole)
{
	return whole > 0 ? (double) part / (double) whole : -1;
}

#endif
