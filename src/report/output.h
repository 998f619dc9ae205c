/* Where a report is written: standard output or a file that appears whole.
 *
 * Place: report/. A file is written beside its place under another name and
 * moved there only when all of it is on disk, so that a failure leaves what
 * was there before. What is no regular file is written straight to.
 */
#ifndef WHYLATE_REPORT_OUTPUT_H
#define WHYLATE_REPORT_OUTPUT_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

struct output {
	FILE *file;      /* to write to */
	char *path;      /* owned; NULL: standard output */
	char *temporary; /* owned; name until done; NULL: written straight */
	bool color;
	int width;       /* columns of the terminal, 80 if it is none */
};

/* `path` NULL: standard output. Errors are WHYLATE_ERROR_OUTPUT. */
bool output_open(struct output *output, const char *path, GError **error);
/* Ends the report: all of it is written, or none and an error. */
bool output_commit(struct output *output, GError **error);
/* Drops it; also right after a commit. */
void output_clear(struct output *output);

#endif
