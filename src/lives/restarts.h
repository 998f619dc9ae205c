/* SPDX-License-Identifier: MIT */
/* How processes ended, and who did a service's work before it was started again.
 *
 *   old service  ──────────┤ killed, or ended
 *   its parent   ─ waits ──┤ pauses ─┤ forks
 *   new service                      ├─ starts ─ listens ──
 *   who wants it    refused, refused, refused, …         └─ connected
 *
 * The old one is the last process of the same name that the same parent had started before, if it
 * is gone since before the wait, and was killed by a signal or had listened itself.
 *
 * Place: lives/. How a thread ended: threads/deaths.h. Source: own; docs/semantics.md, "Services
 * that are started again".
 */
#ifndef WHYLATE_LIVES_RESTARTS_H
#define WHYLATE_LIVES_RESTARTS_H

#include "run/session.h"

/* "was killed by signal 9 (SIGKILL) from nosykill (268)", "was killed by the kernel, which was
 * out of memory (signal 9, SIGKILL)", "ended by itself". */
void append_death(GString *text, const struct session *session, uint32_t thread);
/* A signal from somewhere else ended it, or the kernel did for memory. */
bool was_killed(const struct session *session, uint32_t thread);

/* Who leads the process that did before what `thread` was started for, if it was gone by `since`;
 * NO_THREAD. */
uint32_t service_before(const struct session *session, uint32_t thread, int64_t since);
/* "; leaksrv (270), there before, was killed …, and superv (267) started the next one 1.510 s
 * later"; of one that had none before it, and began after `since`, the first try: "; superv (267)
 * started it 1.510 s after the first try". */
void append_restart(GString *text, const struct session *session, uint32_t thread, int64_t since);

#endif
