/* SPDX-License-Identifier: MIT */
/* A recording that is written in chunks (`lttng rotate`), each reported when it is there.
 *
 *   chunk     |······ 0 ······|······ 1 ······|···
 *   CPU 0     |···············|··············|····
 *   CPU 1     |··············|················|···
 *   reports   ├──── 0 ──────┤├───── 1 ───────┤         up to where the first CPU's ends
 *
 * States run on from one to the next: what a thread waits for, which files it has open. Each costs
 * what is in it, as nothing is read twice: a session (run/) that is fed goes on, a report is made
 * from a copy of it (periodic.h), and what is long past is forgotten (run/stretches.h). What lies
 * behind the first CPU's end belongs to the next report, so that all of them add up to the whole.
 *
 * Place: commands/. Who asks has found the chunks, and runs this in a process of its own. Standard
 * output gets a line for each. User-space traces beside a chunk are not read.
 */
#ifndef WHYLATE_COMMANDS_CHUNKED_H
#define WHYLATE_COMMANDS_CHUNKED_H

#include <glib.h>
#include <stdbool.h>

struct chunked;
struct options;

/* The options are the recording's from now on. NULL and an error: there can be no report. */
struct chunked *chunked_new(struct options *options, GError **error);
void chunked_free(struct chunked *chunked);

/* Reads the next chunk: struct trace_directory, of one kernel trace. False and an error: it was not
 * read, or there is no report of it. */
bool chunked_add(struct chunked *chunked, GPtrArray *directories, GError **error);
/* Reports what is left behind the last chunk's first CPU's end. False: there is nothing, or no
 * report of it. */
bool chunked_end(struct chunked *chunked, GError **error);

#endif
