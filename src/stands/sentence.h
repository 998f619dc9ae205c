/* SPDX-License-Identifier: MIT */
/* Sentences from facts: who waited how long, for whom or what, and what that did meanwhile.
 *
 * Part of stands/. Every way to say a fact in words stands here and in words.c, so that a report
 * in text, the page, JSON and findings cannot tell different things. Style: active voice, the
 * victim first, one amount with one meaning, the chain from the victim to the root.
 */
#ifndef WHYLATE_STANDS_SENTENCE_H
#define WHYLATE_STANDS_SENTENCE_H

#include "stands/stand.h"

/* "high (214) waited 33.8 ms for mutex 0x…"; `locks`: struct contention. Free with g_free(). */
char *stand_sentence(const struct session *session, const struct stand *item, const GArray *locks);

#endif
