/* SPDX-License-Identifier: MIT */
/* Exports: what the session knows of threads, in the formats of other tools.
 *
 * Place: export/. export.c has the table of formats; one file a format, all over the walk of
 * export/export_walk.h, with the names of export_names.h:
 *
 *   perfetto, trace-event   timelines           export_perfetto.c, export_trace_event.c
 *   speedscope              flame charts        export_speedscope.c
 *   folded, pprof           sums of stacks      export_folded.c, export_pprof.c, over
 *                                               export_stacks.h
 *   csv, sqlite             tables              export_csv.c, export_sqlite.c, over
 *                                               export_tables.h
 *
 * The format ctf is no walk: it cuts the trace itself (cli/cut.c).
 */
#ifndef WHYLATE_EXPORT_EXPORT_H
#define WHYLATE_EXPORT_EXPORT_H

#include "run/session.h"

/* Writes it where the options say. False without an error: interrupted. */
bool export_write(const struct session *session, GError **error);

#endif
