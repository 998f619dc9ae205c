/* SPDX-License-Identifier: MIT */
/* What must hold between two events; see flow_check.h. */
#include "flow/flow_check.h"

#include "disk/block_requests.h"
#include "locks/locks.h"

/* --- CPUs ---------------------------------------------------------------------- */

/* "A CPU runs one thread, the idle thread, or it is not known which." */
static void check_current(const struct flow *flow, const struct host *host, const struct cpu *cpu)
{
	g_assert(cpu->current == NO_THREAD || cpu->unknown_since == INT64_MIN);
	g_assert(cpu->current == NO_THREAD || cpu->named);
	if (cpu->runs.used)
		g_assert(run_at(flow->timeline, &cpu->runs, cpu->runs.used - 1)->thread ==
			 cpu->current);
	else
		g_assert(cpu->current == NO_THREAD);
	if (is_thread(cpu->current)) {
		g_assert(cpu->current < flow->model->thread_count);
		g_assert(model_host(flow->model, flow_thread(flow, cpu->current)->host) == host);
	}
}

/* Interrupts nest; what is entered in them ends before them. */
static void check_frames(const struct flow *flow, const struct cpu *cpu)
{
	g_assert(cpu->depth <= FRAMES_MAX);
	for (uint32_t i = 0; i < cpu->depth; i++)
		g_assert(PACK_KIND(cpu->frames[i].what) >= FRAME_IRQ &&
			 PACK_KIND(cpu->frames[i].what) <= FRAME_HRTIMER);
	for (guint i = 0; cpu->open && i < cpu->open->len; i++) {
		const struct open_frame *frame = &g_array_index(cpu->open, struct open_frame, i);

		g_assert(frame->begin <= flow->time);
		g_assert(i == 0 || frame[-1].begin <= frame->begin);
	}
}

static void check_cpu(const struct flow *flow, const struct host *host, const struct cpu *cpu)
{
	check_current(flow, host, cpu);
	check_frames(flow, cpu);
	if (cpu->awaited) {
		g_assert(cpu->awaited <= flow->unnamed->len);
		g_assert(g_array_index(flow->unnamed, struct cpu *, cpu->awaited - 1) == cpu);
	}
}

/* --- threads -------------------------------------------------------------------- */

/* The last interval is what the state means. */
static void check_leaf(const struct flow *flow, const struct thread *thread)
{
	const struct interval *last = track_last(flow->timeline, &thread->track);

	switch ((enum thread_state) thread->state) {
	case THREAD_UNKNOWN:
		g_assert(PACK_KIND(last->leaf) == LEAF_UNKNOWN);
		break;
	case THREAD_RUNNING:
		g_assert(!leaf_is_off_cpu(last->leaf) && PACK_KIND(last->leaf) != LEAF_UNKNOWN);
		break;
	case THREAD_PREEMPTED:
		g_assert(PACK_KIND(last->leaf) == LEAF_PREEMPTED);
		break;
	case THREAD_WAIT_CPU:
		g_assert(PACK_KIND(last->leaf) == LEAF_WAIT_CPU);
		break;
	case THREAD_BLOCKED:
		g_assert(leaf_is_blocked(last->leaf));
		g_assert(last->ref == thread->flow.block);
		break;
	case THREAD_DEAD:
		break;
	}
}

/* "A thread runs on at most one CPU", which says so too. A trace that contradicts itself may have
 * it named on another one as well: that loses it at its next event. */
static void check_running(const struct flow *flow, const struct host *host, uint32_t index)
{
	const struct thread *thread = flow_thread(flow, index);
	uint32_t at;

	if (thread->state != THREAD_RUNNING)
		return;
	at = idmap_get(&host->cpu_index, thread->flow.cpu);
	g_assert(at != IDMAP_NONE);
	g_assert(((const struct cpu *) g_ptr_array_index(host->cpus, at))->current == index);
}

static void check_block(const struct flow *flow, uint32_t number)
{
	const struct block *block;

	g_assert(number < flow->timeline->blocks.used);
	if (!number)
		return;
	block = block_at(flow->timeline, number);
	g_assert(block->stack < flow->stacks->len);
	g_assert(block->waker_stack < flow->stacks->len);
	g_assert(!block->detail || block->detail < flow->timeline->details.used);
	g_assert(!block->reason || block->reason < flow->timeline->reasons.used);
	g_assert(!block->begun || block->begun < flow->timeline->details.used);
	g_assert(block->lock <= flow->locks->len);
	g_assert(!block->lock || !lock_at(flow, block->lock)->free);
}

