/* SPDX-License-Identifier: MIT */
/* Text on its way to who reads it; see output.h.
 *
 *   report ──► text_dress() ──┬─► stdout, file     as the locale has it
 *                             └─► pager            where a terminal's rows do not hold it
 *
 * What is written goes through a stream that sees whole lines: letters that the locale has not
 * become ASCII, lines too long for a terminal go on below, indented, and once there are more lines
 * than rows a pager is begun with all of them. A report of few lines meets no pager, whichever
 * that is. Source of the pager's choice: git(1), core.pager.
 */
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine/later.h"
#include "report/report.h"
#include "words/terms.h"

struct dress {
	FILE *to;      /* borrowed: what was there before */
	FILE *pipe;    /* owned; to the pager; NULL: not begun */
	pid_t pager;
	struct sigaction interrupt; /* what SIGINT did before */
	GString *line; /* what came of a line */
	GString *kept; /* lines until it is known whether a pager shows them; NULL: it is */
	int lines, rows, width;
	bool ascii, folds, paints;
	GString *seen; /* borrowed: what was written, for the glossary; NULL */
};

/* --- letters ------------------------------------------------------------------------------- */

bool locale_has_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		const char *value = g_getenv(names[i]);
		g_autofree char *lower = value ? g_ascii_strdown(value, -1) : NULL;

		if (value && *value)
			return strstr(lower, "utf-8") || strstr(lower, "utf8");
	}
	return false;
}

static void append_ascii(GString *text, gunichar c)
{
	static const struct {
		gunichar c;
		const char *ascii;
	} words[] = {{0xb5, "u"},    {0x3bc, "u"},   {0xb1, "+/-"},  {0x2026, "..."}, {0x2013, "-"},
		     {0x2014, "-"},  {0x2192, "->"}, {0xd7, "x"},    {0x2018, "'"},   {0x2019, "'"},
		     {0x201c, "\""}, {0x201d, "\""}, {0x2265, ">="}, {0x2264, "<="}};

	if (c < 0x80) {
		g_string_append_c(text, (char) c);
		return;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (words[i].c == c) {
			g_string_append(text, words[i].ascii);
			return;
		}
	g_string_append_printf(text, "\\u%04x", c);
}

char *text_ascii(const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);
	GString *ascii = g_string_new(NULL);

	for (const char *p = valid; *p; p = g_utf8_next_char(p))
		append_ascii(ascii, g_utf8_get_char(p));
	return g_string_free(ascii, FALSE);
}

/* --- lines --------------------------------------------------------------------------------- */

/* A shell would take a folded command for two. */
static bool is_command(const char *line)
{
	line += strspn(line, " ");
	return g_str_has_prefix(line, "whylate ") || g_str_has_prefix(line, "--") ||
	       g_str_has_suffix(line, "\\");
}

/* Where the part of the line that fits ends, at a space behind `least`, or else its first word;
 * NULL: it fits, or cannot be broken. Colours take no room. */
static const char *break_of(const char *line, int width, size_t least)
{
	const char *at = NULL;
	int columns = 0;

	for (const char *p = line; *p; p = g_utf8_next_char(p)) {
		if (*p == '\033') {
			p += strcspn(p, "m");
			if (!*p)
				return NULL;
			continue;
		}
		if (*p == ' ' && (size_t) (p - line) > least)
			at = p;
		if (++columns > width && at)
			return at;
	}
	return NULL;
}

static void put(struct dress *dress, const char *text)
{
	if (dress->kept)
		g_string_append(dress->kept, text);
	else
		fputs(text, dress->pipe ? dress->pipe : dress->to);
}

static void put_painted(struct dress *dress, const char *line)
{
	g_autofree char *paint = dress->paints ? line_painted(line) : NULL;

	put(dress, paint ? paint : line);
}

static void put_folded(struct dress *dress, const char *line)
{
	size_t indent = strspn(line, " ");
	g_autofree char *below = g_strnfill(MIN(indent + 4, (size_t) dress->width / 2), ' ');
	/* what stands far to the right, below a table's column, moves to the left */
	bool far = dress->folds && !is_command(line) && indent > (size_t) dress->width / 2;
	g_autofree char *rest = g_strdup(far ? line + indent - (size_t) dress->width / 2 : line);
	const char *at;

	while (dress->folds && !is_command(rest) &&
	       (at = break_of(rest, dress->width, MAX(indent, strspn(rest, " "))))) {
		g_autofree char *first = g_strndup(rest, (gsize) (at - rest));
		char *more = g_strconcat(below, at + strspn(at, " "), NULL);

		put_painted(dress, first);
		put(dress, "\n");
		dress->lines++;
		g_free(rest);
		rest = more;
	}
	put_painted(dress, rest);
}

/* --- the pager ----------------------------------------------------------------------------- */

/* NULL: none is wanted, or there. */
static const char *pager_command(void)
{
	const char *command = g_getenv("WHYLATE_PAGER");
	g_auto(GStrv) words = NULL;
	g_autofree char *found = NULL;

	command = command ? command : g_getenv("PAGER");
	command = command ? command : "less";
	if (!*command || strcmp(command, "cat") == 0 ||
	    !g_shell_parse_argv(command, NULL, &words, NULL))
		return NULL;
	found = g_find_program_in_path(words[0]);
	return found || strchr(words[0], '=') ? command : NULL;
}

