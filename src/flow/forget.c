/* SPDX-License-Identifier: MIT */
/* The records and the threads; see forget.h. */
#include "flow/forget.h"

#include <string.h>

void keep_thread(struct forgetting *forgetting, uint32_t thread)
{
	if (thread < forgetting->flow->model->thread_count)
		forgetting->threads[thread] = true;
}

/* struct packet by its number; they are kept by their times, see keep_packets(). */
static uint32_t packet_number(const struct forgetting *forgetting, uint64_t number)
{
	return number < forgetting->old.packets.used ? forgetting->packets[number] : 0;
}

uint32_t keep_detail(struct forgetting *forgetting, uint32_t old)
{
	struct wake_detail detail;

	if (!old || forgetting->details[old])
		return forgetting->details[old];
	detail = *detail_at(&forgetting->old, old);
	detail.behind = keep_detail(forgetting, detail.behind);
	keep_thread(forgetting, detail.thread);
	keep_thread(forgetting, detail.behalf);
	if (detail.kind == DETAIL_PACKET)
		detail.number = packet_number(forgetting, detail.number);
	forgetting->details[old] = detail_new(forgetting->flow->timeline, &detail);
	return forgetting->details[old];
}

void keep_pending(struct forgetting *forgetting, struct wake_detail *detail)
{
	keep_thread(forgetting, detail->thread);
	keep_thread(forgetting, detail->behalf);
	if (detail->kind == DETAIL_WORK) /* of a request it is another number: block.c */
		detail->behind = keep_detail(forgetting, detail->behind);
	if (detail->kind == DETAIL_PACKET)
		detail->number = packet_number(forgetting, detail->number);
}

static uint32_t keep_block(struct forgetting *forgetting, uint32_t old)
{
	struct timeline *timeline = forgetting->flow->timeline;
	struct block *block;
	uint32_t number;

	if (!old || forgetting->blocks[old])
		return forgetting->blocks[old];
	number = forgetting->blocks[old] = block_new(timeline);
	block = block_at(timeline, number);
	*block = *block_at(&forgetting->old, old);
	block->detail = keep_detail(forgetting, block->detail);
	block->begun = keep_detail(forgetting, block->begun);
	keep_thread(forgetting, block->child);
	keep_thread(forgetting, block->waker);
	forgetting->locks[block->lock] = true;
	return number;
}

static void keep_track(struct forgetting *forgetting, struct thread *thread)
{
	struct track old = thread->track;
	struct track_pos pos;
	struct span span;

	thread->track = (struct track) {0};
	if (thread->end > forgetting->before &&
	    track_find(&forgetting->old, &old, forgetting->before, &pos))
		while (track_read(&forgetting->old, &old, &pos, INT64_MAX, &span)) {
			if (leaf_is_blocked(span.leaf))
				span.ref = keep_block(forgetting, span.ref);
			track_append(forgetting->flow->timeline, &thread->track, span.begin,
				     span.leaf, span.ref);
		}
	track_clear(&old);
}

static void keep_frames(struct forgetting *forgetting, const GArray *frames)
{
	for (guint i = 0; frames && i < frames->len; i++)
		keep_thread(forgetting, g_array_index(frames, struct open_frame, i).thread);
}

static void keep_names(struct forgetting *forgetting, struct thread *thread)
{
	guint gone = 0;

	while (thread->names && gone + 1 < thread->names->len &&
	       g_array_index(thread->names, struct name_change, gone + 1).time <=
		       forgetting->before)
		gone++;
	if (gone)
		g_array_remove_range(thread->names, 0, gone);
	if (thread->names && thread->name_since <= forgetting->before) {
		g_array_free(thread->names, TRUE);
		thread->names = NULL;
	}
}

static void keep_flow(struct forgetting *forgetting, struct thread *thread)
{
	thread->flow.block = keep_block(forgetting, thread->flow.block);
	thread->flow.waker.detail = keep_detail(forgetting, thread->flow.waker.detail);
	keep_thread(forgetting, thread->flow.waker.thread);
	thread->flow.work.behind = keep_detail(forgetting, thread->flow.work.behind);
	if (thread->flow.work.doing)
		keep_thread(forgetting, thread->flow.work.thread);
	keep_thread(forgetting, thread->flow.asked_by);
	keep_thread(forgetting, thread->flow.call.child);
	forgetting->locks[thread->flow.call.lock] = true;
	keep_frames(forgetting, thread->flow.functions);
}

static void keep_life(struct forgetting *forgetting, struct thread *thread)
{
	keep_track(forgetting, thread);
	keep_names(forgetting, thread);
	if (thread->end > forgetting->before)
		keep_flow(forgetting, thread);
}

