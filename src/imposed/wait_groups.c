/* SPDX-License-Identifier: MIT */
/* Ranking threads, waits and calls; see wait_groups.h. */
#include "imposed/wait_groups.h"

#include "run/containers.h"
#include "latencies/peaks.h"

#include <string.h>

#include "waits/summary.h"

#define IDLE_WORK 0.02 /* an idle thread works less than this share of the window */

static void wait_group_clear(gpointer data)
{
	struct wait_group *group = data;

	cause_clear(&group->cause);
	runners_clear(&group->runners);
}

static GArray *totals_of(const struct session *session)
{
	GArray *totals = g_array_new(FALSE, TRUE, sizeof(struct thread_total));

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);
		struct thread_total total = {.thread = i};
		struct spans spans;
		struct span span;

		total.begin = MAX(thread->begin, session->asked.from);
		total.end = MIN(thread->end, session->asked.to);
		if (!session_wants_host(session, model_host(&session->trace.model, thread->host)))
			continue;
		if (total.begin >= total.end || !container_has(session, i, NULL))
			continue;
		spans_begin(&spans, session, i, session->asked.from, session->asked.to);
		total.kernel = spans.kernel;
		while (spans_next(&spans, &span))
			total.wib[leaf_wib(span.leaf)] += span.end - span.begin;
		g_array_append_val(totals, total);
	}
	return totals;
}

/* Times in which somebody waited for a thread, [begin, end). */
struct needed {
	int64_t begin, end;
};

struct idle_search {
	const struct session *session;
	GArray *totals;       /* borrowed */
	guint *place;         /* owned; of each thread in totals, UINT_MAX */
	GArray *queue;        /* owned; guint: totals to follow */
	GHashTable *needed;   /* borrowed; thread -> GArray of struct needed */
};

static bool seems_idle(const struct session *session, const struct thread_total *total)
{
	const struct thread *thread = model_thread(&session->trace.model, total->thread);
	const struct host *host = model_host(&session->trace.model, thread->host);
	int64_t from = MAX(session->asked.from, host->begin),
		to = MIN(session->asked.to, host->end);

	return total->kernel ||
	       (!thread->born && thread->state != THREAD_DEAD &&
		(double) total->wib[WIB_WORKING] < IDLE_WORK * (double) (to - from));
}

/* The waits of a thread that is not idle: who ended them is not either,
 * during them. */
static void follow(struct idle_search *search, uint32_t thread)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, search->session, thread, search->session->asked.from,
		    search->session->asked.to);
	while (spans_next_off_cpu(&spans, &span)) {
		struct needed needed = {span.begin, span.end};
		const struct block *block;
		struct thread_total *waker;
		GArray *list;

		if (!leaf_is_blocked(span.leaf))
			continue;
		block = block_at(&search->session->trace.timeline, span.ref);
		if (block->kind != WAKER_THREAD || !is_thread(block->waker) ||
		    search->place[block->waker] == UINT_MAX)
			continue;
		waker = &g_array_index(search->totals, struct thread_total,
				       search->place[block->waker]);
		if (waker->idle && !waker->kernel) {
			waker->idle = false;
			waker->rescued = true;
			g_array_append_val(search->queue, search->place[block->waker]);
		}
		if (!waker->rescued)
			continue;
		list = g_hash_table_lookup(search->needed, GUINT_TO_POINTER(block->waker));
		if (!list) {
			list = g_array_new(FALSE, FALSE, sizeof needed);
			g_hash_table_insert(search->needed, GUINT_TO_POINTER(block->waker), list);
		}
		g_array_append_val(list, needed);
	}
}

/* Marks idle threads: those that seem so, but for the ones found by following
 * waits to their wakers; for these, when they were needed. */
static void find_idle(const struct session *session, GArray *totals, GHashTable *needed)
{
	struct idle_search search = {session, totals,
				     g_new(guint, session->trace.model.thread_count + 1),
				     g_array_new(FALSE, FALSE, sizeof(guint)), needed};

	memset(search.place, 0xff, sizeof(guint) * (session->trace.model.thread_count + 1));
	for (guint i = 0; i < totals->len; i++) {
		struct thread_total *total = &g_array_index(totals, struct thread_total, i);

		search.place[total->thread] = i;
		total->idle = seems_idle(session, total);
		if (!total->idle)
			g_array_append_val(search.queue, i);
	}
	while (search.queue->len) {
		guint i = g_array_index(search.queue, guint, search.queue->len - 1);

		g_array_set_size(search.queue, search.queue->len - 1);
		follow(&search, g_array_index(totals, struct thread_total, i).thread);
	}
	g_array_free(search.queue, TRUE);
	g_free(search.place);
}

#define THROTTLED 0xff /* in place of a waker's kind, to tell such waits apart */

