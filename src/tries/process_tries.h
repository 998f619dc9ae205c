/* SPDX-License-Identifier: MIT */
/* Whether a process is still there, asked again and again.
 *
 *   kill(pid, 0) = 0 … = ESRCH, wait4(pid, WNOHANG) = 0 … = pid     until that process ended
 *
 * Who finds a process there for ever only looks after it: nothing is said of its pauses.
 *
 * Place: tries/, over tries.h.
 */
#ifndef WHYLATE_TRIES_PROCESS_TRIES_H
#define WHYLATE_TRIES_PROCESS_TRIES_H

#include "tries/tries.h"

/* kill() has ended with `ret`; wait4(). */
void process_signalled(struct flow *flow, uint32_t index, int64_t ret);
void process_asked_after(struct flow *flow, uint32_t index, int64_t ret);

#endif
