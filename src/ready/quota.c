/* SPDX-License-Identifier: MIT */
/* Finding periods; see quota.h. */
#include "ready/quota.h"

#include "ready/idling.h"

#define KEPT_MIN INT64_C(1000000)     /* ns; a move to another CPU takes some µs */
#define PERIOD_MIN INT64_C(1000000)   /* ns: what the kernel takes as a quota's period */
#define PERIOD_MAX INT64_C(1000000000)
#define TOGETHER INT64_C(1000000)     /* ns: let go together, at most apart */
#define ROW 3       /* ends one period after the one before, */
#define ROW_OF 5    /* … of so many */
#define PERIODS_MAX 5 /* between two ends: more go with any period */
#define OFF_PART 16 /* of the period: ends may be off by that (a CPU wakes up, a tick is late) */

/* An end of a time that a thread was kept off. */
struct let_go {
	int64_t time;
	uint32_t thread;
	uint16_t host;
	int64_t period; /* of the quota that this shows; 0: none */
};

bool kept_off(const struct session *session, uint32_t thread, const struct span *span)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	const struct interval *before;
	struct track_pos pos;
	struct idling idling;
	int64_t begin;

	if (PACK_KIND(span->leaf) != LEAF_PREEMPTED || span->end - span->begin < KEPT_MIN)
		return false;
	/* moved to another queue, it is kept by nothing but the way there */
	if (!track_find(&session->trace.timeline, &life->track, span->begin, &pos))
		return false;
	before = track_step_back(&session->trace.timeline, &life->track, &pos, &begin);
	if (!before || leaf_is_off_cpu(before->leaf))
		return false;
	idling = idling_of_cpu(session, life->host, span->ref, span->begin, span->end);
	return idling.began_idle && is_idle(&idling, span);
}

static int by_time(gconstpointer a, gconstpointer b)
{
	const struct let_go *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static const struct let_go *at(const GArray *list, guint i)
{
	return &g_array_index(list, struct let_go, i);
}

/* So many periods lie between the two; 0: not whole ones, or too many. */
static int64_t periods_between(int64_t distance, int64_t period)
{
	int64_t count = (distance + period / 2) / period;
	int64_t off = ABS(distance - count * period);

	return count <= PERIODS_MAX && off <= count * (period / OFF_PART) ? count : 0;
}

/* The next end from place `i` on that is not together with it. */
static guint next_moment(const GArray *list, guint i)
{
	guint k = i + 1;

	while (k < list->len && at(list, k)->host == at(list, i)->host &&
	       at(list, k)->time - at(list, i)->time <= TOGETHER)
		k++;
	return k;
}

/* Marks the ends that are one period apart, if from the end at place `i` on enough are. */
static void mark_row(GArray *list, guint i, int64_t period)
{
	guint places[ROW_OF][2], count = 0, from = i;

	for (guint looked_at = 0; looked_at < ROW_OF; looked_at++) {
		guint next = next_moment(list, from);

		if (next == list->len || at(list, next)->host != at(list, i)->host)
			break;
		if (periods_between(at(list, next)->time - at(list, from)->time, period) == 1) {
			places[count][0] = from;
			places[count++][1] = next;
		}
		from = next;
	}
	period = 0;
	for (guint k = 0; k < count; k++)
		period += at(list, places[k][1])->time - at(list, places[k][0])->time;
	period /= MAX((int64_t) count, 1);
	for (guint k = 0; k < count && count >= ROW; k++) {
		g_array_index(list, struct let_go, places[k][0]).period = period;
		g_array_index(list, struct let_go, places[k][1]).period = period;
	}
}

static void mark_rows(GArray *list)
{
	for (guint i = 0; i < list->len; i = next_moment(list, i)) {
		guint next = next_moment(list, i);
		int64_t period;

		if (next == list->len || at(list, next)->host != at(list, i)->host)
			continue;
		period = at(list, next)->time - at(list, i)->time;
		if (period >= PERIOD_MIN && period <= PERIOD_MAX)
			mark_row(list, i, period);
	}
}

static void add_thread(GArray *list, const struct session *session, uint32_t thread)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->trace.begin, session->trace.end + 1);
	while (spans_next_off_cpu(&spans, &span)) {
		struct let_go let_go = {span.end, thread, life->host, 0};

		if (span.end < life->end && kept_off(session, thread, &span))
			g_array_append_val(list, let_go);
	}
}

static void *find(const struct session *session)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct let_go));

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		if (!thread_is_kernel(&session->trace.model,
				      model_thread(&session->trace.model, i)))
			add_thread(list, session, i);
	g_array_sort(list, by_time);
	mark_rows(list);
	return list;
}

static void free_list(gpointer list)
{
	g_array_free(list, TRUE);
}

static const GArray *let_goes(const struct session *session)
{
	return session_make_once(session, find, free_list);
}

/* The first at or after that time. */
static guint first_from(const GArray *list, uint16_t host, int64_t time)
{
	guint low = 0, high = list->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		const struct let_go *of = at(list, middle);

		if (of->host < host || (of->host == host && of->time < time))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool quota_filled_at(const struct session *session, uint16_t host, int64_t time, int64_t *period)
{
	const GArray *list = let_goes(session);

	for (guint i = first_from(list, host, time - TOGETHER);
	     i < list->len && at(list, i)->host == host && at(list, i)->time <= time + TOGETHER;
	     i++)
		if (at(list, i)->period) {
			*period = at(list, i)->period;
			return true;
		}
	return false;
}

bool quota_let_go(const struct session *session, uint32_t thread, int64_t time, int64_t *period)
{
	const GArray *list = let_goes(session);
	const uint32_t *process = session->trace.processes.first;
	uint16_t host = model_thread(&session->trace.model, thread)->host;
	int64_t from = time - PERIODS_MAX * PERIOD_MAX;

	for (guint i = first_from(list, host, from);
	     i < list->len && at(list, i)->host == host &&
	     at(list, i)->time <= time + PERIODS_MAX * PERIOD_MAX;
	     i++) {
		const struct let_go *of = at(list, i);
		int64_t distance = ABS(time - of->time);

		if (!of->period || process[of->thread] != process[thread])
			continue;
		if (distance <= TOGETHER || periods_between(distance, of->period)) {
			*period = of->period;
			return true;
		}
	}
	return false;
}
