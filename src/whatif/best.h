/* SPDX-License-Identifier: MIT */
/* --what-if best: what would save most, alone or two together.
 *
 *   job ┤ waits for left ──────────────┤     left gone: right limits, next to nothing saved
 *       ┤ waits for right ─────────────┤     both gone: nearly all of it
 *
 * Part of whatif/. Tried are what the critical paths of the ways were spent on, and what limits
 * next once one of these is gone; each alone, and each two.
 */
#ifndef WHYLATE_WHATIF_BEST_H
#define WHYLATE_WHATIF_BEST_H

#include "whatif/retime.h"

/* One thing gone, or two. */
struct best {
	GPtrArray *rules; /* owned strings, as --what-if takes them */
	int64_t saved; /* ns */
};

#define WAYS_MAX 1000 /* of more, the longest are made shorter */

/* struct best: what saves most of `ways` (struct way), all of them added up, first; of two together
 * only where they save much more than each alone. May be empty. Free with g_array_unref(). */
GArray *best_find(const struct session *session, const GArray *ways);

#endif
