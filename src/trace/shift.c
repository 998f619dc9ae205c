/* SPDX-License-Identifier: MIT */
/* Setting the stored times of a host right; see clocks.h.
 *
 * The states of one host depend on no other's, so they are worked out by its
 * own clock and moved when that is known: all of a thread's and a CPU's times,
 * once. Durations (a timer's length, a request's time in the device) stay as
 * the host measured them. What stores a new time has to be added here;
 * tests/hosts.t compares a moved host with one that is not.
 */
#include "trace/clocks.h"

#include "objects/locks.h"

/* INT64_MIN and INT64_MAX stand for no time. */
static void move(const struct clock_line *line, int64_t *time)
{
	if (*time != INT64_MIN && *time != INT64_MAX)
		*time = clock_line_at(line, *time);
}

static bool is_moved(const struct host *host)
{
	return host->clock.line.offset != 0 || host->clock.line.drift != 0;
}

static void move_host(struct trace *trace, struct host *host)
{
	const struct clock_line *line = &host->clock.line;

	move(line, &host->begin);
	move(line, &host->end);
	move(line, &host->known_from);
	for (guint i = 0; i < host->gaps->len; i++) {
		struct gap *gap = &g_array_index(host->gaps, struct gap, i);

		move(line, &gap->begin);
		move(line, &gap->end);
		move(line, &gap->furthest);
	}
	for (guint i = 0; host->user_gaps && i < host->user_gaps->len; i++) {
		struct gap *gap = &g_array_index(host->user_gaps, struct gap, i);

		move(line, &gap->begin);
		move(line, &gap->end);
		move(line, &gap->furthest);
	}
	for (guint i = 0; i < host->cpus->len; i++) {
		struct cpu *cpu = g_ptr_array_index(host->cpus, i);

		move(line, &cpu->first_packet);
		move(line, &cpu->gap_end);
		move(line, &cpu->last_switch);
		runs_move(&trace->timeline, &cpu->runs, line);
	}
}

/* A bit of `moved` for each: no detail twice. */
static void move_detail(struct trace *trace, uint32_t index, const struct clock_line *line,
			guint8 *moved)
{
	struct wake_detail *detail = (struct wake_detail *) detail_at(&trace->timeline, index);

	if (!index || (moved[index / 8] & 1u << index % 8))
		return;
	moved[index / 8] |= (guint8) (1u << index % 8);
	if (detail->begin) /* 0: not known */
		move(line, &detail->begin);
	if (detail->asked)
		move(line, &detail->asked);
	move_detail(trace, detail->behind, line, moved);
}

static void move_details(struct trace *trace, const struct thread *thread,
			 const struct clock_line *line, guint8 *moved)
{
	struct track_pos pos = {0, 0};
	struct span span;

	while (track_read(&trace->timeline, &thread->track, &pos, thread->end, &span)) {
		const struct block *block;

		if (!leaf_is_blocked(span.leaf))
			continue;
		block = block_at(&trace->timeline, span.ref);
		move_detail(trace, block->detail, line, moved);
		move_detail(trace, block->begun, line, moved);
	}
}

static void move_thread(struct trace *trace, struct thread *thread, const struct clock_line *line,
			guint8 *moved)
{
	move_details(trace, thread, line, moved);
	track_move(&trace->timeline, &thread->track, line);
	move(line, &thread->begin);
	move(line, &thread->end);
	move(line, &thread->late_after);
	move(line, &thread->backfill_begin);
	move(line, &thread->name_since);
	/* its last step: a call that is open at the end */
	move(line, &thread->flow.since);
	move(line, &thread->flow.history);
	move(line, &thread->flow.last_call);
	move(line, &thread->flow.left);
	move(line, &thread->flow.unseen_from);
	move(line, &thread->flow.unseen_until);
	move(line, &thread->flow.woken);
	move(line, &thread->flow.call.begin);
	move(line, &thread->flow.work.queued);
	if (thread->flow.user)
		move(line, &thread->flow.user->seen);
	for (guint i = 0; thread->flow.user && i < thread->flow.user->frames->len; i++)
		move(line, &g_array_index(thread->flow.user->frames, struct user_frame, i).begin);
	for (guint i = 0; thread->names && i < thread->names->len; i++)
		move(line, &g_array_index(thread->names, struct name_change, i).time);
}

