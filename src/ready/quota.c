/* SPDX-License-Identifier: MIT */
/* Finding periods; see quota.h. */
#include "ready/quota.h"

#include <string.h>

#include "ready/idling.h"

#define KEPT_MIN INT64_C(1000000)     /* ns; a move to another CPU takes some µs */
#define PERIOD_MIN INT64_C(1000000)   /* ns: what the kernel takes as a quota's period */
#define PERIOD_MAX INT64_C(1000000000)
#define TOGETHER INT64_C(1000000)     /* ns: let go together, at most apart */
#define ROW 3       /* ends one period after the one before, */
#define ROW_OF 5    /* … of so many */
#define PERIODS_MAX 5 /* between two ends: more go with any period */
#define ROW_OF_PROCESS 4 /* of so many whole periods apart, of one process */
#define PERIOD_SURE INT64_C(20000000) /* ns: ticks may end shorter times as regularly */
#define OFF_PART 16 /* of the period: ends may be off by that (a CPU wakes up, a tick is late) */

/* An end of a time that a thread was kept off. */
struct let_go {
	int64_t time;
	uint32_t thread;
	uint16_t host;
	int64_t period; /* of the quota that this shows; 0: none */
	bool loose;     /* others had the CPU as well meanwhile, for up to half of it */
	guint place;    /* of a copy: in the list of all */
};

/* How long nobody had the CPU that it left, the idle thread next; -1: it was not kept off. */
static int64_t idle_beside(const struct session *session, uint32_t thread, const struct span *span)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	const struct interval *before;
	struct track_pos pos;
	struct idling idling;
	int64_t begin;

	if (PACK_KIND(span->leaf) != LEAF_PREEMPTED || span->end - span->begin < KEPT_MIN)
		return -1;
	/* moved to another queue, it is kept by nothing but the way there */
	if (!track_find(&session->trace.timeline, &life->track, span->begin, &pos))
		return -1;
	before = track_step_back(&session->trace.timeline, &life->track, &pos, &begin);
	if (!before || leaf_is_off_cpu(before->leaf))
		return -1;
	idling = idling_of_cpu(session, life->host, span->ref, span->begin, span->end);
	return idling.began_idle ? idling.idle : -1;
}

bool kept_off(const struct session *session, uint32_t thread, const struct span *span)
{
	struct idling idling = {.idle = idle_beside(session, thread, span)};

	return idling.idle >= 0 && is_idle(&idling, span);
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
		struct let_go let_go = {.time = span.end, .thread = thread, .host = life->host};
		struct idling idling = {0};

		if (span.end >= life->end)
			continue;
		idling.idle = idle_beside(session, thread, &span);
		let_go.loose = !is_idle(&idling, &span);
		if (idling.idle >= 0 && 2 * idling.idle >= span.end - span.begin)
			g_array_append_val(list, let_go);
	}
}

/* Of one process, in order: marks the ends that are whole periods apart, to the millisecond: in a
 * busy system others had the CPU in some of these times, and ends are missing. */
static void mark_process(GArray *all, const GArray *list)
{
	for (guint i = 0; i + ROW_OF_PROCESS < list->len; i++) {
		int64_t period = at(list, i + 1)->time - at(list, i)->time;
		bool sure = period >= PERIOD_SURE && period <= PERIOD_MAX;

		for (guint k = i + 1; k < i + ROW_OF_PROCESS && sure; k++) {
			int64_t distance = at(list, k + 1)->time - at(list, k)->time;
			int64_t count = (distance + period / 2) / period;

			sure = count && count <= PERIODS_MAX &&
			       ABS(distance - count * period) <= TOGETHER;
		}
		for (guint k = i; k <= i + ROW_OF_PROCESS && sure; k++) {
			struct let_go *of = &g_array_index(all, struct let_go, at(list, k)->place);

			of->period = of->period ? of->period : period;
		}
	}
}

