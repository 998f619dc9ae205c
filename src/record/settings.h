/* SPDX-License-Identifier: MIT */
/* How the recorded system is set up: a file `settings` beside the trace.
 *
 * Place: record/. Text, a line each: KIND, NAME and VALUE, tabs between; man/whylate-record.man
 * lists the kinds. `whylate diff` reads two of them (settings/recorded.h); Babeltrace takes no
 * notice. What may not be read is counted in lines of the kind `note`. Files are told by a digest
 * of what is in them; those that only their owner may read, which have keys and passwords, by
 * nothing.
 */
#ifndef WHYLATE_RECORD_SETTINGS_H
#define WHYLATE_RECORD_SETTINGS_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

/* All that is below `root` ("" for the system's own; tests have small ones). `program`: what is
 * recorded, NULL. */
void settings_write(const char *root, char *const *program, FILE *file);

/* The same into DIRECTORY/settings, with the installed packages. False: it could not be written;
 * the trace is whole without it. */
bool settings_record(const char *directory, char *const *program);

#endif
