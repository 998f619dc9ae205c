/* SPDX-License-Identifier: MIT */
/* See retimed_run.h. */
#include "whatif/retimed_run.h"

#include <stdlib.h>

#include "locks/locks.h"
#include "model/model_records.h"
#include "run/feed.h"
#include "timeline/holds.h"
#include "timeline/counts.h"
#include "timeline/sample.h"
#include "timeline/timeline_records.h"
#include "util/records.h"

struct mover {
	struct walk walk; /* must be first */
	const struct session *recorded;
	const struct retimed *retimed;
	struct session *session;
	uint32_t thread; /* whose times the walk is over */
	bool *details, *reasons; /* owned; by number: moved */
	uint32_t *near; /* the run's */
};

/* INT64_MIN and INT64_MAX stand for no time. */
static int64_t new_time(const struct retimed *retimed, uint32_t thread, int64_t time,
			uint32_t *near)
{
	return is_thread(thread) && time != INT64_MIN && time != INT64_MAX
		       ? retimed_at_near(retimed, CHANGED, thread, time, &near[thread])
		       : time;
}

static int64_t moved(const struct mover *mover, uint32_t thread, int64_t time)
{
	return new_time(mover->retimed, thread, time, mover->near);
}

int64_t retimed_run_time(const void *data, uint32_t thread, int64_t time)
{
	const struct retimed_run *run = data;

	return new_time(run->replay->retimed, thread, time, run->near);
}

/* --- what leads to what ------------------------------------------------------------------ */

static void move_reason(struct mover *mover, uint32_t number, uint32_t waiter)
{
	struct reason *reason = pages_at(&mover->session->trace.timeline.reasons, number);
	uint32_t thread = is_thread(reason->thread) ? reason->thread : waiter;

	if (!number || mover->reasons[number])
		return;
	mover->reasons[number] = true;
	reason->from = moved(mover, thread, reason->from);
	reason->until = moved(mover, thread, reason->until);
	if (reason->begin)
		reason->begin = moved(mover, thread, reason->begin);
}

/* A request's way: of its lengths what the waiter's time makes of them. */
static void move_request(const struct mover *mover, struct wake_detail *detail, uint32_t asker,
			 uint32_t waiter)
{
	int64_t begin = moved(mover, asker, detail->begin);

	if (detail->queued >= 0)
		detail->queued =
			MAX(begin - moved(mover, asker, detail->begin - detail->queued), 0);
	if (detail->served >= 0)
		detail->served =
			MAX(moved(mover, waiter, detail->begin + detail->served) - begin, 0);
}

static void move_detail(struct mover *mover, uint32_t number, uint32_t waiter)
{
	struct wake_detail *detail = pages_at(&mover->session->trace.timeline.details, number);
	uint32_t thread = is_thread(detail->thread) ? detail->thread : waiter;

	if (!number || mover->details[number])
		return;
	mover->details[number] = true;
	if (detail->kind == DETAIL_REQUEST && detail->begin)
		move_request(mover, detail, thread, waiter);
	if (detail->begin)
		detail->begin = moved(mover, thread, detail->begin);
	if (detail->asked)
		detail->asked = moved(mover, thread, detail->asked);
	move_reason(mover, detail->reason, waiter);
	if (detail->kind == DETAIL_WORK)
		move_detail(mover, detail->behind, waiter);
}

static void move_block(struct mover *mover, uint32_t number, uint32_t thread, int64_t begin)
{
	struct block *block = block_at(&mover->session->trace.timeline, number);

	move_detail(mover, block->detail, thread);
	move_detail(mover, block->begun, thread);
	move_reason(mover, block->reason, thread);
	if (block->sent && block->sent_ago < UINT32_MAX)
		block->sent_ago = (uint32_t) MIN(
			moved(mover, thread, begin) - moved(mover, thread, begin - block->sent_ago),
			UINT32_MAX - 1);
}

/* --- threads ----------------------------------------------------------------------------- */

