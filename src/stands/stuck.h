/* SPDX-License-Identifier: MIT */
/* Waits that never got what they were for.
 *
 *   hung     ─┤ writes to a pipe that nobody reads ······· the trace's end
 *   hung too ─┤ connects ·······························┤ killed
 *
 * Who kills a thread does not do what it waited for, and what nobody ended is told by no waker. Not
 * meant are waits that may be for a next request, for a child, or asleep: of most threads one is
 * open when a trace ends. So are reads of an answer: whether one is owed is not known, as who has
 * answered reads on, too. Locks have their holders (contention/).
 *
 * A parent that writes all before it reads what its child writes, and the child that nobody reads
 * from then: both are stuck, on pipes of their own.
 *
 * Part of stands/.
 */
#ifndef WHYLATE_STANDS_STUCK_H
#define WHYLATE_STANDS_STUCK_H

#include "stands/stand.h"

enum stuckness {
	STUCK_NOT,
	STUCK_IDLE, /* its thread was killed in a wait for what may come: nothing is to be told */
	STUCK_OPEN, /* nobody ended it */
	STUCK_KILLED, /* it ended as its thread did */
};

enum stuckness wait_stuck(const struct session *session, const struct wait *wait);
/* In a call that has no time limit but the kernel's own: opening, closing, renaming, reading a
 * file; or in a page fault. */
bool wait_is_without_limit(const struct session *session, const struct wait *wait);
/* Of items (struct stand) that are stuck, those that seem to wait for each other. */
void stuck_opposites(const struct session *session, GArray *items);
void stuck_sentence(GString *text, const struct session *session, const struct fact *fact);

#endif
