/* SPDX-License-Identifier: MIT */
/* See retime.h.
 *
 * All threads are read at once, each up to the end of its current stretch; a heap gives the one
 * whose stretch ends first. So whoever ended a wait has been read up to there, or is in the
 * middle of a stretch. Of work, what it becomes is known when it begins. Whoever is off the CPU
 * itself then, in a wait that goes on, is taken to have waited as long as he had: rare, as one
 * who waits seldom ends anything, and counted. What ends at the same time is put in order by who
 * asks for whom. What a thread did on the CPU is passed over where no rule may pick it.
 */
#include "whatif/retime.h"

#include "ready/cpu_runs.h"
#include "whatif/hinge.h"
#include "whatif/lines.h"

#define DEEPEST 64 /* of threads whose stretches end at one and the same time */

/* A thread while it is read. */
struct reading {
	struct spans spans;
	struct span span; /* the current stretch */
	struct span rest; /* … what it was cut off from; empty: nothing */
	uint64_t picked; /* rules that pick it */
	int64_t *begins, *ends; /* owned: of each scenario, the new times of the current stretch;
				   `ends` only of work. NULL before birth */
	int64_t begin, end; /* of the thread, within the window */
	int64_t until; /* the current stretch's end; before it, the last one's */
	uint32_t place; /* in the heap */
	bool works; /* a rule may pick what it does on the CPU: else that is passed over */
	bool over, stepping;
};

struct retimed {
	const struct session *session;
	struct rules *rules;
	struct scenario scenarios[SCENARIOS_MAX];
	guint count;
	uint32_t threads;
	struct line *lines; /* owned; of each thread, of each scenario */
	uint64_t cycles;
	bool works; /* of some thread */
	/* while it is made */
	struct reading *readings; /* owned; of each thread */
	uint32_t *heap; /* owned; threads, by the end of their stretch */
	uint32_t heap_count, depth;
};

static struct line *line_of(const struct retimed *retimed, guint scenario, uint32_t thread)
{
	return &retimed->lines[(gsize) thread * retimed->count + scenario];
}

/* --- which thread is next ------------------------------------------------------------------ */

static int64_t key_of(const struct retimed *retimed, uint32_t thread)
{
	const struct reading *reading = &retimed->readings[thread];

	return reading->begins ? reading->span.end : reading->begin;
}

static bool is_before(const struct retimed *retimed, uint32_t a, uint32_t b)
{
	int64_t x = key_of(retimed, a), y = key_of(retimed, b);

	return x != y ? x < y : a < b;
}

static void place(struct retimed *retimed, uint32_t at, uint32_t thread)
{
	retimed->heap[at] = thread;
	retimed->readings[thread].place = at;
}

static void sift_down(struct retimed *retimed, uint32_t at)
{
	uint32_t thread = retimed->heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= retimed->heap_count)
			break;
		if (child + 1 < retimed->heap_count &&
		    is_before(retimed, retimed->heap[child + 1], retimed->heap[child]))
			child++;
		if (!is_before(retimed, retimed->heap[child], thread))
			break;
		place(retimed, at, retimed->heap[child]);
		at = child;
	}
	place(retimed, at, thread);
}

static void sift_up(struct retimed *retimed, uint32_t at)
{
	uint32_t thread = retimed->heap[at];

	for (; at && is_before(retimed, thread, retimed->heap[(at - 1) / 2]); at = (at - 1) / 2)
		place(retimed, at, retimed->heap[(at - 1) / 2]);
	place(retimed, at, thread);
}

static void take_out(struct retimed *retimed, uint32_t thread)
{
	uint32_t at = retimed->readings[thread].place;
	uint32_t last = retimed->heap[--retimed->heap_count];

	if (last == thread)
		return;
	place(retimed, at, last);
	sift_down(retimed, at);
	sift_up(retimed, retimed->readings[last].place);
}

/* --- new times ------------------------------------------------------------------------------ */

