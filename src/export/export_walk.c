/* SPDX-License-Identifier: MIT */
/* The walk of the exports; see export_walk.h.
 *
 * States come from spans_next(). Frames are collected per thread before: a
 * list of operations is in the order of their ends, newest first, and is
 * sorted by begin; where two begin together, the one that ended last is
 * around the other. That is 24 bytes a frame of the thread at hand.
 */
#include "export/export_walk.h"

#include "latencies/operations.h"

#include <string.h>

/* What was read once is not read again: it need not stay in memory. */
#define STEPS 5000

static void step(struct walk *walk)
{
	if (++walk->steps < STEPS)
		return;
	walk->steps = 0;
	timeline_ease(&walk->session->trace.timeline);
}

/* --- what ran on the CPUs --------------------------------------------------- */

static void visit_runs(struct walk *walk, uint16_t host, const struct cpu *cpu)
{
	const struct session *session = walk->session;
	const struct timeline *timeline = &session->trace.timeline;
	uint32_t used = cpu->runs.used, first = run_find(timeline, &cpu->runs, session->asked.from);

	/* who ran before its first one is not known */
	for (uint32_t i = first == used ? 0 : first; i < used; i++) {
		struct run run = *run_at(timeline, &cpu->runs, i);
		int64_t begin = MAX(run.begin, session->asked.from);
		int64_t end = i + 1 < used ? run_at(timeline, &cpu->runs, i + 1)->begin
					   : model_host(&session->trace.model, host)->end;

		if (begin >= session->asked.to)
			return;
		step(walk);
		end = MIN(end, session->asked.to);
		if (begin < end && end - begin >= session->asked.options->min_duration)
			walk->visitor->run(walk, host, cpu->id, begin, end, run.thread, walk->data);
	}
}

static int by_id(gconstpointer a, gconstpointer b)
{
	const struct cpu *x = *(struct cpu *const *) a, *y = *(struct cpu *const *) b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static void all_runs(struct walk *walk)
{
	const struct model *model = &walk->session->trace.model;
	const char *wanted = walk->session->asked.options->host;

	for (guint h = 0; h < model->hosts->len; h++) {
		const struct host *host = model_host(model, h);
		g_autoptr(GPtrArray) cpus = g_ptr_array_new();

		if (wanted && g_strcmp0(wanted, host->hostname) != 0)
			continue;
		for (guint i = 0; i < host->cpus->len; i++)
			g_ptr_array_add(cpus, g_ptr_array_index(host->cpus, i));
		g_ptr_array_sort(cpus, by_id);
		for (guint i = 0; i < cpus->len; i++)
			visit_runs(walk, (uint16_t) h, g_ptr_array_index(cpus, i));
	}
}

/* --- frames --------------------------------------------------------------- */

struct found_frame {
	int64_t begin;
	uint32_t operation; /* 0: the thread's open call; from OPEN_USER on: an open function */
	uint32_t order;     /* of their ends: the higher, the later it ended */
};

#define OPEN_CALL 0
#define OPEN_USER (UINT32_MAX - 4096)

static int outer_first(gconstpointer a, gconstpointer b)
{
	const struct found_frame *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->order > y->order ? -1 : x->order < y->order;
}

static bool is_frame(const struct operation *operation)
{
	uint32_t kind = PACK_KIND(operation->what);

	return kind == OPERATION_SYSCALL || kind == OPERATION_FUNCTION || kind == OPERATION_USER;
}

/* Those that were never left are around all that were. */
static void collect_open(const struct thread *thread, int64_t to, int64_t shortest, GArray *list)
{
	const struct user_stack *user = thread->flow.user;
	struct found_frame frame = {.begin = thread->flow.call.begin,
				    .operation = OPEN_CALL,
				    .order = UINT32_MAX - 1};

	if (thread->flow.call.open && frame.begin < to && to - frame.begin >= shortest)
		g_array_append_val(list, frame);
	for (guint i = 0; user && i < MIN(user->frames->len, 4096); i++) {
		frame = (struct found_frame) {
			.begin = g_array_index(user->frames, struct user_frame, i).begin,
			.operation = OPEN_USER + i,
			.order = UINT32_MAX - 1 - i};
		if (frame.begin < to && to - frame.begin >= shortest)
			g_array_append_val(list, frame);
	}
}

static GArray *collect_frames(const struct walk *walk, const struct walk_thread *of)
{
	const struct session *session = walk->session;
	const struct thread *thread = model_thread(&session->trace.model, of->thread);
	const struct pages *operations = &session->trace.timeline.operations;
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct found_frame));
	uint32_t order = UINT32_MAX / 2;

	for (uint32_t i = thread->flow.operation; i; i = operation_at(operations, i)->previous) {
		const struct operation *at = operation_at(operations, i);
		struct found_frame frame = {at->begin, i, order--};

		/* a thread's operations lie far apart: each brings several pages with it */
		if (order % 512 == 0)
			pages_let_go(operations);
		if (operation_end(at) <= of->begin)
			break; /* all others ended before */
		if (is_frame(at) && at->begin < of->end &&
		    (int64_t) at->duration >= session->asked.options->min_duration)
			g_array_append_val(list, frame);
	}
	collect_open(thread, of->end, session->asked.options->min_duration, list);
	g_array_sort(list, outer_first);
	return list;
}

