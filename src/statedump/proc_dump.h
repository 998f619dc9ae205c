/* SPDX-License-Identifier: MIT */
/* What there was when a recording began, for tracers that do not tell: a file `statedump.json`
 * beside the trace, of what /proc says.
 *
 *   {"schema": "whylate-statedump-1", "tracer": "ftrace", "clock": "mono",
 *    "begin": {"monotonic": …, "boottime": …, "realtime": …}, "end": {…},
 *    "host": {…},
 *    "processes": [ {"pid": 1, "time": …, "threads": […], "files": […]}, … ],
 *    "sockets": […], "block_devices": […], "interrupts": […], "interfaces": […], "notes": […]}
 *
 * Place: statedump/. A record has a line; whylate-record(1) says what each member means. LTTng
 * tells the same by events (lttng_statedump_*). Each process has the time when it was read, as all
 * goes on meanwhile: what the trace shows besides wins. What cannot be read is told by a note.
 */
#ifndef WHYLATE_STATEDUMP_PROC_DUMP_H
#define WHYLATE_STATEDUMP_PROC_DUMP_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

#define STATEDUMP "statedump.json"

/* All that is below `root` ("" for the system's own; tests have small ones). False: not written. */
bool statedump_write(const char *root, const char *tracer, FILE *file);
/* The same into DIRECTORY/statedump.json. */
bool statedump_record(const char *directory, const char *tracer, GError **error);

#endif
