/* SPDX-License-Identifier: MIT */
/* Whether groups of rows differ in a number beyond chance: recordings by the value of a setting,
 * and what something cost in each.
 *
 *   group    A    B    A    B   …        ranks of the numbers, added up by group: groups that are
 *   number   12   95   14   88  …        alike have sums that any other arrangement of the labels
 *   rank     1    4    2    3   …        gives as well
 *
 * p is the share of arrangements of the same labels that part the ranks as well (Kruskal and
 * Wallis's sum): all of them where they are few, else of random ones from a fixed seed, until
 * GROUPS_HITS of these did as well. Ranks, so that one number that is far out decides nothing.
 *
 * Place: apart/; knows nothing of traces. Source: Kruskal and Wallis 1952; Besag and Clifford 1991
 * (ending early).
 */
#ifndef WHYLATE_APART_GROUPS_H
#define WHYLATE_APART_GROUPS_H

#include <glib.h>

/* `group[i]` < `groups`, each with a member. `least`: the least p that groups of these sizes can
 * have, however far apart they are; more than what is asked for: they are too few. */
double groups_apart(const double *values, const guint *group, guint count, guint groups,
		    double *least);

/* Holm's correction of p for all that was tried, in place. */
void holm(double *p, guint count);

#endif
