/* SPDX-License-Identifier: MIT */
/* Taking fields of Babeltrace events into struct event; see messages.h. */
#ifndef WHYLATE_PLUGINS_FIELDS_H
#define WHYLATE_PLUGINS_FIELDS_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>

#include "event/sink.h"
#include "event/tcp.h"
#include "kernel/kernel_events.h"

/* One field to take, resolved for one event class. */
struct field_step {
	uint8_t type;     /* enum event_field_type */
	bool is_signed;
	uint16_t offset;  /* in struct event */
	uint64_t index;   /* in the payload structure */
};

/* A filter of the sink that the class's name matches. */
struct class_filter {
	unsigned bit;     /* in event.matches */
	const struct event_filter *filter; /* borrowed */
};

#define SCRATCH_BYTES 8192

/* Room for what an event points to while it is handled. */
struct scratch {
	uint8_t bytes[SCRATCH_BYTES]; /* all lists of bytes */
	uint32_t used;
	GArray *ready;                /* owned; struct event_ready */
	int64_t numbers[SHAPE_MAX];   /* values of a system call's fields */
};

/* Where the addresses lie in one option of a variant of headers; found when
 * the option is met first. */
struct header_layout {
	bool known;
	int64_t saddr, daddr, transport; /* member index, -1 */
	int64_t source_port, dest_port;  /* of a transport header */
	int64_t length, ihl, id;         /* of a network header */
	int64_t seq, ack_seq, data_offset, flags, window; /* of TCP's */
};

#define HEADER_OPTIONS 8

struct packet_layout {
	struct header_layout network[HEADER_OPTIONS];
	struct header_layout transport[HEADER_OPTIONS][HEADER_OPTIONS];
};

struct class_state {
	struct event_class class;
	GArray *steps;       /* owned; struct field_step */
	GArray *filters;     /* owned; struct class_filter; NULL: none */
	struct packet_layout *packet; /* owned; NULL until a packet is met */
	uint32_t shape;      /* struct event_syscall's; 0: nobody asks for the values */
	GArray *values;      /* owned; struct field_step; NULL: none */
	bool perf;           /* perf's, converted: its payload says who ran */
};

void scratch_init(struct scratch *scratch);
void scratch_clear(struct scratch *scratch);

/* Resolves fields and filters of `event_class`; `user`: of a user-space trace. */
struct class_state *class_state_new(const struct event_sink *sink,
				    const bt_event_class *event_class, bool user);
void class_state_free(gpointer state);

/* Fills the arguments of `event`, whose kind is set. */
void fields_take(struct class_state *state, const bt_event *from, struct scratch *scratch,
		 struct event *event);
/* Evaluates the class's filters into event->matches. */
void filters_apply(const struct class_state *state, const bt_event *from, struct event *event);

/* Tells the sink of the class; what it is. */
struct event_class declare_class(const struct event_sink *sink, const bt_event_class *event_class,
				 bool user);
/* A list of integers as 64-bit words in `scratch`, behind what is there. */
void field_words(const bt_field *list, struct scratch *scratch, struct event_bytes *to);
/* An integer field's value as int64_t; false for other types. */
bool field_integer(const bt_field *field, int64_t *value);

#endif
