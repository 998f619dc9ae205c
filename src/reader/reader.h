/* Reading LTTng's traces without a library: files in, events out, in the order
 * that the semantics ask for.
 *
 *   directory ─ metadata ─► programs ┐
 *             └ stream files ─ packets ┴─► streams ─ heap by time ─► session_event()
 *
 * Place: reader/, beside Babeltrace: the session cannot tell which one it was. Memory
 * follows the number of packets and event classes, not the traces' length: files are
 * mapped, and let go behind the reading.
 *
 * Ties: the lower host, CPU, stream class and stream first (semantics.md).
 */
#ifndef WHYLATE_READER_READER_H
#define WHYLATE_READER_READER_H

#include <glib.h>

#include "analysis/session.h"
#include "reader/types.h"

struct reader;

/* A directory of stream files, and what its metadata says. */
struct trace_directory {
	char *path;                /* owned */
	struct metadata *metadata; /* owned; the reader takes it and leaves NULL */
};
void trace_directory_free(gpointer directory);

/* `traces`: one GPtrArray of struct trace_directory per trace; several are its chunks.
 * NULL and `error` (WHYLATE_ERROR_NO_TRACE) if nothing can be read. */
struct reader *reader_new(struct session *session, GPtrArray *traces, GError **error);
void reader_free(struct reader *reader);

/* Hands on up to `count` events; false when there are no more. */
bool reader_run(struct reader *reader, uint64_t count);

/* For a session that has all events but those that its filters name: tells it of these, as
 * their places were noted. False without an error: they were not, read on. */
bool reader_match_places(struct reader *reader, GError **error);

/* When all has been read: tells the session which files were damaged, and how much. */
void reader_tell_damage(const struct reader *reader);

#endif