/* While it is made: in the middle of the current stretch, too. */
static int64_t time_of(const struct retimed *retimed, guint scenario, uint32_t thread, int64_t time)
{
	const struct reading *reading = &retimed->readings[thread];
	struct point begin, end;

	if (!reading->begins || reading->over || time <= reading->span.begin)
		return line_at(line_of(retimed, scenario, thread), time);
	begin = (struct point) {reading->span.begin, reading->begins[scenario]};
	if (!reading->picked || leaf_is_off_cpu(reading->span.leaf))
		return begin.new + (time - begin.old);
	end = (struct point) {reading->span.end, reading->ends[scenario]};
	return between(begin, end, time);
}

int64_t retimed_at(const struct retimed *retimed, guint scenario, uint32_t thread, int64_t time)
{
	return line_at(line_of(retimed, scenario, thread), time);
}

int64_t retimed_when(const struct retimed *retimed, guint scenario, uint32_t thread,
		     int64_t new_time)
{
	return line_when(line_of(retimed, scenario, thread), new_time);
}

int64_t retimed_saved(const struct retimed *retimed, guint scenario, const struct way *way)
{
	return (way->to - way->from) - (retimed_at(retimed, scenario, way->thread, way->to) -
					retimed_at(retimed, scenario, way->first, way->from));
}

int64_t retimed_drift(const struct retimed *retimed, guint scenario, uint32_t thread, int64_t *at)
{
	const struct line *line = line_of(retimed, scenario, thread);

	for (uint32_t i = 0; i < line->count; i++) {
		*at = line->points[i].old;
		if (line->points[i].new != line->points[i].old)
			return line->points[i].new - line->points[i].old;
	}
	return 0;
}

uint64_t retimed_cycles(const struct retimed *retimed)
{
	return retimed->cycles;
}

/* What the rules of a scenario make of a length. */
static int64_t changed(const struct retimed *retimed, guint scenario, uint64_t picked, int64_t ns)
{
	struct change change;

	picked &= retimed->scenarios[scenario].rules;
	if (!picked)
		return ns;
	change = rules_change(retimed->rules, picked);
	return change_of(&change, ns);
}

/* --- ready and not running ------------------------------------------------------------------ */

struct shrinking {
	const struct retimed *retimed;
	uint32_t thread;
	int64_t gained[SCENARIOS_MAX];
};

/* What was done on that CPU meanwhile and takes less time now. */
static void shrink(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct shrinking *shrinking = data;
	const struct retimed *retimed = shrinking->retimed;

	if (!is_thread(thread) || thread == shrinking->thread)
		return;
	for (guint i = 0; i < retimed->count; i++)
		shrinking->gained[i] += (end - begin) - (time_of(retimed, i, thread, end) -
							 time_of(retimed, i, thread, begin));
}

static void end_ready(struct retimed *retimed, uint32_t thread, const struct span *span,
		      int64_t *times)
{
	struct shrinking shrinking = {.retimed = retimed, .thread = thread};
	uint16_t host = model_thread(&retimed->session->trace.model, thread)->host;
	int64_t ns = span->end - span->begin;
	bool gap = session_spans_gap(retimed->session, thread, span);

	if (!gap && span->ref != NO_CPU && retimed->works)
		each_run(retimed->session, host, span->ref, span->begin, span->end, shrink,
			 &shrinking);
	for (guint i = 0; i < retimed->count; i++)
		if (gap || !(retimed->scenarios[i].flags & FREE_CPUS))
			times[i] += MAX(ns - shrinking.gained[i], 0);
}

/* --- waits ---------------------------------------------------------------------------------- */

static void step(struct retimed *retimed, uint32_t thread);

