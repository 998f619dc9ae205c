/* SPDX-License-Identifier: MIT */
/* What records look like when they are written: a record is described once, as a list of columns,
 * and JSON, CSV, tables for people and LAMI's are writers over that list, which so cannot tell
 * different things.
 *
 *   struct call_total ──┐                        ┌─► json_put_row()  {"name": "read", …}
 *                       ├─ struct column [] ─────┼─► csv_row()       read,3,…
 *   getters ────────────┘  key, type, value,     └─► text_table()    NAME  CALLS …
 *                          place in tables
 *
 * Place: report/. The list is constant data: a column's value is read from the row's structure
 * (FIELD) or computed by a getter, which has the report and the row. JSON takes the columns that
 * have a key, in their order; a table or CSV takes those that have a place in it, in the order of
 * their places. A tree is a record with a list of records with the same columns.
 *
 * A value may be none: a text that is NULL, a thread that is NO_THREAD, a pointer that is NULL, and
 * numbers as `none` says. JSON has null for it, or with `absent` no member at all; CSV has an empty
 * cell, and a table "-".
 */
#ifndef WHYLATE_REPORT_COLUMNS_H
#define WHYLATE_REPORT_COLUMNS_H

#include <stddef.h>

#include "report/output.h"
#include "run/session.h"

/* What is being written, and where to. */
struct report {
	const struct session *session; /* borrowed; NULL: records of several traces */
	const void *data; /* borrowed; the results that getters need beside the row */
	struct output *output;
};

enum column_type {
	COLUMN_END, /* after the last one */
	COLUMN_TEXT, /* any bytes; a number with `names`: the name of that number */
	COLUMN_NAME, /* an interned text */
	COLUMN_LEAF, /* a leaf: "blocked/syscall:read" */
	COLUMN_WHOLE, /* a count, an id; as COLUMN_NS, a real is rounded */
	COLUMN_NS, /* a duration; tables have "13.6 ms" */
	COLUMN_TIME, /* ns since the epoch; tables have "[12:00:00.000000001]" */
	COLUMN_REAL,
	COLUMN_SHARE, /* of 1; tables have "12.5 %" */
	COLUMN_BOOL, /* tables have * or a space */
	COLUMN_THREAD, /* a thread: host, tid, pid, name, in a container also what it is there */
	COLUMN_TID_NAME, /* a thread: host, tid, name */
	COLUMN_RESOURCE, /* an interned key: kind, name */
	COLUMN_RANGE, /* two times, FIELD_RANGE; LAMI's only, as others have each by itself */
	COLUMN_OBJECT, /* with `columns`, of the same row if it is neither a FIELD nor `at` */
	COLUMN_LIST, /* of records with `columns` (NULL: as this one's), or of values of the type
			    `item`; or what `each` writes */
	COLUMN_WRITTEN, /* no value: `write` is called, in JSON */
};

/* How a value lies in the row. */
enum stored {
	STORED_NOT,
	STORED_INT64,
	STORED_UINT64,
	STORED_INT32,
	STORED_UINT32,
	STORED_UINT16,
	STORED_UINT8,
	STORED_BOOL,
	STORED_DOUBLE,
	STORED_STRING, /* char * */
	STORED_ARRAY, /* GArray *: rows are its elements */
	STORED_POINTERS, /* GPtrArray *: rows are what its elements point to */
	STORED_POINTER, /* to another row */
	STORED_HERE, /* itself: a structure or characters */
};

/* A member of the row's structure; one that is itself a structure or an array of characters. */
#define FIELD(type, member)                                                                        \
	.offset = offsetof(type, member),                                                          \
	.stored = _Generic(((type *) NULL)->member,                                                \
		int64_t: STORED_INT64,                                                             \
		uint64_t: STORED_UINT64,                                                           \
		int32_t: STORED_INT32,                                                             \
		uint32_t: STORED_UINT32,                                                           \
		uint16_t: STORED_UINT16,                                                           \
		uint8_t: STORED_UINT8,                                                             \
		bool: STORED_BOOL,                                                                 \
		double: STORED_DOUBLE,                                                             \
		char *: STORED_STRING,                                                             \
		const char *: STORED_STRING,                                                       \
		GArray *: STORED_ARRAY,                                                            \
		GPtrArray *: STORED_POINTERS,                                                      \
		default: STORED_POINTER)
#define FIELD_HERE(type, member) .offset = offsetof(type, member), .stored = STORED_HERE
/* Two times, the second right behind the first; does not compile if it is elsewhere. */
#define FIELD_RANGE(type, begin, end)                                                              \
	.offset = offsetof(type, begin) /                                                          \
		  (offsetof(type, end) == offsetof(type, begin) + sizeof(int64_t)),                \
	.stored = STORED_HERE
/* The row itself: an element of a list of numbers or strings. */
#define ROW_NUMBER .stored = STORED_UINT32
#define ROW_HERE .stored = STORED_HERE

/* Which numbers are no value. */
enum none { NONE_NEVER, NONE_NEGATIVE, NONE_ZERO, NONE_LOWEST /* INT64_MIN */ };

