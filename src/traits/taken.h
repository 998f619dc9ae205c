/* SPDX-License-Identifier: MIT */
/* Who had the CPU while an operation's thread wanted to run, what interrupted it, and how deeply
 * its CPU slept before.
 *
 *   thread   ── pwrite64 ──┤preempted├──┤ wait ├┤ready├── …      each stretch that is ready or
 *   CPU                     kworker              cc1             preempted: who ran there
 *
 * Place: traits/, over ready/.
 */
#ifndef WHYLATE_TRAITS_TAKEN_H
#define WHYLATE_TRAITS_TAKEN_H

#include "run/session.h"

/* Who ran longest on its CPU while the operation's thread was ready to, and did not;
 * NO_THREAD: nobody. */
uint32_t cpu_taker(const struct session *session, const struct operation *operation);
/* Of a wait for a CPU: the C-state that the CPU woke from; -1: not recorded. */
int idle_state_before(const struct session *session, const struct operation *operation);

/* The interrupt that took most time of the operation, and a tenth of it at least: interned
 * "irq:25", "softirq:3"; 0: none. */
uint32_t interrupter(const struct session *session, const struct operation *operation);

#endif
