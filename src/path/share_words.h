/* SPDX-License-Identifier: MIT */
/* The words of the verdict's sentences: what a share's thread did or waited for, how often, what
 * ended it, and where others waited for it.
 *
 * Part of path/ (path.h). Each adds to `text`; the sentences are put together in verdict.c.
 */
#ifndef WHYLATE_PATH_SHARE_WORDS_H
#define WHYLATE_PATH_SHARE_WORDS_H

#include "path/shares.h"

/* "was blocked in read on file:/av/1" */
void append_what(GString *text, const struct session *session, const struct share *share);
/* " 25 times (1.0 ms to 2.0 ms)", if it was several waits */
void append_times(GString *text, const struct share *share);
/* ", ended by disk vda", if it was waits */
void append_cause(GString *text, const struct session *session, const struct share *share);
/* "nginx (80)" */
void append_thread(GString *text, const struct session *session, uint32_t thread);
/* "read on file:/av/1", "a page fault", "its end" */
void append_where(GString *text, const struct session *session, uint32_t leaf, uint32_t resource,
		  bool ending);
/* ", until /run/ready was there": what the wait was for, if its reason says more; or that it was
 * given up. */
void append_clause(GString *text, const struct session *session, const struct block *block);

#endif
