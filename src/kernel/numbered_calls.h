/* SPDX-License-Identifier: MIT */
/* System calls that a recording knows by number and registers.
 *
 * Place: kernel/, used by what reads the kernel's own tracepoints (kernel_events.h). A call that is
 * not in the table of arguments is known by its name; what it was called with is not. An address
 * leads to memory that nobody recorded: what stands there, as a file's name or poll's list, cannot
 * be known. Calls of a 32-bit program on a 64-bit kernel look like the 64-bit one's of that number:
 * the tracepoint does not say which it is.
 * Source: the kernel's SYSCALL_DEFINEs; names as LTTng's events have them.
 */
#ifndef WHYLATE_KERNEL_NUMBERED_CALLS_H
#define WHYLATE_KERNEL_NUMBERED_CALLS_H

#include "event/sink.h"

#define CALL_ARGUMENTS 6 /* of a system call, at most: registers */

/* Numbers, and what LTTng's events of such calls are; of one trace. */
struct numbered_calls;

struct numbered_calls *numbered_calls_new(const struct event_sink *sink, enum syscall_abi abi);
void numbered_calls_free(struct numbered_calls *calls);

/* One place of a call's registers. */
struct call_argument {
	const char *name; /* owned by the table; ends with NULL */
	bool address;     /* of something in memory: a number that says little */
	const struct event_field *field; /* what the core takes it as, NULL */
};

struct numbered_call {
	struct event_class entry, exit;
	struct call_argument arguments[CALL_ARGUMENTS + 1];
	char *entry_name, *exit_name; /* owned */
	char *text; /* owned: the arguments' names */
};

/* NULL where the number has no name. Good until numbered_calls_free(). */
const struct numbered_call *numbered_call(struct numbered_calls *calls, int64_t number);

/* How a machine numbers its calls, by what uname calls it. */
enum syscall_abi event_abi_of_machine(const char *machine);

#endif
