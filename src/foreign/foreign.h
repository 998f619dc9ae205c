/* SPDX-License-Identifier: MIT */
/* Traces of other tracers than LTTng, in files of their own forms: ftrace's (trace.dat) and
 * perf's (perf.data). Files in, events out, as reader/ does with LTTng's packets.
 *
 *   trace.dat ─ ftrace_file ─ pages ────────┐
 *   perf.data ─ perf_file ─── perf_records ─┴► streams, one a CPU ─ heap by time ─► sink
 *                  formats ─► record_classes ─┘  statedump.json ─►
 *
 * Place: foreign/, beside reader/, of which it uses the mapped files. The sink cannot tell which
 * one it was: names are LTTng's (kernel/kernel_events.h), the statedump is told as LTTng's is.
 * What these tracers do not record cannot be known, and is nowhere guessed: what a call's
 * addresses lead to (names of files, poll's lists), packets' headers.
 */
#ifndef WHYLATE_FOREIGN_FOREIGN_H
#define WHYLATE_FOREIGN_FOREIGN_H

#include <glib.h>

#include "event/sink.h"

struct foreign;

/* The file is of one of these forms, by its first bytes. */
bool foreign_is(const char *path);
/* It may be, by its name: it is worth a look at its first bytes. */
bool foreign_may_be(const char *name);

/* Feeds `sink` (borrowed) what the files hold, several of which may be of one host. NULL and
 * `error` (WHYLATE_ERROR_NO_TRACE) if one cannot be read at all. */
struct foreign *foreign_new(const struct event_sink *sink, const GPtrArray *paths, GError **error);
void foreign_free(struct foreign *foreign);

/* Hands on up to `count` events; false when there are no more. */
bool foreign_run(struct foreign *foreign, uint64_t count);
/* How much has been read: 0 to 1. */
double foreign_done(const struct foreign *foreign);
/* When all has been read: tells which files were damaged, and how much. */
void foreign_tell_damage(const struct foreign *foreign);

/* --- events as they were recorded --------------------------------------------------------- */

struct foreign_record {
	int64_t time; /* ns */
	uint32_t host, cpu;
	uint32_t name; /* interned, as the sink's declare() gave it */
};

/* The next event that there is; the sink hears nothing of it. False: there is none. */
bool foreign_next_record(struct foreign *foreign, struct foreign_record *record);
/* Appends the fields of that one. */
void foreign_record_text(const struct foreign *foreign, GString *text);

#endif
