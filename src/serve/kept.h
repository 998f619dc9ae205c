/* SPDX-License-Identifier: MIT */
/* Answers that took long, for whoever asks the same: KEPT_BYTES of them, those that were used last.
 *
 * Place: serve/. A key is what was asked, byte for byte.
 */
#ifndef WHYLATE_SERVE_KEPT_H
#define WHYLATE_SERVE_KEPT_H

#include "serve/worker.h"

struct kept_answers {
	GQueue list; /* struct kept, owned; used last first */
	size_t bytes;
};

void kept_init(struct kept_answers *kept);
void kept_clear(struct kept_answers *kept);
/* What is to be cleared by answer_clear(); false: it is not there. */
bool kept_find(struct kept_answers *kept, const char *key, struct answer *answer);
/* If it is an answer, and not too large. */
void kept_add(struct kept_answers *kept, const char *key, const struct answer *answer);

#endif
