/* SPDX-License-Identifier: MIT */
/* See batch_pieces.h. */
#include "batch/batch_pieces.h"

#include <string.h>

#define PIECE_MOST (256u << 20) /* bytes: more is cut, and then no JSON */
#define SPACE " \t\r"

static const char *const begins[] = {"{\"schema\":\"whylate-batch-1\"",
				     "{\"schema\": \"whylate-batch-1\""};

void pieces_begin(struct pieces *pieces, FILE *file)
{
	*pieces = (struct pieces) {.file = file,
				   .text = g_string_new(NULL),
				   .inside = g_string_new(NULL),
				   .next = g_string_new(NULL)};
}

void pieces_clear(struct pieces *pieces)
{
	g_string_free(pieces->text, TRUE);
	g_string_free(pieces->inside, TRUE);
	g_string_free(pieces->next, TRUE);
}

/* Behind which byte of the text what ends with `end` begins; 0: nothing or blanks only. */
static gsize before(const GString *text, gsize end, const char *what)
{
	gsize length = strlen(what);

	while (end && strchr(SPACE, text->str[end - 1]))
		end--;
	return end >= length && memcmp(text->str + end - length, what, length) == 0
		       ? end - length
		       : 0;
}

/* A list begins here: that of the traces. */
static bool is_traces(const struct pieces *pieces)
{
	gsize at = pieces->depth == 1 ? before(pieces->text, pieces->text->len, ":") : 0;

	at = at ? before(pieces->text, at, "\"traces\"") : 0;
	return at && (before(pieces->text, at, ",") || pieces->text->str[at - 1] == '{');
}

/* The text ends with what a line begins with: cuts that off, into `next`. */
static bool cut_begin(struct pieces *pieces, GString *text)
{
	for (size_t i = 0; i < G_N_ELEMENTS(begins); i++) {
		gsize length = strlen(begins[i]);

		if (text->len < length || (text == pieces->text && text->len == length) ||
		    memcmp(text->str + text->len - length, begins[i], length) != 0)
			continue;
		g_string_truncate(text, text->len - length);
		g_string_assign(pieces->next, begins[i]);
		return true;
	}
	return false;
}

static void follow_brackets(struct pieces *pieces, char byte)
{
	if (pieces->in_string) {
		pieces->in_string = pieces->escaped || byte != '"';
		pieces->escaped = !pieces->escaped && byte == '\\';
	} else if (byte == '"') {
		pieces->in_string = true;
	} else if (byte == '{' || byte == '[') {
		pieces->depth++;
	} else if ((byte == '}' || byte == ']') && pieces->depth) {
		pieces->depth--;
	}
}

static void append(GString *text, char byte)
{
	if (text->len < PIECE_MOST)
		g_string_append_c(text, byte);
}

/* A byte in the list of traces. */
static void take_inside(struct pieces *pieces, char byte)
{
	bool between = pieces->depth == 2 && !pieces->in_string;

	if (between && byte == ']') {
		pieces->in_traces = false;
		if (pieces->inside->len) /* no object: let it be refused */
			g_string_append_len(pieces->text, pieces->inside->str,
					    (gssize) pieces->inside->len);
		append(pieces->text, byte);
		return;
	}
	if (between && (byte == ',' || strchr(SPACE, byte)))
		return;
	append(pieces->inside, byte);
}

/* An item of that list has ended. */
static void end_inside(struct pieces *pieces)
{
	if (!pieces->in_traces || pieces->depth != 2 || pieces->in_string || !pieces->inside->len ||
	    pieces->inside->str[pieces->inside->len - 1] != '}')
		return;
	pieces->entry(pieces->data, pieces->inside->str, pieces->inside->len);
	g_string_truncate(pieces->inside, 0);
}

static void take(struct pieces *pieces, char byte)
{
	if (pieces->in_traces) {
		take_inside(pieces, byte);
	} else {
		if (byte == '[' && !pieces->in_string && is_traces(pieces))
			pieces->in_traces = true;
		append(pieces->text, byte);
	}
	follow_brackets(pieces, byte);
	end_inside(pieces);
}

static bool is_blank(const GString *text)
{
	return strspn(text->str, SPACE) == text->len;
}

bool pieces_next(struct pieces *pieces)
{
	int byte;

	for (;;) {
		g_string_assign(pieces->text, pieces->next->str);
		g_string_truncate(pieces->next, 0);
		g_string_truncate(pieces->inside, 0);
		pieces->depth = pieces->text->len ? 1 : 0;
		pieces->in_string = pieces->escaped = pieces->in_traces = false;
		if (!pieces->text->len)
			pieces->line++;
		while ((byte = getc_unlocked(pieces->file)) != EOF && byte != '\n') {
			take(pieces, (char) byte);
			if (byte == '"' &&
			    cut_begin(pieces, pieces->in_traces ? pieces->inside : pieces->text))
				break;
		}
		if (!is_blank(pieces->text))
			return true;
		if (byte == EOF)
			return false;
	}
}
