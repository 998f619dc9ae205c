/* SPDX-License-Identifier: MIT */
/* What threads, calls, objects and deeds are called in a sentence.
 *
 * Part of stands/, under sentence.c.
 */
#ifndef WHYLATE_STANDS_WORDS_H
#define WHYLATE_STANDS_WORDS_H

#include "stands/fact.h"

/* "nginx (80)", "nginx (80) on front" */
void append_one(GString *text, const struct session *session, uint32_t thread);
/* "in recvfrom", "in a page fault"; false: there is nothing to say. */
bool append_call(GString *text, const struct session *session, uint32_t leaf);
/* "the disk vda", "the mutex 0x7f…", "127.0.0.1:80"; of a lock its kind is told. */
void append_object(GString *text, const struct session *session, uint32_t object, bool lock);
/* "slept 30.0 ms by its own timer (clock_nanosleep)". */
void append_done(GString *text, const struct session *session, const struct deed *deed);
/* "hog-0 (9)"; of several of one name "threads hog". */
void append_doer(GString *text, const struct session *session, const struct deed *deed);
/* "hog-0 (9), hog-1 (10) and 3 others": who has such deeds, most first; `max` of them. */
void append_doers(GString *text, const struct session *session, const GArray *deeds, enum did did,
		  guint max);
/* How much of a name is left without the number at its end: "hog-"; all of one
 * that stands for a hidden name. */
guint stem_length(const struct session *session, const char *name);

#endif
