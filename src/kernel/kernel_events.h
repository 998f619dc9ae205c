/* SPDX-License-Identifier: MIT */
/* The kernel's own tracepoints, as ftrace and perf record them: what LTTng calls them, and what
 * their fields are called.
 *
 * Place: kernel/, above event/: a name with a colon ("sched:sched_switch") is a tracepoint's.
 * Everything above knows LTTng's names only. What cannot be said by a name and an offset
 * (priorities that count from elsewhere, flags that are letters, calls that are numbers) is put
 * right by event_finish(), once the fields have been taken.
 * Source: include/trace/events/ of Linux 3.2 to 6.12.
 */
#ifndef WHYLATE_KERNEL_KERNEL_EVENTS_H
#define WHYLATE_KERNEL_KERNEL_EVENTS_H

#include "kernel/numbered_calls.h"

/* How an event is finished. */
enum event_ending {
	ENDING_NONE,
	ENDING_SWITCH,     /* priorities count from 100 */
	ENDING_PRIORITIES, /* of sched_pi_setprio */
	ENDING_BLOCK,      /* rwbs is letters */
	ENDING_CALL,       /* raw_syscalls:sys_enter, sys_exit: a number and registers */
	ENDING_ADDRESS,    /* a socket's address by numbers as they lie in memory */
};

/* Probes of whylate's own (record --tracer) are of systems with this begin. */
#define OWN_PROBES "whylate_"

/* What LTTng calls "SYSTEM:NAME"; to free. Of whylate's own probes "call_file_name",
 * "call_connect", "call_peer_address", or the probe's name. */
char *tracepoint_name(const char *name);

/* What a tracepoint's events are, by "SYSTEM:NAME". Never fails: EV_OTHER. */
struct event_class event_class_of_tracepoint(struct intern *names, const char *name);

/* What perf's events converted to CTF say of the thread, in their payload; ends with name NULL. */
const struct event_field *perf_thread_fields(void);

/* Of whylate's own probes, what they say of an address; ends with name NULL. */
const struct event_field *address_fields(void);
/* … and what was taken of them, as LTTng has it; points into the event. */
void event_finish_address(struct event_syscall *call);

/* A filter asks for the tracepoint, by its own name or LTTng's. */
bool filter_wants_tracepoint(const struct event_filter *filter, const char *name);

/* Puts what was taken of a tracepoint into the form that LTTng's events have. `calls` may be NULL
 * where class->ending is not ENDING_CALL. */
void event_finish(struct event *event, const struct event_class *class,
		  struct numbered_calls *calls);

#endif
