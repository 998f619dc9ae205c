/* SPDX-License-Identifier: MIT */
/* The state that all events work on, and its smallest steps; see state.h. */
#include "state/state.h"

void flow_state_init(struct flow *flow, struct model *model, struct timeline *timeline)
{
	*flow = (struct flow) {.model = model, .timeline = timeline, .names = model->names};
	flow->call_stats = g_array_new(FALSE, TRUE, sizeof(struct call_stat));
	flow->unnamed = g_array_new(FALSE, FALSE, sizeof(struct cpu *));
	flow->time = INT64_MIN;
	idmap_init(&flow->senders);
	idmap_init(&flow->callbacks);
	idmap_init(&flow->work_functions);
	idmap_init(&flow->user_addresses);
	idmap_init(&flow->calls_open);
	idmap_init(&flow->disk_index);
	idmap_init(&flow->guest_irqs);
	idmap_init(&flow->guest_processes);
	idmap_init(&flow->guest_hosts);
	idmap_init(&flow->end_index);
	idmap_init(&flow->peer_ends);
	idmap_init(&flow->first_reads);
	callstacks_init(&flow->callstacks);
	event_queue_init(&flow->held);
	flow->ipis[0] = intern_id(flow->names, "reschedule");
	flow->ipis[1] = intern_id(flow->names, "call_function");
	flow->ipis[2] = intern_id(flow->names, "call_function_single");
}

void flow_state_clear(struct flow *flow)
{
	g_array_free(flow->call_stats, TRUE);
	g_array_free(flow->unnamed, TRUE);
	idmap_clear(&flow->senders);
	idmap_clear(&flow->callbacks);
	idmap_clear(&flow->work_functions);
	idmap_clear(&flow->user_addresses);
	idmap_clear(&flow->calls_open);
	idmap_clear(&flow->disk_index);
	if (flow->disk_queues)
		g_array_free(flow->disk_queues, TRUE);
	idmap_clear(&flow->guest_irqs);
	idmap_clear(&flow->guest_processes);
	idmap_clear(&flow->guest_hosts);
	if (flow->guest_irqs_due)
		g_array_free(flow->guest_irqs_due, TRUE);
	idmap_clear(&flow->end_index);
	idmap_clear(&flow->peer_ends);
	idmap_clear(&flow->first_reads);
	callstacks_clear(&flow->callstacks);
	event_queue_clear(&flow->held);
}

/* "A thread not seen born lives from the trace's begin; from its first
 * evidence if a gap came before." A TID used again is a new thread. */
uint32_t thread_findnew(struct flow *flow, uint32_t host_index, int32_t tid, const char *comm)
{
	struct host *host = model_host(flow->model, host_index);
	uint32_t index = idmap_get(&host->tids, (uint32_t) tid);
	struct thread *thread;

	if (index == IDMAP_NONE || flow_thread(flow, index)->state == THREAD_DEAD) {
		bool forgot = index == IDMAP_NONE && host_forgot(host, tid);
		int64_t after = forgot                ? host->forgotten_by
				: index == IDMAP_NONE ? INT64_MIN
						      : flow_thread(flow, index)->end;
		bool late = index != IDMAP_NONE || host->gaps->len > 0 || forgot;

		index = thread_new(flow->model, host_index, tid, late ? flow->time : host->begin);
		thread = flow_thread(flow, index);
		thread->late = late;
		thread->late_after = after;
		flow_append(flow, thread, thread->begin, PACK(LEAF_UNKNOWN, 0), 0);
	}
	thread = flow_thread(flow, index);
	thread_set_name(flow->model, thread, comm, flow->time);
	return index;
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
			*ref = cpu->frames[i].label;
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
	else if (G_UNLIKELY(thread->flow.in_guest))
		leaf = PACK(LEAF_WORK_GUEST, 0);
	else if (G_UNLIKELY(thread->flow.halted))
		leaf = PACK(LEAF_WORK_HALTED, 0);
	else if (thread->flow.call.open) {
		leaf = PACK(LEAF_WORK_SYSCALL, thread->flow.call.name);
		ref = thread->flow.call.works_on;
	} else
		leaf = PACK(LEAF_WORK_USER, 0);
	flow_append(flow, thread, flow->time, leaf, ref);
}

uint32_t flow_function(struct flow *flow, struct idmap *known, uint64_t address)
{
	uint32_t number = idmap_get(known, address);
	char text[32];

	if (number != IDMAP_NONE)
		return number;
	g_snprintf(text, sizeof text, "0x%" G_GINT64_MODIFIER "x", (guint64) address);
	number = intern_id(flow->names, text);
	idmap_set(known, address, number);
	return number;
}
