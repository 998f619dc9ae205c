/* SPDX-License-Identifier: MIT */
/* Interrupts of guests: since when each was due, and when its guest had it.
 *
 *   who sends    ── kvm_apic_accept_irq ──
 *   CPU 1/KVM    ├ guest ─┤ preempted, by hog ├ kvm_inj_virq, guest ── kvm_eoi ──
 *                         ├── guest-irq:251 ──┤
 *
 * An interrupt is due when its guest's APIC takes it, on whatever thread or in an interrupt of the
 * host; up to its injection it is an operation `guest-irq:VECTOR` of the virtual CPU's thread.
 * Which APIC is a thread's, its ends of interrupts tell (kvm_eoi, kvm_pv_eoi). Who sends it tells
 * which machine is meant, if that is a thread of one; else there must be only one.
 * Where the processor delivers interrupts by itself (APICv, AVIC) nothing is injected, nor told.
 * Source: __apic_accept_irq() and kvm_lapic_set_eoi() in arch/x86/kvm/lapic.c.
 *
 * Place: guests/, called by flow/ as events pass; only while flow->operations_wanted.
 */
#ifndef WHYLATE_GUESTS_GUEST_IRQS_H
#define WHYLATE_GUESTS_GUEST_IRQS_H

#include "state/state.h"

/* kvm_apic_accept_irq: on whatever CPU. */
void flow_guest_irq_due(struct flow *flow, struct cpu *cpu, const struct event *event);
/* kvm_inj_virq, kvm_eoi: of a virtual CPU's thread. */
void flow_guest_irq_injected(struct flow *flow, struct cpu *cpu, const struct event *event);
void flow_guest_irq_ended(struct flow *flow, struct cpu *cpu, const struct event *event);
/* Events are lost: any of them may have been injected. */
void guest_irqs_drop(struct flow *flow);

#endif
