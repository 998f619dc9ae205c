/* SPDX-License-Identifier: MIT */
/* The sum of lines of `whylate batch` (--merge, and what a run of its own adds up to).
 *
 * Place: fleet/. */
#ifndef WHYLATE_FLEET_FLEET_SUM_H
#define WHYLATE_FLEET_FLEET_SUM_H

#include <glib.h>
#include <stdio.h>

#include "batch/batch_lines.h"
#include "run/options.h"

/* Its standard output, or --output, is what the traces add up to, as text. */
bool batch_prints_text(const struct options *options);
/* A temporary file for the lines of this run. */
FILE *batch_sum_lines(GError **error);
/* What it needs of whoever asks. */
struct batch_host {
	lines_say *say; /* NULL: --quiet */
	lines_identify *identify;
};

/* Adds up lines, writes and tells the sum as the options say: `kept` (taken) or, if it is NULL,
 * those of the files, or of standard input if there are none. Returns its status. */
int batch_sum(const struct options *options, GPtrArray *paths, FILE *kept,
	      const struct batch_host *host, GError **error);

#endif
