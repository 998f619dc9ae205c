/* SPDX-License-Identifier: MIT */
/* Asking the same again after a pause, until the answer is another.
 *
 *   T  ── connect, 78 bytes ──┤ naps ├── the same ──┤ naps ├── the same ──
 *   P       ◄── 130 bytes              ◄── 130                ◄── 126, and T does not ask again
 *
 * What was said is not in a trace, so that this was a wait (for HTTP's 503 to become 200, mail's
 * 450 to become 250) is inferred: from the same question on a connection of its own each time,
 * answered alike twice at least, with little else than pauses between, then otherwise; and from
 * that it is not asked after another pause. Who asks with a period, whatever comes (a health
 * check), asks again; who asks something else between, or only once before, is not told from who
 * thinks between two questions. For all these the pauses stay what they are: its own timer's.
 *
 * Place: net/, over tries/tries.h, which has the pauses; called by questions.c.
 */
#ifndef WHYLATE_NET_ASKED_AGAIN_H
#define WHYLATE_NET_ASKED_AGAIN_H

#include "state/state.h"

/* The talk, of a connection that `thread` (number `index`) made, is over. */
void asked_again(struct flow *flow, uint32_t index, struct talk *talk);

#endif
