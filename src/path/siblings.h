/* SPDX-License-Identifier: MIT */
/* Processes that one parent started under one name, one after the other: a sum over them says
 * more than sixty of one each.
 *
 * Part of path/ (path.h); for the verdict.
 */
#ifndef WHYLATE_PATH_SIBLINGS_H
#define WHYLATE_PATH_SIBLINGS_H

#include "run/session.h"

struct siblings {
	GHashTable *first; /* owned; parent and name -> the first one met */
};

void siblings_init(struct siblings *siblings);
void siblings_clear(struct siblings *siblings);
/* Who stands for `thread`: the first process met of its parent and name; itself for all but
 * processes that were seen born. Threads of one process stay apart: they are few, and live long. */
uint32_t siblings_first(struct siblings *siblings, const struct session *session, uint32_t thread);

#endif