static guint group_hash(gconstpointer key)
{
	const struct wait_group *group = key;

	return group->leaf * 31 + group->resource * 131 + group->waker_kind * 7 + group->thread;
}

static gboolean group_equal(gconstpointer a, gconstpointer b)
{
	const struct wait_group *x = a, *y = b;

	return x->thread == y->thread && x->leaf == y->leaf && x->resource == y->resource &&
	       x->waker_kind == y->waker_kind;
}

static int by_begin(gconstpointer a, gconstpointer b)
{
	const struct needed *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Makes the times disjoint and sorted. */
static void merge(GArray *list)
{
	guint last = 0;

	g_array_sort(list, by_begin);
	for (guint i = 1; i < list->len; i++) {
		struct needed *into = &g_array_index(list, struct needed, last);
		const struct needed *at = &g_array_index(list, struct needed, i);

		if (at->begin <= into->end)
			into->end = MAX(into->end, at->end);
		else
			g_array_index(list, struct needed, ++last) = *at;
	}
	g_array_set_size(list, MIN(list->len, last + 1));
}

/* How much of the span somebody waited for the thread; all of it where that
 * does not matter (`list` NULL). Spans come in time order: `at` goes along. */
static int64_t needed_ns(const GArray *list, guint *at, const struct span *span)
{
	int64_t sum = 0;

	if (!list)
		return span->end - span->begin;
	while (*at < list->len && g_array_index(list, struct needed, *at).end <= span->begin)
		++*at;
	for (guint i = *at; i < list->len; i++) {
		const struct needed *needed = &g_array_index(list, struct needed, i);

		if (needed->begin >= span->end)
			break;
		sum += MIN(needed->end, span->end) - MAX(needed->begin, span->begin);
	}
	return sum;
}

static struct wait_group *group_of(GHashTable *index, GArray *groups, const struct wait_group *key)
{
	gpointer found;

	if (!g_hash_table_lookup_extended(index, key, NULL, &found)) {
		found = GUINT_TO_POINTER(groups->len);
		g_array_append_vals(groups, key, 1);
		g_hash_table_insert(index, g_memdup2(key, sizeof *key), found);
	}
	return &g_array_index(groups, struct wait_group, GPOINTER_TO_UINT(found));
}

static void note_longest(const struct session *session, struct wait_group *group,
			 const struct span *span)
{
	struct wait wait = wait_of(session, group->thread, span);

	group->waker = wait.block->waker;
	cause_clear(&group->cause);
	group->cause = wait_cause(session, &wait);
}

static void group_waits(const struct session *session, uint32_t thread, GArray *needed,
			GArray *groups)
{
	GHashTable *index = g_hash_table_new_full(group_hash, group_equal, g_free, NULL);
	struct spans spans;
	struct span span;
	guint at = 0;

	if (needed)
		merge(needed);
	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next_off_cpu(&spans, &span)) {
		const struct block *block = NULL;
		struct wait_group key = {.thread = thread,
					 .leaf = span.leaf,
					 .waker = NO_THREAD,
					 .cause = cause_of_kind(CAUSE_WAIT_CPU)};
		struct wait_group *group;
		int64_t ns = needed_ns(needed, &at, &span);

		if (ns <= 0)
			continue;
		if (ready_of(session, thread, &span).kind == READY_THROTTLED) {
			key.cause.kind = CAUSE_THROTTLED;
			key.cause.inferred = true;
			key.waker_kind = THROTTLED;
		}
		if (leaf_is_blocked(span.leaf)) {
			block = block_at(&session->trace.timeline, span.ref);
			key.resource = session_resource(session, block);
			key.waker_kind = block->kind;
		}
		group = group_of(index, groups, &key);
		/* a thread moved to another CPU's queue waits on */
		group->count += block || group->last_end != span.begin;
		group->last_end = span.end;
		group->ns += ns;
		group->spans_gap |= session_spans_gap(session, thread, &span);
		if (!block)
			runners_add(&group->runners, session, thread, &span);
		if (ns > group->longest) {
			group->longest = ns;
			group->longest_begin = span.begin;
			group->longest_end = span.end;
			if (block)
				note_longest(session, group, &span);
		}
	}
	g_hash_table_destroy(index);
}

/* What there is to say of a group without a waker: who ran meanwhile. */
static void name_runners(GArray *groups)
{
	for (guint i = 0; i < groups->len; i++) {
		struct wait_group *group = &g_array_index(groups, struct wait_group, i);
		GString *text;

		if (group->cause.kind == CAUSE_THROTTLED)
			group->cause.label = g_strdup(
				"throttled (inferred: ready, yet kept off an idle CPU, as when its "
				"cgroup's quota is used up)");
		if (group->cause.kind != CAUSE_WAIT_CPU)
			continue;
		text = g_string_new("meanwhile on that CPU: ");
		runners_append(&group->runners, text);
		group->cause.label = g_string_free(text, FALSE);
	}
}

