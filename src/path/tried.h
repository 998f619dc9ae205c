/* SPDX-License-Identifier: MIT */
/* Waits of the path that were tries of something (tries/tries.h), put together: what was tried,
 * for whom, and all the time that it took, as many short naps add up to one wait.
 *
 *   T  ┤ nap: P computes ├ try ✗ ┤ nap: P computes, sleeps ├ try ✗ ┤ nap │P is done │ ├ try ✓
 *      └──────────── ns: of the pieces below it, and of the rest ───────────┘└── rest ──┘
 *
 * Place: path/, for the verdict.
 */
#ifndef WHYLATE_PATH_TRIED_H
#define WHYLATE_PATH_TRIED_H

#include "path/telling.h"

struct tried {
	const struct reason *reason; /* of the first of these waits */
	uint32_t waiter, leaf, resource;
	int32_t above; /* the wait for the waiter, in path.waits; -1: none */
	uint32_t last, more; /* for whom the newest was; so many others like that one */
	int64_t ns;
	int64_t rest; /* … after the difference was made: up to the next try */
};

/* Adds the piece to the list of struct tried that it is part of, the outermost: its place, from
 * 1; 0: none. */
uint32_t tried_add(GArray *list, const struct telling *telling, const struct piece *piece);

#endif
