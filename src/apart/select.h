/* SPDX-License-Identifier: MIT */
/* Medians without sorting: Hoare's selection.
 *
 * Place: apart/; knows nothing of traces. Source: Hoare 1961 (Find).
 */
#ifndef WHYLATE_APART_SELECT_H
#define WHYLATE_APART_SELECT_H

#include <glib.h>

/* Moves the one of these (at least one, no NaN) that has `place` in order there, no larger ones
 * before it and no smaller ones behind. */
void put_in_place(double *values, guint count, guint place);

#endif
