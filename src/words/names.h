/* SPDX-License-Identifier: MIT */
/* What threads, calls and objects are called in a sentence.
 *
 * Part of words/. How things are called: docs/style.md.
 */
#ifndef WHYLATE_WORDS_NAMES_H
#define WHYLATE_WORDS_NAMES_H

#include "run/session.h"

/* "nginx (80)", "nginx (80) on front" */
void append_one(GString *text, const struct session *session, uint32_t thread);
/* How much of a name is left without the number at its end: "hog-"; all of one
 * that stands for a hidden name. */
guint stem_length(const struct session *session, const char *name);

/* " on /data.bin", " on futex 0x55aa"; nothing where the call says it all. */
void append_on(GString *text, const struct session *session, uint32_t resource);
/* "read on /av/1", "a page fault", "its end" */
void append_where(GString *text, const struct session *session, uint32_t leaf, uint32_t resource,
		  bool ending);
/* "in recvfrom ", "in a page fault ", also of work in a call; nothing where there is no place. */
void append_in(GString *text, const struct session *session, uint32_t leaf, bool ending);
/* As what a wait is for: "the disk vda", "127.0.0.1:80"; as a lock: "the lock of /run/x". */
void append_object(GString *text, const struct session *session, uint32_t object, bool lock);

#endif
