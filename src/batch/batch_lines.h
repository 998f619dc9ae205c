/* SPDX-License-Identifier: MIT */
/* Which lines of `whylate batch` count: each trace once, whatever wrote its line twice.
 *
 *   lines of a stray task, a retry, `>>`        counts
 *   A /t/1   could not be read                  no: there is an answer
 *   A /t/1   whole                              yes
 *   A /mnt/t/1   whole                          no: the same trace (repeated)
 *   sum of B, C                                 yes
 *   B /t/2   whole                              no: in the sum (repeated)
 *   sum of B, D                                 refused: B cannot be taken out again (bad line)
 *
 * Place: batch/. A trace is known by its content (`identity`, input/identity.h); where that could
 * not be read, by its path, and then any line of that path stands before it. All files are read
 * twice: once for what is in them, once to add up what was chosen, so that what counts does not
 * depend on the order of lines and files, and memory only has a name for each trace. Of several
 * answers for a trace: what is not damaged, the first by path, then by a checksum of the line.
 *
 * Rejected: adding up at once, and taking out what turns out to be there twice: least and longest
 * cannot be taken out.
 */
#ifndef WHYLATE_BATCH_BATCH_LINES_H
#define WHYLATE_BATCH_BATCH_LINES_H

#include <stdbool.h>
#include <stdio.h>

#include "batch/batch_parts.h"

/* What was wrong with a line, or left out, for people; NULL: nothing is said. */
typedef void lines_say(const char *text);
/* The identity of what lies at a path; NULL: there is nothing. Free with g_free(). */
typedef char *lines_identify(const char *path);

struct batch_lines *batch_lines_new(lines_say *say);
void batch_lines_free(struct batch_lines *lines);
/* Only the traces count that the file names, one a line, as PATH or IDENTITY, a tab, PATH; those
 * that have no line are missing. */
bool batch_lines_expect(struct batch_lines *lines, const char *list, GError **error);
/* Looks into a file; NULL: standard input, which is kept for the second time. */
bool batch_lines_read(struct batch_lines *lines, const char *path, GError **error);
/* Of a file that is open, and stays so until the lines are freed; owned by them. */
bool batch_lines_read_open(struct batch_lines *lines, FILE *file, const char *name, GError **error);
/* Adds up those that count. */
bool batch_lines_add(struct batch_lines *lines, struct batch *batch, lines_identify *identify,
		     GError **error);

#endif
