/* SPDX-License-Identifier: MIT */
/* What the kernel says of a tracepoint's records: events/SYSTEM/NAME/format in tracefs, which
 * trace-cmd and perf keep in their files.
 *
 * Place: foreign/. Fields are told one by one with place and size: of a field that nobody asks for
 * nothing is understood but that, so that new ones do no harm. The print format is not read.
 *
 * Rejected: libtraceevent. It parses the print formats, too, which are C expressions; the lines
 * with "field:" are all that is wanted, and understood in one screen.
 */
#ifndef WHYLATE_FOREIGN_FORMAT_H
#define WHYLATE_FOREIGN_FORMAT_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foreign/bytes.h"

enum place_form {
	FORM_INTEGER,
	FORM_TEXT,     /* char[N] */
	FORM_AWAY,     /* char[] elsewhere in the record: offset and length in 32 bits */
	FORM_AWAY_REL, /* … the offset from behind the field */
	FORM_WORDS,    /* integers one after the other */
	FORM_OTHER,
};

struct field_place {
	char *name;      /* owned */
	uint32_t offset, size; /* bytes in the record */
	uint8_t form;    /* enum place_form */
	uint8_t item;    /* FORM_WORDS: bytes of one */
	bool is_signed;
	bool common;     /* of all tracepoints: common_type, common_pid … */
};

struct tracepoint {
	char *name;      /* owned; "SYSTEM:NAME" */
	uint32_t id;
	GArray *places;  /* owned; struct field_place */
};

/* NULL: the text is no format. Need not end with a zero. */
struct tracepoint *tracepoint_parse(const char *system, const char *text, size_t size);
void tracepoint_free(gpointer tracepoint);
/* NULL: there is none. */
const struct field_place *tracepoint_place(const struct tracepoint *tracepoint, const char *name);

/* --- reading a record --------------------------------------------------------------------- */

struct record {
	const uint8_t *bytes;
	size_t size;
	bool swap; /* its byte order is not this machine's */
};

/* False: the record is too short, or the place no number. */
bool place_integer(const struct field_place *place, const struct record *record, int64_t *value);
/* NULL: not there. Without its zero: `length` bytes. */
const char *place_text(const struct field_place *place, const struct record *record,
		       size_t *length);
/* One of several integers; false: there is none. */
bool place_item(const struct field_place *place, const struct record *record, uint32_t index,
		int64_t *value);

/* --- those of all tracepoints, as trace-cmd keeps them: in trace.dat and in perf.data alike  */

/* Of header_page and header_event: bytes of the kernel's long. */
uint32_t formats_word(struct bytes *bytes);
/* Gets over those of ftrace itself, which are no events. */
void formats_pass_own(struct bytes *bytes);
/* Adds struct tracepoint to the list; false: not all could be read. */
bool formats_read(struct bytes *bytes, GPtrArray *tracepoints);

#endif
