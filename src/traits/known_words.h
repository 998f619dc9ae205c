/* SPDX-License-Identifier: MIT */
/* What is known of operations in words: "returned 0 (no more entries)". Place: traits/. */
#ifndef WHYLATE_TRAITS_KNOWN_WORDS_H
#define WHYLATE_TRAITS_KNOWN_WORDS_H

#include "apart/line_fit.h"
#include "traits/known_of.h"
#include "traits/traits.h"

/* "were the first of their thread", "were number 5 or later …". */
struct phrase phrase_nth(const struct trait_part *part, const char *whose);
/* "began within 5 ms after …"; a number of ns. */
struct phrase phrase_time(const struct trait_part *part, const char *after);

/* `operation`: as profiles call it. To be freed by trait_sentence(). */
struct phrase known_phrase(const struct session *session, const char *operation,
			   const struct known_fields *fields, const struct trait_part *part);
/* "count: 2.1 µs a KiB, 83 % of the variance"; free with g_free(). */
char *known_slope(const struct session *session, const struct profile *profile,
		  const struct known_fields *fields, guint column, const struct line_fit *fit);
/* The trait as it is told, but for its counts and its sentence. */
struct trait_told *known_told(const struct session *session, const struct known_fields *fields,
			      const struct trait *trait);

#endif