/* A process that waits to be one, begun before there is anything to be shown: the command cannot
 * begin programs any more once it reads a trace (confine/). */
static struct later prepared;

static bool prepare(void)
{
	const char *command = pager_command();
	g_autofree char *line = NULL;

	if (!command || prepared.pid)
		return prepared.pid != 0;
	line = g_strconcat("LESS=${LESS-FRX}; export LESS; ", command, NULL);
	if (!later_new(&prepared, (char *[]) {(char *) "sh", (char *) "-c", line, NULL}, true))
		prepared = (struct later) {0};
	return prepared.pid != 0;
}

void text_expect_pager(void)
{
	const char *terminal = g_getenv("TERM");

	if (isatty(STDOUT_FILENO) && g_strcmp0(terminal, "dumb") != 0)
		prepare();
}

static void begin_pager(struct dress *dress)
{
	fflush(dress->to);
	if (!prepare())
		return;
	dress->pager = prepared.pid;
	dress->pipe = fdopen(prepared.text, "w");
	/* it is the pager's now; leaving that ends both */
	sigaction(SIGINT, &(struct sigaction) {.sa_handler = SIG_IGN}, &dress->interrupt);
	later_go(&prepared);
	prepared = (struct later) {0};
}

static void release(struct dress *dress, bool pages)
{
	GString *kept = g_steal_pointer(&dress->kept);

	if (!kept)
		return;
	if (pages)
		begin_pager(dress);
	put(dress, kept->str);
	g_string_free(kept, TRUE);
}

/* --- the stream ---------------------------------------------------------------------------- */

static void put_line(struct dress *dress)
{
	g_autofree char *ascii = dress->ascii ? text_ascii(dress->line->str) : NULL;

	put_folded(dress, ascii ? ascii : dress->line->str);
	g_string_truncate(dress->line, 0);
}

static ssize_t take(void *cookie, const char *bytes, size_t size)
{
	struct dress *dress = cookie;

	if (dress->seen)
		g_string_append_len(dress->seen, bytes, (gssize) size);
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] != '\n') {
			g_string_append_c(dress->line, bytes[i]);
			continue;
		}
		put_line(dress);
		put(dress, "\n");
		if (++dress->lines >= dress->rows)
			release(dress, true);
	}
	return ferror(dress->pipe ? dress->pipe : dress->to) ? 0 : (ssize_t) size;
}

static int end(void *cookie)
{
	struct dress *dress = cookie;

	put_line(dress);
	release(dress, false);
	if (dress->pipe) {
		fclose(dress->pipe);
		waitpid(dress->pager, NULL, 0);
		sigaction(SIGINT, &dress->interrupt, NULL);
	}
	g_string_free(dress->line, TRUE);
	g_free(dress);
	return 0;
}

FILE *text_dress(struct output *output, bool pages, bool glossary)
{
	static const cookie_io_functions_t functions = {.write = take, .close = end};
	const char *terminal = g_getenv("TERM");
	FILE *plain = output->file;
	struct winsize size = {0};
	struct dress *dress;
	FILE *dressed;

	if (!output->terminal && locale_has_utf8() && !glossary && !output->color)
		return NULL;
	output->seen = glossary ? g_string_new(NULL) : NULL;
	dress = g_new0(struct dress, 1);
	*dress = (struct dress) {.to = plain,
				 .line = g_string_new(NULL),
				 .width = output->width,
				 .ascii = !locale_has_utf8(),
				 .folds = output->terminal,
				 .paints = output->color,
				 .seen = output->seen,
				 .rows = INT_MAX};
	if (output->terminal && pages && g_strcmp0(terminal, "dumb") != 0 &&
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0) {
		dress->rows = size.ws_row;
		dress->kept = g_string_new(NULL);
	}
	dressed = fopencookie(dress, "w", functions);
	if (!dressed)
		g_error("out of memory");
	__fsetlocking(dressed, FSETLOCKING_BYCALLER);
	output->file = dressed;
	return plain;
}

/* What was wrapped is one line again: words may be in two. */
static void unwrap(GString *text)
{
	gsize to = 0;

	for (gsize i = 0; i < text->len; i++) {
		bool blank = g_ascii_isspace(text->str[i]);

		if (!blank || (to && text->str[to - 1] != ' '))
			text->str[to++] = blank ? ' ' : text->str[i];
	}
	g_string_truncate(text, to);
}

static void glossary(struct output *output)
{
	g_autoptr(GPtrArray) met = NULL;

	fflush(output->file);
	unwrap(output->seen);
	met = terms_met(output->seen->str, true);
	if (met->len)
		text_heading(output, "Words");
	for (guint i = 0; i < met->len; i++)
		text_wrapped(output, met->pdata[i], 2, 4);
	g_string_free(g_steal_pointer(&output->seen), TRUE);
}

void text_undress(struct output *output, FILE *plain)
{
	if (!plain)
		return;
	if (output->seen)
		glossary(output);
	fclose(output->file);
	output->file = plain;
}
