/* SPDX-License-Identifier: MIT */
/* Work queues, writeback and journals: whose work a kernel thread does.
 *
 * Place: disk/.
 */
#ifndef WHYLATE_OBJECTS_WORK_H
#define WHYLATE_OBJECTS_WORK_H

#include "state/state.h"

void flow_work(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_writeback(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_journal(struct flow *flow, struct cpu *cpu, const struct event *event);
/* What `worker` is doing as it wakes `woken`, as a struct wake_detail; 0: no work
 * that was seen or can be inferred. */
uint32_t work_detail(struct flow *flow, const struct thread *worker, struct thread *woken);

#endif