static void visit(struct walk *walk, const struct field *field, void *at)
{
	struct mover *mover = (struct mover *) walk;
	int64_t *time = at;

	if (field->kind == FIELD_TIME || *time)
		*time = moved(mover, mover->thread, *time);
}

static void move_thread(struct mover *mover, uint32_t number)
{
	const struct timeline *timeline = &mover->recorded->trace.timeline;
	const struct thread *recorded = model_thread(&mover->recorded->trace.model, number);
	struct thread *thread = model_thread(&mover->session->trace.model, number);
	struct track_pos pos = {0, 0};
	struct span span;

	track_clear(&thread->track);
	while (track_read(timeline, &recorded->track, &pos, INT64_MAX, &span)) {
		if (leaf_is_blocked(span.leaf))
			move_block(mover, span.ref, number, span.begin);
		track_append(&mover->session->trace.timeline, &thread->track,
			     moved(mover, number, span.begin), span.leaf, span.ref);
	}
	for (uint32_t i = 0; i < thread->samples.used; i++) {
		struct sample *sample = log_at(&mover->session->trace.timeline.samples,
					       &thread->samples, SAMPLES_PER_CHUNK, i);

		sample->time = moved(mover, number, sample->time);
	}
	for (uint32_t i = 0; i < thread->counts.used; i++) {
		struct counted_run *run = log_at(&mover->session->trace.timeline.counts,
						 &thread->counts, COUNTS_PER_CHUNK, i);

		run->begin = moved(mover, number, run->begin);
		run->end = moved(mover, number, run->end);
	}
	mover->thread = number;
	record_walk(&mover->walk, &thread_record, thread);
}

/* --- CPUs, locks ------------------------------------------------------------------------- */

static int by_begin(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Where each run begins now; of two at once, it shows the one that began last. */
static void move_runs(struct mover *mover, const struct log *recorded, struct log *runs)
{
	const struct timeline *timeline = &mover->recorded->trace.timeline;
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(struct run));

	for (uint32_t i = 0; i < recorded->used; i++) {
		struct run run = *run_at(timeline, recorded, i);
		uint32_t before = i ? run_at(timeline, recorded, i - 1)->thread : NO_THREAD;

		run.begin = moved(mover, is_thread(run.thread) ? run.thread : before, run.begin);
		g_array_append_val(list, run);
	}
	qsort(list->data, list->len, sizeof(struct run), by_begin);
	log_clear(runs);
	for (guint i = 0; i < list->len; i++) {
		const struct run *run = &g_array_index(list, struct run, i);

		run_append(&mover->session->trace.timeline, runs, run->begin, run->thread,
			   run->priority);
	}
}

static int by_end(const void *a, const void *b)
{
	const struct hold *x = a, *y = b;

	return x->end != y->end ? (x->end > y->end) - (x->end < y->end)
				: (x->begin > y->begin) - (x->begin < y->begin);
}

static void move_hold(const struct mover *mover, struct hold *hold)
{
	hold->begin = moved(mover, hold->thread, hold->begin);
	hold->end = moved(mover, hold->thread, hold->end);
}

/* Those of a log are found by their ends. */
static void move_holds(const struct mover *mover, struct log *log)
{
	struct pages *store = &mover->session->trace.timeline.holds;
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(struct hold));

	for (uint32_t i = 0; i < log->used; i++) {
		struct hold hold = *hold_at(store, log, i);

		move_hold(mover, &hold);
		g_array_append_val(list, hold);
	}
	qsort(list->data, list->len, sizeof(struct hold), by_end);
	log_clear(log);
	for (guint i = 0; i < list->len; i++)
		hold_append(store, log, &g_array_index(list, struct hold, i));
}

static void move_lock(const struct mover *mover, struct lock *lock)
{
	move_holds(mover, &lock->holds);
	move_holds(mover, &lock->waits);
	for (guint i = 0; lock->open && i < lock->open->len; i++)
		move_hold(mover, &g_array_index(lock->open, struct hold, i));
	for (guint i = 0; lock->boosts && i < lock->boosts->len; i++) {
		struct boost *boost = &g_array_index(lock->boosts, struct boost, i);

		boost->time = moved(mover, boost->thread, boost->time);
	}
	lock->released = moved(mover, lock->releaser, lock->released);
}