/* All that are, by processes; `first`: of each thread, its process. */
static void mark_processes(GArray *all, const uint32_t *first)
{
	g_autoptr(GHashTable)
		lists = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
	GHashTableIter iter;
	gpointer list;

	for (guint i = 0; i < all->len; i++) {
		gpointer process = GUINT_TO_POINTER(first[at(all, i)->thread] + 1);
		struct let_go copy = *at(all, i);
		GArray *of = g_hash_table_lookup(lists, process);

		if (!of) {
			of = g_array_new(FALSE, FALSE, sizeof(struct let_go));
			g_hash_table_insert(lists, process, of);
		}
		copy.place = i;
		if (!of->len || copy.time - at(of, of->len - 1)->time > TOGETHER)
			g_array_append_val(of, copy);
	}
	g_hash_table_iter_init(&iter, lists);
	while (g_hash_table_iter_next(&iter, NULL, &list))
		mark_process(all, list);
}

static void *find(const struct session *session)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct let_go));
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct let_go));

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		if (!thread_is_kernel(&session->trace.model,
				      model_thread(&session->trace.model, i)))
			add_thread(all, session, i);
	g_array_sort(all, by_time);
	mark_processes(all, session->trace.processes.first);
	for (guint i = 0; i < all->len; i++)
		if (!at(all, i)->loose)
			g_array_append_vals(list, at(all, i), 1);
	mark_rows(list);
	for (guint i = 0; i < all->len; i++)
		if (at(all, i)->loose && at(all, i)->period)
			g_array_append_vals(list, at(all, i), 1);
	g_array_sort(list, by_time);
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

/* Of each process that has one: its first thread + 1 -> place in the list of an end that shows
 * it. */
static void *find_shown(const struct session *session)
{
	const GArray *list = let_goes(session);
	GHashTable *shown = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < list->len; i++)
		if (at(list, i)->period)
			g_hash_table_insert(
				shown,
				GUINT_TO_POINTER(
					session->trace.processes.first[at(list, i)->thread] + 1),
				GUINT_TO_POINTER(i));
	return shown;
}

static void free_shown(gpointer shown)
{
	g_hash_table_destroy(shown);
}

bool quota_shown(const struct session *session, uint32_t thread, int64_t *period)
{
	const void *shown = session_make_once(session, find_shown, free_shown);
	gpointer place;

	if (!g_hash_table_lookup_extended(
		    (GHashTable *) shown,
		    GUINT_TO_POINTER(session->trace.processes.first[thread] + 1), NULL, &place))
		return false;
	*period = at(let_goes(session), GPOINTER_TO_UINT(place))->period;
	return true;
}

#define SHARED_MIN 3u /* times let go together, at least */
#define SLOW_PART 8 /* of the period: so late a CPU may be that lets go */

/* Counts one more time for each other thread that was let go then. */
static void count_let_go(const GArray *list, uint16_t host, uint32_t thread, int64_t time,
			 GHashTable *counts)
{
	g_autoptr(GHashTable) now = g_hash_table_new(NULL, NULL);

	for (guint i = first_from(list, host, time - TOGETHER);
	     i < list->len && at(list, i)->host == host && at(list, i)->time <= time + TOGETHER;
	     i++) {
		gpointer key = GUINT_TO_POINTER(at(list, i)->thread);

		if (at(list, i)->thread == thread || !g_hash_table_add(now, key))
			continue;
		g_hash_table_insert(
			counts, key,
			GUINT_TO_POINTER(GPOINTER_TO_UINT(g_hash_table_lookup(counts, key)) + 1));
	}
}

/* How near the nearest of the times is, which are in order. */
static int64_t nearest(const GArray *times, int64_t time)
{
	int64_t least = INT64_MAX;

	for (guint i = 0; i < times->len; i++) {
		int64_t off = ABS(g_array_index(times, int64_t, i) - time);

		if (off > least)
			break;
		least = off;
	}
	return least;
}

/* Adds the thread, if it was let go at the times, woken meanwhile or not: at three quarters of them
 * as far as CPUs are slow to wake up, at a third of them together. */
