/* SPDX-License-Identifier: MIT */
/* Handlers of signals in words: what a thread does in one is its own code, but nobody who looks at
 * what it was called for would look there.
 *
 *   own code   ├── work ──┤ handler ├── work ──┤     one stretch in three
 *                     deliver   sigreturn
 *
 * Part of words/. When it is in one: threads/deaths.h.
 */
#ifndef WHYLATE_WORDS_HANDLER_H
#define WHYLATE_WORDS_HANDLER_H

#include "run/session.h"

/* "its handler of signal 14 (SIGALRM)", "… of signal 10 (SIGUSR1), sent by batchd", interned,
 * that the thread is in at that time; 0: none. The same holds until then. */
uint32_t handler_words(const struct session *session, uint32_t thread, int64_t time,
		       int64_t *until);
/* The same of the one in which the thread ran most of its own code in [from, to), and how long,
 * ns. */
uint32_t handler_most(const struct session *session, uint32_t thread, int64_t from, int64_t to,
		      int64_t *ns);

#endif
