/* SPDX-License-Identifier: MIT */
/* System calls and page faults: the frames of a thread.
 *
 *   user ─ entry ─► syscall NAME ─ exit (of whatever name) ─► user
 *     └─ page fault ─► trap, over at the next own entry, exit or fault
 *
 * Holdback: at an exit, the waits inside the call learn what they waited for;
 * an exit without entry names the time since the thread's last call.
 *
 * Part of flow/. Source: semantics.md, "The control-flow stack of a thread".
 */
#include "flow/syscall.h"

#include <string.h>

#include "disk/flush.h"
#include "disk/written.h"
#include "event/kvm_exits.h"
#include "flow/effects.h"
#include "locks/futexes.h"
#include "net/questions.h"
#include "net/transport.h"
#include "objects/calls.h"
#include "objects/exchanges.h"
#include "objects/mappings.h"
#include "objects/operation_log.h"
#include "objects/resource.h"
#include "state/holdback.h"
#include "state/stacks.h"
#include "threads/deaths.h"
#include "tries/asks.h"
#include "tries/call_tries.h"
#include "tries/failures.h"
#include "tries/tries.h"

/* A new known stretch begins at this own event. */
static void note_call(struct flow *flow, struct thread *thread)
{
	thread->flow.last_call = flow->time;
	thread->flow.has_call = true;
	if (thread->flow.woke)
		g_array_set_size(thread->flow.woke, 0);
}

static uint32_t call_name(struct flow *flow, const struct event *event)
{
	const struct event_syscall *args = &event->syscall;
	const char *name;

	if (args->id >= 0) {
		name = event_syscall_name(args->number_table, args->id);
		if (name)
			return intern_id(flow->names, name);
	}
	return args->name ? args->name : intern_id(flow->names, "unknown");
}

/* Makes a stretch of a call that was over already the thread's own. */
static void unmake_call(struct flow *flow, struct span *span, void *data)
{
	struct block *block;

	switch (PACK_KIND(span->leaf)) {
	case LEAF_WORK_SYSCALL:
		span->leaf = PACK(LEAF_WORK_USER, 0);
		span->ref = 0;
		break;
	case LEAF_BLOCK_SYSCALL:
		span->leaf = PACK(LEAF_BLOCK_OTHER, 0);
		block = block_at(flow->timeline, span->ref);
		block->stack = flow_thread_stack(flow, data);
		block->resource = 0;
		block->fd = -1;
		break;
	}
}

/* The open call ended unseen, as the thread's next call event tells. If it had been off the CPU
 * over a gap since the call began, that was there: "nothing longer than the gap may be concluded
 * from what was not seen in it". */
static void call_ended_unseen(struct flow *flow, struct thread *thread)
{
	bool in_gap = thread->flow.unseen_until > thread->flow.call.begin;

	flow->odd[ODD_EXIT_UNSEEN]++;
	call_close(thread);
	if (in_gap)
		track_rewrite(flow, thread, thread->flow.unseen_until, unmake_call, thread);
}

/* An exit by another name than the open call's, which may have ended in a gap. */
static bool is_of_other_call(struct flow *flow, const struct thread *thread,
			     const struct event *event)
{
	const struct call *call = &thread->flow.call;

	return call->open && thread->flow.unseen_until > call->begin && event->syscall.name &&
	       call_name(flow, event) != call->name;
}

/* kvm_x86_entry of lttng-modules 2.13.9 on Linux 6.1 has part of an address as vcpu_id
 * (traces/guest-vcpus), as the tracepoint was changed: no machine has so many. */
#define VCPUS_MAX 4096
#define KVM_RUN 0xae80 /* linux/kvm.h: _IO(KVMIO, 0x80) */

/* The thread goes to run a virtual CPU; where entries of guests are recorded, they tell when. */
static void guest_call(const struct flow *flow, struct thread *thread,
		       const struct event_syscall *args)
{
	if (G_LIKELY(args->cmd != KVM_RUN) ||
	    strcmp(intern_text(flow->names, thread->flow.call.name), "ioctl") != 0)
		return;
	thread->vcpu = true;
	thread->flow.in_guest = !flow->has_guest_entries;
}

