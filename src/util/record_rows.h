/* SPDX-License-Identifier: MIT */
/* Writing the table of a record; see records.h. For ROOM_records.c only:
 *
 *   #define RECORD_TYPE struct gap
 *   RECORD(gap, TIME(begin), TIME(end), TIME(furthest), NUMBER(cpu), …);
 *   #undef RECORD_TYPE
 *
 * A row of another type than the member's does not compile (_Generic without a default).
 */
#ifndef WHYLATE_UTIL_RECORD_ROWS_H
#define WHYLATE_UTIL_RECORD_ROWS_H

#include "util/idmap.h"
#include "util/pages.h"
#include "util/records.h"

#define MEMBER(m) (((RECORD_TYPE *) 0)->m)
#define ROW(m, kind_, ...)                                                                         \
	{.name = #m,                                                                               \
	 .offset = offsetof(RECORD_TYPE, m),                                                       \
	 .size = sizeof MEMBER(m),                                                                 \
	 .kind = kind_,                                                                            \
	 __VA_ARGS__}
#define IF_TYPE(m, type, kind_) _Generic(MEMBER(m), type: kind_)
#define IF_NUMBER(value, kind_)                                                                    \
	_Generic(value,                                                                            \
		bool: kind_,                                                                       \
		uint8_t: kind_,                                                                    \
		uint16_t: kind_,                                                                   \
		uint32_t: kind_,                                                                   \
		uint64_t: kind_,                                                                   \
		int32_t: kind_,                                                                    \
		int64_t: kind_,                                                                    \
		double: kind_)

#define NUMBER(m) ROW(m, IF_NUMBER(MEMBER(m), FIELD_NUMBER), )
#define NUMBERS(m) ROW(m, IF_NUMBER(MEMBER(m)[0], FIELD_NUMBER), ) /* an array of them */
/* Bit fields, all of them numbers: so many bytes right after `m`. */
#define BITS_AFTER(m, bytes)                                                                       \
	{.name = "bits after " #m,                                                                 \
	 .offset = offsetof(RECORD_TYPE, m) + sizeof MEMBER(m),                                    \
	 .size = bytes,                                                                            \
	 .kind = FIELD_NUMBER}
#define TIME(m) ROW(m, IF_TYPE(m, int64_t, FIELD_TIME), )
#define TIME_OR_0(m) ROW(m, IF_TYPE(m, int64_t, FIELD_TIME_OR_0), )
#define HOST(m) ROW(m, IF_TYPE(m, uint16_t, FIELD_HOST), )
#define THREAD(m) ROW(m, IF_TYPE(m, uint32_t, FIELD_THREAD), )
#define WEAK_THREAD(m) ROW(m, IF_TYPE(m, uint32_t, FIELD_WEAK_THREAD), )
#define NAME(m) ROW(m, IF_TYPE(m, uint32_t, FIELD_NAME), )
#define THREAD_NAME(m) ROW(m, IF_TYPE(m, uint32_t, FIELD_THREAD_NAME), )
#define REF(m, store_) ROW(m, IF_TYPE(m, uint32_t, FIELD_REF), .store = store_)
#define WEAK_REF(m, store_) ROW(m, IF_TYPE(m, uint32_t, FIELD_WEAK_REF), .store = store_)
/* It is one only if the member `tag` is `value`; else it means nothing, or is a union's number. */
#define WHEN(tag, value)                                                                           \
	.when = _Generic(MEMBER(tag), uint8_t: 1, bool: 1) + offsetof(RECORD_TYPE, tag),           \
	.when_is = value
#define REF_WHEN(m, store_, tag, value)                                                            \
	ROW(m, IF_TYPE(m, uint32_t, FIELD_REF), .store = store_, WHEN(tag, value))
#define THREAD_WHEN(m, tag, value) ROW(m, IF_TYPE(m, uint32_t, FIELD_THREAD), WHEN(tag, value))
#define LOG(m, store_) ROW(m, FIELD_LOG, .store = store_)
#define IN_PLACE(m, record_) ROW(m, FIELD_RECORD, .record = &record_##_record)
#define IN_PLACE_COUNTED(m, record_, by)                                                           \
	ROW(m, FIELD_RECORD, .record = &record_##_record,                                          \
	    .counted_by = IF_TYPE(by, uint32_t, offsetof(RECORD_TYPE, by) + 1))
#define POINTER(m, record_) ROW(m, FIELD_POINTER, .record = &record_##_record)
#define ARRAY(m, record_) ROW(m, IF_TYPE(m, GArray *, FIELD_ARRAY), .record = &record_##_record)
#define LIST(m, record_) ROW(m, IF_TYPE(m, GPtrArray *, FIELD_LIST), .record = &record_##_record)
#define PAGES(m, record_, by)                                                                      \
	ROW(m, IF_TYPE(m, struct pages, FIELD_PAGES), .record = &record_##_record,                 \
	    .counted_by = IF_TYPE(by, uint32_t, offsetof(RECORD_TYPE, by) + 1))
/* A store of the timeline: all but the first, which stands for none. An image maps it. */
#define STORED(m, record_)                                                                         \
	ROW(m, IF_TYPE(m, struct pages, FIELD_PAGES), .record = &record_##_record, .passing = true)
#define MAP(m) ROW(m, IF_TYPE(m, struct idmap, FIELD_MAP), )
#define TEXT(m) ROW(m, IF_TYPE(m, char *, FIELD_TEXT), )
#define HOST_NAME(m) ROW(m, IF_TYPE(m, char *, FIELD_HOST_NAME), )
#define PATH(m) ROW(m, IF_TYPE(m, char *, FIELD_PATH), )
#define DIRECTORY(m) ROW(m, IF_TYPE(m, char *, FIELD_DIRECTORY), )
#define TEXTS(m) ROW(m, IF_TYPE(m, GPtrArray *, FIELD_TEXTS), )
#define CONTAINER(m) ROW(m, FIELD_CONTAINER, )
#define OWN(m) ROW(m, FIELD_OWN, )
/* The same, of use only while events pass. */
#define PASSING_ARRAY(m, record_)                                                                  \
	ROW(m, IF_TYPE(m, GArray *, FIELD_ARRAY), .record = &record_##_record, .passing = true)
#define PASSING_MAP(m) ROW(m, IF_TYPE(m, struct idmap, FIELD_MAP), .passing = true)

#define RECORD_MADE(name_, make_, taken_, ...)                                                     \
	static const struct field name_##_fields[] = {__VA_ARGS__};                                \
	const struct record name_##_record = {                                                     \
		.name = #name_,                                                                    \
		.size = sizeof(RECORD_TYPE),                                                       \
		.fields = name_##_fields,                                                          \
		.count = sizeof name_##_fields / sizeof(struct field),                             \
		.make = make_,                                                                     \
		.taken = taken_}
#define RECORD(name_, ...) RECORD_MADE(name_, NULL, NULL, __VA_ARGS__)

#endif
