/* SPDX-License-Identifier: MIT */
/* What is analysed by one process of `whylate batch`: a directory that `whylate` takes as one
 * trace. */
#ifndef WHYLATE_BATCH_BATCH_FIND_H
#define WHYLATE_BATCH_BATCH_FIND_H

#include <glib.h>

/* Appends the traces at or below `path`, in order of name, each once; what holds none, or cannot be
 * looked into, is appended itself: its line says what is wrong. */
void batch_find(GPtrArray *traces, const char *path);

#endif
