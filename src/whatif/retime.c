/* SPDX-License-Identifier: MIT */
/* See retime.h.
 *
 * All threads are read at once, each up to the end of its current stretch off the CPU; a heap gives
 * the one whose stretch ends first. So whoever ended a wait has been read up to there, or is in the
 * middle of a stretch. Whoever is off the CPU itself then, in a wait that goes on, is taken to have
 * waited as long as he had: rare, as one who waits seldom ends anything, and counted. What ends at
 * the same time is put in order by who asks for whom. What a thread did on the CPU is passed over
 * where no rule may pick it.
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
	struct span off_cpu; /* the next one off the CPU, with `ahead`, where only parts of what it
				did on the CPU are picked */
	struct pick picked; /* of the current stretch */
	int64_t *shifts; /* owned; of each scenario, by how much the current stretch begins later
			    than recorded; NULL before birth */
	int64_t begin, end; /* of the thread, within the window */
	int64_t until; /* the current stretch's end; before it, the last one's */
	int64_t wanted; /* how far somebody hangs on it; INT64_MIN: nobody does */
	int64_t settled; /* its shifts have been these since then */
	uint32_t waits; /* that are over */
	uint32_t served; /* whose the last thing was that it took of whatever came first */
	uint32_t place; /* in the heap */
	uint8_t reach; /* enum rules_reach */
	bool ahead, over, stepping;
};

struct retimed {
	const struct session *session;
	struct rules *rules;
	const struct reach *reach; /* borrowed while it is made; NULL: everybody is wanted */
	struct scenario scenarios[SCENARIOS_MAX];
	guint count;
	uint32_t threads;
	struct line *lines; /* owned; of each thread, of each scenario */
	uint64_t cycles;
	GHashTable *orders; /* owned */
	bool asks_runs; /* who had the CPU matters for whoever waited for it */
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