/* Waits that a thread ended in a call not known yet: those that are kept. */
static void keep_woken(struct forgetting *forgetting, struct thread *thread)
{
	GArray *woke = thread->flow.woke;
	guint kept = 0;

	for (guint i = 0; woke && i < woke->len; i++) {
		uint32_t number = forgetting->blocks[g_array_index(woke, uint32_t, i)];

		if (number)
			g_array_index(woke, uint32_t, kept++) = number;
	}
	if (woke)
		g_array_set_size(woke, kept);
}

static void keep_runs(struct forgetting *forgetting, struct cpu *cpu)
{
	struct run_track old = cpu->runs;
	uint32_t at = run_find(&forgetting->old, &old, forgetting->before);

	cpu->runs = (struct run_track) {0};
	for (at = at == old.used ? 0 : at; at < old.used; at++) {
		const struct run *run = run_at(&forgetting->old, &old, at);

		keep_thread(forgetting, run->thread);
		run_append(forgetting->flow->timeline, &cpu->runs, run->begin, run->thread,
			   run->priority);
	}
	g_free(old.chunks);
}

static void keep_cpu(struct forgetting *forgetting, struct cpu *cpu)
{
	keep_runs(forgetting, cpu);
	keep_thread(forgetting, cpu->current);
	keep_thread(forgetting, cpu->last_woken);
	keep_pending(forgetting, &cpu->pending);
	for (uint32_t i = 0; i < cpu->depth; i++)
		keep_pending(forgetting, &cpu->frames[i].pending);
	for (int i = 0; i < SOFTIRQS_MAX; i++)
		keep_thread(forgetting, cpu->raised[i].thread);
	keep_frames(forgetting, cpu->open);
}

/* Marks what of a list reaches past `before`, with all that is nested in it: it
 * lies right before it (operation.h). */
static void mark_operations(struct forgetting *forgetting, uint32_t newest, bool *kept)
{
	int64_t from = forgetting->before;

	for (uint32_t at = newest; at;) {
		const struct operation *operation = operation_at(&forgetting->old.operations, at);

		if (operation_end(operation) <= from)
			break;
		kept[at] = true;
		from = MIN(from, operation->begin);
		at = operation->previous;
	}
}

/* In the order in which they ended, of all lists together: reports follow it. */
static void copy_operations(struct forgetting *forgetting, const bool *kept, uint32_t *numbers)
{
	struct pages *store = &forgetting->flow->timeline->operations;

	for (uint32_t i = 1; i < forgetting->old.operations.used; i++) {
		const struct operation *operation;
		uint32_t previous;

		if (!kept[i])
			continue;
		operation = operation_at(&forgetting->old.operations, i);
		previous = numbers[operation->previous];
		operation_append(store, &previous, operation);
		numbers[i] = previous;
		keep_thread(forgetting, operation->thread);
	}
}

/* Calls `each` with the newest record of every list there is. */
static void each_list(struct forgetting *forgetting, void *data,
		      void (*each)(struct forgetting *forgetting, uint32_t *newest, void *data))
{
	struct model *model = forgetting->flow->model;

	for (uint32_t i = 0; i < model->thread_count; i++)
		each(forgetting, &model_thread(model, i)->flow.operation, data);
	for (guint h = 0; h < model->hosts->len; h++) {
		struct host *host = model_host(model, h);

		for (guint i = 0; i < host->cpus->len; i++)
			each(forgetting,
			     &((struct cpu *) g_ptr_array_index(host->cpus, i))->operation, data);
	}
}

static void mark_list(struct forgetting *forgetting, uint32_t *newest, void *kept)
{
	mark_operations(forgetting, *newest, kept);
}

static void renumber_list(struct forgetting *forgetting, uint32_t *newest, void *numbers)
{
	(void) forgetting;
	*newest = ((uint32_t *) numbers)[*newest];
}

static void keep_operations(struct forgetting *forgetting)
{
	uint32_t count = forgetting->old.operations.used;
	g_autofree bool *kept = g_new0(bool, count);
	g_autofree uint32_t *numbers = g_new0(uint32_t, count);

	each_list(forgetting, kept, mark_list);
	copy_operations(forgetting, kept, numbers);
	each_list(forgetting, numbers, renumber_list);
}

static void keep_packets(struct forgetting *forgetting)
{
	struct pages *store = &forgetting->flow->timeline->packets;

	for (uint32_t i = 1; i < forgetting->old.packets.used; i++) {
		const struct packet *packet = pages_at(&forgetting->old.packets, i);

		if (packet->time < forgetting->before)
			continue;
		forgetting->packets[i] = pages_reserve(store, 1);
		*(struct packet *) pages_at(store, forgetting->packets[i]) = *packet;
		keep_thread(forgetting, packet->thread);
	}
}

/* Nothing names it: its number is free. What is left is in nobody's way, as it
 * lived at no time. */
