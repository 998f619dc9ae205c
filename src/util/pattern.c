/* SPDX-License-Identifier: MIT */
/* Matching; see pattern.h. The last '*' alone need be tried again: what fits the part
 * before it earliest leaves most to the rest. So time is at most the product of the
 * lengths.
 */
#include "util/pattern.h"

#include <stddef.h>

/* Behind the character at `text`: a byte, and those that go on with it in UTF-8. */
static const char *next_character(const char *text)
{
	text++;
	while (((unsigned char) *text & 0xc0) == 0x80)
		text++;
	return text;
}

bool pattern_match(const char *pattern, const char *text)
{
	const char *star = NULL, *tried = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			tried = text;
		} else if (*pattern == '?') {
			pattern++;
			text = next_character(text);
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++tried;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}
