/* SPDX-License-Identifier: MIT */
/* The events that options name: which of the trace's they are.
 *
 * Place: run/. A reader says of each event which filters match it; here it is counted which one is
 * meant (the nth, the last), on one host at once, on several when their clocks are one.
 */
#ifndef WHYLATE_RUN_MATCHES_H
#define WHYLATE_RUN_MATCHES_H

#include "run/session.h"

/* An event that filters match. */
void matches_note(struct session *session, const struct event *event);
/* As a sink's `fields`. */
void matches_note_fields(struct session *session, unsigned filter, uint64_t conditions,
			 const char *names);

/* An option names an event. */
bool session_wants_match(const struct session *session);
/* Brings the times of the events that options name to the hosts' common time. */
void session_shift_matches(struct session *session);
/* Where the events are that options name, struct event_place in order, as they were noted; NULL:
 * there are too many, or nobody noted them. */
GArray *session_named_places(const struct session *session);
/* All events that options name were met, and no later one can take their place. */
bool session_has_matches(const struct session *session);

/* When all has been read: which event each option names; false: one names none. */
bool matches_resolve(struct session *session, GError **error);
/* The thread of --target's event, if there is that option; false: it is of none. */
bool matches_find_target(struct session *session, GError **error);

#endif
