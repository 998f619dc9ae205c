/* SPDX-License-Identifier: MIT */
/* A session from its begin to its end: made for a question, fed by a reader.
 *
 * Place: run/. The session's sink (session->trace.sink) is the trace's own, but for events: what is
 * asked sees them first, as options name some and --every cuts time into stretches.
 */
#ifndef WHYLATE_RUN_FEED_H
#define WHYLATE_RUN_FEED_H

#include "run/session.h"

struct session *session_new(struct options *options);
void session_free(struct session *session);

/* What the options ask can be answered from what the session has read for others. */
bool session_bears(const struct session *session, const struct options *options);
/* Another question about what was read and finished, in place of the one that was answered. Its
 * filters' events (session_wants_match()) are still to be found; then session_finish(). */
void session_ask_again(struct session *session, struct options *options);

#endif
