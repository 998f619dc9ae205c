/* SPDX-License-Identifier: MIT */
/* The table of event kinds: their names over the tracer's versions and the
 * payload fields that the core takes from each.
 * A new kind of event is a row in kinds.c, and a member of the union in event.h.
 *
 * Place: event/. A reader asks once per event class which kind it is and
 * which fields to put where; after that no name is looked at again.
 * Source: lttng-events.md, from lttng-modules 2.0 to 2.16; summarised at the
 * table itself (kinds.c).
 */
#ifndef WHYLATE_EVENT_KINDS_H
#define WHYLATE_EVENT_KINDS_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "util/intern.h"

/* How a payload field is stored into struct event at an offset. */
enum event_field_type {
	FIELD_I32,    /* any integer -> int32_t or uint32_t */
	FIELD_I64,    /* any integer -> int64_t or uint64_t */
	FIELD_STRING, /* -> const char * */
	FIELD_BYTES,  /* array of integers -> struct event_bytes, one byte each */
	FIELD_WORDS,  /* array of integers -> struct event_bytes, 64 bits each */
	FIELD_PAIR,   /* array of two integers -> int32_t[2] */
	FIELD_READY,  /* array of {fd | data_union.u64, raw_events} -> fds, fd_count */
	FIELD_COOKIE, /* struct {data_union.u64} -> uint64_t */
	FIELD_PACKET, /* variant of network headers -> struct event.net */
	FIELD_BOOL,   /* any integer -> bool */
};

struct event_field {
	const char *name;  /* as Babeltrace gives it: one leading '_' stripped */
	uint8_t type;      /* enum event_field_type */
	uint16_t offset;   /* in struct event */
};

/* What an event class is. */
struct event_class {
	uint16_t kind;             /* enum event_kind */
	uint32_t name;             /* interned event name */
	uint32_t argument;         /* interned syscall, vector or function name, else 0 */
	bool compat;               /* 32-bit system call on a 64-bit kernel */
	uint8_t ending;            /* enum event_ending (kernel_events.h) */
	const struct event_field *fields; /* static; ends with name NULL */
};

/* The system-call numbering of a trace, for calls that the tracer's table
 * did not know. ABI_GENERIC: ARM64, RISC-V and what else came since. */
enum syscall_abi {
	ABI_UNKNOWN,
	ABI_X86_64,
	ABI_I386,
	ABI_GENERIC,
	ABI_ARM,
	ABI_PPC64,
	ABI_S390X,
};

/* Finds out what an event of that name is. Never fails: EV_OTHER. What ftrace and perf record has
 * a system before its name: event_class_of_tracepoint(). */
struct event_class event_class_of(struct intern *names, const char *event_name);

/* The same of a user-space trace's events. */
struct event_class event_class_of_user(struct intern *names, const char *event_name);

/* Begins an event of that class: what the tracer may leave out of its arguments gets its default.
 * `abi` numbers the trace's system calls. Time, CPU, host and contexts are the caller's to set. */
void event_init(struct event *event, const struct event_class *class, enum syscall_abi abi);

/* The field that events of a kind have under that name, NULL. */
const struct event_field *event_field_named(uint16_t kind, const char *name);

/* Puts a whole number where the field wants it. NULL: nowhere; texts and lists: not there. */
void event_store(struct event *event, const struct event_field *field, int64_t value);

/* Bytes of a struct event that such an event uses, from its begin. */
size_t event_size(uint16_t kind);

/* The contexts that belong to the arguments of a kind; ends with name NULL. */
const struct event_field *event_contexts(uint16_t kind);

/* Calls `string` and `bytes` with each pointer among the arguments of `event`, always in the same
 * order: of the wanted fields, a string or a list has one pointer, under whatever names. */
typedef void event_visit_string(const char **text, void *data);
typedef void event_visit_bytes(const void **bytes, size_t size, void *data);
void event_each_pointer(struct event *event, event_visit_string *string, event_visit_bytes *bytes,
			void *data);

/* Appends a whole number's name to those of a shape (sink.h). */
void shape_add(GString *names, const char *name, bool is_signed, unsigned bits);

/* Nothing is taken from its events any more. */
void event_class_pass_over(struct event_class *class);

/* Makes an event that is nothing else, and whose payload is `ip` and
 * `parent_ip`, the entry or exit of the probed function NAME. */
void event_class_of_probe(struct intern *names, const char *event_name, struct event_class *class);
/* … and a place that a probe tells the passing of, as a function's begin: `ip` alone. */
void event_class_of_place(struct intern *names, const char *event_name, struct event_class *class);

/* The name of a system call that the tracer knew only by number, or NULL.
 * Source: the kernel's syscall_64.tbl and syscall_32.tbl. */
const char *event_syscall_name(enum syscall_abi abi, int64_t number);

/* What an event's existence tells of the traced kernel's system-call numbers;
 * a reader ORs the hints of all declared events. The tracer does not say. */
enum {
	HINT_X86 = 1,   /* only x86 has it */
	HINT_32BIT = 2, /* only 32-bit kernels have it */
	HINT_OLD = 4,   /* the older ABIs have it: x86, but not ARM64 or RISC-V */
	HINT_OTHER = 8, /* x86 does not have it */
};
unsigned event_abi_hint(const char *event_name);
enum syscall_abi event_abi(unsigned hints);

#endif