void flow_syscall_entry(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = flow_current(flow, cpu);
	const struct call_info *info;
	uint32_t name;

	if (!thread) {
		flow->odd[ODD_NO_THREAD]++;
		return;
	}
	cpu->frames_lost = false;
	name = call_name(flow, event);
	info = flow_call_info(flow, name);
	/* "Any other entry while a syscall frame is open means that the exit was lost" */
	if (thread->flow.call.open && !info->sigreturn)
		call_ended_unseen(flow, thread);
	operation_syscall_entry(flow, thread);
	call_close(thread);
	thread->flow.fault = false;
	note_call(flow, thread);
	cpu->last_woken = NO_THREAD;
	thread->made_syscall = true;
	thread->flow.sigreturn = info->sigreturn;
	if (!info->sigreturn) {
		thread->flow.calls++;
		thread->flow.doings += !info->passes;
		thread->flow.call.open = true;
		thread->flow.call.inherited = false;
		thread->flow.call.before = thread->flow.call.name;
		thread->flow.call.name = name;
		thread->flow.call.begin = flow->time;
		call_arguments(flow, thread, &event->syscall);
		operation_values(flow, cpu, thread, &event->syscall);
		guest_call(flow, thread, &event->syscall);
		transport_call(flow, thread, cpu->current);
		if (info->wait == WAIT_FUTEX)
			lock_futex_begins(flow, cpu->current, thread);
		question_entry(flow, cpu->current, thread, &event->syscall);
		if (info->tries == TRIES_EXIT && thread->flow.tries)
			call_exits(flow, cpu->current);
		if (flow->exchanges_wanted)
			exchange_entry(flow, cpu->current, thread);
	}
	if (info->sigreturn || info->effect == DOES_EXIT)
		death_call(flow, thread);
	flow_refresh(flow, thread, cpu);
}

/* Gives a stretch of the open call what it works on. */
static void note_file(struct flow *flow, struct span *span, void *data)
{
	const struct thread *thread = data;

	(void) flow;
	if (PACK_KIND(span->leaf) == LEAF_WORK_SYSCALL)
		span->ref = thread->flow.call.works_on;
}

void flow_call_told(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = flow_current(flow, cpu);
	uint32_t before;

	if (!thread || !thread->flow.call.open)
		return;
	before = thread->flow.call.works_on;
	call_told(flow, thread, &event->syscall);
	if (thread->flow.call.works_on != before)
		track_rewrite(flow, thread, thread->flow.call.begin, note_file, thread);
}

#define LONG_CALL 100000 /* ns */

/* A call of so long tells what it works on: it may be what is expensive about it (a console, a file
 * of /proc). */
static void note_worked_on(struct flow *flow, struct thread *thread)
{
	struct call *call = &thread->flow.call;
	uint32_t file;
	int32_t fd;

	if (call->works_on || call->inherited || flow->time - call->begin < LONG_CALL)
		return;
	file = call_resource(flow, thread, &fd);
	if (!file || !g_str_has_prefix(intern_text(flow->names, file), "file:"))
		return;
	call->works_on = file;
	track_rewrite(flow, thread, call->begin, note_file, thread);
	call->works_on = 0; /* the rest of the exit is about what it opens */
}

static void count_latency(struct flow *flow, uint32_t name, int64_t latency, bool spans_gap)
{
	struct call_stat *stat;

	if (name >= flow->call_stats->len)
		g_array_set_size(flow->call_stats, name + 1);
	stat = &g_array_index(flow->call_stats, struct call_stat, name);
	stat->count++;
	stat->spans_gap += spans_gap;
	stat->total += latency;
	stat->longest = MAX(stat->longest, latency);
	stat->buckets[octave_of(latency)]++;
}

