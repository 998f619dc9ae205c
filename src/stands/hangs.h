/* SPDX-License-Identifier: MIT */
/* Processes that hang: each thread that is left waits on a futex that only a thread of its own
 * process can wake, without a time limit, so that none will ever go on.
 *
 *   main    ─┤ joins a worker ······························┤ killed, or the trace's end
 *   worker  ──── ends, with a permit that others need       │
 *   worker  ──────────┤ waits for a permit ·················┤
 *                     └── hangs ────────────────────────────┘
 *
 * A permit that was not given back, a condition that was not signalled, tasks of a pool that wait
 * for others of the same pool, a mutex that its owner locks again: what it was does not matter for
 * that. Inferred: a handler of a signal may still wake one; so one thread alone hangs only on a
 * mutex. Nothing is said where timers are not recorded: the waits may have time limits.
 *
 * And threads of which each waited for a lock that the next one had, until they were killed. Those
 * that the trace's end finds so are deadlocks, too: contention/deadlocks.h. Part of stands/.
 */
#ifndef WHYLATE_STANDS_HANGS_H
#define WHYLATE_STANDS_HANGS_H

#include "stands/stand.h"

/* Adds an item for each such process to `items` (struct stand), and removes those of its threads'
 * waits that are stuck (stuck.h): they are told there. */
void hang_items(const struct session *session, GArray *items);
void hang_sentence(GString *text, const struct session *session, const struct fact *fact);

#endif
