/* SPDX-License-Identifier: MIT */
/* See times.h. */
#include "words/times.h"

#include <inttypes.h>
#include <string.h>

#include "util/when.h"

bool times_add(struct times *times, int64_t ns, const struct block *block)
{
	bool longest;

	if (block && block == times->last) {
		times->current += ns;
	} else {
		times->shortest = times->count ? MIN(times->shortest, times->current) : INT64_MAX;
		times->current = ns;
		times->count++;
	}
	times->last = block;
	times->ns += ns;
	longest = times->current > times->longest;
	times->longest = MAX(times->longest, times->current);
	return longest;
}

void times_merge(struct times *to, const struct times *from)
{
	if (from->count == 1) {
		times_add(to, from->ns, from->last);
		return;
	}
	to->shortest = MIN(to->count ? MIN(to->shortest, to->current) : INT64_MAX,
			   MIN(from->shortest, from->current));
	to->longest = MAX(to->longest, from->longest);
	to->ns += from->ns;
	to->count += from->count;
	to->current = from->current;
	to->last = from->last;
}

const char *count_text(char buffer[32], uint64_t count)
{
	char digits[24];
	int length = g_snprintf(digits, sizeof digits, "%" PRIu64, count), at = 0;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			buffer[at++] = ',';
		buffer[at++] = digits[i];
	}
	buffer[at] = '\0';
	return buffer;
}

void append_for(GString *text, int64_t ns)
{
	char length[32];

	if (text->len && text->str[text->len - 1] == ' ')
		g_string_truncate(text, text->len - 1);
	g_string_append_printf(text, " for %s", when_duration(length, ns));
}

void append_range(GString *text, int64_t least, int64_t most)
{
	char a[32], b[32];
	char *unit;

	when_rough(a, least);
	when_rough(b, most);
	unit = strchr(a, ' ');
	if (strcmp(a, b) == 0) {
		g_string_append(text, a);
		return;
	}
	if (unit && g_str_has_suffix(b, unit))
		*unit = 0;
	g_string_append_printf(text, "%s to %s", a, b);
}

void append_times(GString *text, const struct times *times, bool sum)
{
	char length[32];

	when_duration(length, times->ns);
	if (times->count == 1) {
		if (sum)
			g_string_append_printf(text, " %s", length);
		return;
	}
	g_string_append_printf(text, " %" PRIu64 " times, ", times->count);
	append_range(text, MIN(times->shortest, times->current), times->longest);
	g_string_append(text, " each");
	if (sum)
		g_string_append_printf(text, ", %s in all", length);
}

void append_longest(GString *text, bool part)
{
	const char *what = part ? "the longest part" : "the longest";

	if (g_str_has_suffix(text->str, "(inferred)")) {
		g_string_truncate(text, text->len - 1);
		g_string_append_printf(text, "; %s)", what);
	} else {
		g_string_append_printf(text, " (%s)", what);
	}
}