/* Going through one thread. */
struct course {
	struct walk *walk;
	const struct walk_thread *of;
	GArray *found;  /* struct found_frame */
	guint next;     /* … to be entered */
	struct spans spans;
};

static void fill_frame(const struct course *course, const struct found_frame *found,
		       struct walk_frame *frame)
{
	const struct session *session = course->walk->session;
	const struct thread *thread = model_thread(&session->trace.model, course->of->thread);
	const struct operation *operation;
	struct operation named;

	*frame = (struct walk_frame) {.cpu = NO_CPU,
				      .entered = found->begin,
				      .left = NOT_SEEN,
				      .begin = MAX(found->begin, course->of->begin),
				      .end = course->of->end};
	if (found->operation == OPEN_CALL) {
		frame->what = PACK(OPERATION_SYSCALL, thread->flow.call.name);
		if (thread->flow.call.inherited)
			frame->entered = NOT_SEEN;
		return;
	}
	if (found->operation >= OPEN_USER) {
		const struct user_frame *user =
			&g_array_index(thread->flow.user->frames, struct user_frame,
				       found->operation - OPEN_USER);

		named = (struct operation) {.begin = user->begin,
					    .thread = course->of->thread,
					    .what = PACK(OPERATION_USER, user->name)};
		frame->what = operation_what(session, &named);
		if (user->inherited)
			frame->entered = NOT_SEEN;
		return;
	}
	operation = operation_at(&session->trace.timeline.operations, found->operation);
	frame->what = operation_what(session, operation);
	frame->operation = found->operation;
	frame->left = operation_end(operation);
	frame->end = MIN(frame->left, frame->end);
	frame->cpu = operation->cpu == OPERATION_CPU_UNKNOWN ? NO_CPU : (uint32_t) operation->cpu;
	if (PACK_KIND(operation->what) == OPERATION_SYSCALL)
		frame->resource = operation_resource(session, operation);
}

static struct walk_frame *innermost(const struct walk *walk)
{
	return walk->frames->len
		       ? &g_array_index(walk->frames, struct walk_frame, walk->frames->len - 1)
		       : NULL;
}

static void leave(struct walk *walk)
{
	struct walk_frame frame = *innermost(walk);

	if (walk->visitor->leave)
		walk->visitor->leave(walk, &frame, walk->data);
	g_array_set_size(walk->frames, walk->frames->len - 1);
}

/* A frame that would outlast the one around it ends with that. */
static void enter(struct walk *walk, struct walk_frame *frame)
{
	while (innermost(walk) && innermost(walk)->end <= frame->begin)
		leave(walk);
	if (innermost(walk))
		frame->end = MIN(frame->end, innermost(walk)->end);
	if (frame->end < frame->begin)
		return;
	g_array_append_val(walk->frames, *frame);
	if (walk->visitor->enter)
		walk->visitor->enter(walk, innermost(walk), walk->data);
}

