/* SPDX-License-Identifier: MIT */
/* LAMI 1.0, the LTTng analyses' machine interface: whylate's tables for Trace Compass and
 * others that run analyses as programs of their own.
 *
 *   whylate-lami-NAME --mi-version, --metadata, --test-compatibility TRACE   cli/lami_programs.c
 *   whylate-lami-NAME [--begin NS] [--end NS] [--limit N] TRACE              tables, here
 *
 *   lami.c ─► lami_threads.c, lami_path.c, …  the analyses, their columns ─► lami_table.c, cells
 *
 * Place: lami/, one more form of what the commands report: each analysis is run by the
 * command that gathers what it needs, and its figures are that command's. Source: the
 * specification lttng/lami-spec 1.0.1; what Trace Compass makes of it (LamiAnalysis.java):
 * a row's cells are of their columns' classes, or empty, or unknown.
 */
#ifndef WHYLATE_LAMI_LAMI_H
#define WHYLATE_LAMI_LAMI_H

#include "lami/lami_analysis.h"

/* The analysis of that name, NULL; by number for lists. */
const struct lami_analysis *lami_find(const char *name);
const struct lami_analysis *lami_nth(guint number);

/* What it is and which tables it has: a JSON object, in one line. */
void lami_metadata(const struct lami_analysis *analysis, FILE *file);
/* The error object. */
void lami_error(const char *message, int code, FILE *file);
/* All tables that have a row. False: an error, and nothing was written. */
bool lami_write(const struct session *session, FILE *file, GError **error);

#endif
