/* SPDX-License-Identifier: MIT */
/* The formats' writers, each in a file of its name. A new one is a file export_NAME.c, a line here,
 * one in the table of export.c, and its name in export_command.c.
 *
 * Place: export/, below export.c.
 */
#ifndef WHYLATE_EXPORT_EXPORT_FORMATS_H
#define WHYLATE_EXPORT_EXPORT_FORMATS_H

#include <stdio.h>

#include "export/export_walk.h"

/* False: an error. */
typedef bool export_writer(struct walk *walk, FILE *file, GError **error);

export_writer export_perfetto, export_trace_event, export_speedscope, export_folded, export_pprof;
export_writer export_csv, export_sqlite;
/* All tables, as files of a directory. */
bool export_csv_all(struct walk *walk, const char *directory, GError **error);

#endif
