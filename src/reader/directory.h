/* SPDX-License-Identifier: MIT */
/* A directory of stream files with one metadata: what is known of it as a whole.
 *
 * Place: reader/. A trace is one such directory, or several that are its chunks.
 */
#ifndef WHYLATE_READER_DIRECTORY_H
#define WHYLATE_READER_DIRECTORY_H

#include <pthread.h>

#include "event/sink.h"
#include "reader/classes.h"
#include "reader/packets.h"

struct stream_directory {
	char *path;                /* owned */
	struct metadata *metadata; /* owned */
	GPtrArray *files;          /* owned; struct stream_file */
	GPtrArray *tables;         /* owned; struct class_table */
	uint32_t host;
	bool user;                 /* of a user-space trace */
	int64_t offset;            /* ns: raw clock at 1 GHz + this = time */
	uint64_t frequency;
	int64_t offset_cycles, offset_s;
	uint64_t slack;            /* raw: how far events may be past their packet's end */
	pthread_mutex_t lock; /* of the next two: several threads may read */
	bool growth_asked, growing; /* a file had grown when a stream was at its end */
};

/* Takes the metadata. `user`: of a user-space trace. */
struct stream_directory *
stream_directory_new(const char *path, struct metadata *metadata, bool user);
void stream_directory_free(gpointer directory);

/* Paths of all files but the metadata, hidden ones and folders (index/), by name; NULL and an
 * error. */
GPtrArray *stream_names(const char *directory, GError **error);

/* Tells the sink of the host, or finds that of a user-space trace, and then of all classes. False:
 * it is of no host whose kernel was traced. `others`: the directories before it. */
bool directory_join_host(struct stream_directory *directory, const struct event_sink *sink,
			 const GPtrArray *others);

/* Somebody still writes: all files are asked once, when the first stream is at its end, then
 * each one's own. */
bool directory_is_growing(struct stream_directory *directory, const struct stream_file *file);

/* When all has been read: what could not be. */
void directory_tell_damage(const struct stream_directory *directory, const struct event_sink *sink);

#endif
