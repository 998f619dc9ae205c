/* SPDX-License-Identifier: MIT */
/* See marks.h. */
#include "rules/marks.h"

#include "calls/frames.h"
#include "contention/holders.h"
#include "samples/sampled_states.h"
#include "util/idmap.h"
#include "util/pattern.h"

struct mark {
	int64_t begin, end;
};

struct marks {
	GArray **lists; /* owned; of each thread: struct mark, apart and in order; NULL: none */
	uint32_t threads;
	bool any;
};

static struct marks *marks_new(const struct session *session)
{
	struct marks *marks = g_new0(struct marks, 1);

	marks->threads = session->trace.model.thread_count;
	marks->lists = g_new0(GArray *, marks->threads + 1);
	return marks;
}

void marks_free(struct marks *marks)
{
	if (!marks)
		return;
	for (uint32_t i = 0; i < marks->threads; i++)
		if (marks->lists[i])
			g_array_free(marks->lists[i], TRUE);
	g_free(marks->lists);
	g_free(marks);
}

static void add(struct marks *marks, const struct session *session, uint32_t thread, int64_t begin,
		int64_t end)
{
	struct mark mark = {MAX(begin, session->asked.from), MIN(end, session->asked.to)};

	if (mark.begin >= mark.end)
		return;
	if (!marks->lists[thread])
		marks->lists[thread] = g_array_new(FALSE, FALSE, sizeof(struct mark));
	g_array_append_val(marks->lists[thread], mark);
	marks->any = true;
}

static int earlier(gconstpointer a, gconstpointer b)
{
	const struct mark *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* In order, and those that touch are one. */
static void join(GArray *list)
{
	guint kept = 0;

	g_array_sort(list, earlier);
	for (guint i = 1; i < list->len; i++) {
		const struct mark *mark = &g_array_index(list, struct mark, i);
		struct mark *last = &g_array_index(list, struct mark, kept);

		if (mark->begin <= last->end)
			last->end = MAX(last->end, mark->end);
		else
			g_array_index(list, struct mark, ++kept) = *mark;
	}
	g_array_set_size(list, kept + 1);
}

static void join_all(struct marks *marks)
{
	for (uint32_t i = 0; i < marks->threads; i++)
		if (marks->lists[i])
			join(marks->lists[i]);
}

static void add_holds(struct marks *marks, const struct session *session, const struct lock *lock)
{
	for (uint32_t i = 0; i < lock->holds.used; i++) {
		struct holding holding =
			hold_clipped(session, lock,
				     hold_at(&session->trace.timeline.holds, &lock->holds, i));

		if (is_thread(holding.thread))
			add(marks, session, holding.thread, holding.begin, holding.end);
	}
	for (guint i = 0; lock->open && i < lock->open->len; i++) {
		struct holding holding =
			hold_clipped(session, lock, &g_array_index(lock->open, struct hold, i));

		if (is_thread(holding.thread))
			add(marks, session, holding.thread, holding.begin, holding.end);
	}
}

struct marks *marks_of_locks(const struct session *session, const char *pattern)
{
	const GArray *locks = session->trace.flow.locks;
	struct marks *marks = marks_new(session);

	for (guint i = 0; i < locks->len; i++) {
		const struct lock *lock = &g_array_index(locks, struct lock, i);

		if (!lock->free && lock_is_one(lock) &&
		    pattern_match(pattern, session_text(session, lock->resource)))
			add_holds(marks, session, lock);
	}
	join_all(marks);
	return marks;
}

/* Whether a name fits is asked once for each that there is. */
static bool fits(const struct session *session, struct idmap *known, const char *pattern,
		 uint32_t what)
{
	uint32_t fit = idmap_get(known, what);
	g_autofree char *name = NULL;

	if (fit == IDMAP_NONE) {
		name = frame_name(session, what);
		fit = pattern_match(pattern, name);
		idmap_set(known, what, fit);
	}
	return fit;
}

/* --- by samples ------------------------------------------------------------------------- */

/* What of one state's samples have the function. */
static double share_of(const struct session *session, const struct sampled_states *states,
		       uint32_t leaf, const char *pattern)
{
	for (guint i = 0; i < states->list->len; i++) {
		const struct sampled_state *state = g_ptr_array_index(states->list, i);
		uint32_t with = 0;

		if (state->leaf != leaf || !state->samples)
			continue;
		for (guint k = 0; k < state->stacks->len; k++) {
			const struct sampled_stack *at =
				&g_array_index(state->stacks, struct sampled_stack, k);

			if (sample_stack_has(session, at->stack, pattern))
				with += at->samples;
		}
		return (double) with / state->samples;
	}
	return 0;
}

/* False: there is no sample in the stretch. */
static bool mark_sampled(struct marks *marks, const struct session *session, uint32_t thread,
			 const struct span *span, const char *pattern)
{
	const struct pages *store = &session->trace.timeline.samples;
	const struct log *log = &model_thread(&session->trace.model, thread)->samples;
	int64_t from = span->begin;
	bool any = false, with = false;

	for (uint32_t i = sample_find(store, log, span->begin); i < log->used; i++) {
		const struct sample *sample = sample_at(store, log, i);

		if (sample->time > span->end)
			break;
		if (sample->source > SAMPLE_INTERRUPT)
			continue;
		any = true;
		with = sample_stack_has(session, sample_stack(session, thread, sample), pattern);
		if (with)
			add(marks, session, thread, from, sample->time);
		from = sample->time;
	}
	if (with)
		add(marks, session, thread, from, span->end);
	return any;
}

static void mark_thread(struct marks *marks, const struct session *session, uint32_t thread,
			const char *pattern)
{
	struct sampled_states states;
	struct spans spans;
	struct span span;

	sampled_states_init(&states, session);
	sampled_states_add_work(&states, thread, session->asked.from, session->asked.to);
	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next(&spans, &span)) {
		double part;

		if (leaf_wib(span.leaf) != WIB_WORKING ||
		    mark_sampled(marks, session, thread, &span, pattern))
			continue;
		part = share_of(session, &states, span.leaf, pattern) *
		       (double) (span.end - span.begin);
		add(marks, session, thread, span.begin, span.begin + (int64_t) part);
	}
	sampled_states_clear(&states);
}