static void drop_thread(struct forgetting *forgetting, uint32_t index)
{
	struct model *model = forgetting->flow->model;
	struct thread *thread = model_thread(model, index);
	struct idmap *tids = &model_host(model, thread->host)->tids;

	if (idmap_get(tids, (uint32_t) thread->tid) == index)
		idmap_remove(tids, (uint32_t) thread->tid);
	host_forget(model_host(model, thread->host), thread->tid, forgetting->before);
	thread_clear(thread);
	*thread = (struct thread) {.begin = INT64_MAX,
				   .end = INT64_MIN,
				   .tid = -1,
				   .pid = -1,
				   .state = THREAD_DEAD,
				   .born = true,
				   .parent = NO_THREAD};
	g_array_append_val(model->free_threads, index);
}

static void drop_threads(struct forgetting *forgetting)
{
	struct model *model = forgetting->flow->model;

	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct thread *thread = model_thread(model, i);

		if (thread->end <= forgetting->before && thread->tid >= 0 &&
		    !forgetting->threads[i])
			drop_thread(forgetting, i);
	}
	/* who was alive when its child was born is kept for as long as that matters */
	for (uint32_t i = 0; i < model->thread_count; i++) {
		struct thread *thread = model_thread(model, i);

		if (is_thread(thread->parent) && model_thread(model, thread->parent)->tid < 0)
			thread->parent = NO_THREAD;
	}
}

static void keep_all(struct forgetting *forgetting)
{
	struct model *model = forgetting->flow->model;

	keep_packets(forgetting);
	for (uint32_t i = 0; i < model->thread_count; i++)
		keep_life(forgetting, model_thread(model, i));
	for (uint32_t i = 0; i < model->thread_count; i++)
		keep_woken(forgetting, model_thread(model, i));
	for (guint h = 0; h < model->hosts->len; h++) {
		struct host *host = model_host(model, h);

		for (guint i = 0; i < host->cpus->len; i++)
			keep_cpu(forgetting, g_ptr_array_index(host->cpus, i));
		forget_host(forgetting, host);
	}
	keep_operations(forgetting);
	forget_locks(forgetting);
	drop_threads(forgetting);
	forget_places(model);
}

void flow_forget(struct flow *flow, int64_t before)
{
	struct forgetting forgetting = {.flow = flow, .before = MIN(before, flow->time)};

	if (flow->held.count) /* what is held back may be older than what is known */
		return;
	/* "A thread not seen born lives from the trace's begin; from its first evidence if
	 * a gap came before": while the evidence is still there */
	for (uint32_t i = 0; i < flow->model->thread_count; i++)
		flow_settle_begin(flow, flow_thread(flow, i));
	forgetting.old = *flow->timeline;
	timeline_init(flow->timeline, forgetting.old.memory);
	forgetting.blocks = g_new0(uint32_t, forgetting.old.blocks.used);
	forgetting.details = g_new0(uint32_t, forgetting.old.details.used);
	forgetting.packets = g_new0(uint32_t, forgetting.old.packets.used);
	forgetting.threads = g_new0(bool, flow->model->thread_count + 1);
	forgetting.locks = g_new0(bool, flow->locks->len + 1);
	keep_all(&forgetting);
	timeline_clear(&forgetting.old);
	g_free(forgetting.blocks);
	g_free(forgetting.details);
	g_free(forgetting.packets);
	g_free(forgetting.threads);
	g_free(forgetting.locks);
}

uint64_t flow_records(const struct flow *flow)
{
	const struct timeline *timeline = flow->timeline;
	const struct model *model = flow->model;
	uint64_t count = (uint64_t) timeline->intervals.used + timeline->blocks.used +
			 timeline->details.used + timeline->runs.used + timeline->holds.used +
			 timeline->operations.used + timeline->packets.used;

	count += model->thread_count - model->free_threads->len;
	count += flow->locks->len - flow->free_locks->len;
	for (guint i = 0; i < model->hosts->len; i++)
		count += model_host(model, i)->sent->len + model_host(model, i)->armed->len;
	return count;
}

static void begin_host_counts(struct host *host, int64_t time)
{
	host->discarded_events = host->discarded_packets = 0;
	host->counted_from = time;
	for (guint i = 0; i < host->cpus->len; i++) {
		struct cpu *cpu = g_ptr_array_index(host->cpus, i);

		cpu->unknown_ns = 0;
		if (cpu->unknown_since != INT64_MIN)
			cpu->unknown_since = MAX(cpu->unknown_since, time);
	}
}

void flow_begin_counts(struct flow *flow, int64_t time)
{
	memset(flow->odd, 0, sizeof flow->odd);
	g_array_set_size(flow->call_stats, 0);
	for (guint i = 0; i < flow->model->hosts->len; i++)
		begin_host_counts(model_host(flow->model, i), time);
}
