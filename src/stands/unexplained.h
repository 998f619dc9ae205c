/* SPDX-License-Identifier: MIT */
/* Whose loss the items leave unexplained.
 *
 *   victim ──┤ lost ├──┤ lost     ├─┤ lost ├─   the largest loss; items name less than half of it:
 *               item 1                            that is said before them
 *
 * Part of stands/. The victim is who lost most by the same measure as items are sorted by; small
 * things of many kinds, each too little to stand out, are what is left.
 */
#ifndef WHYLATE_STANDS_UNEXPLAINED_H
#define WHYLATE_STANDS_UNEXPLAINED_H

#include "stands/stand.h"

struct losses;

/* "ledger (265) lost 1.9 s (61 % of its life) to others; what follows explains 0.4 s of it."; NULL:
 * the items explain half of it or more, or it is little. `tracings`: what is no item, as the
 * recording itself may be behind it. Free with g_free(). */
char *unexplained_sentence(const struct session *session, const struct losses *losses,
			   const GArray *items, const GArray *tracings);

#endif
