/* SPDX-License-Identifier: MIT */
/* Patterns that users give for names: '*' stands for any text, '?' for one character.
 *
 * Part of util/. Both sides are any bytes: a traced program may cut its name in the
 * middle of a character (comm has 15 bytes), and GLib's g_pattern_match_simple() ends the
 * process on such, or reads past them.
 */
#ifndef WHYLATE_UTIL_PATTERN_H
#define WHYLATE_UTIL_PATTERN_H

#include <stdbool.h>

/* All of `text` fits. */
bool pattern_match(const char *pattern, const char *text);

/* How many characters must be changed, added or left out to make one text of the other. */
unsigned text_distance(const char *a, const char *b);

/* Of many texts the one that somebody may have meant by `wanted`: set that, offer all, ask. */
struct nearest {
	const char *wanted; /* borrowed */
	char *text; /* owned: the nearest so far; among equals the first by bytes */
	unsigned distance;
};
void nearest_offer(struct nearest *nearest, const char *text);
/* "; the nearest it has is 'TEXT'", with `before` for what stands before the quote; "" where none
 * is near. Clears it. Free with g_free(). */
char *nearest_words(struct nearest *nearest, const char *before);

#endif