static void add_user(GArray *users, const struct session *session, uint32_t thread,
		     const GArray *times, int64_t period, int64_t from, int64_t to)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	guint together = 0, nearly = 0;
	struct quota_user user = {thread, 0};
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, MAX(from, life->begin),
		    MIN(to + period / SLOW_PART, life->end));
	while (spans_next(&spans, &span)) {
		int64_t off;

		if (!leaf_is_off_cpu(span.leaf))
			user.ns += span.end - span.begin;
		if (!leaf_is_ready(span.leaf) || span.end - span.begin < KEPT_MIN)
			continue;
		off = nearest(times, span.end);
		together += off <= TOGETHER;
		nearly += off <= MAX(TOGETHER, period / SLOW_PART);
	}
	if (together >= SHARED_MIN && 3 * together >= times->len && 4 * nearly >= 3 * times->len)
		g_array_append_val(users, user);
}

/* The control file of a cgroup to which the thread wrote last before `until`: interned key, 0. */
static uint32_t cgroup_written(const struct session *session, uint32_t thread, int64_t until)
{
	static const char *const names[] = {"/cgroup.procs", "/cgroup.threads", "/tasks"};
	const struct thread *life = model_thread(&session->trace.model, thread);
	uint32_t written = 0;
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, life->begin, MIN(life->end, until));
	while (spans_next(&spans, &span)) {
		uint32_t file = span.ref & ~REF_FOR_WRITING;
		const char *key;

		if (PACK_KIND(span.leaf) != LEAF_WORK_SYSCALL || !file)
			continue;
		key = session_text(session, file);
		if (!g_str_has_prefix(key, "file:/sys/fs/cgroup/"))
			continue;
		for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
			if (g_str_has_suffix(key, names[i]))
				written = file;
	}
	return written;
}

/* … by which a process, or one from which it descends, moved itself there, as far as it is seen. */
static uint32_t cgroup_entered(const struct session *session, uint32_t process)
{
	int64_t until = session->trace.end + 1;
	uint32_t entered;

	while (!(entered = cgroup_written(session, process, until))) {
		const struct thread *life = model_thread(&session->trace.model, process);

		if (!life->born || !is_thread(life->parent))
			return 0;
		until = life->begin;
		process = session->trace.processes.first[life->parent];
	}
	return entered;
}

/* All groups of one period are let go at the same time: that two threads are in one must be seen.
 * They are of one process, or were started by one under one name, or both moved themselves there.
 */
static bool in_one_group(const struct session *session, uint32_t one, uint32_t other)
{
	const uint32_t *process = session->trace.processes.first;
	const struct thread *a = model_thread(&session->trace.model, process[one]);
	const struct thread *b = model_thread(&session->trace.model, process[other]);
	uint32_t entered = cgroup_entered(session, process[one]);
	uint32_t others = cgroup_entered(session, process[other]);

	if (process[one] == process[other])
		return true;
	if (entered || others)
		return entered == others;
	return a->born && b->born && is_thread(a->parent) && a->parent == b->parent &&
	       strcmp(session_thread_name(session, one), session_thread_name(session, other)) == 0;
}

static int most_used(gconstpointer a, gconstpointer b)
{
	const struct quota_user *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

GArray *quota_users(const struct session *session, uint32_t thread, const GArray *times,
		    int64_t from, int64_t to)
{
	const GArray *list = let_goes(session);
	GArray *users = g_array_new(FALSE, FALSE, sizeof(struct quota_user));
	g_autoptr(GHashTable) counts = g_hash_table_new(NULL, NULL);
	uint16_t host = model_thread(&session->trace.model, thread)->host;
	gpointer other, count;
	GHashTableIter each;
	int64_t period;

	if (!times->len ||
	    !quota_let_go(session, thread, g_array_index(times, int64_t, 0), &period))
		period = 0;
	for (guint i = 0; i < times->len; i++)
		count_let_go(list, host, thread, g_array_index(times, int64_t, i), counts);
	g_hash_table_iter_init(&each, counts);
	while (g_hash_table_iter_next(&each, &other, &count))
		if (GPOINTER_TO_UINT(count) >= SHARED_MIN &&
		    in_one_group(session, thread, GPOINTER_TO_UINT(other)))
			add_user(users, session, GPOINTER_TO_UINT(other), times, period, from, to);
	if (users->len)
		add_user(users, session, thread, times, period, from, to);
	g_array_sort(users, most_used);
	return users;
}
