/* SPDX-License-Identifier: MIT */
/* Which functions ran while operations of a peak did what their time went to, as samples have it.
 *
 *   read  ├ own ─┬── tick ──┤ waits for db: db's work ┬── tick ──┤ own ┤
 *                clear_page                           parse
 *
 * Place: profile/, over latencies/roots.h and samples/. A sample counts once for a root, also where
 * several operations waited for the same work.
 */
#ifndef WHYLATE_PROFILE_PROFILE_FUNCTIONS_H
#define WHYLATE_PROFILE_PROFILE_FUNCTIONS_H

#include "latencies/roots.h"

/* Of the roots that take most time, as many as can be asked for at once. After roots_search(). */
void profile_add_functions(struct profiles *profiles);
/* "In its samples: 61 ± 9 % in burn (work.c:29), called from load_theme; 113 samples."; NULL: too
 * few. Free with g_free(). */
char *root_functions_words(const struct root *root);

#endif
