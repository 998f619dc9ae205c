/* SPDX-License-Identifier: MIT */
/* Waits for whichever of several things comes first (wait4, poll, select, epoll_wait,
 * rt_sigsuspend …), of which one may end and lead to nothing but the next.
 *
 *   make   ─┤ wait4           ├─┤ wait4   ├─fork d─┤ wait4 …
 *   job-c  ───────────────────┘           │
 *   job-a  ───────────────────────────────┘
 *
 * What ended the first was no step on the way to job-d: make did nothing there that d needed.
 * So that wait goes on, led to what ended the second, and make's short work between them is part
 * of it. A wait's end was a step if the thread, before its next such wait, forked who is on the
 * way, woke it, or who that one waited for in turn, or wrote to what ended the next.
 *
 * Place: path/, over wait.h; for the critical path, and the chains of imposed waiting
 * (imposed/). Source: semantics.md, "Waiting for any of several".
 */
#ifndef WHYLATE_PATH_SEVERAL_H
#define WHYLATE_PATH_SEVERAL_H

#include "waits/wait.h"

/* Blocked in a call that waits for whichever of several things comes first, or a kernel worker's
 * sleep while nobody has work for it. */
bool waits_for_several(const struct session *session, const struct span *span);

/* Of a thread's spans (struct span, ascending, of one stretch of time without a break) those are
 * joined that are one wait: from the begin of the first that led to nothing to the end of the
 * last, with that one's leaf and ref. `needed`: what the thread did at the end of the spans is
 * what counts; else also what it did for anybody in between does. Returns when the last such
 * wait ended of which it could not be decided; INT64_MIN: none. */
int64_t several_join(const struct session *session, uint32_t thread, GArray *spans, bool needed);

/* The same of spans with others left out, which stay as they are but for `ref`: that of the last
 * of those that they are one with. */
int64_t several_redirect(const struct session *session, uint32_t thread, GArray *spans,
			 bool needed);

/* What a thread came to do in its life is what counts: it began or ended in the trace. */
bool several_needed(const struct session *session, uint32_t thread);

#endif
