/* SPDX-License-Identifier: MIT */
/* The step that one event makes, and the stacks it works on; see flow.h.
 *
 * Invariant: a thread in state RUNNING is `current` of exactly one CPU, and
 * its last interval is the leaf of its own frames and that CPU's
 * (flow_refresh).
 */
#include "objects/locks.h"

#include <string.h>

static guint stack_hash(gconstpointer key)
{
	const GArray *stack = key;
	guint hash = 2166136261u;

	for (guint i = 0; i < stack->len; i++)
		hash = (hash ^ g_array_index(stack, uint32_t, i)) * 16777619u;
	return hash;
}

static gboolean stack_equal(gconstpointer a, gconstpointer b)
{
	const GArray *x = a, *y = b;

	return x->len == y->len &&
	       (x->len == 0 || memcmp(x->data, y->data, x->len * sizeof(uint32_t)) == 0);
}

static void stack_free(gpointer stack)
{
	g_array_free(stack, TRUE);
}

static uint32_t intern_stack(struct flow *flow, const uint32_t *frames, guint count)
{
	GArray key = {(char *) frames, count}; /* only looked at */
	gpointer number;
	GArray *stack;

	if (g_hash_table_lookup_extended(flow->stack_numbers, &key, NULL, &number))
		return GPOINTER_TO_UINT(number);
	stack = g_array_sized_new(FALSE, FALSE, sizeof *frames, count);
	g_array_append_vals(stack, frames, count);
	g_hash_table_insert(flow->stack_numbers, stack, GUINT_TO_POINTER(flow->stacks->len));
	g_ptr_array_add(flow->stacks, stack);
	return flow->stacks->len - 1;
}

const GArray *flow_stack(const struct flow *flow, uint32_t number)
{
	return g_ptr_array_index(flow->stacks, number);
}

static guint thread_frames(const struct thread *thread, uint32_t *frames)
{
	guint count = 0;

	frames[count++] = PACK(FRAME_USER, 0);
	if (thread->flow.call.open)
		frames[count++] = PACK(FRAME_SYSCALL, thread->flow.call.name);
	if (thread->flow.fault)
		frames[count++] = PACK(FRAME_FAULT, 0);
	return count;
}

uint32_t flow_thread_stack(struct flow *flow, const struct thread *thread)
{
	uint32_t frames[3];

	return intern_stack(flow, frames, thread_frames(thread, frames));
}

uint32_t flow_cpu_stack(struct flow *flow, const struct cpu *cpu)
{
	uint32_t frames[3 + FRAMES_MAX];
	guint count = 0;

	if (is_thread(cpu->current))
		count = thread_frames(flow_thread(flow, cpu->current), frames);
	else
		frames[count++] = PACK(cpu->current == IDLE_THREAD ? FRAME_IDLE : FRAME_UNKNOWN, 0);
	for (uint32_t i = 0; i < cpu->depth; i++)
		frames[count++] = cpu->frames[i].what;
	return intern_stack(flow, frames, count);
}

void flow_init(struct flow *flow, struct model *model, struct timeline *timeline)
{
	*flow = (struct flow) {.model = model, .timeline = timeline, .names = model->names};
	flow->stacks = g_ptr_array_new_with_free_func(stack_free);
	flow->stack_numbers = g_hash_table_new(stack_hash, stack_equal);
	flow->call_info = g_array_new(FALSE, TRUE, sizeof(struct call_info));
	flow->call_stats = g_array_new(FALSE, TRUE, sizeof(struct call_stat));
	flow->unnamed = g_array_new(FALSE, FALSE, sizeof(struct cpu *));
	flow->time = INT64_MIN;
	idmap_init(&flow->senders);
	idmap_init(&flow->addresses);
	idmap_init(&flow->user_addresses);
	idmap_init(&flow->end_index);
	idmap_init(&flow->first_reads);
	locks_init(flow);
	callstacks_init(&flow->callstacks);
	event_queue_init(&flow->held);
	intern_stack(flow, NULL, 0);
	flow->ipis[0] = intern_id(flow->names, "reschedule");
	flow->ipis[1] = intern_id(flow->names, "call_function");
	flow->ipis[2] = intern_id(flow->names, "call_function_single");
}