/* Gives the waits inside the call that begun at `begin` what its exit told. */
static void explain_waits(struct flow *flow, struct thread *thread, int64_t begin,
			  uint32_t resource, int32_t fd)
{
	struct track_pos pos = track_end_pos(flow->timeline, &thread->track);
	struct interval *interval;
	int64_t at;

	while ((interval = track_step_back(flow->timeline, &thread->track, &pos, &at)) &&
	       at >= begin)
		if (PACK_KIND(interval->leaf) == LEAF_BLOCK_SYSCALL) {
			struct block *block = block_at(flow->timeline, interval->ref);

			block->resource = resource;
			block->child = call_child(flow, thread);
			block->fd = fd;
		}
}

/* An interrupt that was not recorded ended the last wait of a call whose time was
 * over: most likely its timer's. */
static void explain_end(struct flow *flow, struct thread *thread)
{
	struct block *block = block_at(flow->timeline, thread->flow.block);

	if (block->kind == WAKER_UNKNOWN && block->why == WHY_IDLE)
		block->why = WHY_TIME_LIMIT;
}

/* Makes a stretch whose entry was not seen that call's. */
static void make_call(struct flow *flow, struct span *span, void *data)
{
	struct thread *thread = data;
	struct block *block;

	switch (PACK_KIND(span->leaf)) {
	case LEAF_WORK_USER:
		span->leaf = PACK(LEAF_WORK_SYSCALL, thread->flow.call.name);
		span->ref = thread->flow.call.works_on;
		break;
	case LEAF_BLOCK_FAULT:
	case LEAF_BLOCK_OTHER:
	case LEAF_BLOCK_UNKNOWN:
		block = block_at(flow->timeline, span->ref);
		block->stack = flow_thread_stack(flow, thread);
		if (PACK_KIND(span->leaf) == LEAF_BLOCK_FAULT)
			block->fault = block->resource;
		span->leaf = PACK(LEAF_BLOCK_SYSCALL, thread->flow.call.name);
		block->resource = call_resource(flow, thread, &block->fd);
		thread->flow.call.waits++;
		break;
	}
}

/* "The frame is taken to have begun at the start of the thread's known
 * history, or at its last system-call entry, exit or user page fault if
 * later; what was working/user or blocked without a system call since then
 * becomes that call's." One that had begun before a gap would have been seen to. */
static void entry_unseen(struct flow *flow, struct thread *thread, uint32_t name)
{
	struct call *call = &thread->flow.call;

	flow->odd[ODD_ENTRY_UNSEEN]++;
	*call = (struct call) {
		.open = true,
		.inherited = true,
		.name = name,
		.begin = MAX(thread->flow.has_call ? thread->flow.last_call : thread->flow.history,
			     thread->flow.unseen_from),
		.fd = -1,
		.newfd = -1,
		.timer = -1,
		.child = NO_THREAD};
	/* an exec by the kernel itself, as of its helpers, has no entry */
	if (thread->execed && thread->program && flow_call_info(flow, name)->effect == DOES_EXEC)
		call->works_on =
			key_format(flow, "file:%s", intern_text(flow->names, thread->program));
	track_rewrite(flow, thread, call->begin, make_call, thread);
	for (guint i = 0; thread->flow.woke && i < thread->flow.woke->len; i++) {
		struct block *block =
			block_at(flow->timeline, g_array_index(thread->flow.woke, uint32_t, i));

		block->context = PACK(FRAME_SYSCALL, name);
		block->waker_stack = flow_thread_stack(flow, thread);
	}
}

/* "An exit of one is ignored": a sigreturn's exit bears its name, or none and
 * comes right after it, or a number that cannot be. */
static bool is_sigreturn_exit(struct flow *flow, const struct thread *thread,
			      const struct event *event)
{
	const struct event_syscall *args = &event->syscall;

	if (flow_call_info(flow, call_name(flow, event))->sigreturn)
		return true;
	if (!args->name)
		return thread->flow.sigreturn && !thread->flow.call.open;
	return args->id == -1 && strcmp(intern_text(flow->names, args->name), "unknown") == 0;
}

