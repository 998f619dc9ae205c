/* SPDX-License-Identifier: MIT */
/* Flat programs: how to get over one record (an event's header, context and
 * payload) and what to take from it on the way.
 *
 *   type tree ─ program_compile() ─► | SKIP 96 | INT 32 → tid | STRING → comm | … | END
 *                                      program_run() ─► struct event
 *
 * Place: reader/. Compiled once per class; neighbouring fields that nobody wants
 * become one SKIP. A packet's bytes are not trusted: no step passes its end.
 * Positions and sizes are bits from the packet's begin, to which alignment is
 * relative (CTF 1.8.3, section 4.1.2).
 */
#ifndef WHYLATE_READER_PROGRAM_H
#define WHYLATE_READER_PROGRAM_H

#include "event/event.h"
#include "event/kinds.h"
#include "metadata/types.h"

#define REGISTERS 32
#define NO_PLACE UINT16_MAX
#define NO_REGISTER UINT8_MAX
#define VALUES_MAX 16

enum take {
	TAKE_NOTHING,
	TAKE_I32,
	TAKE_I64,
	TAKE_BOOL,
	TAKE_STRING,
	TAKE_BYTES,
	TAKE_WORDS,  /* a list of integers as 64-bit words */
	TAKE_PAIR,
	TAKE_READY,
	TAKE_INSIDE, /* members of what is inside */
};

/* What to take, by name: a table that ends with name NULL. */
struct wish {
	const char *name;
	uint8_t take;             /* enum take */
	uint16_t to;              /* offset in struct event, in struct event_ready inside
				     TAKE_READY, in struct headers with `headers` */
	const struct wish *inside;
	bool headers;
};

/* A field that somebody asked for by name (--target 'EVENT key=value'). */
struct field_value {
	bool known, is_text, is_signed;
	uint64_t number;
	const char *text;         /* borrowed from the packet or the scratch room */
};

struct op {
	uint8_t code;
	uint8_t size;             /* bits of an integer */
	uint8_t flags;
	uint8_t take;             /* enum take */
	uint8_t reg;              /* integer: keeps it; list, branch: reads it */
	uint8_t value;            /* also goes to values[value]; UINT8_MAX: no */
	uint16_t to;
	uint32_t align;           /* bits */
	uint64_t arg;             /* bits to skip; elements; place to jump to */
};

struct branch {
	int64_t from, to;
	uint32_t place;           /* of the option's first op */
};

struct program {
	GArray *ops;              /* owned; struct op */
	GArray *branches;          /* owned; struct branch */
};

/* What a packet's network and transport headers say beyond addresses; -1: nothing. */
struct headers {
	int64_t total, ihl, id;                     /* IP */
	int64_t seq, ack_seq, data_offset, flags;   /* TCP */
};

#define SCRATCH_BYTES 4096

/* Where a run is, and where it puts things. */
struct cursor {
	const uint8_t *packet;
	uint64_t at, end;         /* bits from the packet's begin */
	bool big_endian;
	uint64_t registers[REGISTERS];
	struct event *event;
	struct field_value values[VALUES_MAX];
	struct event_ready one;   /* the element that TAKE_READY fills */
	struct headers headers;
	GArray *ready;            /* owned; struct event_ready */
	_Alignas(8) uint8_t scratch[SCRATCH_BYTES];
	uint32_t scratch_used;
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
	GHashTable *wanted;       /* borrowed; key -> number in values + 1; NULL: none */
	int depth;
	bool failed;
};

struct program *program_new(void);
void program_free(struct program *program);

void compiler_init(struct compiler *compiler, struct program *program,
		   const struct metadata *metadata);
void compiler_clear(struct compiler *compiler);
/* Notes which fields `type` depends on; call for all parts before compiling any. */
void compiler_note(struct compiler *compiler, const struct type *type);
/* Adds the steps of `type` (a struct); `wishes` may be NULL. */
void compiler_add(struct compiler *compiler, const struct type *type, const struct wish *wishes);
/* Ends the program; false if it cannot be compiled (a length that nobody knows). */
bool compiler_end(struct compiler *compiler);

/* Runs it from cursor->at. False: the bytes do not hold such a record. */
bool program_run(const struct program *program, struct cursor *cursor);

/* One integer at `*at`, aligned; false past the end. For headers. */
bool cursor_integer(struct cursor *cursor, const struct type *type, uint64_t *value);

#endif
