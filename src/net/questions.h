/* SPDX-License-Identifier: MIT */
/* Questions: what was asked on a socket or pipe, and not answered when the asker's own time limit
 * ended its wait.
 *
 *   asker  ── write ──┤ poll, 400 ms      ├── close          it waited for `peer`
 *   peer      read ┤ accept …                                 and not for its own timer
 *
 * A wait that timed out, with something asked on what it watched and nothing read there since,
 * gets a struct reason. What the asker does next tells whether that holds, until then it is
 * of no kind (timeline/reason.h):
 *
 *   closes that, right after   it gave up: the peer did not answer
 *   asks a datagram again      the same
 *   ends                       the same
 *   reads there                the answer came at last: who wrote it is followed
 *   writes to a stream again   what it wrote first wanted no answer: the timer was its own
 *
 * An attempt to connect always wants an answer. Of several that are outstanding, the one that is
 * closed is meant: an event loop's time limit is the next of many.
 *
 * Place: net/, at the entry and exit of every system call. Source: own; the rule is told in
 * docs/semantics.md, "Time limits".
 */
#ifndef WHYLATE_NET_QUESTIONS_H
#define WHYLATE_NET_QUESTIONS_H

#include "state/state.h"

/* At a call's entry, after its arguments are known. */
void question_entry(struct flow *flow, uint32_t index, struct thread *thread,
		    const struct event_syscall *args);
/* At its exit, after its effects. */
void question_exit(struct flow *flow, uint32_t index, struct thread *thread,
		   const struct event_syscall *args);

#endif
