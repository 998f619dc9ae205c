/* SPDX-License-Identifier: MIT */
/* Items that no lost time of a thread's path tells: deadlocks, events that were lost, and calls
 * that ask again and again without a pause.
 *
 * Place: stands/, for stands.c.
 */
#ifndef WHYLATE_STANDS_EXTRA_ITEMS_H
#define WHYLATE_STANDS_EXTRA_ITEMS_H

#include "stands/stand.h"

/* One of that fact, which it takes; its victim is the fact's. */
struct stand stand_of(struct fact *fact, double weight);
/* Adds them to `items` (struct stand). */
void extra_items(const struct session *session, GArray *items);

#endif
