/* SPDX-License-Identifier: MIT */
/* Who was killed by the kernel to free memory: that is told, whatever it cost whom.
 *
 *   leaky (263) ──┤ killed     leaky (264) ──────┤ killed
 *                 ├─ missing ──┤                 ├─ missing ── …   until it is started again
 *
 * Part of stands/. How it ended: lives/restarts.h.
 */
#ifndef WHYLATE_STANDS_KILLED_H
#define WHYLATE_STANDS_KILLED_H

#include "stands/stand.h"

/* Appends an item for each name of processes that were killed so in the window (struct stand). */
void killed_items(const struct session *session, GArray *items);
void killed_sentence(GString *text, const struct session *session, const struct fact *fact);

#endif
