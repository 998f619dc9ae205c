/* SPDX-License-Identifier: MIT */
/* What is known of requests in words: "used /data.bin". Place: traits/. */
#ifndef WHYLATE_TRAITS_REQUEST_WORDS_H
#define WHYLATE_TRAITS_REQUEST_WORDS_H

#include "traits/request_known.h"
#include "traits/traits.h"

/* To be freed by trait_sentence(). */
struct phrase request_phrase(const struct request_known *known, const struct trait_part *part);
/* The trait as it is told, but for its counts and its sentence. */
struct trait_told *request_told(const struct request_known *known, const struct trait *trait);

#endif
