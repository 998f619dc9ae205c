/* SPDX-License-Identifier: MIT */
/* Ranking threads, waits and calls: the overview's lists, which findings and others share; see
 * wait_groups.h. */
#include "imposed/wait_groups.h"

#include "imposed/idle_threads.h"
#include "util/peaks.h"

static int64_t not_working(const struct thread_total *total)
{
	return total->wib[WIB_BLOCKED] + total->wib[WIB_INTERRUPTED];
}

/* The recorder's threads are behind all others: what they waited for delayed nobody. */
static int tracer_last(const bool *tracers, uint32_t x, uint32_t y)
{
	return tracers[x] - tracers[y];
}

static int most_waiting(gconstpointer a, gconstpointer b, gpointer tracers)
{
	const struct thread_total *x = a, *y = b;
	int last = tracer_last(tracers, x->thread, y->thread);

	if (last)
		return last;
	if (not_working(x) != not_working(y))
		return not_working(x) > not_working(y) ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int largest_wait(gconstpointer a, gconstpointer b, gpointer tracers)
{
	const struct wait_group *x = a, *y = b;
	int last = tracer_last(tracers, x->thread, y->thread);

	if (last)
		return last;
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
	uint64_t counts[OCTAVES];
	GArray *peaks;

	for (int i = 0; i < OCTAVES; i++)
		counts[i] = call->stat.buckets[i];
	peaks = peaks_find(counts, OCTAVES, 1);
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
	g_autofree bool *tracers = session_tracers(session);
	GArray *totals = thread_totals_new(session);
	GArray *born = g_array_new(FALSE, FALSE, sizeof(struct thread_total));
	g_autoptr(GHashTable)
		needed = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) g_array_unref);

	overview->threads = g_array_new(FALSE, FALSE, sizeof(struct thread_total));
	overview->waits = g_array_new(FALSE, FALSE, sizeof(struct wait_group));
	g_array_set_clear_func(overview->waits, wait_group_clear);
	overview->ended = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	overview->idle = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	overview->calls = calls_of(session);
	idle_threads_find(session, totals, needed);
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
		wait_groups_add(session, total->thread,
				g_hash_table_lookup(needed, GUINT_TO_POINTER(total->thread)),
				overview->waits);
		if (thread->born && thread->state == THREAD_DEAD &&
		    thread->end <= session->asked.to)
			g_array_append_vals(born, total, 1);
	}
	g_array_sort_with_data(overview->threads, most_waiting, tracers);
	wait_groups_name(overview->waits);
	g_array_sort_with_data(overview->waits, largest_wait, tracers);
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
