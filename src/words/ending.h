/* SPDX-License-Identifier: MIT */
/* The end of a thread in words: what the kernel does for a thread that was killed, or whose
 * process exits, is not the program's doing.
 *
 * Part of words/. When it began: threads/deaths.h.
 */
#ifndef WHYLATE_WORDS_ENDING_H
#define WHYLATE_WORDS_ENDING_H

#include "run/session.h"

/* The kernel is ending the thread at that time. */
bool is_ending(const struct session *session, uint32_t thread, int64_t time);
/* "ended by signal 11 (SIGSEGV): the kernel dumped its core through a pipe to coreh (266)",
 * or of a wait in that "blocked while it was ended by signal …". */
void append_ending(GString *text, const struct session *session, uint32_t thread, bool blocked);

#endif
