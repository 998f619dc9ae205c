/* SPDX-License-Identifier: MIT */
/* The words of TSDL: what a recursive-descent parser asks of its lexer.
 *
 * Place: metadata/, below tsdl_types.h and tsdl.h. The first thing that does not fit sets `why`;
 * everything returns at once then.
 */
#ifndef WHYLATE_METADATA_TSDL_LEXER_H
#define WHYLATE_METADATA_TSDL_LEXER_H

#include "metadata/types.h"

enum token { END, NAME, NUMBER, STRING, MARK };

struct parser {
	const char *begin, *at, *end;
	enum token token;
	GString *text;        /* NAME, STRING: the token's; MARK: "{", ":=", "..." */
	uint64_t number;
	int depth;
	char *why;            /* owned; NULL: all is well */
	GHashTable *aliases;  /* owned keys; "uint8_t", "struct packet_context" -> struct type */
	GHashTable *integers; /* owned keys; "{ size = 32; … }" -> struct type */
	struct metadata *metadata;
};

/* Says why and where the text makes no sense, unless that has been said. */
void tsdl_refuse(struct parser *parser, const char *why);

/* Goes to the next token. */
void tsdl_next(struct parser *parser);
bool tsdl_is(const struct parser *parser, enum token token, const char *text);
bool tsdl_is_mark(const struct parser *parser, const char *text);
/* Takes the mark if it is there. */
bool tsdl_take(struct parser *parser, const char *text);
/* The same, where it must be. */
bool tsdl_expect(struct parser *parser, const char *text);

/* What follows is to be freed; NULL: refused. */
char *tsdl_take_name(struct parser *parser);
/* "stream.event.header" -> its last part. */
char *tsdl_take_path(struct parser *parser);
/* A value as text; `number` says whether it is one. */
char *tsdl_take_value(struct parser *parser, bool *number);
int64_t tsdl_take_signed(struct parser *parser);
/* CTF 1.8 puts one '_' before names that might be reserved words: takes it away. */
char *tsdl_plain(char *name);

#endif
