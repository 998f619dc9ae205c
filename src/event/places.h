/* SPDX-License-Identifier: MIT */
/* Where events of rare classes lie in the trace, so that one that a user names later is found
 * without going through all the others.
 *
 * Place: event/. The direct reader notes them and goes back to them; what a place means is
 * its own business. Of a class with many events none is kept.
 */
#ifndef WHYLATE_EVENT_PLACES_H
#define WHYLATE_EVENT_PLACES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define PLACES_MAX 4096 /* events of one name */

struct event_place {
	uint64_t number;  /* so many events came before it */
	int64_t time;     /* ns */
	uint64_t id;      /* its class, as the stream numbers them */
	uint64_t at;      /* bits from the packet's begin to what follows the record's header */
	uint32_t stream, packet;
};

struct places_of_name {
	GArray *list;     /* owned; struct event_place in order; NULL: none, or too many */
	bool many;
};

struct event_places {
	GArray *of_names; /* owned; struct places_of_name by interned event name */
};

struct event_places *event_places_new(void);
void event_places_free(struct event_places *places);

/* What is known of events of that name; good until the next name is asked for. */
struct places_of_name *event_places_of(struct event_places *places, uint32_t name);
void event_places_note(struct places_of_name *of_name, const struct event_place *place);

#endif