/* A call is inside the life of its thread; functions and user functions nest. */
static void check_thread_frames(const struct flow *flow, const struct thread *thread)
{
	const GArray *functions = thread->flow.functions;
	const GArray *user = thread->flow.user ? thread->flow.user->frames : NULL;

	g_assert(!thread->flow.call.open || thread->flow.call.begin <= flow->time);
	g_assert(thread->flow.call.lock <= flow->locks->len);
	for (guint i = 1; functions && i < functions->len; i++)
		g_assert(g_array_index(functions, struct open_frame, i - 1).begin <=
			 g_array_index(functions, struct open_frame, i).begin);
	for (guint i = 1; user && i < user->len; i++)
		g_assert(g_array_index(user, struct user_frame, i - 1).begin <=
			 g_array_index(user, struct user_frame, i).begin);
}

/* "Intervals tile the life": in order of time, none of them empty but the last, and each
 * blocked one has its record. */
static void check_track(const struct flow *flow, const struct thread *thread)
{
	struct track_pos pos = {0, 0};
	struct span span;
	int64_t end = INT64_MIN;

	while (track_read(flow->timeline, &thread->track, &pos, INT64_MAX, &span)) {
		g_assert(end == INT64_MIN || span.begin == end);
		g_assert(span.begin < span.end);
		end = span.end;
		if (leaf_is_blocked(span.leaf)) {
			g_assert(span.ref != 0);
			check_block(flow, span.ref);
		}
	}
}

static void check_thread(const struct flow *flow, uint32_t index, bool whole)
{
	const struct thread *thread = flow_thread(flow, index);
	const struct host *host = model_host(flow->model, thread->host);

	/* one that ended may be seen to run on: a trace that contradicts itself, nothing follows */
	if (thread->end == INT64_MAX) {
		g_assert(idmap_get(&host->tids, (uint32_t) thread->tid) == index);
		g_assert(!track_empty(&thread->track));
		check_leaf(flow, thread);
		check_running(flow, host, index);
		check_thread_frames(flow, thread);
		check_block(flow, thread->flow.block);
	}
	if (whole)
		check_track(flow, thread);
}

/* --- what they act on ------------------------------------------------------------ */

static void check_requests(const struct host *host)
{
	uint32_t on_way = 0;

	for (guint i = 0; i < host->on_way->len; i++) {
		const struct request *request = &g_array_index(host->on_way, struct request, i);

		if (request->phase == REQUEST_FREE)
			continue;
		on_way++;
		g_assert(request_find(host, request->dev, request->sector, request->sectors,
				      (enum request_phase) request->phase) == request);
		g_assert(request->left <= request->sectors);
	}
	g_assert(on_way == host->requests.count);
}

/* Who holds a lock is one known thread; nobody holds it twice. */
static void check_lock(const struct flow *flow, uint32_t number)
{
	const struct lock *lock = lock_at(flow, number);

	g_assert(!lock->free || (!lock->open && !lock->boosts));
	for (guint i = 0; lock->open && i < lock->open->len; i++) {
		const struct hold *hold = &g_array_index(lock->open, struct hold, i);

		g_assert(hold->thread < flow->model->thread_count);
		g_assert(flow_thread(flow, hold->thread)->host == lock->host);
		g_assert(hold->begin <= flow->time && hold->end == INT64_MAX);
	}
}

static void check_gaps(const GArray *gaps)
{
	for (guint i = 0; i < gaps->len; i++) {
		const struct gap *gap = &g_array_index(gaps, struct gap, i);

		g_assert(gap->begin <= gap->end && gap->end <= gap->furthest);
		g_assert(i == 0 ||
			 (gap[-1].begin <= gap->begin && gap[-1].furthest <= gap->furthest));
	}
}

void flow_check(const struct flow *flow, bool whole)
{
	for (guint h = 0; h < flow->model->hosts->len; h++) {
		struct host *host = model_host(flow->model, h);

		for (guint i = 0; i < host->cpus->len; i++)
			check_cpu(flow, host, g_ptr_array_index(host->cpus, i));
		check_requests(host);
		check_gaps(host->gaps);
	}
	for (uint32_t i = 0; i < flow->model->thread_count; i++)
		check_thread(flow, i, whole);
	for (uint32_t i = 1; i <= flow->locks->len; i++)
		check_lock(flow, i);
}