/* How JSON puts the items of a list that is written row by row: on a line each, … */
enum lines {
	LINES_NOT,
	LINES_BETWEEN, /* … the first behind the bracket */
	LINES_EACH, /* … the first too */
};

/* What a table says of lost events: the column's value tells that some were, or its text has *
 * behind it where they were. */
enum mark { MARK_NOT, MARK_TELLS, MARK_SHOWS };

/* Where a column is in a table or in CSV. */
struct shown_at {
	uint8_t place; /* from 1; 0: it is not */
	const char *header; /* NULL: its key */
	int8_t width; /* columns; negative: to the left */
	const char *before; /* what parts it from the one before; NULL: a space */
};

/* A column of LAMI's tables, which are in the order of the list (lami/lami_table.h). The class of
 * its data follows from the column's type, but for these. */
enum lami_class { LAMI_OF_TYPE, LAMI_SYSCALL, LAMI_DISK, LAMI_IRQ /* `write` puts its members */ };

struct lami_cell {
	const char *title; /* NULL: it is none */
	const char *unit; /* of numbers; NULL: none, "": the table's */
	enum lami_class class;
	bool unknown; /* none is written as not known, not as empty */
};

/* How `whylate batch` adds a member of JSON up over traces. */
enum merged {
	MERGED_NOT,
	MERGED_FIRST, /* a text that all have: the first of them is what the record is found by */
	MERGED_SUM,
	MERGED_LEAST,
	MERGED_LARGEST,
	MERGED_ANY, /* true if any is */
	MERGED_COUNTS, /* an object of counts */
};

struct column {
	/* NULL: not in JSON; of an object or a thread: its members as if they were the row's. */
	const char *key;
	enum column_type type;
	size_t offset;
	enum stored stored;
	/* Getters, in place of a FIELD; of a list, `at` gives it, stored as `stored` says. */
	int64_t (*number)(const struct report *report, const void *row);
	double (*real)(const struct report *report, const void *row);
	const char *(*text)(const struct report *report, const void *row);
	char *(*owned)(const struct report *report, const void *row); /* is freed */
	const void *(*at)(const struct report *report, const void *row);
	GArray *(*array)(const struct report *report, const void *row); /* of a list; is freed */
	guint (*each)(const struct report *report, const void *row); /* returns what it left out */
	void (*write)(const struct report *report, const void *row);

	const char *const *names;
	const struct column *columns;
	const void *(*row)(const struct report *report, const void *element); /* of a list */
	enum column_type item;
	enum lines lines;
	enum none none;
	bool absent;
	bool limited; /* --limit cuts the list, and member KEY_omitted says by how much */
	bool tells_all; /* … but a page shows the threads of all rows */
	/* The column is there at all; NULL: always. In headings, `row` is NULL. */
	bool (*when)(const struct report *report, const void *row);
	struct shown_at table, csv;
	struct lami_cell lami;
	enum merged merged;
	enum mark mark;
	bool indents; /* the level in a tree moves it to the right */
	/* What is longer than its width (in characters, always) has a line of its own, … */
	bool own_line;
	int8_t rest; /* … and that is what others leave of the terminal's, at least so many */
};

/* A value as it was read; `none` or what its type takes. */
struct value {
	bool none;
	int64_t number;
	double real;
	const char *text;
	const void *row; /* of an object, a list */
	char *owned; /* what `text` is, if it is to be freed: value_clear(), … */
	GArray *array; /* … and what `row` is */
};

void column_read(const struct report *report, const struct column *column, const void *row,
		 struct value *value);
void value_clear(struct value *value);
bool column_is_there(const struct report *report, const struct column *column, const void *row);
/* The column at a place of its `table` or `csv` (`which`: offsetof(struct column, table)), from 1;
 * NULL: none. `row` becomes the row that it is of, NULL if there is none; for headings it is NULL
 * before. */
#define CELLS_MAX 24
const struct column *column_at_place(const struct report *report, const struct column *columns,
				     size_t which, uint8_t place, const void **row);

/* Rows of a list. */
struct rows {
	const void *list; /* NULL: none */
	enum stored stored;
	guint count;
};
#define ROWS(rows)                                                                                 \
	_Generic((rows),                                                                           \
		GArray *: rows_of_array,                                                           \
		const GArray *: rows_of_array,                                                     \
		GPtrArray *: rows_of_pointers,                                                     \
		const GPtrArray *: rows_of_pointers)(rows)
static inline struct rows rows_of_array(const GArray *array)
{
	return (struct rows) {array, STORED_ARRAY, array ? array->len : 0};
}
static inline struct rows rows_of_pointers(const GPtrArray *pointers)
{
	return (struct rows) {pointers, STORED_POINTERS, pointers ? pointers->len : 0};
}
const void *rows_at(const struct rows *rows, guint i);
/* A list of [first, end) of them; free with g_array_unref(). */
GArray *rows_between(const GArray *rows, guint first, guint end);
/* How many of so many --limit leaves. */
guint rows_limited(const struct session *session, guint count);
/* The same in JSON, which may be whole. */
guint report_limited(const struct report *report, guint count);