void flow_clear(struct flow *flow)
{
	g_hash_table_destroy(flow->stack_numbers);
	g_ptr_array_free(flow->stacks, TRUE);
	g_array_free(flow->call_info, TRUE);
	g_array_free(flow->call_stats, TRUE);
	g_array_free(flow->unnamed, TRUE);
	idmap_clear(&flow->senders);
	idmap_clear(&flow->addresses);
	idmap_clear(&flow->user_addresses);
	idmap_clear(&flow->end_index);
	idmap_clear(&flow->first_reads);
	locks_clear(flow);
	callstacks_clear(&flow->callstacks);
	event_queue_clear(&flow->held);
}

/* "0xffff…", made once; 0 for no address. */
uint32_t flow_address(struct flow *flow, uint64_t address)
{
	uint32_t known = address ? idmap_get(&flow->addresses, address) : 0;
	char text[32];

	if (known != IDMAP_NONE)
		return known;
	g_snprintf(text, sizeof text, "0x%" G_GINT64_MODIFIER "x", (guint64) address);
	known = intern_id(flow->names, text);
	idmap_set(&flow->addresses, address, known);
	return known;
}

bool flow_in_gap(const struct flow *flow, const struct cpu *cpu)
{
	return flow->time < cpu->gap_end;
}

struct thread *flow_current(const struct flow *flow, const struct cpu *cpu)
{
	if (!is_thread(cpu->current) || flow_in_gap(flow, cpu))
		return NULL;
	return flow_thread(flow, cpu->current);
}

void flow_append(struct flow *flow, struct thread *thread, int64_t time, uint32_t leaf,
		 uint32_t ref)
{
	track_append(flow->timeline, &thread->track, time, leaf, ref);
}

/* The innermost interrupt takes the time; an hrtimer's belongs to what is
 * around it (semantics.md, table of leaves). */
static uint32_t interrupted_leaf(const struct cpu *cpu, uint32_t *ref)
{
	for (uint32_t i = cpu->depth; i-- > 0;) {
		uint32_t what = cpu->frames[i].what;

		switch (PACK_KIND(what)) {
		case FRAME_IRQ:
			*ref = cpu->frames[i].label;
			return PACK(LEAF_INT_IRQ, PACK_NUMBER(what));
		case FRAME_VECTOR:
			return PACK(LEAF_INT_VECTOR, PACK_NUMBER(what));
		case FRAME_SOFTIRQ:
			return PACK(LEAF_INT_SOFTIRQ, PACK_NUMBER(what));
		}
	}
	return PACK(LEAF_INT_HRTIMER, 0);
}

