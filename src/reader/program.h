/* SPDX-License-Identifier: MIT */
/* Flat programs: how to get over one record (an event's header, context and
 * payload) and what to take from it on the way.
 *
 *   type tree ─ compile.h ─►     | SKIP 96 | INT 32 → tid | STRING → comm | … | END
 *                                      program_run() ─► struct event
 *
 * Place: reader/. Compiled (compile.h) once per class; neighbouring fields that nobody wants
 * become one SKIP. A packet's bytes are not trusted: no step passes its end. Steps of fixed size
 * have one NEED before them that sees to this for all.
 * Positions and sizes are bits from the packet's begin, to which alignment is
 * relative (CTF 1.8.3, section 4.1.2).
 */
#ifndef WHYLATE_READER_PROGRAM_H
#define WHYLATE_READER_PROGRAM_H

#include "event/event.h"
#include "event/kinds.h"
#include "event/sink.h"
#include "event/tcp.h"
#include "metadata/types.h"

#define REGISTERS 32
#define NO_PLACE UINT16_MAX
#define NO_REGISTER UINT8_MAX
#define VALUES_MAX 24

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
				     TAKE_READY, in struct packet_headers with `headers` */
	const struct wish *inside;
	bool headers;
};

/* A field that somebody asked for by name (--target 'EVENT key=value'). */
struct field_value {
	bool known, is_text, is_signed;
	uint64_t number;
	const char *text;         /* borrowed from the packet or the scratch room */
};

enum op_code {
	OP_END,     /* after arg bits */
	OP_NEED,    /* aligned, the record goes on for arg bits: what the next steps get over */
	OP_SKIP,    /* arg bits */
	OP_ALIGN,   /* to `align` */
	OP_INTEGER, /* at any bit */
	OP_BYTE8,   /* a native integer of 8, 16, 32 or 64 bits at a byte, after arg bits */
	OP_BYTE16,
	OP_BYTE32,
	OP_BYTE64,
	OP_BIG16,   /* the same of the other byte order, without a sign: TCP's and IP's headers */
	OP_BIG32,
	OP_TAKE32,  /* of native ones, what only goes to the event as it is */
	OP_TAKE64,
	OP_BYTES,   /* a list of `size` bytes, after arg bits: where they are */
	OP_STRING,
	OP_LIST,    /* arg elements, or as many as the register says; the body follows */
	OP_FLAT,    /* the same, of `size` bits each, side by side */
	OP_CHOOSE,  /* arg: first of the branches; `size`: how many */
	OP_JUMP,    /* arg: place */
};

#define FLAG_SIGNED 1
#define FLAG_BIG 2
#define FLAG_COUNTED 4 /* the register has the number of elements */
#define FLAG_TEXT 8    /* a list of characters */
#define FLAG_READY 16  /* the place is in struct event_ready */
#define FLAG_HEADERS 32 /* … in struct packet_headers */

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

#define SCRATCH_BYTES 8192

/* Where a run is, and where it puts things. */
struct cursor {
	const uint8_t *packet;
	uint64_t at, end;         /* bits from the packet's begin */
	bool big_endian;
	uint64_t registers[REGISTERS];
	struct event *event;
	struct field_value values[VALUES_MAX];
	int64_t numbers[SHAPE_MAX]; /* values of a system call's fields */
	struct event_ready one;   /* the element that TAKE_READY fills */
	struct packet_headers headers;
	GArray *ready;            /* owned; struct event_ready */
	_Alignas(8) uint8_t scratch[SCRATCH_BYTES];
	uint32_t scratch_used;
};

struct program *program_new(void);
void program_free(struct program *program);

/* Runs it from cursor->at. False: the bytes do not hold such a record. */
bool program_run(const struct program *program, struct cursor *cursor);
/* So many bits, from a byte on, whatever is in them: false where that depends. */
bool program_size(const struct program *program, uint64_t *bits);
/* In such a program, how many bits behind the record's begin the native integer lies that goes to
 * `to` in the event; false: nowhere. */
bool program_place(const struct program *program, size_t to, uint64_t *bits);

/* What struct event says is touched by it and by event_init(). */
uint64_t program_touches(const struct program *program);

/* One integer at `*at`, aligned; false past the end. For headers. */
bool cursor_integer(struct cursor *cursor, const struct type *type, uint64_t *value);

#endif
