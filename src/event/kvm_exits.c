/* SPDX-License-Identifier: MIT */
/* See kvm_exits.h. */
#include "event/kvm_exits.h"

#include <glib.h>

#define ISA_VMX 1 /* KVM_ISA_VMX in arch/x86/kvm/trace.h */
#define ISA_SVM 2
#define ARM_TRAP 2 /* ARM_EXCEPTION_TRAP in arch/arm64/include/asm/kvm_asm.h */
#define VMX_HLT 12
#define SVM_HLT 0x78
#define VMX_REASON 0xffff /* above that are flags */

struct exit_reason {
	int64_t number;
	const char *name;
};

static const struct exit_reason vmx_reasons[] = {
	{0, "exception"},
	{1, "external_interrupt"},
	{2, "triple_fault"},
	{7, "interrupt_window"},
	{8, "nmi_window"},
	{9, "task_switch"},
	{10, "cpuid"},
	{VMX_HLT, "hlt"},
	{14, "invlpg"},
	{15, "rdpmc"},
	{16, "rdtsc"},
	{18, "vmcall"},
	{28, "cr_access"},
	{29, "dr_access"},
	{30, "io"},
	{31, "msr"},
	{32, "msr"},
	{36, "mwait"},
	{39, "monitor"},
	{40, "pause"},
	{43, "tpr_below_threshold"},
	{44, "apic_access"},
	{45, "eoi_induced"},
	{48, "ept_violation"},
	{49, "ept_misconfig"},
	{51, "rdtscp"},
	{52, "preemption_timer"},
	{54, "wbinvd"},
	{55, "xsetbv"},
	{56, "apic_write"},
	{57, "rdrand"},
	{58, "invpcid"},
	{61, "rdseed"},
	{74, "bus_lock"},
	{75, "notify"},
};

static const struct exit_reason svm_reasons[] = {
	{0x60, "external_interrupt"},
	{0x61, "nmi"},
	{0x62, "smi"},
	{0x64, "interrupt_window"},
	{0x6c, "rdpmc"},
	{0x6e, "rdtsc"},
	{0x72, "cpuid"},
	{0x76, "invd"},
	{0x77, "pause"},
	{SVM_HLT, "hlt"},
	{0x79, "invlpg"},
	{0x7b, "io"},
	{0x7c, "msr"},
	{0x7d, "task_switch"},
	{0x7f, "shutdown"},
	{0x81, "vmcall"},
	{0x87, "rdtscp"},
	{0x89, "wbinvd"},
	{0x8a, "monitor"},
	{0x8b, "mwait"},
	{0x8d, "xsetbv"},
	{0x400, "npf"},
	{0x401, "avic_ipi"},
	{0x402, "avic_unaccelerated"},
	{0x403, "vmgexit"},
};

static const struct exit_reason arm_reasons[] = {{0, "irq"}, {1, "serror"}, {3, "illegal"}};
static const struct exit_reason arm_causes[] = {
	{0x01, "wfx"},        {0x07, "fpsimd"}, {0x12, "hvc"},        {0x13, "smc"},
	{0x16, "hvc"},        {0x17, "smc"},    {0x18, "sysreg"},     {0x19, "sve"},
	{0x20, "iabt"},       {0x24, "dabt"},   {0x30, "breakpoint"}, {0x32, "softstep"},
	{0x34, "watchpoint"},
};

static char *name_in(const struct exit_reason *reasons, size_t count, int64_t number)
{
	for (size_t i = 0; i < count; i++)
		if (reasons[i].number == number)
			return g_strconcat("kvm-exit:", reasons[i].name, NULL);
	return g_strdup_printf("kvm-exit:%" G_GINT64_FORMAT, number);
}

char *kvm_exit_name(int32_t isa, int64_t reason, int64_t cause)
{
	if (isa == ISA_VMX)
		return name_in(vmx_reasons, G_N_ELEMENTS(vmx_reasons), reason & VMX_REASON);
	if (isa == ISA_SVM && reason >= 0x40 && reason < 0x60)
		return g_strdup("kvm-exit:exception");
	if (isa == ISA_SVM)
		return name_in(svm_reasons, G_N_ELEMENTS(svm_reasons), reason);
	if (cause >= 0 && reason == ARM_TRAP)
		return name_in(arm_causes, G_N_ELEMENTS(arm_causes), cause);
	if (cause >= 0)
		return name_in(arm_reasons, G_N_ELEMENTS(arm_reasons), reason);
	return reason >= 0 ? name_in(NULL, 0, reason) : g_strdup("kvm-exit:unknown");
}

bool kvm_exit_is_halt(int32_t isa, int64_t reason)
{
	return isa == ISA_VMX ? (reason & VMX_REASON) == VMX_HLT
			      : isa == ISA_SVM && reason == SVM_HLT;
}
