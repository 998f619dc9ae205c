/* SPDX-License-Identifier: MIT */
/* What to do with the events of one class: what they are, the program that takes
 * their fields, and the filters that their name fits.
 *
 * Place: reader/; the counterpart of the plugin's fields.c.
 */
#ifndef WHYLATE_READER_CLASSES_H
#define WHYLATE_READER_CLASSES_H

#include "event/sink.h"
#include "reader/compile.h"

struct class_filter;

/* How events begin: LTTng's two forms in this machine's byte order, aligned to bytes. */
enum header_form { HEADER_OTHER, HEADER_COMPACT, HEADER_LARGE };

struct record_class {
	const struct event_type *event; /* borrowed */
	struct event_class class;
	bool perf;               /* perf's, converted: its payload says who ran */
	bool packet;             /* of the network, with TCP's header taken whole */
	bool met;                /* what follows is made when the first one comes */
	struct program *program; /* owned; NULL: such records cannot be read */
	GArray *filters;         /* owned; struct class_filter; NULL: none */
	uint32_t shape;          /* struct event_syscall's; 0: nobody asks for the values */
	uint8_t value_count;
	uint8_t value_places[SHAPE_MAX]; /* in the cursor's values */
};

/* The classes of one stream class in one directory's metadata. */
struct class_table {
	const struct event_sink *sink; /* borrowed, as the next two */
	const struct metadata *metadata;
	const struct stream_type *stream;
	GPtrArray *by_id;        /* owned; struct record_class, NULL: none */
	GHashTable *far;         /* owned; id -> struct record_class, for ids beyond the list */
	enum syscall_abi abi;
	struct numbered_calls *calls; /* owned; of events that say a call's number */
	uint8_t form;            /* enum header_form */
	bool has_tid, has_pid, has_callstacks;
	bool user;               /* of a user-space trace */
	int32_t process;         /* … of this one only, 0 */
};

/* Tells the sink of all classes. `user`: of a user-space trace. */
struct class_table *class_table_new(const struct event_sink *sink, const struct metadata *metadata,
				    const struct stream_type *stream, bool user);
void class_table_free(gpointer table);
/* NULL: no such id. */
static inline struct record_class *class_table_find(const struct class_table *table, uint64_t id)
{
	return id < table->by_id->len ? table->by_id->pdata[id]
				      : g_hash_table_lookup(table->far, &id);
}

/* Sets the kind and takes contexts and payload; false: the bytes do not fit. */
bool class_take(const struct class_table *table, struct record_class *class, struct cursor *cursor,
		struct event *event);

#endif
