/* SPDX-License-Identifier: MIT */
/* The directory of a recording: what is put beside the trace as it is only to be had there, and how
 * it is removed.
 *
 * Place: record/.
 */
#ifndef WHYLATE_RECORD_FOLDER_H
#define WHYLATE_RECORD_FOLDER_H

#include <glib.h>
#include <stdbool.h>

/* The kernel's symbols, if it shows them; says so if not. */
void folder_add_symbols(const char *directory);
/* A file as it is now, under that name. */
void folder_add_copy(const char *directory, const char *from, const char *name);
/* A directory of ours and all below it. */
void folder_remove(const char *directory);

#endif
