/* SPDX-License-Identifier: MIT */
/* Thread lives: births, exec, ends.
 *
 * Place: threads/.
 */
#ifndef WHYLATE_THREADS_LIVES_H
#define WHYLATE_THREADS_LIVES_H

#include "state/state.h"

void flow_fork(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_wakeup_new(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_exec(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_free(struct flow *flow, struct cpu *cpu, const struct event *event);

#endif