/* --- operations, exchanges --------------------------------------------------------------- */

static void move_operation(const struct mover *mover, struct operation *operation)
{
	uint32_t kind = PACK_KIND(operation->what);
	int64_t begin = operation->begin, end = operation_end(operation);

	if (!operation_has_thread(operation))
		return;
	operation->begin = moved(mover, operation->thread, begin);
	if (kind != OPERATION_QUEUED && kind != OPERATION_SERVED) /* these are the disk's */
		operation->duration =
			(uint64_t) (moved(mover, operation->thread, end) - operation->begin);
}

/* They stay in the order in which they took effect: what was read had been written. */
static void move_exchange(const struct mover *mover, struct exchange *exchange)
{
	exchange->begin = moved(mover, exchange->thread, exchange->begin);
	exchange->end_time = moved(mover, exchange->thread, exchange->end_time);
	if (exchange->came)
		exchange->came = moved(mover, exchange->thread, exchange->came);
}

/* --- all --------------------------------------------------------------------------------- */

/* What was mapped from the copy's file cannot be written to. */
static void own_stores(struct timeline *timeline)
{
	static const enum store stores[] = {STORE_BLOCKS,  STORE_DETAILS,    STORE_REASONS,
					    STORE_HOLDS,   STORE_OPERATIONS, STORE_EXCHANGES,
					    STORE_SAMPLES, STORE_COUNTS};

	for (size_t i = 0; i < G_N_ELEMENTS(stores); i++) {
		struct pages *pages = timeline_store(timeline, stores[i]), copy;

		pages_copy(&copy, pages, timeline->memory / timeline_stores[stores[i]].share);
		pages_clear(pages);
		*pages = copy;
	}
	for (enum store i = STORE_INTERVALS; i <= STORE_RUNS; i += STORE_RUNS - STORE_INTERVALS) {
		struct pages *pages = timeline_store(timeline, i);

		pages_clear(pages);
		pages_init(pages, timeline_stores[i].record_size,
			   timeline->memory / timeline_stores[i].share);
	}
}

/* Nobody does anything after a host's end. */
static void set_ends(struct session *session)
{
	struct model *model = &session->trace.model;

	session->trace.end = INT64_MIN;
	for (guint i = 0; i < model->hosts->len; i++) {
		struct host *host = model_host(model, i);

		host->end = host->begin;
		for (uint32_t k = 0; k < model->thread_count; k++) {
			const struct thread *thread = model_thread(model, k);

			if (thread->host == i && !track_empty(&thread->track))
				host->end = MAX(host->end, thread->end);
		}
		session->trace.end = MAX(session->trace.end, host->end);
	}
}

/* The same window: up to where the target gets, or to where all do. */
static void set_window(const struct mover *mover)
{
	const struct question *recorded = &mover->recorded->asked;
	struct question *asked = &mover->session->asked;
	const struct model *model = &mover->recorded->trace.model;

	asked->to = asked->from + 1;
	if (asked->target != NO_THREAD)
		asked->to = moved(mover, asked->target, recorded->to);
	for (uint32_t i = 0; i < model->thread_count && asked->target == NO_THREAD; i++) {
		const struct thread *thread = model_thread(model, i);
		int64_t end = MIN(thread->end, recorded->to);

		if (!track_empty(&thread->track) && end > recorded->from)
			asked->to = MAX(asked->to, moved(mover, i, end));
	}
	for (guint i = 0; i < asked->boundaries->len; i++) {
		struct boundary *boundary = &g_array_index(asked->boundaries, struct boundary, i);
		uint32_t thread =
			session_event_thread(mover->recorded, boundary->host, boundary->cpu,
					     boundary->tid, boundary->user, boundary->time);

		boundary->time = moved(mover, thread, boundary->time);
	}
}

