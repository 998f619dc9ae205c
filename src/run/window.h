/* SPDX-License-Identifier: MIT */
/* The window: from when to when the trace is looked at.
 *
 * Place: run/, behind matches.h. Source: semantics.md, "Window, target and lineage".
 */
#ifndef WHYLATE_RUN_WINDOW_H
#define WHYLATE_RUN_WINDOW_H

#include "run/session.h"

/* Begin and end of all hosts' traces, then what --from, --to and --target make of them. A window
 * outside the trace is the user's failure. */
void window_bounds(struct session *session);
bool window_resolve(struct session *session, GError **error);

#endif
