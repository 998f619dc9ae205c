/* SPDX-License-Identifier: MIT */
/* Processes that one parent started under one name, one after the other: a sum over them says
 * more than sixty of one each.
 *
 *   parent ─┤ wait ├─┤ wait ├─┤ wait ├ …
 *   tiny    ────────┐ ───────┐ ───────┐      sixty of them: one sentence
 *
 * Few of them, such that live beside each other, and threads of one process stay apart, as each
 * may be for something else.
 *
 * Part of path/ (path.h); for the verdict.
 */
#ifndef WHYLATE_PATH_SIBLINGS_H
#define WHYLATE_PATH_SIBLINGS_H

#include "path/path.h"

struct siblings {
	GHashTable *families; /* owned; parent and name -> struct family */
};

/* Of the path's threads. */
void siblings_init(struct siblings *siblings, const struct session *session,
		   const struct path *path);
void siblings_clear(struct siblings *siblings);
/* Who stands for `thread`: the first of its siblings on the path; itself if there are none. */
uint32_t siblings_first(const struct siblings *siblings, const struct session *session,
			uint32_t thread);

#endif