GArray *wait_groups_new(const struct session *session, const GArray *threads)
{
	GArray *groups = g_array_new(FALSE, TRUE, sizeof(struct wait_group));

	g_array_set_clear_func(groups, wait_group_clear);
	for (guint i = 0; i < threads->len; i++)
		group_waits(session, g_array_index(threads, uint32_t, i), NULL, groups);
	name_runners(groups);
	return groups;
}

static int64_t not_working(const struct thread_total *total)
{
	return total->wib[WIB_BLOCKED] + total->wib[WIB_INTERRUPTED];
}

static int most_waiting(gconstpointer a, gconstpointer b)
{
	const struct thread_total *x = a, *y = b;

	if (not_working(x) != not_working(y))
		return not_working(x) > not_working(y) ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int largest_wait(gconstpointer a, gconstpointer b)
{
	const struct wait_group *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->longest_begin < y->longest_begin ? -1 : x->longest_begin > y->longest_begin;
}

static int largest_call(gconstpointer a, gconstpointer b)
{
	const struct call_total *x = a, *y = b;

	if (x->stat.total != y->stat.total)
		return x->stat.total > y->stat.total ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static int longest_life(gconstpointer a, gconstpointer b)
{
	const struct thread_total *x = a, *y = b;

	if (x->end - x->begin != y->end - y->begin)
		return x->end - x->begin > y->end - y->begin ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

#define FEW 3 /* calls: fewer may be chance */

static void count_peaks(struct call_total *call)
{
	uint64_t counts[64];
	GArray *peaks;

	for (int i = 0; i < 64; i++)
		counts[i] = call->stat.buckets[i];
	peaks = peaks_find(counts, 64, 1);
	call->peaks = peaks->len;
	for (guint i = 0; i < peaks->len; i++) {
		struct peak_range range = g_array_index(peaks, struct peak_range, i);
		uint64_t calls = 0;

		for (guint b = range.first; b <= range.last; b++)
			calls += counts[b];
		call->clear_peaks += calls >= FEW;
	}
	g_array_free(peaks, TRUE);
}

static GArray *calls_of(const struct session *session)
{
	GArray *calls = g_array_new(FALSE, TRUE, sizeof(struct call_total));

	for (guint i = 0; i < session->trace.flow.call_stats->len; i++) {
		struct call_total call = {.name = i,
					  .stat = g_array_index(session->trace.flow.call_stats,
								struct call_stat, i)};

		if (!call.stat.count)
			continue;
		count_peaks(&call);
		g_array_append_val(calls, call);
	}
	g_array_sort(calls, largest_call);
	return calls;
}

struct overview *overview_new(const struct session *session)
{
	struct overview *overview = g_new0(struct overview, 1);
	GArray *totals = totals_of(session);
	GArray *born = g_array_new(FALSE, FALSE, sizeof(struct thread_total));
	g_autoptr(GHashTable)
		needed = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) g_array_unref);

	overview->threads = g_array_new(FALSE, FALSE, sizeof(struct thread_total));
	overview->waits = g_array_new(FALSE, FALSE, sizeof(struct wait_group));
	g_array_set_clear_func(overview->waits, wait_group_clear);
	overview->ended = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	overview->idle = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	overview->calls = calls_of(session);
	find_idle(session, totals, needed);
	for (guint i = 0; i < totals->len; i++) {
		const struct thread_total *total = &g_array_index(totals, struct thread_total, i);
		const struct thread *thread = model_thread(&session->trace.model, total->thread);

		overview->kernel_threads += total->kernel;
		if (total->idle && !total->kernel) {
			g_array_append_val(overview->idle, total->thread);
			overview->idle_ns += total->wib[WIB_BLOCKED];
		}
		if (total->idle)
			continue;
		g_array_append_vals(overview->threads, total, 1);
		group_waits(session, total->thread,
			    g_hash_table_lookup(needed, GUINT_TO_POINTER(total->thread)),
			    overview->waits);
		if (thread->born && thread->state == THREAD_DEAD &&
		    thread->end <= session->asked.to)
			g_array_append_vals(born, total, 1);
	}
	g_array_sort(overview->threads, most_waiting);
	name_runners(overview->waits);
	g_array_sort(overview->waits, largest_wait);
	g_array_sort(born, longest_life);
	for (guint i = 0; i < born->len; i++)
		g_array_append_val(overview->ended,
				   g_array_index(born, struct thread_total, i).thread);
	g_array_free(born, TRUE);
	g_array_free(totals, TRUE);
	return overview;
}

void overview_free(struct overview *overview)
{
	g_array_free(overview->threads, TRUE);
	g_array_free(overview->waits, TRUE);
	g_array_free(overview->calls, TRUE);
	g_array_free(overview->ended, TRUE);
	g_array_free(overview->idle, TRUE);
	g_free(overview);
}
