/* SPDX-License-Identifier: MIT */
/* What a verdict is of: a path, or a part of it, and who is told of as one.
 *
 * Part of path/; the shares, items and sentences of a verdict are made of it.
 */
#ifndef WHYLATE_PATH_TELLING_H
#define WHYLATE_PATH_TELLING_H

#include "path/siblings.h"

struct telling {
	const struct session *session;
	const struct path *path;
	struct siblings siblings; /* threads that are told of as one */
	int64_t from, to;         /* the part of the path */
	int64_t ns;               /* what shares are parts of */
};

#endif
