/* SPDX-License-Identifier: MIT */
/* Characters to tokens; see tsdl_lexer.h. */
#include "metadata/tsdl_lexer.h"

#include <string.h>

void tsdl_refuse(struct parser *parser, const char *why)
{
	guint line = 1;

	if (parser->why)
		return;
	for (const char *at = parser->begin; at < parser->at; at++)
		line += *at == '\n';
	parser->why = g_strdup_printf("line %u: %s", line, why);
}

static bool starts(const struct parser *parser, const char *text)
{
	size_t length = strlen(text);

	return (size_t) (parser->end - parser->at) >= length &&
	       memcmp(parser->at, text, length) == 0;
}

static void skip_blanks(struct parser *parser)
{
	while (parser->at < parser->end) {
		if (g_ascii_isspace(*parser->at)) {
			parser->at++;
		} else if (starts(parser, "//")) {
			while (parser->at < parser->end && *parser->at != '\n')
				parser->at++;
		} else if (starts(parser, "/*")) {
			parser->at += 2;
			while (parser->at < parser->end && !starts(parser, "*/"))
				parser->at++;
			parser->at = MIN(parser->at + 2, parser->end);
		} else {
			return;
		}
	}
}

static bool is_name(char c)
{
	return g_ascii_isalnum(c) || c == '_' || c == '$';
}

static void next_string(struct parser *parser)
{
	parser->token = STRING;
	for (parser->at++; parser->at < parser->end && *parser->at != '"'; parser->at++) {
		if (*parser->at == '\\' && parser->at + 1 < parser->end)
			parser->at++;
		g_string_append_c(parser->text, *parser->at);
	}
	if (parser->at == parser->end)
		tsdl_refuse(parser, "a string has no end");
	else
		parser->at++;
}

static void next_number(struct parser *parser)
{
	char digits[72];
	char *end = NULL;
	size_t length = 0;

	while (parser->at < parser->end && is_name(*parser->at) && length < sizeof digits - 1)
		digits[length++] = *parser->at++;
	digits[length] = 0;
	parser->token = NUMBER;
	parser->number = g_ascii_strtoull(digits, &end, 0);
	g_string_append(parser->text, digits);
	if (*end && strspn(end, "uUlL") != strlen(end))
		tsdl_refuse(parser, "this is no number");
}

void tsdl_next(struct parser *parser)
{
	static const char *const marks[] = {":=", "...", "->"};

	g_string_truncate(parser->text, 0);
	skip_blanks(parser);
	if (parser->at >= parser->end) {
		parser->token = END;
		return;
	}
	if (*parser->at == '"') {
		next_string(parser);
		return;
	}
	if (g_ascii_isdigit(*parser->at)) {
		next_number(parser);
		return;
	}
	if (is_name(*parser->at)) {
		parser->token = NAME;
		while (parser->at < parser->end && is_name(*parser->at))
			g_string_append_c(parser->text, *parser->at++);
		return;
	}
	parser->token = MARK;
	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++)
		if (starts(parser, marks[i])) {
			g_string_append(parser->text, marks[i]);
			parser->at += strlen(marks[i]);
			return;
		}
	g_string_append_c(parser->text, *parser->at++);
}

bool tsdl_is(const struct parser *parser, enum token token, const char *text)
{
	return parser->token == token && strcmp(parser->text->str, text) == 0;
}

bool tsdl_is_mark(const struct parser *parser, const char *text)
{
	return tsdl_is(parser, MARK, text);
}

bool tsdl_take(struct parser *parser, const char *text)
{
	if (parser->why || !tsdl_is_mark(parser, text))
		return false;
	tsdl_next(parser);
	return true;
}

bool tsdl_expect(struct parser *parser, const char *text)
{
	g_autofree char *why = NULL;

	if (tsdl_take(parser, text))
		return true;
	why = g_strdup_printf("'%s' expected", text);
	tsdl_refuse(parser, why);
	return false;
}

char *tsdl_take_name(struct parser *parser)
{
	char *name;

	if (parser->token != NAME) {
		tsdl_refuse(parser, "a name expected");
		return NULL;
	}
	name = g_strdup(parser->text->str);
	tsdl_next(parser);
	return name;
}

char *tsdl_take_path(struct parser *parser)
{
	char *name = tsdl_take_name(parser);

	while (name && tsdl_is_mark(parser, ".")) {
		tsdl_next(parser);
		g_free(name);
		name = tsdl_take_name(parser);
	}
	return name;
}

char *tsdl_plain(char *name)
{
	if (name && name[0] == '_')
		memmove(name, name + 1, strlen(name));
	return name;
}

int64_t tsdl_take_signed(struct parser *parser)
{
	bool negative = tsdl_take(parser, "-");
	int64_t number = (int64_t) parser->number;

	if (parser->token != NUMBER) {
		tsdl_refuse(parser, "a number expected");
		return 0;
	}
	tsdl_next(parser);
	return negative ? (int64_t) (0 - (uint64_t) number) : number;
}

char *tsdl_take_value(struct parser *parser, bool *number)
{
	GString *text = g_string_new(NULL);

	*number = parser->token == NUMBER || tsdl_is_mark(parser, "-");
	if (*number) {
		g_string_printf(text, "%" G_GINT64_FORMAT, tsdl_take_signed(parser));
		return g_string_free(text, FALSE);
	}
	if (parser->token == STRING) {
		g_string_append(text, parser->text->str);
		tsdl_next(parser);
		return g_string_free(text, FALSE);
	}
	while (!parser->why && (parser->token == NAME || tsdl_is_mark(parser, "."))) {
		g_string_append(text, parser->text->str);
		tsdl_next(parser);
	}
	if (!text->len)
		tsdl_refuse(parser, "a value expected");
	return g_string_free(text, FALSE);
}
