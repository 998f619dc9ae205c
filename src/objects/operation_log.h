/* SPDX-License-Identifier: MIT */
/* Operations as they end; only while flow->operations_wanted.
 *
 * Place: objects/. To be called after the control flow moved, but for exits: before it.
 */
#ifndef WHYLATE_OBJECTS_OPERATION_LOG_H
#define WHYLATE_OBJECTS_OPERATION_LOG_H

#include "state/state.h"

void operation_interrupt_entry(struct flow *flow, struct cpu *cpu, const struct event *event);
void operation_interrupt_exit(struct flow *flow, struct cpu *cpu, const struct event *event);
/* Entry or exit of a kernel function that a probe was set on. */
void operation_function(struct flow *flow, struct cpu *cpu, const struct event *event);
/* A function was entered; its exit is not recorded. */
void operation_reached(struct flow *flow, struct cpu *cpu, const struct event *event);
/* A guest is left, for the reason `name`, until the next entry. */
void operation_guest_exit(struct flow *flow, struct cpu *cpu, uint32_t name);
void operation_guest_entry(struct flow *flow, struct cpu *cpu);
void operation_syscall_entry(struct flow *flow, struct thread *thread);
/* Keeps the values of a call's fields for its exit. */
void operation_values(struct flow *flow, const struct cpu *cpu, struct thread *thread,
		      const struct event_syscall *args);
void operation_syscall_exit(struct flow *flow, struct cpu *cpu, struct thread *thread,
			    const struct event_syscall *args);
/* A request was issued: its time in the queue since its first bio or insert, or
 * since it was put back; it completed: its time in the device. */
void operation_queued(struct flow *flow, const struct cpu *cpu, uint16_t host,
		      const struct request *request);
/* … `written_back`: exchange_disk(). */
void operation_served(struct flow *flow, const struct cpu *cpu, uint16_t host,
		      const struct request *request, uint32_t written_back);
void operation_wait_cpu(struct flow *flow, const struct cpu *cpu, struct thread *thread,
			uint32_t index);
void operations_drop_cpu(struct cpu *cpu);
void operations_drop_thread(struct flow *flow, struct thread *thread);
void operation_frames_end(struct flow *flow, struct thread *thread, uint32_t index, int64_t end);

#endif
