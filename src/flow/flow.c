/* SPDX-License-Identifier: MIT */
/* The door: the order in which events may enter; see flow.h.
 *
 * "Before the first one it is the tid context of the CPU's events, else the
 * first switch's prev_tid: hold events back until it is known, and apply them
 * then as if it had been." As an event of one CPU can wake threads of all,
 * everything is held back while some CPU's thread is awaited:
 *
 *   CPU 1's first event ─► held, and all after it ─► CPU 1's first switch:
 *   its prev_tid ran since then; all held events enter in order
 *
 * Source: semantics.md, "What a CPU runs".
 */
#include "flow/flow.h"

#include <string.h>

#include "flow/flow_check.h"
#include "flow/gaps.h"
#include "flow/step.h"
#include "locks/locks.h"
#include "model/files.h"
#include "model/memory.h"
#include "net/packet_time.h"
#include "objects/calls.h"
#include "objects/operation_log.h"
#include "objects/resource.h"
#include "threads/states.h"
#include "threads/user.h"
#include "tries/asks.h"
#include "tries/path_tries.h"

#define LIVE_LIMIT 100000 /* events a live trace waits for a first switch */

void flow_init(struct flow *flow, struct model *model, struct timeline *timeline)
{
	flow_state_init(flow, model, timeline);
	stacks_init(flow);
	calls_init(flow);
	locks_init(flow);
	tries_init(flow);
	packet_time_init(flow);
}

void flow_clear(struct flow *flow)
{
	locks_clear(flow);
	tries_clear(flow);
	packet_time_clear(flow);
	path_makers_clear(flow);
	calls_clear(flow);
	stacks_clear(flow);
	flow_state_clear(flow);
}

static void remove_awaited(struct flow *flow, struct cpu *cpu)
{
	guint at = cpu->awaited - 1;

	cpu->awaited = 0;
	g_array_remove_index_fast(flow->unnamed, at);
	if (at < flow->unnamed->len)
		g_array_index(flow->unnamed, struct cpu *, at)->awaited = at + 1;
}

static void enter_lost(struct flow *flow, const struct event *notice)
{
	struct host *host = model_host(flow->model, notice->host);
	struct gap gap = {.begin = notice->time,
			  .end = notice->lost.end,
			  .cpu = notice->cpu,
			  .events = notice->lost.count,
			  .packets = notice->lost.packets};

	gap_begin(flow, host, host_cpu(host, notice->cpu), &gap);
}

static void enter(const struct event *event, void *data)
{
	struct flow *flow = data;

	if (event->kind == EV_NOTICE_LOST)
		enter_lost(flow, event);
	else if (event->kind == EV_NOTICE_USER_LOST)
		user_gap_begin(flow, event);
	else if (event_is_user(event))
		user_step(flow, event);
	else
		flow_step(flow, event);
}

static void release_held(struct flow *flow)
{
	for (guint i = 0; i < flow->unnamed->len; i++)
		g_array_index(flow->unnamed, struct cpu *, i)->awaited = 0;
	g_array_set_size(flow->unnamed, 0);
	flow->held_user = 0;
	event_queue_drain(&flow->held, enter, flow);
}

/* The CPU's thread is known by this event, or never will be. */
static void no_longer_awaited(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	if (!cpu->awaited)
		return;
	if (event) {
		struct host *host = model_host(flow->model, event->host);
		uint32_t thread = IDLE_THREAD;

		if (event->sched_switch.prev_tid != 0)
			thread = thread_findnew(flow, event->host, event->sched_switch.prev_tid,
						event->sched_switch.prev_comm);
		cpu_runs(flow, host, cpu, thread);
	}
	remove_awaited(flow, cpu);
}

static void await_if_new(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	if (cpu->seen)
		return;
	cpu->seen = true;
	if (cpu->current != NO_THREAD || event->has_tid || event->kind == EV_SCHED_SWITCH ||
	    event->time < cpu->gap_end)
		return;
	g_array_append_val(flow->unnamed, cpu);
	cpu->awaited = flow->unnamed->len;
}

void flow_event(struct flow *flow, const struct event *event)
{
	struct host *host = model_host(flow->model, event->host);
	struct cpu *cpu = host_cpu(host, event->cpu);

	if (!host->any) {
		host->any = true;
		host->begin = host->end = event->time;
		flow->time = MAX(flow->time, event->time);
	}
	host->end = MAX(host->end, event->time);
	await_if_new(flow, cpu, event);
	if (!flow->unnamed->len) {
		flow_step(flow, event);
		return;
	}
	event_queue_push(&flow->held, event);
	if (event->kind == EV_SCHED_SWITCH)
		no_longer_awaited(flow, cpu, event);
	if (!flow->unnamed->len ||
	    (flow->held_limit && flow->held.count - flow->held_user > flow->held_limit))
		release_held(flow);
}

/* In order with the kernel's, which it never moves: neither the trace's begin and end, nor
 * what is held back. */
