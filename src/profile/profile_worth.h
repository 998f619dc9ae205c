/* SPDX-License-Identifier: MIT */
/* What the root causes of peaks would be worth if they were gone: how much less the operations of
 * the peak would take, all together.
 *
 *   read   ├ own ┤ waits for db: db's disk wait ├ db's work ┤      disk gone: the disk wait less
 *   read   ├ own ┤ waits for a timer ├ own ┤                       own gone: nothing less before it
 *
 * Place: profile/, over whatif/worth.h. Source: semantics.md, "What if", Worth.
 */
#ifndef WHYLATE_PROFILE_PROFILE_WORTH_H
#define WHYLATE_PROFILE_PROFILE_WORTH_H

#include "latencies/roots.h"

/* Of the roots that take most time, as many as are re-timed at once. After roots_search(). */
void profile_add_worth(struct profiles *profiles);
/* "Without it, 10.9 ms less."; NULL: not known. Free with g_free(). */
char *root_worth_words(const struct root *root);

#endif