/* `thread` has been read up to `time`, and what ends there, too. */
static void read_up_to(struct retimed *retimed, uint32_t thread, int64_t time)
{
	const struct reading *reading = &retimed->readings[thread];

	while (!reading->over && key_of(retimed, thread) <= time) {
		if (reading->stepping || retimed->depth == DEEPEST) {
			retimed->cycles++;
			return;
		}
		step(retimed, thread);
	}
	if (!reading->over && time > reading->span.begin && leaf_is_off_cpu(reading->span.leaf))
		retimed->cycles++;
}

static int64_t wait_end(const struct retimed *retimed, guint scenario, const struct hinge *hinge,
			const struct span *span, int64_t begin)
{
	unsigned flags = retimed->scenarios[scenario].flags;
	int64_t end = begin + (span->end - span->begin);

	if (hinge->doubt == HINGE_ANCHORED                          ? !(flags & ANCHORS_MOVE)
	    : hinge->doubt == HINGE_INFERRED && flags & NO_INFERRED ? true
								    : hinge->kind == KEEPS_TIME)
		end = span->end;
	else if (hinge->kind == FOLLOWS)
		end = time_of(retimed, scenario, hinge->thread, hinge->time) +
		      (span->end - hinge->time);
	return MAX(begin, end);
}

static void end_wait(struct retimed *retimed, uint32_t thread, const struct span *span,
		     int64_t *times)
{
	struct wait wait = wait_of(retimed->session, thread, span);
	struct hinge hinge;

	hinge = hinge_of(retimed->session, &wait, span);
	if (hinge.kind == FOLLOWS && hinge.thread != thread)
		read_up_to(retimed, hinge.thread, hinge.time);
	for (guint i = 0; i < retimed->count; i++)
		times[i] = wait_end(retimed, i, &hinge, span, times[i]);
}

/* --- one step ------------------------------------------------------------------------------- */

/* The current stretch of `thread` is over: when, in each scenario. */
static void end_stretch(struct retimed *retimed, uint32_t thread)
{
	struct reading *reading = &retimed->readings[thread];
	const struct span *span = &reading->span;
	bool off_cpu = leaf_is_off_cpu(span->leaf);
	int64_t times[SCENARIOS_MAX];

	for (guint i = 0; i < retimed->count; i++)
		times[i] = off_cpu ? reading->begins[i] : reading->ends[i];
	if (leaf_is_blocked(span->leaf))
		end_wait(retimed, thread, span, times);
	else if (off_cpu)
		end_ready(retimed, thread, span, times);
	for (guint i = 0; i < retimed->count; i++) {
		struct point begin = {span->begin, reading->begins[i]};

		if (off_cpu && reading->picked)
			times[i] = begin.new +
				   changed(retimed, i, reading->picked, times[i] - begin.new);
		line_add(line_of(retimed, i, thread), begin, (struct point) {span->end, times[i]});
		reading->begins[i] = times[i];
	}
}

/* The rest of one that was cut, or the next one. */
static bool read_span(struct reading *reading)
{
	if (reading->rest.begin < reading->rest.end) {
		reading->span = reading->rest;
		return true;
	}
	return reading->works ? spans_next(&reading->spans, &reading->span)
			      : spans_next_off_cpu(&reading->spans, &reading->span);
}

/* The thread's next stretch becomes its current one, if it has another. */
static void next_stretch(struct retimed *retimed, uint32_t thread)
{
	struct reading *reading = &retimed->readings[thread];
	int64_t ns, cut;

	reading->over = !read_span(reading);
	if (reading->over)
		return;
	cut = rules_cut(retimed->rules, thread, &reading->span);
	reading->rest = reading->span;
	reading->rest.begin = reading->span.end = cut;
	reading->picked = rules_pick(retimed->rules, thread, &reading->span);
	ns = reading->span.end - reading->span.begin;
	for (guint i = 0; i < retimed->count; i++)
		reading->begins[i] += reading->span.begin - reading->until;
	reading->until = reading->span.end;
	for (guint i = 0; i < retimed->count && !leaf_is_off_cpu(reading->span.leaf); i++)
		reading->ends[i] = reading->begins[i] + changed(retimed, i, reading->picked, ns);
}

