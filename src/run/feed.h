/* SPDX-License-Identifier: MIT */
/* A session from its begin to its end: made for a question, fed by a reader.
 *
 * Place: run/. The session's sink (session->trace.sink) is the trace's own, but for events: what is
 * asked sees them first, as options name some and --every cuts time into stretches.
 */
#ifndef WHYLATE_RUN_FEED_H
#define WHYLATE_RUN_FEED_H

#include "event/relay.h"
#include "run/session.h"

struct session *session_new(struct options *options);
void session_free(struct session *session);

/* A thread that takes the session's events while who reads them goes on (relay.h; to free); NULL
 * where none is wanted (--jobs 1), or what is done with one event decides whether there is another
 * (--every). */
struct relay *session_relay(struct session *session);

/* What the options ask can be answered from what the session has read for others. */
bool session_bears(const struct session *session, const struct options *options);
/* Another question about what was read and finished, in place of the one that was answered. Its
 * filters' events (session_wants_match()) are still to be found; then session_finish(). */
void session_ask_again(struct session *session, struct options *options);

/* A finished session once more, of its own: what is stored in it may be changed. The trace goes
 * through an image in an unnamed file, so nothing is forgotten; symbols stay with the first one,
 * which must last as long. NULL and an error if the file cannot be had. */
struct session *session_copy(const struct session *session, GError **error);
void session_copy_free(struct session *copy);

#endif