static void move_operations(struct trace *trace)
{
	struct pages *store = &trace->timeline.operations;

	for (uint32_t i = 1; i < store->used; i++) {
		struct operation *operation = operation_at(store, i);
		const struct host *host =
			model_host(&trace->model, model_operation_host(&trace->model, operation));
		int64_t end = clock_line_at(&host->clock.line, operation_end(operation));

		pages_pass(store, i);
		operation->begin = clock_line_at(&host->clock.line, operation->begin);
		operation->duration = (uint64_t) (end - operation->begin);
	}
}

static void move_images(struct trace *trace)
{
	struct model *model = &trace->model;

	for (guint i = 0; i < model->images->len; i++) {
		struct loaded_image *image = &g_array_index(model->images, struct loaded_image, i);
		const struct clock_line *line = &model_host(model, image->host)->clock.line;

		move(line, &image->from);
		move(line, &image->until);
	}
	for (guint i = 0; i < model->image_spaces->len; i++) {
		struct image_space *space =
			&g_array_index(model->image_spaces, struct image_space, i);

		move(&model_host(model, space->host)->clock.line, &space->from);
	}
}

static void move_exchanges(struct trace *trace)
{
	struct timeline *timeline = &trace->timeline;

	for (uint32_t i = 1; i < timeline->exchanges.used; i++) {
		struct exchange *exchange = pages_at(&timeline->exchanges, i);
		const struct thread *thread = model_thread(&trace->model, exchange->thread);
		const struct host *host = model_host(&trace->model, thread->host);

		move(&host->clock.line, &exchange->begin);
		move(&host->clock.line, &exchange->end_time);
	}
	for (uint32_t i = 1; i < timeline->ends.used; i++) {
		struct channel_end *end = pages_at(&timeline->ends, i);

		move(&model_host(&trace->model, end->host)->clock.line, &end->opened);
	}
}

static void move_hold(const struct clock_line *line, struct hold *hold)
{
	move(line, &hold->begin);
	move(line, &hold->end);
}

static void move_log(struct trace *trace, const struct clock_line *line, const struct hold_log *log)
{
	for (uint32_t i = 0; i < log->used; i++)
		move_hold(line, (struct hold *) hold_at(&trace->timeline.holds, log, i));
}

static void move_locks(struct trace *trace)
{
	for (guint i = 0; i < trace->flow.locks->len; i++) {
		struct lock *lock = &g_array_index(trace->flow.locks, struct lock, i);
		const struct host *host = model_host(&trace->model, lock->host);
		const struct clock_line *line = &host->clock.line;

		if (!is_moved(host))
			continue;
		move(line, &lock->released);
		move(line, &lock->touched);
		move_log(trace, line, &lock->holds);
		move_log(trace, line, &lock->waits);
		for (guint k = 0; lock->open && k < lock->open->len; k++)
			move_hold(line, &g_array_index(lock->open, struct hold, k));
		for (guint k = 0; lock->boosts && k < lock->boosts->len; k++)
			move(line, &g_array_index(lock->boosts, struct boost, k).time);
	}
}

void clocks_shift(struct trace *trace)
{
	g_autofree guint8 *moved = g_malloc0(trace->timeline.details.used / 8 + 1);
	bool any = false;

	for (guint i = 0; i < trace->model.hosts->len; i++) {
		struct host *host = model_host(&trace->model, i);

		any |= is_moved(host);
		if (is_moved(host))
			move_host(trace, host);
	}
	if (!any)
		return;
	for (uint32_t i = 0; i < trace->model.thread_count; i++) {
		struct thread *thread = model_thread(&trace->model, i);
		const struct host *host = model_host(&trace->model, thread->host);

		if (is_moved(host))
			move_thread(trace, thread, &host->clock.line, moved);
	}
	move_operations(trace);
	move_exchanges(trace);
	move_images(trace);
	move_locks(trace);
}
