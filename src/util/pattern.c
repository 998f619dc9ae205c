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

/* One has the other in it: "Xorg" and "/usr/bin/Xorg". */
static bool contains(const char *a, const char *b)
{
	g_autofree char *x = g_ascii_strdown(a, -1), *y = g_ascii_strdown(b, -1);

	return (strlen(x) > 2 && strstr(y, x)) || (strlen(y) > 2 && strstr(x, y));
}

/* Behind the last ':' or '/': "vda" of "device:vda". */
static const char *last_part(const char *text)
{
	for (const char *at = text; *at; at++)
		if ((*at == ':' || *at == '/') && at[1])
			text = at + 1;
	return text;
}

unsigned meant_distance(const char *wanted, const char *text)
{
	if (contains(wanted, text))
		return 1;
	return MIN(text_distance(wanted, text),
		   1 + text_distance(last_part(wanted), last_part(text)));
}

static bool is_nearer(unsigned distance, const char *text, const struct nearest *nearest,
		      unsigned place)
{
	return distance < nearest->best[place].distance ||
	       (distance == nearest->best[place].distance &&
		strcmp(text, nearest->best[place].text) < 0);
}

void nearest_offer(struct nearest *nearest, const char *text)
{
	unsigned distance, place;

	if (!nearest->seen)
		nearest->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	if (g_hash_table_contains(nearest->seen, text))
		return;
	g_hash_table_add(nearest->seen, g_strdup(text));
	distance = meant_distance(nearest->wanted, text);
	place = nearest->kept;
	while (place > 0 && is_nearer(distance, text, nearest, place - 1))
		place--;
	if (place == NEAREST_MAX)
		return;
	if (nearest->kept == NEAREST_MAX)
		g_free(nearest->best[--nearest->kept].text);
	memmove(&nearest->best[place + 1], &nearest->best[place],
		(nearest->kept - place) * sizeof nearest->best[0]);
	nearest->best[place].text = g_strdup(text);
	nearest->best[place].distance = distance;
	nearest->kept++;
}

void nearest_clear(struct nearest *nearest)
{
	for (unsigned i = 0; i < nearest->kept; i++)
		g_free(nearest->best[i].text);
	nearest->kept = 0;
	g_clear_pointer(&nearest->seen, g_hash_table_destroy);
}

char *nearest_words(struct nearest *nearest, const char *before)
{
	bool near = nearest->kept && nearest->best[0].distance <= strlen(nearest->wanted) / 2;
	char *words =
		near ? g_strdup_printf("%s'%s'", before, nearest->best[0].text) : g_strdup("");

	nearest_clear(nearest);
	return words;
}

char *nearest_list(struct nearest *nearest, const char *before)
{
	GString *list = g_string_new(nearest->kept ? before : "");
	guint more = nearest->seen ? g_hash_table_size(nearest->seen) - nearest->kept : 0;

	for (unsigned i = 0; i < nearest->kept; i++)
		g_string_append_printf(list, "%s'%s'",
				       !i                                ? ""
				       : i + 1 == nearest->kept && !more ? " and "
									 : ", ",
				       nearest->best[i].text);
	if (more)
		g_string_append_printf(list, " and %u more", more);
	nearest_clear(nearest);
	return g_string_free(list, FALSE);
}
