/* SPDX-License-Identifier: MIT */
/* The waiting that threads and resources impose on others, over all threads: a
 * wait-for graph weighted by time, the time redistributed down its chains.
 *
 * Place: imposed/, the part of the overview that answers without a target.
 *
 *   A  ──┤ waits for B                    ├──
 *   B  ──work──┤ waits for C     ├──work──      of A's wait: B's work is B's,
 *   C  ────────┤ disk    ├─work──               the rest C's: its work, and the disk's
 *
 * Every wait of a user thread is led to who or what ended it (wait_lead(), as in
 * causality) and walked down over the intervals meanwhile, clipped, to what people
 * can act on: a thread that worked, slept by its own timer, waited for a CPU, or a
 * device. All of a wait's time goes to threads, but for what only hardware took.
 * Time ready without a CPU is imposed by who ran there. Not imposed, and summed
 * apart: sleeps by one's own timer, waits for a next request (waits/idle.h, inferred),
 * waits that nobody ended (but for a lock whose holder is known: locks.h), waits whose end is
 * unknown, waits of parents for what they started that only say how long that ran (for a child, by
 * who was there before the trace; those of a launcher: joins.h), and waits of the
 * tracer's own processes (named lttng or lttng-*).
 *
 * A resource has, of these waits: a device, or a peer in the network, the time at
 * the chains' ends; a lock, the time in which threads waited for it themselves; the
 * CPU, the time in which its quota or its way out of idling kept threads waiting.
 * So threads and resources are two views, not two parts.
 *
 * Cost is bounded: of each thread the WAITS_MAX longest waits are followed, chains
 * to a depth of DEPTH_MAX, and all in all STEPS_MAX intervals; where these are not
 * enough, each thread has its share of them; and RUNS_MAX runs of those who had the CPU.
 * What is left out is said.
 * Source: the wait-for graphs of lttng-based work
 * on waiting dependency (Ezzati-Jivan, Fournier, Dagenais); rules 1 to 4 of
 * semantics.md, "Blocking causality".
 */
#ifndef WHYLATE_IMPOSED_WAITING_H
#define WHYLATE_IMPOSED_WAITING_H

#include "imposed/imposers.h"

struct waiting *waiting_new(const struct session *session);
void waiting_free(struct waiting *waiting);

/* A wait that was ended, with what it is led to, is one that others imposed: no parent's for what
 * it started, and not for a next request. */
bool wait_counts(const struct session *session, const struct wait *wait, const struct lead *lead);

/* A blocked interval of a user thread, not one of the tracer's, is one that the sums above count as
 * imposed. A wait for a lock counts also while it lasts; whether its holder is known is not
 * asked. */
bool wait_is_imposed(const struct session *session, uint32_t thread, const struct span *span);

const char *imposed_text(enum imposed kind);

#endif