/* Enters and leaves what begins and ends up to `time`. */
static void frames_to(struct course *course, int64_t time)
{
	struct walk *walk = course->walk;
	struct walk_frame frame;

	while (course->next < course->found->len) {
		const struct found_frame *found =
			&g_array_index(course->found, struct found_frame, course->next);

		if (found->begin > time)
			break;
		fill_frame(course, found, &frame);
		enter(walk, &frame);
		course->next++;
	}
	while (innermost(walk) && innermost(walk)->end <= time)
		leave(walk);
}

static uint32_t call_of_leaf(uint32_t leaf)
{
	uint32_t kind = PACK_KIND(leaf);

	return kind == LEAF_WORK_SYSCALL || kind == LEAF_BLOCK_SYSCALL ? PACK_NUMBER(leaf) : 0;
}

/* The next call whose entry was seen: a call before it is over then. */
static int64_t next_call(const struct course *course)
{
	const struct pages *operations = &course->walk->session->trace.timeline.operations;

	for (guint i = course->next; i < course->found->len; i++) {
		const struct found_frame *found =
			&g_array_index(course->found, struct found_frame, i);

		if (found->operation == OPEN_CALL ||
		    (found->operation < OPEN_USER &&
		     PACK_KIND(operation_at(operations, found->operation)->what) ==
			     OPERATION_SYSCALL))
			return found->begin;
	}
	return INT64_MAX;
}

/* States say that the thread is in a call which was not seen from both its ends: entered before
 * the trace, or its exit was lost. It lasts as long as they say so. */
static void enter_unseen(struct course *course, const struct span *span, int64_t begin)
{
	struct walk *walk = course->walk;
	uint32_t call = call_of_leaf(span->leaf);
	struct walk_frame frame = {.what = PACK(OPERATION_SYSCALL, call),
				   .cpu = NO_CPU,
				   .begin = begin,
				   .end = span->end,
				   .entered = NOT_SEEN,
				   .left = NOT_SEEN};
	struct spans ahead = course->spans;
	struct span next;
	int64_t limit;

	if (!call)
		return;
	for (guint i = 0; i < walk->frames->len; i++)
		if (PACK_KIND(g_array_index(walk->frames, struct walk_frame, i).what) ==
		    OPERATION_SYSCALL)
			return;
	limit = next_call(course);
	while (frame.end < limit && spans_next(&ahead, &next)) {
		if (PACK_KIND(next.leaf) == LEAF_UNKNOWN ||
		    (leaf_wib(next.leaf) != WIB_INTERRUPTED && call_of_leaf(next.leaf) != call))
			break;
		frame.end = next.end;
	}
	frame.end = MIN(frame.end, limit);
	if (frame.end - frame.begin >= walk->session->asked.options->min_duration)
		enter(walk, &frame);
}

/* --- states --------------------------------------------------------------- */

static void tell_wake(struct walk *walk, const struct walk_state *state)
{
	const struct walk_thread *of = walk->current;
	const struct block *block = state->block;
	struct walk_wake wake = {
		.number = ++walk->wakes,
		.time = state->end,
		.block = block,
		.woken = of->number,
		.cpu = block->cpu,
		.host = model_thread(&walk->session->trace.model, of->thread)->host};

	if (block->kind != WAKER_UNKNOWN && is_thread(block->waker))
		wake.waker = walk->numbers[block->waker];
	if (walk->visitor->wake)
		walk->visitor->wake(walk, &wake, walk->data);
}

/* Who waits for a CPU may be moved from one's queue to another's. */
static bool goes_on(const struct course *course, const struct span *span)
{
	struct spans ahead = course->spans;
	struct span next;

	return leaf_is_off_cpu(span->leaf) && !leaf_is_blocked(span->leaf) &&
	       spans_next(&ahead, &next) && next.leaf == span->leaf && next.begin == span->end;
}

