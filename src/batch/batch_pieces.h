/* SPDX-License-Identifier: MIT */
/* Lines of `whylate batch` as they come from files that many writers shared: cut where one begins,
 * and without ever having all traces of a sum in memory.
 *
 *   {"schema":"whylate-batch-1", … }\n          a line
 *   {"schema":"whyla{"schema":"whylate-batch-1", … }\n       a torn one, and a line behind it
 *   {"schema":"whylate-batch-1", … ,"traces":[{…},{…}]}\n    a sum: {…} one by one, then the rest
 *
 * Place: batch/. A line ends with a newline, or where another begins: no JSON text has those bytes
 * inside, as a quote in a string is escaped. What is not whole is left for the parser of JSON to
 * refuse.
 */
#ifndef WHYLATE_BATCH_BATCH_PIECES_H
#define WHYLATE_BATCH_BATCH_PIECES_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

struct pieces {
	FILE *file;     /* borrowed */
	guint line;     /* in which the last piece ended */
	GString *text;  /* owned; the last piece, but for what is in its list of traces */
	/* … which goes here, one after the other, before the piece is there */
	void (*entry)(void *data, const char *text, size_t length);
	void *data;
	GString *inside; /* owned; of that list */
	GString *next;   /* owned; the begin of the next piece, met in this line */
	guint depth;     /* of open brackets */
	bool in_string, escaped, in_traces;
};

void pieces_begin(struct pieces *pieces, FILE *file);
void pieces_clear(struct pieces *pieces);
/* Takes the next piece that is not empty; false: the file has ended. */
bool pieces_next(struct pieces *pieces);

#endif