void flow_user_event(struct flow *flow, const struct event *event)
{
	if (!flow->unnamed->len) {
		enter(event, flow);
		return;
	}
	event_queue_push(&flow->held, event);
	flow->held_user++;
}

void flow_user_lost(struct flow *flow, uint32_t host, uint32_t cpu, int64_t begin, int64_t end,
		    int64_t count)
{
	struct event notice = {.kind = EV_NOTICE_USER_LOST,
			       .time = begin,
			       .cpu = cpu,
			       .host = (uint16_t) host,
			       .lost = {.end = MAX(begin, end), .count = count}};

	flow_user_event(flow, &notice);
}

void flow_lost(struct flow *flow, uint32_t host_index, uint32_t cpu_id, int64_t begin, int64_t end,
	       int64_t count, bool packets)
{
	struct host *host = model_host(flow->model, host_index);
	struct event notice = {
		.kind = EV_NOTICE_LOST,
		.time = begin,
		.cpu = cpu_id,
		.host = (uint16_t) host_index,
		.lost = {.end = MAX(begin, end), .count = count, .packets = packets}};

	if (packets)
		host->discarded_packets += count > 0 ? (uint64_t) count : 1;
	else if (count > 0)
		host->discarded_events += (uint64_t) count;
	no_longer_awaited(flow, host_cpu(host, cpu_id), NULL);
	if (flow->held.count)
		event_queue_push(&flow->held, &notice);
	else
		enter_lost(flow, &notice);
	if (!flow->unnamed->len && flow->held.count)
		release_held(flow);
}

void flow_packet(struct flow *flow, uint32_t host_index, uint32_t cpu_id, int64_t begin)
{
	struct host *host = model_host(flow->model, host_index);
	struct cpu *cpu = host_cpu(host, cpu_id);

	cpu->first_packet = MAX(cpu->first_packet, begin);
	host->known_from = MAX(host->known_from, begin);
}

void flow_live(struct flow *flow)
{
	flow->held_limit = LIVE_LIMIT;
}

static void end_host(struct host *host)
{
	int64_t from = MAX(host->begin, host->counted_from);

	for (guint i = 0; i < host->cpus->len; i++) {
		struct cpu *cpu = g_ptr_array_index(host->cpus, i);

		if (cpu->unknown_since != INT64_MIN)
			cpu->unknown_ns += MAX(0, host->end - cpu->unknown_since);
		else if (!cpu->named && cpu->seen)
			cpu->unknown_ns += MAX(0, host->end - from);
		if (cpu->first_packet > from)
			cpu->unknown_ns += MAX(0, MIN(cpu->first_packet, host->end) - from);
		cpu->unknown_since = INT64_MIN;
	}
	host->known_from = MAX(host->known_from, host->begin);
	host_end_gaps(host);
}

/* A wait that the trace does not see the end of: what is known by now of what
 * it is for. */
static void explain_open_wait(struct flow *flow, struct thread *thread)
{
	struct block *block;

	if (thread->state != THREAD_BLOCKED || !thread->flow.call.open)
		return;
	block = block_at(flow->timeline, thread->flow.block);
	if (block->resource)
		block->resource = call_resource(flow, thread, &block->fd);
}

/* "A thread not seen born lives from the trace's begin; from its first
 * evidence if a gap came before": the time until S is such a gap. */
void flow_settle_begin(struct flow *flow, struct thread *thread)
{
	const struct host *host = model_host(flow->model, thread->host);
	struct track_pos pos = {0, 0};
	struct span span;

	if (thread->settled || thread->born || thread->late || host->known_from <= host->begin)
		return;
	while (track_read(flow->timeline, &thread->track, &pos, thread->end, &span)) {
		if (thread->backfilled && span.begin == thread->backfill_begin)
			span.begin = MIN(MAX(span.begin, thread_backfilled_from(host, thread)),
					 span.end);
		if (PACK_KIND(span.leaf) != LEAF_UNKNOWN && span.begin < span.end) {
			thread->begin = MAX(thread->begin, span.begin);
			thread->settled = true;
			return;
		}
	}
}

void flow_end(struct flow *flow)
{
	release_held(flow);
	if (flow->passes_over)
		memcpy(flow->odd, flow->odd_read, sizeof flow->odd);
	flow_check_at_end(flow);
	for (guint i = 0; i < flow->model->hosts->len; i++)
		end_host(model_host(flow->model, i));
	for (uint32_t i = 0; i < flow->model->thread_count; i++) {
		struct thread *thread = flow_thread(flow, i);

		if (thread->end == INT64_MAX)
			thread->end = model_host(flow->model, thread->host)->end;
		flow_settle_begin(flow, thread);
		explain_open_wait(flow, thread);
		spin_ends(flow, i);
		operation_frames_end(flow, thread, i, thread->end);
		user_frames_end(flow, thread, i, thread->end);
		fd_table_leave(&thread->files);
		memory_leave(&thread->memory);
	}
}
