/* SPDX-License-Identifier: MIT */
/* A sink that works in a thread of its own: who reads a trace goes on while the events that it
 * handed on are taken.
 *
 *   reader's thread                         the relay's thread
 *   relay_sink()->event() ─► | batch | batch | batch | ─► sink->event()
 *                 .begin(), .lose(), … ─► waits until all events before are taken, then calls
 *
 * Place: event/, between any reader and any sink; neither knows of it. The sink hears the same
 * calls in the same order as without it, never two at a time.
 * Measured: to decode an event takes two thirds of what it takes to follow it, so that one thread
 * for each keeps both at work; more threads that decode would wait.
 * Of an event what is not empty is handed on, with its strings and lists, 40 to 120 bytes: a line
 * of cache that another processor wrote costs 20 to 50 ns to read, as much as the decoding that is
 * saved. Rejected: whole events of 280 bytes, for that reason; one at a time; and to hand on where
 * an event lies, to be decoded by who takes it, whose thread is the one that all wait for.
 */
#ifndef WHYLATE_EVENT_RELAY_H
#define WHYLATE_EVENT_RELAY_H

#include "event/sink.h"

struct relay;

/* Feeds `sink` (borrowed; what it asks for is asked for as it is now): the first `alone` events as
 * they come, the others from a thread that begins then, if it can be had. NULL: not on processors
 * of 32 bits. */
struct relay *relay_new(const struct event_sink *sink, uint32_t alone);
/* When all events are taken, ends the thread. NULL is allowed. */
void relay_free(struct relay *relay);

/* What a reader is to feed; owned by the relay. */
const struct event_sink *relay_sink(const struct relay *relay);

/* Returns when all events that were handed on have been taken: the sink's data may be looked at
 * until the next one is handed on. NULL is allowed. */
void relay_wait(struct relay *relay);

#endif
