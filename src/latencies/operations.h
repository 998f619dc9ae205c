/* SPDX-License-Identifier: MIT */
/* Operations by name: what they are called, which are asked for, and waits as
 * operations.
 *
 * Place: latencies/. Names are KIND:WHAT, in the words of the states' tree:
 *
 *   syscall:read  function:vfs_read  irq:25  vector:local_timer  softirq:3
 *   hrtimer:CALLBACK           one callback of a high-resolution timer
 *   block-queued:vda           a block request from insert to issue
 *   block-served:vda           … from issue to complete
 *   wait-cpu                   from being woken (or born) to running
 *   blocked:CAUSE              a wait, by the kind of what ended it
 *   trap:page_fault            a wait in a page fault
 *   busy                       a thread's turn between two waits for what comes next (busy.h)
 *
 * Source: semantics.md, "The control-flow stack", "Woken up", "Latency".
 */
#ifndef WHYLATE_LATENCIES_OPERATIONS_H
#define WHYLATE_LATENCIES_OPERATIONS_H

#include "latencies/operation_fields.h"
#include "latencies/operation_path.h"
#include "latencies/operation_pattern.h"
#include "run/session.h"

/* Name of what is done; free with g_free(). `what`: struct operation's. */
char *operation_name(const struct session *session, uint32_t what);

/* What is done, with a user function by its name where the operation has its address; PACKed as
 * its `what`. */
uint32_t operation_what(const struct session *session, const struct operation *operation);

/* The handler of an IRQ, the name of a softIRQ; NULL for others. Free with g_free(). */
char *operation_label(const struct session *session, const struct operation *operation);

/* "vda" for an interned "254:0", if a statedump says so. */
const char *disk_name(const struct session *session, uint32_t device);

/* What an operation was on: an interned key ("file:/etc/x", "device:vda"), 0. */
uint32_t operation_resource(const struct session *session, const struct operation *operation);

/* "; they are on 'RESOURCE', …": what operations were on, nearest to --resource first; "". Free
 * with g_free(). */
char *operations_near_resources(const struct session *session);

/* There may be time of it in which nothing went on: its thread left the CPU, or is a guest's whose
 * host is known, so that its virtual CPU may have been kept from running. */
bool operation_may_stop(const struct session *session, const struct operation *operation);
/* Lost events may have been part of it, so that it was not one operation: its thread was off the
 * CPU meanwhile, or it is a request of a device. */
bool operation_spans_gap(const struct session *session, const struct operation *operation);

/* The kinds of operations that a pattern may name: bit per enum operation_kind. */
uint32_t operations_named(const char *pattern);
/* The pattern may name some operation; else an error that lists the kinds. */
bool operation_pattern_check(const char *pattern, GError **error);

/* Turns are profiled though no pattern names them. */
bool turns_unasked(const struct options *options);

/* The kinds that the options' patterns may name: bit per enum operation_kind. */
uint32_t operations_wanted(const struct options *options);

/* Makes blocked intervals operations, where options ask for them. Call once,
 * when all events are in. */
void operations_add_waits(struct session *session);

/* The operations asked for: by pattern, fields, thread, host, resource, window. An
 * operation is in the window if all of it is. */
#define SCOPE_RECENT 64

struct operation_scope {
	const struct session *session;
	GHashTable *wanted; /* owned; what -> WANTED_… */
	GPtrArray *patterns; /* owned; struct operation_pattern */
	GPtrArray *inside; /* owned; of each: struct operations_inside, or NULL */
	GHashTable *fields_met; /* owned; interned names of fields that operations with conditions
				   have; NULL: there are no conditions */
	struct shapes *shapes; /* owned; NULL: the same */
	guint8 *threads; /* owned; by thread: asked for; NULL: all */
	struct {
		uint32_t what;
		guint wanted; /* as in the table */
	} recent[SCOPE_RECENT]; /* by a hash of `what`, to save most look-ups */
};

void operation_scope_init(struct operation_scope *scope, const struct session *session);
void operation_scope_clear(struct operation_scope *scope);
/* `number`: the operation's in the store. */
bool operation_in_scope(struct operation_scope *scope, const struct operation *operation,
			uint32_t number);
/* Every field that a condition names was one of the operations' (an error that lists those there
 * are): only after all operations have been asked about. */
bool operation_scope_check(const struct operation_scope *scope, GError **error);
/* Some pattern has conditions: facts are to be recorded. */
bool operations_have_conditions(const struct options *options);

/* The kinds of operations that the trace has, as patterns; static strings. Only
 * after all operations have been asked about. */
GPtrArray *operations_available(const struct operation_scope *scope);

#endif