static void begin_state(const struct course *course, const struct span *span,
			struct walk_state *state)
{
	const struct walk *walk = course->walk;
	const struct session *session = walk->session;
	uint32_t thread = walk->current->thread;

	*state = (struct walk_state) {.span = *span,
				      .begin = span->begin,
				      .end = span->end,
				      .goes_on = goes_on(course, span)};
	if (leaf_is_off_cpu(span->leaf))
		state->spans_gap = session_spans_gap(session, thread, span);
	if (!leaf_is_blocked(span->leaf))
		return;
	state->block = block_at(&session->trace.timeline, span->ref);
	/* cut by the window: it goes on */
	state->woken = state->block->kind != WAKER_NONE &&
		       !(span->end == session->asked.to &&
			 session_blocked_at(session, thread, session->asked.to));
}

static void walk_span(struct course *course, const struct span *span)
{
	struct walk *walk = course->walk;
	bool shown = span->end - span->begin >= walk->session->asked.options->min_duration;
	struct walk_state state;
	int64_t at = span->begin;

	step(walk);
	begin_state(course, span, &state);
	while (at < span->end) {
		int64_t until = span->end;

		frames_to(course, at);
		enter_unseen(course, span, at);
		if (course->next < course->found->len)
			until = MIN(until,
				    g_array_index(course->found, struct found_frame, course->next)
					    .begin);
		if (innermost(walk))
			until = MIN(until, innermost(walk)->end);
		state.span.begin = at;
		state.span.end = until;
		if (shown && walk->visitor->state)
			walk->visitor->state(walk, &state, walk->data);
		at = until;
	}
	if (shown && state.woken)
		tell_wake(walk, &state);
}

static void walk_thread(struct walk *walk, const struct walk_thread *thread)
{
	struct course course = {.walk = walk, .of = thread, .found = collect_frames(walk, thread)};
	struct span span;

	walk->current = thread;
	if (walk->visitor->thread_begin)
		walk->visitor->thread_begin(walk, thread, walk->data);
	spans_begin(&course.spans, walk->session, thread->thread, thread->begin, thread->end);
	while (spans_next(&course.spans, &span))
		walk_span(&course, &span);
	frames_to(&course, thread->end);
	while (innermost(walk))
		leave(walk);
	if (walk->visitor->thread_end)
		walk->visitor->thread_end(walk, thread, walk->data);
	g_array_free(course.found, TRUE);
}

void walk_all(struct walk *walk, const struct walk_visitor *visitor, void *data)
{
	walk->visitor = visitor;
	walk->data = data;
	walk->wakes = 0;
	if (visitor->run)
		all_runs(walk);
	for (guint i = 0; i < walk->threads->len; i++)
		walk_thread(walk, &g_array_index(walk->threads, struct walk_thread, i));
}

/* --- for those who write them --------------------------------------------- */

const char *walk_frame_name(const struct session *session, const struct walk_frame *frame)
{
	return session_text(session, PACK_NUMBER(frame->what));
}

const char *walk_frame_kind(const struct walk_frame *frame)
{
	switch (PACK_KIND(frame->what)) {
	case OPERATION_SYSCALL:
		return "syscall";
	case OPERATION_FUNCTION:
		return "function";
	default:
		return "user-function";
	}
}

struct cause walk_cause(const struct walk *walk, const struct walk_state *state)
{
	struct wait wait = {.thread = walk->current->thread,
			    .begin = state->begin,
			    .end = state->end,
			    .leaf = state->span.leaf,
			    .block = state->block,
			    .woken = state->woken,
			    .spans_gap = state->spans_gap};

	return wait_cause(walk->session, &wait);
}

int64_t walk_unique_id(uint16_t host, int32_t id)
{
	return (int64_t) host * WALK_HOST_STEP + id;
}

bool walk_wake_is_known(const struct walk_wake *wake)
{
	return wake->block->kind != WAKER_UNKNOWN && wake->block->kind != WAKER_NONE &&
	       (wake->waker || wake->cpu != NO_CPU);
}
