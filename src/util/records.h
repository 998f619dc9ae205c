/* SPDX-License-Identifier: MIT */
/* What stored records are made of: a table for each with one row for each member. What sets
 * times right, forgets, writes and reads images, or anonymises walks these tables and knows no
 * member by name, so nothing can be left out there:
 *
 *   struct thread { int64_t begin; uint32_t parent; GArray *names; … }     model/model.h
 *   RECORD(thread, TIME(begin), WEAK_THREAD(parent), ARRAY(names, name_change), …)
 *                       │               │                  │           model/model_records.c
 *          trace/shift.c moves it   flow/forget.c      trace/image.c writes what it leads to
 *
 * A member without a row, or a row of another type than the member's, does not build or fails
 * tests/unit/test_record.c, which compares the tables with the compiler's debug information.
 *
 * What stays written by hand, because no table says it: when a record is over and goes
 * (flow/forget.c), intervals (timeline.c packs their times), the length of an operation (a bit
 * field), and the few containers of containers that an image names (FIELD_CONTAINER).
 *
 * Place: util/, under what has records: each room describes its own, in ROOM_records.c, with the
 * macros of record_rows.h.
 */
#ifndef WHYLATE_UTIL_RECORDS_H
#define WHYLATE_UTIL_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_kind {
	FIELD_NUMBER, /* says the same wherever and whenever; also a name that stays as it is */
	FIELD_TIME, /* int64_t: ns by the host's clock; INT64_MIN, INT64_MAX: none */
	FIELD_TIME_OR_0, /* the same; 0: not known */
	FIELD_HOST, /* uint16_t: whose clock and threads these are */
	FIELD_THREAD, /* uint32_t: keeps what is known of that thread */
	FIELD_WEAK_THREAD, /* uint32_t: that thread for as long as others keep it, else NO_THREAD */
	FIELD_NAME, /* uint32_t: interned text */
	FIELD_THREAD_NAME, /* uint32_t: … that a person gave to a thread */
	FIELD_REF, /* uint32_t: record of `store`, which it keeps; 0: none */
	FIELD_WEAK_REF, /* uint32_t: … for as long as others keep it, else 0 */
	FIELD_LOG, /* struct that begins with struct chunks: records of `store` */
	/* owned: */
	FIELD_RECORD, /* in place; an array of them: `counted_by` says how many count */
	FIELD_POINTER, /* one of them, or NULL */
	FIELD_ARRAY, /* GArray of records, NULL: none */
	FIELD_LIST, /* GPtrArray of records, each made by record->make() */
	FIELD_PAGES, /* struct pages of records, as many as `counted_by` says */
	FIELD_MAP, /* struct idmap */
	FIELD_TEXT, /* char *, NULL; says nothing of whom the trace is about */
	FIELD_HOST_NAME, /* char *, NULL */
	FIELD_PATH, /* char *, NULL: of a file of the trace */
	FIELD_DIRECTORY, /* char *, NULL: where the trace is, as its user calls it */
	FIELD_TEXTS, /* GPtrArray of char * */
	FIELD_CONTAINER, /* what only an image looks into: image.c */
	FIELD_OWN, /* of this process: borrowed, or of use only while events pass */
};

struct field {
	const char *name;
	uint32_t offset, size;
	enum field_kind kind;
	bool passing; /* owned, but of use only while events pass: no image has it */
	uint8_t store; /* FIELD_REF, FIELD_LOG: enum store */
	uint8_t when_is; /* … or FIELD_THREAD: it is one only if that byte has this value */
	uint32_t when; /* … offset of that + 1, 0: always */
	uint32_t counted_by; /* offset of a uint32_t + 1, 0: all */
	const struct record *record;
};

struct record {
	const char *name; /* of its struct */
	size_t size;
	const struct field *fields; /* FIELD_HOST, if any, is the first */
	size_t count;
	/* FIELD_LIST, FIELD_POINTER: a new one, in or for the record `owner`. */
	void *(*make)(void *owner);
	/* Its members came from an image: makes what the image does not hold; false: they do not
	 * fit together. NULL: nothing to do. */
	bool (*taken)(void *record);
};

/* A walk over a record and all that it owns. Embed it, and get at the rest by a cast. */
struct walk {
	uint32_t kinds; /* bits of the enum field_kind that visit() wants: none that owns records */
	/* Before the members of each record; false: not into it. NULL: into all. */
	bool (*enter)(struct walk *walk, const struct record *record, void *at);
	void (*visit)(struct walk *walk, const struct field *field, void *at);
};

void record_walk(struct walk *walk, const struct record *record, void *at);

/* --- for walkers of their own --- */

/* So many of a FIELD_RECORD or FIELD_PAGES count in the record `at`. */
uint32_t field_in_use(const struct field *field, const void *at);
/* The pointer in a member. */
void *field_pointer(const void *member);
/* Its bytes mean nothing in another process. */
bool field_is_owned(const struct field *field);

#endif