void flow_refresh(struct flow *flow, struct thread *thread, const struct cpu *cpu)
{
	uint32_t ref = 0, leaf;

	if (cpu->depth)
		leaf = interrupted_leaf(cpu, &ref);
	else if (thread->flow.call.open)
		leaf = PACK(LEAF_WORK_SYSCALL, thread->flow.call.name);
	else
		leaf = PACK(LEAF_WORK_USER, 0);
	flow_append(flow, thread, flow->time, leaf, ref);
}

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
	struct host *host = model_host(flow->model, event->host);
	struct cpu *cpu = host_cpu(host, event->cpu);
	struct thread *thread;

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
	switch (event->kind) {
	case EV_SCHED_SWITCH:
		flow_switch(flow, host, cpu, event);
		break;
	case EV_SCHED_WAKING:
		flow_waking(flow, cpu, event);
		break;
	case EV_SCHED_WAKEUP:
		flow_wakeup(flow, cpu, event);
		break;
	case EV_SCHED_WAKEUP_NEW:
		flow_wakeup_new(flow, cpu, event);
		break;
	case EV_SCHED_MIGRATE:
		flow_migrate(flow, event);
		break;
	case EV_PROCESS_FORK:
		flow_fork(flow, cpu, event);
		break;
	case EV_PROCESS_EXEC:
		flow_exec(flow, cpu, event);
		break;
	case EV_PROCESS_FREE:
		flow_free(flow, event);
		break;
	case EV_IRQ_ENTRY:
	case EV_SOFTIRQ_ENTRY:
	case EV_VECTOR_ENTRY:
	case EV_HRTIMER_EXPIRE_ENTRY:
		flow_interrupt_entry(flow, host, cpu, event);
		break;
	case EV_IRQ_EXIT:
	case EV_SOFTIRQ_EXIT:
	case EV_VECTOR_EXIT:
	case EV_HRTIMER_EXPIRE_EXIT:
		flow_interrupt_exit(flow, cpu, event);
		break;
	case EV_SOFTIRQ_RAISE:
		flow_softirq_raise(flow, cpu, event);
		break;
	case EV_PAGE_FAULT_USER:
	case EV_PAGE_FAULT_KERNEL:
		flow_page_fault(flow, cpu, event);
		break;
	case EV_HRTIMER_START:
	case EV_HRTIMER_CANCEL:
	case EV_TIMER_START:
	case EV_TIMER_EXPIRE_ENTRY:
	case EV_TIMER_EXPIRE_EXIT:
		flow_timer(flow, host, cpu, event);
		break;
	case EV_BLOCK_INSERT:
	case EV_BLOCK_ISSUE:
	case EV_BLOCK_REQUEUE:
	case EV_BLOCK_COMPLETE:
	case EV_BLOCK_BIO:
	case EV_BLOCK_BIO_MERGED:
	case EV_BLOCK_BIO_COMPLETE:
	case EV_BLOCK_REMAP:
	case EV_BLOCK_SPLIT:
		flow_block(flow, host, cpu, event);
		break;
	case EV_WORK_QUEUE:
	case EV_WORK_START:
	case EV_WORK_END:
		flow_work(flow, host, cpu, event);
		break;
	case EV_WRITEBACK_QUEUE:
	case EV_WRITEBACK_EXEC:
	case EV_WRITEBACK_END:
		flow_writeback(flow, host, cpu, event);
		break;
	case EV_JOURNAL_START:
	case EV_JOURNAL_END:
		flow_journal(flow, cpu, event);
		break;
	case EV_NET_SEND:
		flow_packet_sent(flow, host, cpu, event);
		break;
	case EV_NET_RECEIVE:
		flow_packet_received(flow, host, cpu, event);
		break;
	case EV_SIGNAL_GENERATE:
		flow_signal(flow, host, cpu, event);
		break;
	case EV_CPU_IDLE:
		flow_cpu_idle(flow, host, event);
		break;
	case EV_PI_SETPRIO:
		if (thread)
			lock_boosts(flow, thread, event);
		break;
	case EV_FUNCTION_ENTRY:
	case EV_FUNCTION_EXIT:
		operation_function(flow, cpu, event);
		break;
	case EV_SYSCALL_ENTRY:
		flow_syscall_entry(flow, cpu, event);
		break;
	case EV_SYSCALL_EXIT:
		flow_syscall_exit(flow, cpu, event);
		break;
	case EV_STATEDUMP_PID_NS:
	case EV_STATEDUMP_CGROUP_NS:
		dump_namespaces(flow, event);
		break;
	case EV_STATEDUMP_PROCESS:
	case EV_STATEDUMP_FD:
	case EV_STATEDUMP_INTERRUPT:
	case EV_STATEDUMP_BLOCK_DEVICE:
		flow_statedump(flow, host, event);
		break;
	default:
		break;
	}
}
