/* SPDX-License-Identifier: MIT */
/* Which records and threads are kept; see forget.h. */
#include "flow/forget.h"

#include <string.h>

#include "flow/forget_state.h"
#include "model/model_records.h"
#include "timeline/facts.h"
#include "timeline/timeline_records.h"
#include "tries/path_tries.h"

/* --- operations and packets -------------------------------------------------------- */

struct marking {
	const struct pages *operations;
	int64_t before;
	bool *kept; /* by number */
};

/* Marks what of a list reaches past `before`, with all that is nested in it: it
 * lies right before it (operation.h). */
static void mark_operations(void *data, uint32_t *newest)
{
	const struct marking *marking = data;
	int64_t from = marking->before;

	for (uint32_t at = *newest; at;) {
		const struct operation *operation = operation_at(marking->operations, at);

		if (operation_end(operation) <= from)
			break;
		marking->kept[at] = true;
		from = MIN(from, operation->begin);
		at = operation->previous;
	}
}

static void renumber(void *numbers, uint32_t *number)
{
	*number = ((const uint32_t *) numbers)[*number];
}

/* In the order in which they ended, of all lists together: reports follow it. */
static void keep_operations(struct keeping *keeping)
{
	struct model *model = keeping->flow->model;
	uint32_t count = keeping->old.operations.used;
	uint32_t *numbers = keeping->numbers[STORE_OPERATIONS];
	g_autofree bool *kept = g_new0(bool, count);
	struct marking marking = {&keeping->old.operations, keeping->before, kept};

	each_ref(&model_record, model, STORE_OPERATIONS, mark_operations, &marking);
	for (uint32_t i = 1; i < count; i++) {
		void *copy;

		if (!kept[i])
			continue;
		copy = keep_copy(keeping, STORE_OPERATIONS, i);
		facts_keep(&keeping->old, i, keeping->flow->timeline, numbers[i]);
		each_ref(&operation_record, copy, STORE_OPERATIONS, renumber, numbers);
		keep_record(keeping, &operation_record, copy);
	}
	each_ref(&model_record, model, STORE_OPERATIONS, renumber, numbers);
}

static void keep_packets(struct keeping *keeping)
{
	for (uint32_t i = 1; i < keeping->old.packets.used; i++) {
		const struct packet *packet = pages_at(&keeping->old.packets, i);

		if (packet->time >= keeping->before)
			keep_record(keeping, &packet_record, keep_copy(keeping, STORE_PACKETS, i));
	}
}

/* --- threads ----------------------------------------------------------------------- */

static void forget_handlings(struct keeping *keeping, struct thread *thread)
{
	guint gone = 0;

	while (thread->handlings && gone < thread->handlings->len &&
	       g_array_index(thread->handlings, struct handling, gone).end <= keeping->before)
		gone++;
	if (gone)
		g_array_remove_range(thread->handlings, 0, gone);
}

static void forget_names(struct keeping *keeping, struct thread *thread)
{
	guint gone = 0;

	while (thread->names && gone + 1 < thread->names->len &&
	       g_array_index(thread->names, struct name_change, gone + 1).time <= keeping->before)
		gone++;
	if (gone)
		g_array_remove_range(thread->names, 0, gone);
	if (thread->names && thread->name_since <= keeping->before) {
		g_array_free(thread->names, TRUE);
		thread->names = NULL;
	}
}

static void keep_life(struct keeping *keeping, struct thread *thread)
{
	forget_names(keeping, thread);
	forget_handlings(keeping, thread);
	if (thread->end > keeping->before)
		keep_record(keeping, &thread_record, thread);
	else {
		track_clear(&thread->track);
		log_clear(&thread->samples);
		log_clear(&thread->counts);
	}
}

/* Waits that a thread ended in a call not known yet: those that are kept. */
static void forget_woken(struct thread *thread)
{
	GArray *woke = thread->flow.woke;
	guint kept = 0;

	for (guint i = 0; woke && i < woke->len; i++)
		if (g_array_index(woke, uint32_t, i))
			g_array_index(woke, uint32_t, kept++) = g_array_index(woke, uint32_t, i);
	if (woke)
		g_array_set_size(woke, kept);
}

/* Nothing names it: its number is free. What is left is in nobody's way, as it
 * lived at no time. */
static void drop_thread(struct keeping *keeping, uint32_t index)
{
	struct model *model = keeping->flow->model;
	struct thread *thread = model_thread(model, index);
	struct idmap *tids = &model_host(model, thread->host)->tids;

	if (idmap_get(tids, (uint32_t) thread->tid) == index)
		idmap_remove(tids, (uint32_t) thread->tid);
	host_forget(model_host(model, thread->host), thread->tid, keeping->before);
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

static void unless_dropped(void *model, uint32_t *thread)
{
	if (is_thread(*thread) && model_thread(model, *thread)->tid < 0)
		*thread = NO_THREAD;
}

static void drop_threads(struct keeping *keeping)
{
	struct model *model = keeping->flow->model;

	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct thread *thread = model_thread(model, i);

		if (thread->end <= keeping->before && thread->tid >= 0 && !keeping->threads[i])
			drop_thread(keeping, i);
	}
	each_weak_thread(&model_record, model, unless_dropped, model);
	for (guint i = 0; i < model->hosts->len; i++)
		forget_numbers(keeping, model_host(model, i));
}

/* --- all --------------------------------------------------------------------------- */

static void keep_all(struct keeping *keeping)
{
	struct model *model = keeping->flow->model;

	keep_packets(keeping);
	keep_operations(keeping);
	for (uint32_t i = 0; i < model->thread_count; i++)
		keep_life(keeping, model_thread(model, i));
	for (guint i = 0; i < model->hosts->len; i++) {
		forget_host(keeping, model_host(model, i));
		keep_record(keeping, &host_record, model_host(model, i));
	}
	renumber_weak(keeping, &model_record, model);
	for (uint32_t i = 0; i < model->thread_count; i++)
		forget_woken(model_thread(model, i));
	forget_locks(keeping);
	drop_threads(keeping);
	forget_places(model);
}

void flow_forget(struct flow *flow, int64_t before)
{
	struct keeping keeping;

	if (flow->held.count) /* what is held back may be older than what is known */
		return;
	/* "A thread not seen born lives from the trace's begin; from its first evidence if
	 * a gap came before": while the evidence is still there */
	for (uint32_t i = 0; i < flow->model->thread_count; i++)
		flow_settle_begin(flow, flow_thread(flow, i));
	keeping_init(&keeping, flow, MIN(before, flow->time));
	tries_forget(flow, keeping.before);
	path_makers_forget(flow, keeping.before);
	keep_all(&keeping);
	keeping_clear(&keeping);
}

uint64_t flow_records(const struct flow *flow)
{
	const struct timeline *timeline = flow->timeline;
	const struct model *model = flow->model;
	uint64_t count = model->thread_count - model->free_threads->len;

	for (enum store i = 0; i < TIMELINE_STORES; i++)
		count += timeline_stored(timeline, i)->used;
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
	flow->switches = flow->strange_switches = 0;
	g_array_set_size(flow->call_stats, 0);
	for (guint i = 0; i < flow->model->hosts->len; i++)
		begin_host_counts(model_host(flow->model, i), time);
}
