/* SPDX-License-Identifier: MIT */
/* The step that one event makes: the table of who handles which kind; see step.h. */
#include "flow/step.h"

#include "flow/dump.h"
#include "flow/flow_check.h"
#include "guests/guest_irqs.h"
#include "flow/interrupt.h"
#include "flow/syscall.h"
#include "disk/block.h"
#include "disk/pauses.h"
#include "disk/reclaim.h"
#include "locks/futexes.h"
#include "net/network.h"
#include "objects/operation_log.h"
#include "disk/work.h"
#include "threads/arrival.h"
#include "threads/deaths.h"
#include "threads/lives.h"
#include "threads/sampling.h"
#include "threads/sched.h"
#include "threads/states.h"
#include "threads/wake.h"

/* Kinds that are not here only tell that their CPU's thread was running. */
static void (*const handlers[EV_KIND_COUNT])(struct flow *flow, struct cpu *cpu,
					     const struct event *event) = {
	[EV_SCHED_SWITCH] = flow_switch,
	[EV_SCHED_WAKING] = flow_waking,
	[EV_SCHED_WAKEUP] = flow_wakeup,
	[EV_SCHED_WAKEUP_NEW] = flow_wakeup_new,
	[EV_SCHED_MIGRATE] = flow_migrate,
	[EV_PROCESS_FORK] = flow_fork,
	[EV_PROCESS_EXEC] = flow_exec,
	[EV_PROCESS_FREE] = flow_free,
	[EV_IRQ_ENTRY] = flow_interrupt_entry,
	[EV_IRQ_EXIT] = flow_interrupt_exit,
	[EV_SOFTIRQ_RAISE] = flow_softirq_raise,
	[EV_SOFTIRQ_ENTRY] = flow_interrupt_entry,
	[EV_SOFTIRQ_EXIT] = flow_interrupt_exit,
	[EV_VECTOR_ENTRY] = flow_interrupt_entry,
	[EV_VECTOR_EXIT] = flow_interrupt_exit,
	[EV_PAGE_FAULT_USER] = flow_page_fault,
	[EV_PAGE_FAULT_KERNEL] = flow_page_fault,
	[EV_HRTIMER_START] = flow_timer,
	[EV_HRTIMER_EXPIRE_ENTRY] = flow_interrupt_entry,
	[EV_HRTIMER_EXPIRE_EXIT] = flow_interrupt_exit,
	[EV_HRTIMER_CANCEL] = flow_timer,
	[EV_TIMER_START] = flow_timer,
	[EV_TIMER_EXPIRE_ENTRY] = flow_timer,
	[EV_TIMER_EXPIRE_EXIT] = flow_timer,
	[EV_BLOCK_INSERT] = flow_block,
	[EV_BLOCK_ISSUE] = flow_block,
	[EV_BLOCK_REQUEUE] = flow_block,
	[EV_BLOCK_COMPLETE] = flow_block,
	[EV_BLOCK_BIO] = flow_block,
	[EV_BLOCK_BIO_MERGED] = flow_block,
	[EV_BLOCK_BIO_COMPLETE] = flow_block,
	[EV_BLOCK_REMAP] = flow_block,
	[EV_BLOCK_SPLIT] = flow_block,
	[EV_WORK_QUEUE] = flow_work,
	[EV_WORK_START] = flow_work,
	[EV_WORK_END] = flow_work,
	[EV_CPU_IDLE] = flow_cpu_idle,
	[EV_WRITEBACK_QUEUE] = flow_writeback,
	[EV_WRITEBACK_EXEC] = flow_writeback,
	[EV_WRITEBACK_END] = flow_writeback,
	[EV_DIRTY_PAUSE] = flow_dirty_pause,
	[EV_KVM_ENTRY] = flow_guest,
	[EV_KVM_EXIT] = flow_guest,
	[EV_KVM_WAKEUP] = flow_guest_awake,
	[EV_KVM_IRQ_DUE] = flow_guest_irq_due,
	[EV_KVM_IRQ_INJECTED] = flow_guest_irq_injected,
	[EV_KVM_IRQ_ENDED] = flow_guest_irq_ended,
	[EV_RECLAIM_BEGIN] = flow_reclaim,
	[EV_RECLAIM_END] = flow_reclaim,
	[EV_JOURNAL_START] = flow_journal,
	[EV_JOURNAL_END] = flow_journal,
	[EV_NET_SEND] = flow_packet_sent,
	[EV_NET_XMIT] = flow_packet_left,
	[EV_NET_RECEIVE] = flow_packet_received,
	[EV_SIGNAL_GENERATE] = flow_signal,
	[EV_SIGNAL_DELIVER] = flow_signal_deliver,
	[EV_PI_SETPRIO] = flow_boost,
	[EV_SYSCALL_ENTRY] = flow_syscall_entry,
	[EV_SYSCALL_EXIT] = flow_syscall_exit,
	[EV_CALL_TOLD] = flow_call_told,
	[EV_FUNCTION_ENTRY] = operation_function,
	[EV_FUNCTION_EXIT] = operation_function,
	[EV_FUNCTION_REACHED] = operation_reached,
	[EV_STATEDUMP_PROCESS] = flow_dump_process,
	[EV_STATEDUMP_PID_NS] = flow_dump_namespaces,
	[EV_STATEDUMP_CGROUP_NS] = flow_dump_namespaces,
	[EV_STATEDUMP_FD] = flow_dump_file,
	[EV_STATEDUMP_INTERRUPT] = flow_dump_interrupt,
	[EV_STATEDUMP_BLOCK_DEVICE] = flow_dump_block_device,
};

/* After lost events a tid context names the CPU's thread. */
static void name_by_context(struct flow *flow, struct host *host, struct cpu *cpu,
			    const struct event *event)
{
	uint32_t thread =
		event->tid == 0 ? IDLE_THREAD : thread_findnew(flow, event->host, event->tid, NULL);

	cpu_runs(flow, host, cpu, thread);
}

void flow_step(struct flow *flow, const struct event *event)
{
	struct host *host = flow_host(flow, event);
	struct cpu *cpu = host_cpu(host, event->cpu);
	struct thread *thread;

	g_assert(event->kind < EV_KIND_COUNT);
	if (event->time < flow->time)
		flow->odd[ODD_TIME_BACKWARDS]++;
	else
		flow->time = event->time;
	if (cpu->current == NO_THREAD && event->has_tid && !flow_in_gap(flow, cpu))
		name_by_context(flow, host, cpu, event);
	thread = flow_current(flow, cpu);
	if (thread) {
		thread_runs(flow, thread, cpu); /* evidence: an event while it is current */
		if (event->has_pid && thread->pid < 0 && event->has_tid &&
		    event->tid == thread->tid)
			thread->pid = event->pid;
	}
	if (event->has_callstacks)
		flow_sample(flow, cpu, event);
	if (flow->has_copies && flow_is_copy(flow, cpu, event))
		return;
	if (handlers[event->kind])
		handlers[event->kind](flow, cpu, event);
	flow_check_now_and_then(flow);
}
