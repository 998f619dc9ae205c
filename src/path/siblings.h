/* SPDX-License-Identifier: MIT */
/* Processes that one parent started under one name, one after the other: a sum over them says
 * more than sixty of one each.
 *
 *   parent ─┤ wait ├─┤ wait ├─┤ wait ├ …
 *   tiny    ────────┐ ───────┐ ───────┐      sixty of them: one sentence
 *
 * Few of them, such that live beside each other, and threads of one process stay apart, as each
 * may be for something else; but for the workers of a guest's machine, any of which serves the
 * guest's next request.
 *
 * Part of path/ (path.h); for the verdict.
 */
#ifndef WHYLATE_PATH_SIBLINGS_H
#define WHYLATE_PATH_SIBLINGS_H

#include "path/path.h"

struct siblings {
	GHashTable *families; /* owned; parent and name -> struct family */
	GHashTable *crowd;    /* owned; threads that are asked for together; NULL: none are */
	uint32_t first;       /* who stands for these */
	bool differ;          /* … and they have different names */
	bool hosts;           /* … are of different hosts */
	GHashTable *peers;    /* owned; other threads of their processes: name -> struct family */
	GHashTable *pids;     /* owned; these processes */
};

/* Of the path's threads. */
void siblings_init(struct siblings *siblings, const struct session *session,
		   const struct path *path);
/* `threads`, of uint32_t, count as one, for which the first of them stands; so do other threads of
 * their processes that have one name. */
void siblings_add_crowd(struct siblings *siblings, const struct session *session,
			const struct path *path, const GArray *threads);
/* It stands for several that have not one name. */
bool siblings_differ(const struct siblings *siblings, uint32_t thread);
/* … or are not of one host. */
bool siblings_hosts(const struct siblings *siblings, uint32_t thread);
void siblings_clear(struct siblings *siblings);
/* Who stands for `thread`: the first of its siblings on the path; itself if there are none. */
uint32_t siblings_first(const struct siblings *siblings, const struct session *session,
			uint32_t thread);
/* How many threads it stands for: itself and so many. */
guint siblings_count(const struct siblings *siblings, const struct session *session,
		     uint32_t thread);

#endif
