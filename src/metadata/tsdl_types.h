/* SPDX-License-Identifier: MIT */
/* Types as TSDL declares them.
 *
 * Place: metadata/, between tsdl_lexer.h and the blocks (tsdl.h). Nesting is limited, numbers are
 * bounded where they are used.
 */
#ifndef WHYLATE_METADATA_TSDL_TYPES_H
#define WHYLATE_METADATA_TSDL_TYPES_H

#include "metadata/tsdl_lexer.h"

/* "struct { … }", "integer { … }", "uint8_t": what the words here mean; NULL: refused. */
struct type *tsdl_type(struct parser *parser);
/* "TYPE name[…];", or the declaration of a type; `into` may be NULL. */
void tsdl_declaration(struct parser *parser, struct type *into);
/* What begins here is a type or the declaration of one. */
bool tsdl_begins_type(const struct parser *parser);
/* "be", "le", "native": enum byte_order. */
uint8_t tsdl_order(const char *value);

#endif
