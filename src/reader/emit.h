/* SPDX-License-Identifier: MIT */
/* The steps of a program, one by one, and what is known of the position meanwhile.
 *
 * Place: reader/, between program.h (what the steps do) and compile.h (which ones a type needs).
 */
#ifndef WHYLATE_READER_EMIT_H
#define WHYLATE_READER_EMIT_H

#include "reader/program.h"

/* A field that later ones may refer to. */
struct visible {
	const char *name;        /* borrowed */
	uint8_t reg;
	const struct type *type; /* borrowed */
};

/* State of compiling: the names that later parts may refer to go on from one part
 * of a record to the next. */
struct compiler {
	struct program *program;
	const struct metadata *metadata;
	GArray *names;            /* owned; struct visible */
	GHashTable *tags;         /* owned; names of fields that others depend on */
	uint8_t registers;
	uint64_t modulus, rest;   /* the position is `rest` modulo `modulus` (power of two) */
	guint need; /* place of the OP_NEED of the steps now being added + 1; 0: none */
	bool aligned; /* the last step is an OP_ALIGN, which may become one */
	GHashTable *wanted; /* borrowed; key -> number in values + 1; NULL: none */
	int depth;
	bool failed;
};

/* Appends a step; the pointer is good until the next one. */
struct op *emit_op(struct compiler *compiler, enum op_code code);
/* The same of a step that always gets over so many bits. */
struct op *emit_fixed(struct compiler *compiler, enum op_code code, uint64_t bits);
/* Nothing follows. */
void emit_end(struct compiler *compiler);
void emit_skip(struct compiler *compiler, uint64_t bits);
/* From here on the position is known to be aligned. */
void emit_align(struct compiler *compiler, uint32_t bits);
/* The step of an integer; it takes over what is skipped before it. */
struct op *emit_integer(struct compiler *compiler, const struct type *type);
/* The same of `count` bytes at a byte. */
struct op *emit_bytes(struct compiler *compiler, uint8_t count);
/* The position is known to be at a byte. */
bool position_is_byte(const struct compiler *compiler);
/* A place that is jumped to: nothing before it may be merged with what follows. */
guint emit_target(struct compiler *compiler);

/* The step stores what `wish` (NULL: nothing) says; `ready`: in an element of TAKE_READY. */
void op_store(struct op *op, const struct wish *wish, bool ready);

void position_advance(struct compiler *compiler, uint64_t bits);
/* From here on the position is known only modulo `modulus`. */
void position_blur(struct compiler *compiler, uint64_t modulus);
/* What is known of the position where this way and another one join. */
void position_join(struct compiler *compiler, uint64_t modulus, uint64_t rest);

/* The field of that name that may be referred to here, NULL. */
const struct visible *field_visible(const struct compiler *compiler, const char *name);
bool type_is_big(const struct compiler *compiler, const struct type *type);

#endif
