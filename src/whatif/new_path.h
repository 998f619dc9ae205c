/* SPDX-License-Identifier: MIT */
/* The critical path of the re-timed run: what limits next.
 *
 *   recorded   T ──┤ waits for W            ├── T's own     W is late: the path goes through W
 *   re-timed   T ────own────┤W├──             │             W is there sooner: what is left of the
 *                                                           wait is W's, from when T waits now
 *
 * Place: whatif/. As path/path.c, but in the new times: a wait that is gone leads nowhere, and of
 * who is waited for only what lies after the wait's new begin counts. Pieces tile [from, to) of
 * the new times. Source: semantics.md, "What if", "Critical path".
 */
#ifndef WHYLATE_WHATIF_NEW_PATH_H
#define WHYLATE_WHATIF_NEW_PATH_H

#include "whatif/retime.h"

struct new_piece {
	uint32_t thread;
	struct span span; /* as recorded, whole */
	int64_t begin, end; /* new times: of it, what is on the path */
};

/* struct new_piece by begin, of `thread` up to what it reached at `to`, from the new time `from`
 * on. Free with g_array_free(). */
GArray *new_path(const struct session *session, const struct retimed *retimed, guint scenario,
		 uint32_t thread, int64_t from, int64_t to);

#endif
