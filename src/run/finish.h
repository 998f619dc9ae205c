/* SPDX-License-Identifier: MIT */
/* The end of reading, and the answer to what is asked: target, window, threads, names.
 *
 * Place: run/, its last step: from here on the session is only read.
 */
#ifndef WHYLATE_RUN_FINISH_H
#define WHYLATE_RUN_FINISH_H

#include "run/session.h"

/* When all has been read: ends all lives, brings the hosts to one time. What depends on the
 * options comes after it. */
bool session_gather(struct session *session, GError **error);
/* session_gather(), unless the session was restored; resolves target, window and threads. */
bool session_finish(struct session *session, GError **error);

#endif