/* Of a row that is a thread (const uint32_t *): as COLUMN_THREAD and COLUMN_TID_NAME. */
extern const struct column thread_columns[], tid_name_columns[];

/* A getter that is one expression of `row`, a const RECORD *, and perhaps of `report`. */
#define GETTER(result, name, record, expression)                                                   \
	static result name(const struct report *report, const void *data)                          \
	{                                                                                          \
		const record *row = data;                                                          \
		(void) report;                                                                     \
		(void) row;                                                                        \
		return expression;                                                                 \
	}                                                                                          \
	struct getter_end /* takes the semicolon */

/* These columns, of the same row. */
#define COLUMNS(list) {NULL, COLUMN_OBJECT, .columns = list}
/* Working, interrupted, blocked and unknown time, of an array by enum wib. */
#define COLUMNS_WIB(type, member)                                                                  \
	{"working_ns", COLUMN_NS, FIELD(type, member[WIB_WORKING]), .lami = {"Working"}},          \
		{"interrupted_ns", COLUMN_NS, FIELD(type, member[WIB_INTERRUPTED]),                \
		 .lami = {"Interrupted"}},                                                         \
		{"blocked_ns", COLUMN_NS, FIELD(type, member[WIB_BLOCKED]), .lami = {"Blocked"}},  \
	{                                                                                          \
		"unknown_ns", COLUMN_NS, FIELD(type, member[WIB_UNKNOWN]), .lami = {"Unknown"}     \
	}

/* --- columns_json.c ------------------------------------------------------------------------- */

/* Opens and ends an object or array: a member, or with `key` NULL an item or the whole. */
void json_begin(struct output *output, const char *key, char bracket, enum lines lines);
void json_end(struct output *output, char bracket);
/* A member, or with `key` NULL an item. */
void json_put_text(struct output *output, const char *key, const char *text); /* NULL: null */
void json_put_whole(struct output *output, const char *key, int64_t number);
void json_put_real(struct output *output, const char *key, double number);
void json_put_bool(struct output *output, const char *key, bool value);
void json_put_null(struct output *output, const char *key);

/* What comes before a value that is written otherwise: a comma, and its key. */
void json_put_key(struct output *output, const char *key);
/* The page's watch, if there is one, is told of a thread that is named, of a part of its time. */
void json_tell_thread(const struct report *report, uint32_t thread);
/* Of a list whose first `written` rows are written: it ends here, as what it is written into is
 * full. The first few are written anyway. */
bool json_is_full(const struct report *report, guint written);
/* So many items of the list that is being written, or until it is full; returns how many were
 * written. `beside`: they may be made beside each other (parts/). */
typedef void part_writer(const struct report *report, guint part, const void *data);
guint json_put_parts(const struct report *report, guint count, bool beside, part_writer *put,
		     const void *data);
void json_tell_stretch(const struct report *report, uint32_t thread, int64_t begin, int64_t end);
/* The record as an object, or its members alone, in an object that was opened. */
void json_put_row(const struct report *report, const char *key, const struct column *columns,
		  const void *row);
void json_put_members(const struct report *report, const struct column *columns, const void *row);
/* A list of records: all of them. */
void json_put_rows(const struct report *report, const char *key, const struct column *columns,
		   struct rows rows);
/* A whole report: schema, tool, and these members on a line each. */
void json_report(const struct report *report, const char *schema, const struct column *columns,
		 const void *row);

/* --- columns_csv.c -------------------------------------------------------------------------- */

void csv_heading(const struct report *report, const struct column *columns);
void csv_row(const struct report *report, const struct column *columns, const void *row);
void csv_rows(const struct report *report, const struct column *columns, struct rows rows);
/* A cell (RFC 4180), control characters shown as in text. */
void csv_cell(FILE *file, const char *text);

/* --- columns_text.c ------------------------------------------------------------------------- */

struct text_table {
	const struct column *columns;
	const void *(*row)(const struct report *report, const void *element);
	void (*below)(const struct report *report, const void *row); /* lines under a row */
	bool in_bytes; /* widths are bytes: as these tables have always been */
	bool note_first; /* the note on lost events comes before the number of rows left out */
};

/* Heading, rows as far as --limit allows, how many it left out, and the note on lost events. */
void text_table(const struct report *report, const struct text_table *table, struct rows rows);
void text_table_heading(const struct report *report, const struct text_table *table);
/* A row at a level of a tree; returns whether one of its columns is a * for lost events. */
bool text_table_row(const struct report *report, const struct text_table *table, const void *row,
		    int level);
/* What is no table: `line` prints each row, as far as --limit allows. */
void text_lines(const struct report *report, struct rows rows,
		void (*line)(const struct report *report, const void *row));
/* "[... 3 more; --limit 0 shows all ...]"; nothing if none are. */
void text_omitted(const struct output *output, guint count);
/* `of`: what they are, behind " more". */
void text_omitted_of(const struct output *output, int indent, guint count, const char *of);

#endif