	return reading->shifts ? reading->span.end : reading->begin;
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

/* While it is made, in the middle of the current stretch, too: by how much later than recorded
 * `thread` gets where it was at `time`. */
static int64_t shift_at(const struct retimed *retimed, guint scenario, uint32_t thread,
			int64_t time)
{
	const struct reading *reading = &retimed->readings[thread];

	return reading->shifts && !reading->over && time >= reading->settled
		       ? reading->shifts[scenario]
		       : line_at(line_of(retimed, scenario, thread), time) - time;
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

int64_t retimed_at_near(const struct retimed *retimed, guint scenario, uint32_t thread,
			int64_t time, uint32_t *near)
{
	return line_at_near(line_of(retimed, scenario, thread), time, near);
}

int64_t retimed_when_near(const struct retimed *retimed, guint scenario, uint32_t thread,
			  int64_t new_time, uint32_t *near)
{
	return line_when_near(line_of(retimed, scenario, thread), new_time, near);
}

int64_t retimed_saved(const struct retimed *retimed, guint scenario, const struct way *way)
{
	return (way->to - way->from) - (retimed_at(retimed, scenario, way->thread, way->to) -
					retimed_at(retimed, scenario, way->first, way->from));
}

int64_t retimed_saved_near(const struct retimed *retimed, guint scenario, const struct way *way,
			   uint32_t *near)
{
	const struct line *line = line_of(retimed, scenario, way->thread);
	int64_t to = line_at_near(line, way->to, near);

	return (way->to - way->from) - (to - line_at_near(line, way->from, near));
}

int64_t retimed_drift(const struct retimed *retimed, guint scenario, uint32_t thread, int64_t *at)
{
	const struct line *line = line_of(retimed, scenario, thread);

	for (uint32_t i = 0; i < line->count; i++) {
		const struct point *point = line_point(line, i);

		*at = point->old;
		if (point->new != point->old)
			return point->new - point->old;
	}
	return 0;
}

GHashTable *retimed_orders(const struct retimed *retimed)
{
	return retimed->orders;
}

uint64_t retimed_cycles(const struct retimed *retimed)
{
	return retimed->cycles;
}

/* What the rules of a scenario make of a length of the thread's current stretch. */
static int64_t changed(const struct retimed *retimed, guint scenario, uint32_t thread, int64_t ns)
{
	const struct reading *reading = &retimed->readings[thread];
	uint64_t some = retimed->scenarios[scenario].rules;
	struct change change;

	if (!(reading->picked.rules & some))
		return ns;
	change = rules_change(retimed->rules, &reading->picked, some, thread, &reading->span);
	return change_of(&change, ns);
}

/* --- ready and not running ------------------------------------------------------------------ */

struct shrinking {
	const struct retimed *retimed;
	uint32_t thread;
	int64_t others; /* ns that others had the CPU, */
	int64_t held; /* … the first of them already for so long */
	int64_t gained[SCENARIOS_MAX];
};

/* What was done on that CPU meanwhile and takes less time now. */
static void shrink(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct shrinking *shrinking = data;
	const struct retimed *retimed = shrinking->retimed;

	if (!is_thread(thread) || thread == shrinking->thread)
		return;
	shrinking->others += end - begin;
	if (retimed->readings[thread].reach < PICKS_PARTS)
		return;
	for (guint i = 0; i < retimed->count; i++)
		shrinking->gained[i] +=
			shift_at(retimed, i, thread, begin) - shift_at(retimed, i, thread, end);
}

/* From when it gets ready, later by `shift`, to when it runs, later by what is returned. */
static int64_t ready_end(const struct shrinking *shrinking, guint scenario, int64_t ns,
			 int64_t shift)
{
	unsigned flags = shrinking->retimed->scenarios[scenario].flags;

	if (flags & FREE_CPUS)
		return shift - ns;
	if (flags & CPUS_AS_BEFORE && 2 * shrinking->others > ns && shift < 0)
		return shift + MIN(-shift, shrinking->held);
	return shift - MIN(shrinking->gained[scenario], ns);
}

static void end_ready(struct retimed *retimed, uint32_t thread, const struct span *span,
		      int64_t *shifts)
{
	struct shrinking shrinking = {.retimed = retimed, .thread = thread};
	uint16_t host = model_thread(&retimed->session->trace.model, thread)->host;

	if (retimed->readings[thread].wanted <= span->begin ||
	    session_spans_gap(retimed->session, thread, span))
		return;
	if (span->ref != NO_CPU && retimed->asks_runs) {
		shrinking.held =
			span->begin - run_began(retimed->session, host, span->ref, span->begin);
		each_run(retimed->session, host, span->ref, span->begin, span->end, shrink,
			 &shrinking);
	}
	for (guint i = 0; i < retimed->count; i++)
		shifts[i] = ready_end(&shrinking, i, span->end - span->begin, shifts[i]);
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

/* It now wants the lock before whoever had it then. */
static bool comes_first(const struct retimed *retimed, guint scenario, const struct hinge *hinge,
			const struct span *span, int64_t shift)
{
	return hinge->since > INT64_MIN &&
	       span->begin + shift <
		       hinge->since + shift_at(retimed, scenario, hinge->thread, hinge->since);
}

/* From when it waits, later by `shift`, to when that is over. */
static int64_t wait_end(const struct retimed *retimed, guint scenario, uint32_t thread,
			const struct hinge *hinge, const struct span *span, bool others_turn,
			int64_t shift)
{
	unsigned flags = retimed->scenarios[scenario].flags;
	int64_t at_once = shift - (span->end - span->begin);

	if (hinge->doubt == HINGE_ANCHORED                          ? !(flags & ANCHORS_MOVE)
	    : hinge->doubt == HINGE_INFERRED && flags & NO_INFERRED ? true
								    : hinge->kind == KEEPS_TIME)
		return MAX(at_once, 0);
	if (hinge->kind == FOLLOWS) {
		int64_t other = shift_at(retimed, scenario, hinge->thread, hinge->time);

		if (flags & SERVES_AT_ONCE && comes_first(retimed, scenario, hinge, span, shift)) {
			g_hash_table_add(retimed->orders, order_of_lock(hinge->lock));
			return at_once;
		}
		if (!(others_turn && flags & SERVES_AT_ONCE))
			return MAX(at_once, other);
		if (other < at_once)
			g_hash_table_add(retimed->orders, order_of_thread(thread));
		return other;
	}
	return shift;
}

static void end_wait(struct retimed *retimed, uint32_t thread, const struct span *span,
		     int64_t *shifts)
{
	struct reading *reading = &retimed->readings[thread];
	bool others_turn; /* what came before came from somebody else */
	struct hinge hinge;

	if (retimed->reach) {
		hinge = reach_hinge(retimed->reach, thread, reading->waits++);
	} else {
		struct wait wait = wait_of(retimed->session, thread, span);

		hinge = hinge_of(retimed->session, &wait, span);
	}
	if (reading->wanted <= span->begin || hinge.kind == KEEPS_LENGTH)
		return;
	others_turn = hinge.whichever && hinge.thread != reading->served;
	if (hinge.whichever)
		reading->served = hinge.thread;
	if (hinge.kind == FOLLOWS && hinge.thread != thread)
		read_up_to(retimed, hinge.thread, hinge.time);
	for (guint i = 0; i < retimed->count; i++)
		shifts[i] = wait_end(retimed, i, thread, &hinge, span, others_turn, shifts[i]);
}

/* --- one step ------------------------------------------------------------------------------- */

/* The current stretch of `thread` is over: when, in each scenario. */
static void end_stretch(struct retimed *retimed, uint32_t thread)
{
	struct reading *reading = &retimed->readings[thread];
	const struct span *span = &reading->span;
	bool off_cpu = leaf_is_off_cpu(span->leaf);
	int64_t shifts[SCENARIOS_MAX];

	if (!off_cpu && !reading->picked.rules)
		return;
	for (guint i = 0; i < retimed->count; i++)
		shifts[i] = reading->shifts[i];
	if (leaf_is_blocked(span->leaf))
		end_wait(retimed, thread, span, shifts);
	else if (off_cpu)
		end_ready(retimed, thread, span, shifts);
	for (guint i = 0; i < retimed->count; i++) {
		int64_t begin = span->begin + reading->shifts[i];

		if (reading->picked.rules)
			shifts[i] = begin +
				    changed(retimed, i, thread, span->end + shifts[i] - begin) -
				    span->end;
		if (shifts[i] == reading->shifts[i])
			continue;
		line_add(line_of(retimed, i, thread), (struct point) {span->begin, begin},
			 (struct point) {span->end, span->end + shifts[i]});
		reading->shifts[i] = shifts[i];
		reading->settled = span->end;
	}
}

/* The next one off the CPU, or what is picked of what it did on the CPU before that. */
static bool read_part(struct retimed *retimed, uint32_t thread)
{
	struct reading *reading = &retimed->readings[thread];

	if (!reading->ahead)
		reading->ahead = spans_next_off_cpu(&reading->spans, &reading->off_cpu);
	if (rules_part(retimed->rules, thread, reading->until,
		       reading->ahead ? reading->off_cpu.begin : reading->end, &reading->span,
		       &reading->picked))
		return true;
	if (!reading->ahead)
		return false;
	reading->span = reading->off_cpu;
	reading->ahead = false;
	return true;
}

/* The rest of one that was cut, or the next one. */
static bool read_span(struct retimed *retimed, uint32_t thread)
{
	struct reading *reading = &retimed->readings[thread];

	if (reading->rest.begin < reading->rest.end) {
		reading->span = reading->rest;
		return true;
	}
	switch ((enum rules_reach) reading->reach) {
	case PICKS_ANY:
		return spans_next(&reading->spans, &reading->span);
	case PICKS_PARTS:
		return read_part(retimed, thread);
	default:
		return spans_next_off_cpu(&reading->spans, &reading->span);
	}
}

/* The thread's next stretch becomes its current one, if it has another that matters. */
static void next_stretch(struct retimed *retimed, uint32_t thread)
{
	struct reading *reading = &retimed->readings[thread];

	reading->over = !read_span(retimed, thread) ||
			(reading->reach == PICKS_NOTHING && reading->span.begin >= reading->wanted);
	if (reading->over)
		return;
	reading->rest = reading->span;
	reading->rest.begin = reading->span.end = rules_cut(retimed->rules, thread, &reading->span);
	if (reading->reach == PICKS_ANY || (reading->reach && leaf_is_off_cpu(reading->span.leaf)))
		rules_pick(retimed->rules, thread, &reading->span, &reading->picked);
	reading->until = reading->span.end;
}

/* Whoever was born in the window begins when his parent starts him. */
static void begin_life(struct retimed *retimed, uint32_t thread)
{
	struct reading *reading = &retimed->readings[thread];
	uint32_t parent = reading->wanted == INT64_MIN
				  ? NO_THREAD
				  : reach_parent(retimed->session, thread, reading->begin);

	if (parent != NO_THREAD)
		read_up_to(retimed, parent, reading->begin);
	reading->until = reading->settled = reading->begin;
	reading->shifts = g_new(int64_t, retimed->count);
	for (guint i = 0; i < retimed->count; i++) {
		reading->shifts[i] =
			parent != NO_THREAD ? shift_at(retimed, i, parent, reading->begin) : 0;
		line_begin(line_of(retimed, i, thread),
			   (struct point) {reading->begin, reading->begin + reading->shifts[i]});
	}
	spans_begin(&reading->spans, retimed->session, thread, reading->begin, reading->end);
}

/* The thread is read up to the end of its next stretch off the CPU: what it does before that hangs
 * on nobody. */
static void step(struct retimed *retimed, uint32_t thread)
{
	struct reading *reading = &retimed->readings[thread];

	reading->stepping = true;
	retimed->depth++;
	if (reading->shifts)
		end_stretch(retimed, thread);
	else
		begin_life(retimed, thread);
	next_stretch(retimed, thread);
	while (!reading->over && !leaf_is_off_cpu(reading->span.leaf)) {
		end_stretch(retimed, thread);
		next_stretch(retimed, thread);
	}
	retimed->depth--;
	reading->stepping = false;
	if (!reading->over) {
		sift_down(retimed, reading->place);
		return;
	}
	take_out(retimed, thread);
	g_free(reading->shifts);
}

/* All threads that did something in the window and matter: for others, or for what rules pick. */
static void gather(struct retimed *retimed, int64_t from, int64_t to)
{
	for (uint32_t i = 0; i < retimed->threads; i++) {
		const struct thread *life = model_thread(&retimed->session->trace.model, i);
		struct reading *reading = &retimed->readings[i];

		reading->served = NO_THREAD;
		reading->begin = MAX(life->begin, from);
		reading->end = MIN(life->end, to);
		reading->wanted = retimed->reach ? reach_until(retimed->reach, i) : INT64_MAX;
		reading->over = track_empty(&life->track) || reading->begin >= reading->end;
		if (reading->over)
			continue;
		reading->reach = rules_reach(retimed->rules, i);
		reading->over = reading->wanted < reading->begin && reading->reach == PICKS_NOTHING;
		if (reading->over)
			continue;
		retimed->asks_runs |= reading->reach >= PICKS_PARTS;
		place(retimed, retimed->heap_count++, i);
	}
	for (uint32_t i = retimed->heap_count / 2; i-- > 0;)
		sift_down(retimed, i);
}

/* Frees `reach`. */
static struct retimed *play(const struct session *session, struct rules *rules,
			    const struct scenario *scenarios, guint count, struct reach *reach,
			    int64_t from, int64_t to)
{
	struct retimed *retimed = g_new0(struct retimed, 1);

	g_assert(count >= 1 && count <= SCENARIOS_MAX);
	retimed->session = session;
	retimed->rules = rules;
	retimed->reach = reach;
	retimed->count = count;
	for (guint i = 0; i < count; i++) {
		retimed->scenarios[i] = scenarios[i];
		retimed->asks_runs |= scenarios[i].flags & CPUS_AS_BEFORE;
	}
	retimed->orders = g_hash_table_new(NULL, NULL);
	retimed->threads = session->trace.model.thread_count;
	retimed->lines = g_new0(struct line, (gsize) (retimed->threads + 1) * count);
	retimed->readings = g_new0(struct reading, retimed->threads + 1);
	retimed->heap = g_new(uint32_t, retimed->threads + 1);
	gather(retimed, from, to);
	while (retimed->heap_count && !session_interrupted(session))
		step(retimed, retimed->heap[0]);
	for (uint32_t i = 0; i < retimed->heap_count; i++) /* interrupted */
		g_free(retimed->readings[retimed->heap[i]].shifts);
	g_clear_pointer(&retimed->readings, g_free);
	g_clear_pointer(&retimed->heap, g_free);
	reach_free(reach);
	retimed->reach = NULL;
	return retimed;
}

bool retime_holds(const struct session *session)
{
	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct guest *guest = &model_host(&session->trace.model, i)->guest;

		if (guest->known != GUEST_NOT && guest->known != GUEST_UNCLEAR)
			return false;
	}
	return true;
}

struct retimed *retime(const struct session *session, struct rules *rules,
		       const struct scenario *scenarios, guint count, int64_t from, int64_t to)
{
	return play(session, rules, scenarios, count, NULL, from, to);
}

struct retimed *retime_ways(const struct session *session, struct rules *rules,
			    const struct scenario *scenarios, guint count, const GArray *ways,
			    int64_t from, int64_t to)
{
	struct reach *reach = reach_new(session, ways, from, to);

	return play(session, rules, scenarios, count, reach, from, to);
}

void retimed_free(struct retimed *retimed)
{
	if (!retimed)
		return;
	for (gsize i = 0; i < (gsize) retimed->threads * retimed->count; i++)
		line_clear(&retimed->lines[i]);
	g_hash_table_destroy(retimed->orders);
	g_free(retimed->lines);
	g_free(retimed);
}
