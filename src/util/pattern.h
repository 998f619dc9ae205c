/* SPDX-License-Identifier: MIT */
/* Patterns that users give for names: '*' stands for any text, '?' for one character.
 *
 * Part of util/. Both sides are any bytes: a traced program may cut its name in the
 * middle of a character (comm has 15 bytes), and GLib's g_pattern_match_simple() ends the
 * process on such, or reads past them.
 */
#ifndef WHYLATE_UTIL_PATTERN_H
#define WHYLATE_UTIL_PATTERN_H

#include <glib.h>
#include <stdbool.h>

/* All of `text` fits. */
bool pattern_match(const char *pattern, const char *text);

/* How many characters must be changed, added or left out to make one text of the other. */
unsigned text_distance(const char *a, const char *b);

/* How far a text is from what somebody wrote: what has it in it, or is in it, is near; then what
 * takes few changes to get there. */
unsigned meant_distance(const char *wanted, const char *text);

/* Of many texts those that somebody may have meant by `wanted`: set that, offer all, ask. */
#define NEAREST_MAX 5

struct nearest {
	const char *wanted; /* borrowed */
	struct {
		char *text; /* owned */
		unsigned distance;
	} best[NEAREST_MAX]; /* nearest first; among equals by bytes */
	unsigned kept;
	GHashTable *seen; /* owned; the texts offered; NULL: none */
};
void nearest_offer(struct nearest *nearest, const char *text);
/* Both clear it; free with g_free(). "; did you mean 'TEXT'", with `before` for what stands before
 * the quote; "" where none is near. */
char *nearest_words(struct nearest *nearest, const char *before);
/* "; it has 'A', 'B', 'C', 'D', 'E' and 12 more", nearest first; "" where there are none. */
char *nearest_list(struct nearest *nearest, const char *before);
void nearest_clear(struct nearest *nearest);

#endif
