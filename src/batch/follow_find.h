/* SPDX-License-Identifier: MIT */
/* What has come to directories since they were looked at last, and is complete.
 *
 *   SESSION/archives/CHUNK             when it is there: LTTng renames it when it has written it
 *   SESSION/kernel beside archives,    never: the chunk that is being written
 *   SESSION/BEGIN-NUMBER
 *   any other trace (batch_find.h)     when two looks found the same files, which nobody changed
 *                                      for two seconds; what is renamed into place counts as well
 *
 * Names that begin with a dot are left alone: LTTng's own while it rotates, and those of whoever
 * copies. Place: batch/.
 */
#ifndef WHYLATE_BATCH_FOLLOW_FIND_H
#define WHYLATE_BATCH_FOLLOW_FIND_H

#include <glib.h>

struct follow_find;

/* `session`: whose chunk the trace is; NULL: it is one by itself. */
typedef void follow_found(void *data, const char *session, const char *trace);

struct follow_find *follow_find_new(void);
void follow_find_free(struct follow_find *find);
/* Calls `found` for each that is new, in order of name, chunks in theirs. */
void follow_find_look(struct follow_find *find, const char *root, follow_found *found, void *data);

#endif
