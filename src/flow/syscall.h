/* SPDX-License-Identifier: MIT */
/* System calls and page faults: the frames of a thread.
 *
 * Place: flow/.
 */
#ifndef WHYLATE_FLOW_SYSCALL_H
#define WHYLATE_FLOW_SYSCALL_H

#include "state/state.h"

void flow_syscall_entry(struct flow *flow, struct cpu *cpu, const struct event *event);
/* What an address leads to that the open call was given: a file's name, whom it connects to. */
void flow_call_told(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_syscall_exit(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_page_fault(struct flow *flow, struct cpu *cpu, const struct event *event);
/* kvm_entry, kvm_exit: of a thread that is in ioctl KVM_RUN. */
void flow_guest(struct flow *flow, struct cpu *cpu, const struct event *event);
/* kvm_vcpu_wakeup: what follows on a halt leads to the next entry. */
void flow_guest_awake(struct flow *flow, struct cpu *cpu, const struct event *event);

#endif
