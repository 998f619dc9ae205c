/* SPDX-License-Identifier: MIT */
/* Reports while the trace goes on: its time is cut into stretches, and each is
 * reported when it is over (--every).
 *
 *   events   ·· ·  ··· ·│· ··· · ·· │           │ ·· · ···┤ the trace ends
 *   stretch  ├── 1 ─────┼── 2 ──────┤  nothing  ├── 3 ────┤
 *   reports             1           2                     3 (partial)
 *
 * Place: run/, asked with each event and by a live reader when time goes
 * by without events. Making a report changes the session (session_finish() ends
 * all lives), so it is made from a copy: see commands/periodic.h. What lies before
 * the stretch just reported, and more than 10 s back, is then forgotten (flow/forget.h):
 * the state that a long recording needs does not grow with its length.
 *
 * A stretch begins at --from (else at the first event) plus a multiple of the
 * length. One in which nothing was recorded gives no report. What is told of
 * the whole recording else (events, losses, odd data, latencies of system calls)
 * is told of the stretch.
 */
#ifndef WHYLATE_RUN_STRETCHES_H
#define WHYLATE_RUN_STRETCHES_H

#include "run/session.h"

void stretches_init(struct session *session);
void stretches_clear(struct stretches *stretches);

/* The trace's time has come to `time`: reports what is over. */
void stretches_reach(struct session *session, int64_t time);
/* Reports what came since the last report up to `time`, whatever the length is; nothing before it
 * is left to come. False: nothing came. */
bool stretches_cut(struct session *session, int64_t time);
/* A live reader's clock has, with no event before it left to come. */
void stretches_pass(struct session *session, int64_t time);

/* The trace has ended: reports the last stretch, which may be shorter. False if a
 * report could not be written, or none could be made. */
bool stretches_end(struct session *session, GError **error);

#endif