static void move_all(struct mover *mover)
{
	const struct trace *recorded = &mover->recorded->trace;
	struct trace *trace = &mover->session->trace;

	own_stores(&trace->timeline);
	mover->details = g_new0(bool, trace->timeline.details.used + 1);
	mover->reasons = g_new0(bool, trace->timeline.reasons.used + 1);
	for (uint32_t i = 0; i < trace->model.thread_count; i++)
		move_thread(mover, i);
	for (guint i = 0; i < trace->model.hosts->len; i++)
		for (guint k = 0; k < model_host(&trace->model, i)->cpus->len; k++) {
			const struct cpu *was =
				g_ptr_array_index(model_host(&recorded->model, i)->cpus, k);
			struct cpu *cpu = g_ptr_array_index(model_host(&trace->model, i)->cpus, k);

			move_runs(mover, &was->runs, &cpu->runs);
		}
	for (guint i = 0; i < trace->flow.locks->len; i++)
		move_lock(mover, &g_array_index(trace->flow.locks, struct lock, i));
	for (uint32_t i = 1; i < trace->timeline.operations.used; i++)
		move_operation(mover, operation_at(&trace->timeline.operations, i));
	for (uint32_t i = 1; i < trace->timeline.exchanges.used; i++)
		move_exchange(mover, pages_at(&trace->timeline.exchanges, i));
	set_ends(mover->session);
	set_window(mover);
	g_free(mover->details);
	g_free(mover->reasons);
}

/* What was recorded of a span of the re-timed run: where it begins there, the thread is in it. */
static struct span span_recorded(const void *data, uint32_t thread, const struct span *span)
{
	const struct retimed_run *run = data;
	const struct retimed *retimed = run->replay->retimed;
	int64_t begin =
		retimed_when_near(retimed, CHANGED, thread, span->begin, &run->near[thread]);
	struct span found, was = {begin, begin + (span->end - span->begin), span->leaf, span->ref};
	struct spans spans;

	spans_begin(&spans, run->recorded.session, thread, begin, INT64_MAX);
	if (spans_next(&spans, &found) && found.leaf == span->leaf)
		was.end = MIN(found.end, MAX(retimed_when_near(retimed, CHANGED, thread, span->end,
							       &run->near[thread]),
					     begin + 1));
	return was;
}

/* One way of each thread asked for, or of all. */
static GArray *ways_of_threads(const struct session *session)
{
	GArray *ways = g_array_new(FALSE, FALSE, sizeof(struct way));
	const GArray *selected = session->asked.selected;
	uint32_t count = selected->len ? selected->len : session->trace.model.thread_count;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t thread = selected->len ? g_array_index(selected, uint32_t, i) : i;
		const struct thread *life = model_thread(&session->trace.model, thread);
		struct way way = {thread, thread, MAX(life->begin, session->asked.from),
				  MIN(life->end, session->asked.to)};

		if (way.from < way.to && !track_empty(&life->track))
			g_array_append_val(ways, way);
	}
	return ways;
}

struct retimed_run *retimed_run_new(const struct session *session, GError **error)
{
	g_autoptr(GArray) ways = ways_of_threads(session);
	struct mover mover = {.walk = {.kinds = 1u << FIELD_TIME | 1u << FIELD_TIME_OR_0,
				       .visit = visit},
			      .recorded = session};
	struct retimed_run *run;
	struct replay *replay = replay_new(session, ways, false, error);

	if (!replay)
		return NULL;
	mover.retimed = replay->retimed;
	mover.session = session_copy(session, error);
	if (!mover.session) {
		replay_free(replay);
		return NULL;
	}
	run = g_new0(struct retimed_run, 1);
	run->near = mover.near = g_new0(uint32_t, session->trace.model.thread_count + 1);
	move_all(&mover);
	run->session = mover.session;
	run->replay = replay;
	run->recorded = (struct recorded) {session, span_recorded, run};
	run->session->recorded = &run->recorded;
	return run;
}

void retimed_run_free(struct retimed_run *run)
{
	if (!run)
		return;
	session_copy_free(run->session);
	replay_free(run->replay);
	g_free(run->near);
	g_free(run);
}
