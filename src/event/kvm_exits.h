/* SPDX-License-Identifier: MIT */
/* Why a guest was left, in words.
 *
 * Place: event/. Source: the kernel's arch/x86/include/uapi/asm/vmx.h and svm.h,
 * arch/arm64/include/asm/esr.h.
 */
#ifndef WHYLATE_EVENT_KVM_EXITS_H
#define WHYLATE_EVENT_KVM_EXITS_H

#include <stdbool.h>
#include <stdint.h>

/* "kvm-exit:msr", of what kvm_exit says (event.h); free with g_free(). */
char *kvm_exit_name(int32_t isa, int64_t reason, int64_t cause);

/* It halted: it has nothing to do until an interrupt. Of arm64's WFx, which may be a WFE of a lock
 * that spins, that is not known. */
bool kvm_exit_is_halt(int32_t isa, int64_t reason);

#endif
