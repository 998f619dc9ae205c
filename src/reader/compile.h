/* SPDX-License-Identifier: MIT */
/* Types to programs: which steps get over a record, and what they take from it.
 *
 * Place: reader/. A record is compiled part by part (context, payload): compiler_note() all parts,
 * then compiler_add() each.
 */
#ifndef WHYLATE_READER_COMPILE_H
#define WHYLATE_READER_COMPILE_H

#include "reader/emit.h"

void compiler_init(struct compiler *compiler, struct program *program,
		   const struct metadata *metadata);
void compiler_clear(struct compiler *compiler);
/* Notes which fields `type` depends on; call for all parts before compiling any. */
void compiler_note(struct compiler *compiler, const struct type *type);
/* Adds the steps of `type` (a struct); `wishes` may be NULL. */
void compiler_add(struct compiler *compiler, const struct type *type, const struct wish *wishes);
/* Ends the program; false if it cannot be compiled (a length that nobody knows). */
bool compiler_end(struct compiler *compiler);

#endif
