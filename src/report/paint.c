/* SPDX-License-Identifier: MIT */
/* Colours of a line on a terminal; see output.h. What they mean is in the words too:
 *
 *   bold     headings, what an item of the first screen is about
 *   red      a caution before all, a limit that is exceeded
 *   yellow   what may not be real, as events were lost
 *   cyan     a command that can be pasted
 */
#include "report/output.h"

#include <string.h>

#define BOLD "\033[1m"
#define RED "\033[1;31m"
#define YELLOW "\033[33m"
#define CYAN "\033[36m"
#define PLAIN "\033[0m"

/* `from` up to `to`, the rest as it is. */
static char *painted(const char *line, const char *from, const char *to, const char *colour)
{
	return g_strdup_printf("%.*s%s%.*s" PLAIN "%s", (int) (from - line), line, colour,
			       (int) (to - from), from, to);
}

/* Where the title of an item, "1  Lock: ", ends; NULL: it is none. */
static const char *title_end(const char *line)
{
	const char *colon = strchr(line, ':');

	return g_ascii_isdigit(line[0]) && strncmp(line + 1, "  ", 2) == 0 &&
			       g_ascii_isupper(line[3])
		       ? colon
		       : NULL;
}

char *line_painted(const char *line)
{
	const char *end = line + strlen(line), *text = line + strspn(line, " ");
	const char *exceeded = strstr(line, "EXCEEDED"),
		   *spans = strstr(line, "[spans lost events");
	const char *title = title_end(line);

	if (strchr(line, '\033'))
		return g_strdup(line);
	if (g_str_has_prefix(line, "CAUTION:"))
		return painted(line, line, end, RED);
	if (exceeded)
		return painted(line, exceeded, exceeded + strlen("EXCEEDED"), RED);
	if (title)
		return painted(line, line, title, BOLD);
	if (text > line && g_str_has_prefix(text, "whylate "))
		return painted(line, text, end, CYAN);
	if (spans)
		return painted(line, spans, MIN(strchrnul(spans, ']') + 1, end), YELLOW);
	return g_strdup(line);
}
