/* SPDX-License-Identifier: MIT */
/* A queue of copied events and notices, for those that must wait.
 *
 * Place: event/. flow/flow.c holds events back here until the thread that a
 * CPU ran before its first switch is known. In memory at first, then in an
 * unlinked temporary file, so that a CPU that never switches costs disk, not
 * memory.
 */
#ifndef WHYLATE_EVENT_QUEUE_H
#define WHYLATE_EVENT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include <glib.h>

#include "event/event.h"

struct event_queue {
	GByteArray *bytes;    /* owned; the newest */
	GPtrArray *in_memory; /* owned; GByteArray: what came before and could not go to the file */
	int file; /* the oldest; -1 until needed, and if it cannot be had */
	uint64_t file_bytes;
	uint64_t count;
};

void event_queue_init(struct event_queue *queue);
void event_queue_clear(struct event_queue *queue);

/* Copies the event with its strings and arrays. */
void event_queue_push(struct event_queue *queue, const struct event *event);

/* Hands on all events in order, then empties the queue. The event passed is
 * valid during the call. */
void event_queue_drain(struct event_queue *queue,
		       void (*handle)(const struct event *event, void *data), void *data);

#endif
