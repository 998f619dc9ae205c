/* SPDX-License-Identifier: MIT */
/* What a trace's metadata describes: types of fields, event and stream classes,
 * clocks, environment.
 *
 * Place: metadata/, made by tsdl.c (CTF 1.8) or ctf2.c (CTF 2), compiled into
 * flat programs by program.c. All of it belongs to the struct metadata and is
 * freed with it; pointers between are borrowed.
 *
 * Sizes and alignments are bits. Source: CTF 1.8.3, sections 4 (types), 5
 * (packet header), 6 (event header), 7 (metadata, TSDL), 8 (clocks).
 */
#ifndef WHYLATE_METADATA_TYPES_H
#define WHYLATE_METADATA_TYPES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/when.h"

enum type_kind {
	TYPE_INTEGER, /* enumerations too: with ranges */
	TYPE_FLOAT,
	TYPE_STRING,
	TYPE_ARRAY,
	TYPE_SEQUENCE,
	TYPE_STRUCT,
	TYPE_VARIANT,
};

enum byte_order { ORDER_NATIVE, ORDER_LITTLE, ORDER_BIG };

/* Labels of an enumeration: variants choose by them. */
struct range {
	char *label;       /* owned */
	int64_t from, to;  /* inclusive; unsigned ones as bits */
};

struct type;

struct member {
	char *name;        /* owned; without the one leading '_' that CTF 1.8 puts */
	struct type *type; /* borrowed */
};

struct type {
	uint8_t kind;          /* enum type_kind */
	uint8_t order;         /* integer, float: enum byte_order */
	bool is_signed;
	bool text;             /* integer: a character; an array of them is a string */
	bool clocked;          /* integer: a clock's value */
	uint32_t size;         /* integer, float */
	uint32_t align;        /* at least 1; of the whole where it is compound */
	uint64_t length;       /* array */
	char *tag;             /* owned; sequence: of its length; variant: of its selector */
	struct type *element;  /* array, sequence */
	GArray *members;       /* owned; struct member: of a struct, options of a variant */
	GArray *ranges;        /* owned; struct range; NULL: not an enumeration. Of a variant:
				  when each option is chosen (CTF 2); NULL: by its tag's labels */
};

struct event_type {
	char *name;            /* owned; "" if it has none */
	uint64_t id, stream_id;
	struct type *context, *payload; /* NULL: none */
};

struct stream_type {
	uint64_t id;
	struct type *header;         /* of events; NULL: none */
	struct type *packet_context; /* NULL: none */
	struct type *context;        /* common to all events, NULL */
	GPtrArray *events;           /* owned; struct event_type in order of declaration */
};

struct clock_type {
	char *name, *uuid;     /* owned; NULL: none */
	uint64_t frequency;    /* Hz */
	int64_t offset_s, offset; /* seconds, and cycles */
};

/* How far its zero is from the origin, ns. */
static inline int64_t clock_type_offset(const struct clock_type *clock)
{
	return clock_ns(clock->offset_s, (uint64_t) clock->offset, clock->frequency);
}

struct metadata {
	bool ctf2;     /* else CTF 1.8 */
	bool has_byte_order, big_endian;
	char *uuid;                  /* owned; NULL: none */
	struct type *packet_header;  /* NULL: none */
	GHashTable *environment;     /* owned; name -> text, numbers in decimal */
	GHashTable *numbers;         /* owned; set of the names whose value is a number */
	GArray *clocks;              /* struct clock_type */
	GPtrArray *streams;          /* owned; struct stream_type */
	GPtrArray *types;            /* owned; every struct type */
	guint dropped;               /* blocks of metadata that could not be understood */
	char *trouble;               /* owned; what the first of them suffers from, NULL */
};

struct metadata *metadata_new(void);
void metadata_free(struct metadata *metadata);
struct type *type_new(struct metadata *metadata, enum type_kind kind);
/* Appends; `name` is taken. */
void type_add_member(struct type *type, char *name, struct type *member);
/* The stream class of that id, made if there is none. */
struct stream_type *metadata_stream(struct metadata *metadata, uint64_t id);
/* NULL if the struct has no such member. */
struct type *type_member(const struct type *type, const char *name);
const char *metadata_text(const struct metadata *metadata, const char *name);
int metadata_number(const struct metadata *metadata, const char *name);

#endif
