/* SPDX-License-Identifier: MIT */
/* What a re-timed path was spent on: its pieces, added up.
 *
 * Part of whatif/.
 */
#ifndef WHYLATE_WHATIF_PARTS_H
#define WHYLATE_WHATIF_PARTS_H

#include "whatif/new_path.h"

/* Pieces of one thread that are alike. */
struct part {
	uint32_t thread, leaf;
	uint32_t resource; /* interned: what was waited for; 0: the leaf tells */
	int64_t ns;
};

/* struct part, longest first, of a path (struct new_piece); free with g_array_free(). */
GArray *parts_of(const struct session *session, const GArray *path);

#endif