void flow_syscall_exit(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = flow_current(flow, cpu);
	struct call *call;
	uint32_t resource;
	int32_t fd = -1;

	if (!thread) {
		flow->odd[ODD_NO_THREAD]++;
		return;
	}
	if (is_sigreturn_exit(flow, thread, event))
		return;
	cpu->frames_lost = false;
	call = &thread->flow.call;
	thread->made_syscall = true;
	thread->flow.sigreturn = false;
	thread->flow.fault = false;
	if (is_of_other_call(flow, thread, event))
		call_ended_unseen(flow, thread);
	if (!call->open)
		entry_unseen(flow, thread, call_name(flow, event));
	else if (!call->inherited)
		count_latency(flow, call->name, flow->time - call->begin,
			      thread->flow.unseen_until > call->begin);
	if (call->waits) {
		resource = call_resource_at_exit(flow, thread, &event->syscall, &fd);
		if (resource)
			explain_waits(flow, thread, call->begin, resource, fd);
		if (call_timed_out(flow, thread, &event->syscall))
			explain_end(flow, thread);
	}
	if (call->waits)
		flush_explains(flow, cpu->current, thread);
	if (event->syscall.ret > 0 && flow_call_info(flow, call->name)->effect == DOES_WRITE)
		file_written(flow, cpu->current, thread, (uint64_t) event->syscall.ret);
	operation_syscall_exit(flow, cpu, thread, &event->syscall);
	note_worked_on(flow, thread);
	if (call->lock)
		lock_futex_ends(flow, cpu->current, thread, event->syscall.ret);
	call_note_sent(flow, thread, &event->syscall);
	failure_noted(flow, cpu->current, event->syscall.ret);
	call_tried(flow, cpu->current, event->syscall.ret);
	spin_call_ends(flow, cpu->current, event->syscall.ret);
	call_effects(flow, cpu->current, thread, &event->syscall);
	question_exit(flow, cpu->current, thread, &event->syscall);
	transport_exit(flow, thread, cpu->current, &event->syscall);
	if (flow->exchanges_wanted)
		exchange_exit(flow, cpu->current, thread, &event->syscall);
	call_close(thread);
	note_call(flow, thread);
	flow_refresh(flow, thread, cpu);
}

void flow_page_fault(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = flow_current(flow, cpu);

	if (!thread)
		return;
	thread->flow.fault = true; /* replaces an older one */
	thread->flow.fault_address = event->fault.address;
	if (event->fault.error & FAULT_WRITE) {
		uint32_t key = mapping_written(flow, thread, event->fault.address);

		if (key)
			file_dirtied(flow, cpu->current, thread, key);
	}
	if (event->kind == EV_PAGE_FAULT_USER) {
		note_call(flow, thread);
		cpu->frames_lost = false;
	}
}

/* A virtual CPU's thread: the guest runs between an entry and the next exit; why it was left is an
 * operation up to the next entry. */
void flow_guest(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = flow_current(flow, cpu);
	g_autofree char *name = NULL;

	if (!thread)
		return;
	thread->vcpu = true;
	if (event->kvm.vcpu >= 0 && event->kvm.vcpu < VCPUS_MAX)
		thread->vcpu_number = event->kvm.vcpu;
	if (!thread->flow.call.open)
		entry_unseen(flow, thread, intern_id(flow->names, "ioctl"));
	thread->flow.in_guest = event->kind == EV_KVM_ENTRY;
	thread->flow.halted =
		event->kind == EV_KVM_EXIT && kvm_exit_is_halt(event->kvm.isa, event->kvm.reason);
	if (thread->flow.in_guest) {
		operation_guest_entry(flow, cpu);
	} else if (flow->operations_wanted) {
		name = kvm_exit_name(event->kvm.isa, event->kvm.reason, event->kvm.cause);
		operation_guest_exit(flow, cpu, intern_id(flow->names, name));
	}
	flow_refresh(flow, thread, cpu);
}

void flow_guest_awake(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = flow_current(flow, cpu);

	(void) event;
	if (!thread || !thread->flow.halted)
		return;
	thread->flow.halted = false;
	flow_refresh(flow, thread, cpu);
}
