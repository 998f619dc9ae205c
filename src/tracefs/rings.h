/* SPDX-License-Identifier: MIT */
/* What an instance's rings hold, page by page as the kernel has them, into one file for each CPU.
 *
 * Place: tracefs/, below trace_dat.h. A ring is drained as it fills, by a thread of its own that
 * moves whole pages (splice(2)), so that a page is written once and full; when tracing has been
 * stopped, what is left is read, the last page as far as it is filled. A ring that nobody drains
 * (a flight recorder's) is read only then. Source: Documentation/trace/ring-buffer-design.rst.
 */
#ifndef WHYLATE_TRACEFS_RINGS_H
#define WHYLATE_TRACEFS_RINGS_H

#include <glib.h>
#include <stdbool.h>

struct rings;

/* `instance`: its directory, absolute; `output`: where the files go, ".cpu0", ".cpu1" and so on.
 * Holds the instance until rings_end(): it cannot be removed so long. */
struct rings *rings_open(const char *instance, const char *output, GError **error);
/* From now on they are drained as they fill. */
bool rings_drain(struct rings *rings, GError **error);
/* All that is in them goes to the files; nothing may be tracing meanwhile. False: not all could be
 * written. */
bool rings_finish(struct rings *rings, GError **error);
guint rings_count(const struct rings *rings);
/* Of the CPU in that place: its number, and its file, free with g_free(). */
guint rings_cpu(const struct rings *rings, guint place);
char *rings_file(const struct rings *rings, guint place);
/* Ends the threads, removes the files, lets the instance go. */
void rings_end(struct rings *rings);

#endif
