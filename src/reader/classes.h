/* SPDX-License-Identifier: MIT */
/* What to do with the events of one class: what they are, the program that takes
 * their fields, and the filters that their name fits.
 *
 * Place: reader/; the counterpart of the plugin's fields.c.
 */
#ifndef WHYLATE_READER_CLASSES_H
#define WHYLATE_READER_CLASSES_H

#include <pthread.h>

#include "event/sink.h"
#include "reader/compile.h"

struct class_filter;

/* How to get over such records fast, and what they set. */
struct skimmed_class {
	gint known;              /* the rest is set */
	bool fixed;              /* of `bits`, from a byte on, with the threads at `tids` */
	uint8_t span;            /* enum event_span */
	uint64_t bits, tids[2];  /* of a switch the last and the next, else who is woken */
	struct program *over;    /* owned; takes nothing; NULL: the class's own is to run */
};

/* How events begin: LTTng's two forms in this machine's byte order, aligned to bytes. */
enum header_form { HEADER_OTHER, HEADER_COMPACT, HEADER_LARGE };

struct record_class {
	const struct event_type *event; /* borrowed */
	struct event_class class;
	bool perf;               /* perf's, converted: its payload says who ran */
	bool packet;             /* of the network, with TCP's header taken whole */
	gint met;                /* what follows is made when the first one comes */
	struct program *program; /* owned; NULL: such records cannot be read */
	uint64_t touched;        /* struct event's */
	GArray *filters;         /* owned; struct class_filter; NULL: none */
	uint32_t shape;          /* struct event_syscall's; 0: nobody asks for the values */
	uint8_t value_count;
	uint8_t value_places[SHAPE_MAX]; /* in the cursor's values */
	struct skimmed_class skimmed; /* skim.h */
	struct program *passes;       /* owned; class_over(), for class_pass(); NULL: not made */
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
	pthread_mutex_t lock; /* while what a class needs is made: several threads may read */
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

/* Makes what is made when the first such record comes; false: they cannot be read. */
bool class_meet(struct class_table *table, struct record_class *class);
/* A program that only gets over such records; NULL: they cannot be read. */
struct program *class_over(const struct class_table *table, const struct record_class *class);
/* Sets the kind and takes contexts and payload; false: the bytes do not fit. */
bool class_take(struct class_table *table, struct record_class *class, struct cursor *cursor,
		struct event *event);
/* Over a record as class_take() goes, but nothing of it is taken. */
bool class_pass(struct class_table *table, struct record_class *class, struct cursor *cursor);

#endif
