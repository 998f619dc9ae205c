/* SPDX-License-Identifier: MIT */
/* Lineage and critical path of a target: who had to come to be, and where
 * the time went on the way that led there.
 *
 * Place: path/. Both tile the window exactly. Source: semantics.md,
 * "Window, target and lineage", "Critical path".
 */
#ifndef WHYLATE_PATH_PATH_H
#define WHYLATE_PATH_PATH_H

#include "run/session.h"
#include "waits/wait.h"

#define CHAIN_LONGEST 4096 /* threads that wait for each other in a row and are followed */

/* One ancestor's part of the window. */
struct stretch {
	uint32_t thread;
	int64_t begin, end;
};

/* One piece of the critical path. */
struct piece {
	int64_t begin, end;
	const struct block *block; /* of a blocked piece, else NULL; borrowed */
	uint32_t thread;
	uint32_t leaf, ref;
	int32_t behalf : 31; /* index in path.waits of the wait this is inside, -1 */
	bool woken : 1;
};

/* A wait that the path went through: its thread waited meanwhile. */
struct through {
	uint32_t thread;
	const struct block *block;
	uint32_t leaf;
	int64_t begin, end;
	/* Up to here it led through a thread that waits for several things, and whether what ended
	 * such a wait was for this is not known (several.h); INT64_MIN: nowhere. */
	int64_t undecided;
	int32_t behalf;
};

/* The wait itself. */
struct wait through_wait(const struct through *through);
/* The wait that a piece is, whose `block` is NULL if it is none. */
struct wait piece_wait(const struct piece *piece);
/* Its leaf; where it began on the way back from a call, what the call had left to do (a file's last
 * close, an unmounted file system): with that call's name as its number. For words. */
uint32_t through_leaf(const struct session *session, const struct through *through);

struct path {
	GArray *pieces; /* struct piece, by begin */
	GArray *waits; /* struct through */
	GPtrArray *scratch; /* owned; of who makes it */
};

/* `on_path`: uint32_t, the threads being walked. The thread is among them, or they are too many:
 * then its wait is the end of the path. Each of them is a frame of the stack, and one look here. */
bool path_is_walked(const GArray *on_path, uint32_t thread);

/* struct stretch by begin: the ancestors, the thread itself last. */
GArray *lineage_new(const struct session *session, uint32_t thread, int64_t from, int64_t to);

struct path *path_new(const struct session *session, uint32_t thread, int64_t from, int64_t to);
/* The same in a path that is there: who needs one after the other saves asking for the room. */
void path_renew(struct path *path, const struct session *session, uint32_t thread, int64_t from,
		int64_t to);
/* The same by the thread's own states: what it did between two waits that are one (several.h) is
 * its own, not a part of the wait. */
struct path *path_new_of_states(const struct session *session, uint32_t thread, int64_t from,
				int64_t to);
/* The same put together from several parts, which the caller chooses: from the last to the
 * first, each ending where the one before it begins; then path_whole(). `path` starts from
 * path_empty(). */
struct path *path_empty(void);
void path_extend_back(struct path *path, const struct session *session, uint32_t thread,
		      int64_t from, int64_t to);
void path_whole(struct path *path);
void path_free(struct path *path);

/* What a sentence of a verdict counts: a part of the critical path. */
struct counted {
	guint sentence; /* its place in the verdict */
	uint32_t thread;
	int64_t begin, end;
};

/* "one sentence each, the largest share first", of the part of the path in
 * [from, to); owned strings. `counts`: gets what they count and could be without (struct counted);
 * NULL if nobody asks. */
GPtrArray *verdict_new(const struct session *session, const struct path *path, int64_t from,
		       int64_t to, GArray *counts);

/* The same of several threads together, told of as one: each in its part of the window
 * (struct stretch), of which its shares are parts. */
GPtrArray *verdict_of_several(const struct session *session, const GArray *lives, GArray *counts);

#endif
