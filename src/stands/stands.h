/* SPDX-License-Identifier: MIT */
/* What stands out in a trace: at most five items, the most important first, each a sentence.
 *
 * Place: stands/. Whoever lost much of its life to others is a victim; what it lost is put down
 * to roots, over the chains of its waits (path.h), and each root is an item. What counts as a
 * wait is imposed/waiting.h's to say. Rules: docs/semantics.md, "What stands out".
 */
#ifndef WHYLATE_STANDS_STANDS_H
#define WHYLATE_STANDS_STANDS_H

#include "stands/stand.h"

struct waiting;

/* The item at that place to the end of another list. */
void stands_move(GArray *items, guint place, GArray *to);
struct stands *stands_new(const struct session *session, const struct waiting *waiting);
void stands_free(struct stands *stands);

#endif
