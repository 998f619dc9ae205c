/* SPDX-License-Identifier: MIT */
/* Which of two threads turned to the other first: who asks, and who serves.
 *
 * Place: imposed/, for the waiting that threads impose on others (waiting.h). A
 * server that waits for its next request and a client that waits for the answer
 * look the same in a trace: both sleep until the other wakes them. They differ
 * in who began: the client woke, or made, the server before that ever woke it.
 * So a wait for a message is *idle* if what ended it is who turned to the waiter
 * first; it delays nobody. Of another process all
 * threads count as one: a request may be taken by one thread and answered by another.
 *
 * For packets the ports tell: the side with a port that systems give by themselves
 * (32768 and up) opened the connection. An event loop's wait for somebody who was
 * there before the trace, as it was itself, counts as idle too.
 *
 * Inferred, and wrong at times for a conversation that began before the trace.
 * What cannot be a wait for a request is never idle: for a lock, a child, a file,
 * in a page fault, stopped. Source: own; the need for it is in the field's common
 * complaint that waiting is "dominated by idle threads".
 */
#ifndef WHYLATE_IMPOSED_CONTACTS_H
#define WHYLATE_IMPOSED_CONTACTS_H

#include "util/idmap.h"
#include "waits/wait.h"

struct contacts {
	const struct session *session; /* borrowed */
	const uint32_t *process; /* borrowed; of each thread: the first of its process */
	struct idmap places; /* two ids -> index in `first` */
	GArray *first;       /* owned; int64_t: when the first of the two turned to the second */
};

/* Reads all threads' waits and births in the window's trace up to its end. */
void contacts_init(struct contacts *contacts, const struct session *session);
void contacts_clear(struct contacts *contacts);

/* The thread waited for what it is there for: its next request, which `by` made. */
bool contacts_idle(const struct contacts *contacts, const struct wait *wait, uint32_t by);

/* The same where what ended the wait led to no thread: a packet from somewhere else, a
 * device's input. */
bool contacts_idle_hardware(const struct session *session, const struct wait *wait);

/* A wait that could be one for a request: in a call, on what carries messages. */
bool wait_is_for_message(const struct session *session, const struct wait *wait);
/* A wait for a lock: locks.h, or of a file. */
bool wait_is_for_lock(const struct session *session, const struct wait *wait);

#endif
