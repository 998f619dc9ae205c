/* SPDX-License-Identifier: MIT */
/* Reading LTTng's traces without a library: files in, events out, in the order
 * that the semantics ask for.
 *
 *   directory ─ metadata ─► programs ┐
 *             └ stream files ─ packets ┴─► streams ─ heap by time ─► struct event_sink
 *
 * Place: reader/, beside Babeltrace: the sink cannot tell which one it was. Memory
 * follows the number of packets and event classes, not the traces' length: files are
 * mapped, and let go behind the reading.
 *
 * Ties: the lower host, CPU, stream class and stream first (semantics.md); user space's behind
 * the kernel's, in the order of their traces.
 *
 * A user-space trace is of the host whose kernel trace has its clock. LTTng measures how far
 * that is from the epoch once for each trace, not always the same: times are the clock's own
 * values with the kernel trace's distance.
 */
#ifndef WHYLATE_READER_READER_H
#define WHYLATE_READER_READER_H

#include <glib.h>

#include "event/sink.h"
#include "metadata/types.h"

struct reader;

/* A directory of stream files, and what its metadata says. */
struct trace_directory {
	char *path;                /* owned */
	struct metadata *metadata; /* owned; the reader takes it and leaves NULL */
	bool user;                 /* of a user-space trace */
};
void trace_directory_free(gpointer directory);

/* Packets and metadata of one user-space trace are whole, as far as can be seen without reading
 * its events; else what is wrong with it, for people (to free). */
char *reader_check_user(const GPtrArray *directories);

/* Feeds `sink` (borrowed). `traces`: one GPtrArray of struct trace_directory per trace; several
 * are its chunks. Those of user space come last, and are left out if they cannot be read or are
 * of no host. NULL and `error` (WHYLATE_ERROR_NO_TRACE) if nothing can be read. */
struct reader *reader_new(const struct event_sink *sink, GPtrArray *traces, GError **error);
void reader_free(struct reader *reader);

/* --- one kernel trace, chunk after chunk: reader_new() of no trace, then --------------------- */

/* The next chunk of it (struct trace_directory, as in reader_new()). What is in it comes behind
 * what there was; where a stream ends, it may go on. False: it cannot be read, and is as if it had
 * not been there. */
bool reader_add_chunk(struct reader *reader, GPtrArray *directories, GError **error);
/* Nothing of a chunk to come is before this time (ns): where the first of the newest one's streams
 * ends, as the tracer ends a chunk CPU after CPU. */
int64_t reader_settled(const struct reader *reader);
/* No chunk will come: where a stream ends too early, what is behind that is lost. */
void reader_end_chunks(struct reader *reader);
/* Of the newest chunk; see reader_tell_damage(). */
void reader_tell_chunk_damage(const struct reader *reader);
/* Files that have been read to their ends are closed. */
void reader_forget_chunks(struct reader *reader);

/* --------------------------------------------------------------------------------------------- */

/* Hands on up to `count` events; false when there are no more before `until` (ns). */
bool reader_run(struct reader *reader, uint64_t count, int64_t until);
/* The time (ns) of what is handed on next, INT64_MIN: nothing is. */
int64_t reader_time(const struct reader *reader);

/* The times (ns) of the first event, asked before anything is handed on, and of the last packet's
 * end. */
int64_t reader_begin(struct reader *reader);
int64_t reader_end(const struct reader *reader);
uint64_t reader_bytes(const struct reader *reader); /* of all stream files */

/* How much of the traces' time has been read: 0 to 1, never less than before. */
double reader_done(const struct reader *reader);

/* Hands on the event whose place was noted when the trace was read before. False: it is not
 * there. */
bool reader_take_at(struct reader *reader, const struct event_place *place, GError **error);

/* --- for who moves the streams on himself (skim/) --------------------------------------------- */

GPtrArray *reader_streams(const struct reader *reader); /* borrowed; struct stream */
const struct event_sink *reader_sink(const struct reader *reader);
/* Only kernel traces are read, without call stacks: those of all events belong together. */
bool reader_is_plain(const struct reader *reader);
/* Tells the sink of streams that begin before `until` (ns). */
void reader_tell_begins(struct reader *reader, int64_t until);
/* The streams are where reading is to go on. */
void reader_go_on(struct reader *reader);
/* So many bytes of each file were no records; and are so again. */
GArray *reader_lost_bytes(const struct reader *reader);
void reader_lost_bytes_were(struct reader *reader, GArray *lost);

/* --- events as they were recorded ------------------------------------------------------------ */

struct reader_record {
	int64_t time; /* ns */
	uint32_t host, cpu;
	bool user; /* of a user-space trace */
	const char *name; /* borrowed from the reader */
};

/* Goes back or on: the events from `time` on are next, with some before it. The sink hears nothing
 * of what follows. */
void reader_seek(struct reader *reader, int64_t time);
/* The next event, in the order in which reader_run() hands them on; false: there is none. */
bool reader_next_record(struct reader *reader, struct reader_record *record);
/* Appends the contexts and fields of that one. */
void reader_record_text(const struct reader *reader, GString *text);

/* When all has been read: tells which files were damaged, and how much. */
void reader_tell_damage(const struct reader *reader);

#endif