/* Whoever was born in the window begins when his parent starts him. */
static void begin_life(struct retimed *retimed, uint32_t thread)
{
	struct reading *reading = &retimed->readings[thread];
	const struct thread *life = model_thread(&retimed->session->trace.model, thread);
	bool born = life->born && life->begin == reading->begin && is_thread(life->parent) &&
		    life->parent != thread;

	if (born)
		read_up_to(retimed, life->parent, life->begin);
	reading->until = reading->begin;
	reading->begins = g_new(int64_t, 2 * retimed->count);
	reading->ends = reading->begins + retimed->count;
	for (guint i = 0; i < retimed->count; i++) {
		reading->begins[i] =
			born ? time_of(retimed, i, life->parent, life->begin) : reading->begin;
		line_begin(line_of(retimed, i, thread),
			   (struct point) {reading->begin, reading->begins[i]});
	}
	spans_begin(&reading->spans, retimed->session, thread, reading->begin, reading->end);
}

/* The thread is read up to the end of its next stretch. */
static void step(struct retimed *retimed, uint32_t thread)
{
	struct reading *reading = &retimed->readings[thread];

	reading->stepping = true;
	retimed->depth++;
	if (reading->begins)
		end_stretch(retimed, thread);
	else
		begin_life(retimed, thread);
	next_stretch(retimed, thread);
	retimed->depth--;
	reading->stepping = false;
	if (!reading->over) {
		sift_down(retimed, reading->place);
		return;
	}
	take_out(retimed, thread);
	g_free(reading->begins);
}

/* All threads that did something in the window. */
static void gather(struct retimed *retimed, int64_t from, int64_t to)
{
	for (uint32_t i = 0; i < retimed->threads; i++) {
		const struct thread *life = model_thread(&retimed->session->trace.model, i);
		struct reading *reading = &retimed->readings[i];

		reading->begin = MAX(life->begin, from);
		reading->end = MIN(life->end, to);
		reading->over = track_empty(&life->track) || reading->begin >= reading->end;
		reading->works = !reading->over && rules_may_pick_work(retimed->rules, i);
		retimed->works |= reading->works;
		if (!reading->over)
			place(retimed, retimed->heap_count++, i);
	}
	for (uint32_t i = retimed->heap_count / 2; i-- > 0;)
		sift_down(retimed, i);
}

struct retimed *retime(const struct session *session, struct rules *rules,
		       const struct scenario *scenarios, guint count, int64_t from, int64_t to)
{
	struct retimed *retimed = g_new0(struct retimed, 1);

	g_assert(count >= 1 && count <= SCENARIOS_MAX);
	retimed->session = session;
	retimed->rules = rules;
	retimed->count = count;
	for (guint i = 0; i < count; i++)
		retimed->scenarios[i] = scenarios[i];
	retimed->threads = session->trace.model.thread_count;
	retimed->lines = g_new0(struct line, (gsize) (retimed->threads + 1) * count);
	retimed->readings = g_new0(struct reading, retimed->threads + 1);
	retimed->heap = g_new(uint32_t, retimed->threads + 1);
	gather(retimed, from, to);
	while (retimed->heap_count && !session_interrupted(session))
		step(retimed, retimed->heap[0]);
	for (uint32_t i = 0; i < retimed->heap_count; i++) /* interrupted */
		g_free(retimed->readings[retimed->heap[i]].begins);
	g_clear_pointer(&retimed->readings, g_free);
	g_clear_pointer(&retimed->heap, g_free);
	return retimed;
}

void retimed_free(struct retimed *retimed)
{
	if (!retimed)
		return;
	for (gsize i = 0; i < (gsize) retimed->threads * retimed->count; i++)
		line_clear(&retimed->lines[i]);
	g_free(retimed->lines);
	g_free(retimed);
}
