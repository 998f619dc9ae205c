/* SPDX-License-Identifier: MIT */
/* The words of the verdict's sentences: what a thread did, or waited for, how often, how long and
 * until what; and where others waited for it.
 *
 * Part of path/ (path.h). Each adds to `text`; the sentences are put together in verdict.c. How
 * things are called: docs/style.md.
 */
#ifndef WHYLATE_PATH_SHARE_WORDS_H
#define WHYLATE_PATH_SHARE_WORDS_H

#include "path/shares.h"

/* "slept 40 times, 10 to 30 ms each, by its own timer (clock_nanosleep)", by words/deed.h, and what
 * is known besides; `sum`: with how long in all; `before`: the one before in a list of what that
 * thread did, or NULL. */
void append_share(GString *text, const struct session *session, const struct share *share, bool sum,
		  const struct share *before);
/* "nginx (80)", "dig (2 threads)", "poolw-0 (with 5 others)"; the name alone. */
void append_thread(GString *text, const struct telling *telling, uint32_t thread);
void append_name(GString *text, const struct telling *telling, uint32_t thread);
#endif
