/* SPDX-License-Identifier: MIT */
/* Answers to further questions about a trace: images of sessions (trace/image.h) in a
 * directory of the user's.
 *
 *   paths ─ identity.c ─► key ─► DIR/KEY.image ─► a session with all events
 *                                      ▲
 *     a session that was read ─────────┘ under another name first, then renamed
 *
 * What is in the key: each directory with a trace below the paths, in order: what its
 * metadata says, and name, size and time of change of each stream file and index; the
 * command's program (version, size, time of change); --clock-offset. Paths are not.
 *
 * What is in the directory is believed if it is the user's own, nobody else may write it, and
 * its checksum is right. Nothing here is an error: without a cache the trace is read.
 *
 * Place: input/.
 */
#ifndef WHYLATE_INPUT_CACHE_H
#define WHYLATE_INPUT_CACHE_H

#include "trace/image.h"
#include "run/options.h"
#include "run/session.h"

struct cache;

/* Where the options have it kept, whether or not it is there; NULL: nowhere. Free with g_free(). */
char *cache_directory(const struct options *options);
/* Where images of these traces will be kept, made if it is not there; NULL: nowhere. Free with
 * g_free(). */
char *cache_place(const struct options *options, const GPtrArray *paths);
/* NULL: --cache off, or not worth it. */
struct cache *cache_new(const struct options *options, GPtrArray *paths);
void cache_free(struct cache *cache);

/* When what is read of the traces can be kept (ns since 1970): what was just written may change
 * once more without being seen to. */
int64_t cache_settles(const struct cache *cache);
/* The traces are those in these directories (strings), in that order, and no others. */
bool cache_is_of(const struct cache *cache, const GPtrArray *directories);

/* A session with all events of the traces, to be freed; NULL: there is none. */
struct session *cache_session(struct cache *cache, struct options *options);

/* Keeps what was read directly of the traces. `session` was gathered. */
void cache_keep(struct cache *cache, const struct session *session);
/* The traces are those of `now`: if they have an image, the one from before goes. */
void cache_replaced(const struct cache *before, const struct cache *now);

#endif
