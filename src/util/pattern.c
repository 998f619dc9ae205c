/* SPDX-License-Identifier: MIT */
/* Matching; see pattern.h. The last '*' alone need be tried again: what fits the part
 * before it earliest leaves most to the rest. So time is at most the product of the
 * lengths.
 */
#include "util/pattern.h"

#include <glib.h>
#include <stddef.h>
#include <string.h>

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

/* Levenshtein, one row at a time. */
unsigned text_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	g_autofree unsigned *row = g_new(unsigned, m + 1);

	for (size_t j = 0; j <= m; j++)
		row[j] = (unsigned) j;
	for (size_t i = 1; i <= n; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned) i;
		for (size_t j = 1; j <= m; j++) {
			unsigned cost = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = MIN(cost, MIN(row[j], row[j - 1]) + 1);
		}
	}
	return row[m];
}

void nearest_offer(struct nearest *nearest, const char *text)
{
	unsigned distance = text_distance(nearest->wanted, text);

	if (nearest->text && (distance > nearest->distance ||
			      (distance == nearest->distance && strcmp(text, nearest->text) >= 0)))
		return;
	g_free(nearest->text);
	nearest->text = g_strdup(text);
	nearest->distance = distance;
}

char *nearest_words(struct nearest *nearest, const char *before)
{
	g_autofree char *text = g_steal_pointer(&nearest->text);

	if (!text || nearest->distance > strlen(nearest->wanted) / 2)
		return g_strdup("");
	return g_strdup_printf("%s'%s'", before, text);
}
