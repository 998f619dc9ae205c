/* Ranking threads, waits and calls; see overview.h. */
#include "analysis/overview.h"

#include <string.h>

#include "analysis/summary.h"

#define IDLE_WORK 0.02 /* an idle thread works less than this share of the window */

static void wait_group_clear(gpointer data)
{
	cause_clear(&((struct wait_group *) data)->cause);
}

static GArray *totals_of(const struct session *session)
{
	GArray *totals = g_array_new(FALSE, TRUE, sizeof(struct thread_total));

	for (uint32_t i = 0; i < session->model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->model, i);
		struct thread_total total = {.thread = i};
		struct spans spans;
		struct span span;

		total.begin = MAX(thread->begin, session->from);
		total.end = MIN(thread->end, session->to);
		if (session->options->host &&
		    g_strcmp0(session->options->host,
			      model_host(&session->model, thread->host)->hostname) != 0)
			continue;
		if (total.begin >= total.end)
			continue;
		spans_begin(&spans, session, i, session->from, session->to);
		total.kernel = spans.kernel;
		while (spans_next(&spans, &span))
			total.wib[leaf_wib(span.leaf)] += span.end - span.begin;
		g_array_append_val(totals, total);
	}
	return totals;
}

/* Marks idle threads: the rest after following waits to their wakers. */
static void find_idle(const struct session *session, GArray *totals)
{
	g_autofree guint *place = g_new(guint, session->model.thread_count + 1);
	GArray *queue = g_array_new(FALSE, FALSE, sizeof(guint));
	int64_t window = session->to - session->from;

	memset(place, 0xff, sizeof(guint) * (session->model.thread_count + 1));
	for (guint i = 0; i < totals->len; i++) {
		struct thread_total *total = &g_array_index(totals, struct thread_total, i);
		const struct thread *thread = model_thread(&session->model, total->thread);
		bool whole = thread->begin <= session->from && thread->end >= session->to;

		place[total->thread] = i;
		total->idle = total->kernel ||
			      (whole && (double) total->wib[WIB_WORKING] <
						IDLE_WORK * (double) window);
		if (!total->idle)
			g_array_append_val(queue, i);
	}
	while (queue->len) {
		guint i = g_array_index(queue, guint, queue->len - 1);
		uint32_t thread = g_array_index(totals, struct thread_total, i).thread;
		struct spans spans;
		struct span span;

		g_array_set_size(queue, queue->len - 1);
		spans_begin(&spans, session, thread, session->from, session->to);
		while (spans_next(&spans, &span)) {
			const struct block *block;
			struct thread_total *waker;

			if (!leaf_is_blocked(span.leaf))
				continue;
			block = block_at(&session->timeline, span.ref);
			if (block->kind != WAKER_THREAD || !is_thread(block->waker) ||
			    place[block->waker] == UINT_MAX)
				continue;
			waker = &g_array_index(totals, struct thread_total, place[block->waker]);
			if (waker->idle && !waker->kernel) {
				waker->idle = false;
				g_array_append_val(queue, place[block->waker]);
			}
		}
	}
	g_array_free(queue, TRUE);
}

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

static void group_waits(const struct session *session, uint32_t thread, GArray *groups)
{
	GHashTable *index = g_hash_table_new_full(group_hash, group_equal, g_free, NULL);
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->from, session->to);
	while (spans_next(&spans, &span)) {
		const struct block *block;
		struct wait_group key = {.thread = thread, .leaf = span.leaf,
					 .cause = {CAUSE_UNKNOWN, NULL, -1, -1}};
		struct wait_group *group;
		gpointer found;
		int64_t ns = span.end - span.begin;

		if (!leaf_is_blocked(span.leaf))
			continue;
		block = block_at(&session->timeline, span.ref);
		key.resource = session_resource(session, block);
		key.waker_kind = block->kind;
		if (!g_hash_table_lookup_extended(index, &key, NULL, &found)) {
			found = GUINT_TO_POINTER(groups->len);
			g_array_append_val(groups, key);
			g_hash_table_insert(index, g_memdup2(&key, sizeof key), found);
		}
		group = &g_array_index(groups, struct wait_group, GPOINTER_TO_UINT(found));
		group->count++;
		group->ns += ns;
		if (ns > group->longest) {
			struct wait wait = {.thread = thread, .begin = span.begin,
					    .end = span.end, .leaf = span.leaf, .block = block,
					    .woken = block->kind != WAKER_NONE};

			group->longest = ns;
			group->longest_begin = span.begin;
			group->waker = block->waker;
			cause_clear(&group->cause);
			group->cause = wait_cause(session, &wait);
		}
	}
	g_hash_table_destroy(index);
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

/* Modes as a person sees them in a log-log histogram: runs of buckets with
 * at least two calls, told apart by a bucket with less than half of the lower
 * of the two tops. */
static unsigned count_modes(const struct call_stat *stat)
{
	unsigned modes = 0;
	uint32_t top = 0, valley = 0;
	bool rising = true;

	for (int i = 0; i < 64; i++) {
		uint32_t n = stat->buckets[i];

		if (rising ? n >= top : n < valley) {
			*(rising ? &top : &valley) = n;
		} else if (rising && n * 2 < top) {
			modes += top >= 2;
			rising = false;
			valley = n;
		} else if (!rising && n > valley * 2 && n >= 2) {
			rising = true;
			top = n;
		}
	}
	return modes + (rising && top >= 2);
}

static GArray *calls_of(const struct session *session)
{
	GArray *calls = g_array_new(FALSE, TRUE, sizeof(struct call_total));

	for (guint i = 0; i < session->flow.call_stats->len; i++) {
		struct call_total call = {
			.name = i,
			.stat = g_array_index(session->flow.call_stats, struct call_stat, i)};

		if (!call.stat.count)
			continue;
		call.modes = count_modes(&call.stat);
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

	overview->threads = g_array_new(FALSE, FALSE, sizeof(struct thread_total));
	overview->waits = g_array_new(FALSE, FALSE, sizeof(struct wait_group));
	g_array_set_clear_func(overview->waits, wait_group_clear);
	overview->ended = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	overview->calls = calls_of(session);
	find_idle(session, totals);
	for (guint i = 0; i < totals->len; i++) {
		const struct thread_total *total = &g_array_index(totals, struct thread_total, i);
		const struct thread *thread = model_thread(&session->model, total->thread);

		overview->kernel_threads += total->kernel;
		if (total->idle && !total->kernel) {
			overview->idle_threads++;
			overview->idle_ns += total->wib[WIB_BLOCKED];
		}
		if (total->idle)
			continue;
		g_array_append_vals(overview->threads, total, 1);
		group_waits(session, total->thread, overview->waits);
		if (thread->born && thread->state == THREAD_DEAD && thread->end <= session->to)
			g_array_append_vals(born, total, 1);
	}
	g_array_sort(overview->threads, most_waiting);
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
	g_free(overview);
}
