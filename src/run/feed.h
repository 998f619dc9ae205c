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

#endif
