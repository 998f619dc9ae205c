/* SPDX-License-Identifier: MIT */
/* The root that a piece of a critical path is put down to.
 *
 *   victim ──┤ waits for a lock              ├──      the lock, as deep in the chain as there is
 *   holder ────────┤ waits for the disk  ├──          one; else what the wait's reason names; else
 *                                                     the device, the CPU, or what a thread did
 *
 * Part of stands/, between path.h and victims.c.
 */
#ifndef WHYLATE_STANDS_ROOT_H
#define WHYLATE_STANDS_ROOT_H

#include "stands/fact.h"

struct root {
	uint8_t kind; /* enum stand_kind; STAND_KIND_COUNT: it is the victim's own, or not known */
	bool inferred;
	uint8_t stuck; /* enum stuckness (stuck.h): a wait that never got what it was for */
	uint32_t subject; /* thread, NO_THREAD */
	uint32_t object; /* interned key, 0 */
	guint links; /* of the chain, so many lead to it */
	uint32_t last; /* who the last of these links leads to */
	bool pinned; /* a CPU was idle, and forbidden to who waited */
	struct deed deed; /* what happened in the piece */
	struct wait told; /* its wait, if it is one; block NULL */
};

/* `chain`: places in path->waits, the victim's first; `links` of them. */
struct root root_of(const struct session *session, const struct path *path,
		    const struct piece *piece, const int32_t *chain, guint links);
/* It tells what the wait was for, and not only how long a packet took or an answer was due; false
 * of NULL. */
bool reason_says_more(const struct reason *reason);

#endif
