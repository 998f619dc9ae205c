/* SPDX-License-Identifier: MIT */
/* Asking without a pause: a call that finds nothing to do, again and again, until it does.
 *
 *   T   read: EAGAIN · read: EAGAIN · read: EAGAIN · … · read: 1        (·: T's own code)
 *       begin                                            end
 *
 * T does not wait, so no wait tells of it: it uses a CPU up instead. Counted are tries to read,
 * write, accept and the like that give EAGAIN, and looks for events (poll, select, epoll_wait)
 * that give none at once; and calls on descriptors that are not open (EBADF), whichever they are,
 * as of who closes all that there might be. T may do other things between, but no wait; who sleeps
 * between two tries is tries.h's.
 *
 * Place: tries/. Source: own; docs/semantics.md, "Waiting by trying again".
 */
#ifndef WHYLATE_TRIES_ASKS_H
#define WHYLATE_TRIES_ASKS_H

#include "state/state.h"

/* The call of the thread ends with `ret`; before its effects. */
void spin_call_ends(struct flow *flow, uint32_t index, int64_t ret);
/* The trace ends, or the thread's life. */
void spin_ends(struct flow *flow, uint32_t index);

#endif