static void mark_samples(struct marks *marks, const struct session *session, const char *pattern)
{
	for (uint32_t i = 0; i < marks->threads; i++)
		if (model_thread(&session->trace.model, i)->samples.used)
			mark_thread(marks, session, i, pattern);
}

/* --- by calls ---------------------------------------------------------------------------- */

struct marks *marks_of_calls(const struct session *session, const char *pattern)
{
	struct marks *marks = marks_new(session);
	struct idmap known;

	idmap_init(&known);
	for (uint32_t i = 0; i < marks->threads; i++) {
		struct frames *frames =
			frames_new(session, i, session->asked.from, session->asked.to);

		for (guint k = 0; k < frames->list->len; k++) {
			const struct call_frame *frame = frame_of(frames, k);

			if (frame_is_call(frame) && !frame->in_interrupt &&
			    fits(session, &known, pattern, frame->what))
				add(marks, session, i, frame->begin, frame->end);
		}
		frames_free(frames);
	}
	idmap_clear(&known);
	if (!marks->any)
		mark_samples(marks, session, pattern);
	join_all(marks);
	return marks;
}

bool marks_any(const struct marks *marks)
{
	return marks->any;
}

bool marks_at(const struct marks *marks, uint32_t thread, int64_t time, int64_t *until)
{
	const GArray *list = marks->lists[thread];
	guint low = 0, high = list ? list->len : 0;

	*until = INT64_MAX;
	while (low < high) { /* the first that ends behind `time` */
		guint middle = low + (high - low) / 2;

		if (g_array_index(list, struct mark, middle).end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (!list || low == list->len)
		return false;
	if (time < g_array_index(list, struct mark, low).begin) {
		*until = g_array_index(list, struct mark, low).begin;
		return false;
	}
	*until = g_array_index(list, struct mark, low).end;
	return true;
}
