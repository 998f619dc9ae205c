/* SPDX-License-Identifier: MIT */
/* Knots of the wait-for graph: threads that wait for each other in a circle, and
 * the thread or resource at which much of all waiting ends.
 *
 * Part of imposed/ (waiting.h). An edge leads from a waiter to who ended its
 * wait, and weighs the sum of such waits; small ones are left out, as nearly
 * everything waits for everything once. A circle is a strongly connected component of
 * two threads or more (Tarjan's algorithm) of the waits for locks, that is one in time: they
 * take turns on one lock, or their waits have a moment in common, as in a deadlock. A client and
 * its server, a parent and its child, a thread and who kills it wait for each other by turns,
 * which is no circle: each such wait has its own end.
 */
#include "imposed/imposers.h"

#include <string.h>

#define EDGE_SHARE 0.002   /* of all that was imposed: smaller edges are left out */
#define KNOT_SHARE 0.02    /* smaller circles are */
#define ONE_LOCK 0.8       /* of a circle's waits are for that lock: turns on it */
#define BOTTLENECK 0.2     /* share of what was imposed that makes a bottleneck */
#define WAITERS_MIN 2      /* … and for how many, but for … */
#define ALONE 0.4          /* … such a share, which is one for a single thread */

struct edge {
	uint32_t from, to;
	int64_t ns;
};

static int by_ends(gconstpointer a, gconstpointer b)
{
	const struct direct *x = a, *y = b;

	if (x->waiter != y->waiter)
		return x->waiter < y->waiter ? -1 : 1;
	if (x->lead != y->lead)
		return x->lead < y->lead ? -1 : 1;
	return x->resource < y->resource ? -1 : x->resource > y->resource;
}

/* The edges that count, by `from`. */
static GArray *edges_of(const GArray *directs, int64_t least)
{
	GArray *edges = g_array_new(FALSE, FALSE, sizeof(struct edge));
	struct edge edge = {NO_THREAD, NO_THREAD, 0};

	for (guint i = 0; i <= directs->len; i++) {
		const struct direct *at =
			i < directs->len ? &g_array_index(directs, struct direct, i) : NULL;

		if (at && !at->lock)
			continue;
		if (at && at->waiter == edge.from && at->lead == edge.to) {
			edge.ns += at->ns;
			continue;
		}
		if (edge.ns >= least && edge.from != NO_THREAD)
			g_array_append_val(edges, edge);
		if (at)
			edge = (struct edge) {at->waiter, at->lead, at->ns};
	}
	return edges;
}

#define NOT_SEEN UINT32_MAX

/* Tarjan's search; `low` ends as the component's number for all its threads. */
struct search {
	const GArray *edges;
	uint32_t *number, *low, *component;
	GArray *stack; /* uint32_t */
	uint32_t next, components;
};

static guint first_edge(const GArray *edges, uint32_t from)
{
	guint low = 0, high = edges->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(edges, struct edge, middle).from < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A thread being searched, and its next edge: the recursion laid open, as a graph
 * of many threads would be too deep for it. */
struct visit {
	uint32_t thread;
	guint edge;
};

static void finish(struct search *search, uint32_t thread)
{
	uint32_t other;

	if (search->low[thread] != search->number[thread])
		return;
	do {
		other = g_array_index(search->stack, uint32_t, search->stack->len - 1);
		g_array_set_size(search->stack, search->stack->len - 1);
		search->component[other] = search->components;
	} while (other != thread);
	search->components++;
}

static void enter(struct search *search, GArray *visits, uint32_t thread)
{
	struct visit visit = {thread, first_edge(search->edges, thread)};

	search->number[thread] = search->low[thread] = search->next++;
	g_array_append_val(search->stack, thread);
	g_array_append_val(visits, visit);
}

static void visit_from(struct search *search, uint32_t start)
{
	g_autoptr(GArray) visits = g_array_new(FALSE, FALSE, sizeof(struct visit));

	enter(search, visits, start);
	while (visits->len) {
		struct visit *visit = &g_array_index(visits, struct visit, visits->len - 1);
		uint32_t thread = visit->thread, to;

		if (visit->edge == search->edges->len ||
		    g_array_index(search->edges, struct edge, visit->edge).from != thread) {
			finish(search, thread);
			g_array_set_size(visits, visits->len - 1);
			if (visits->len) {
				uint32_t above =
					g_array_index(visits, struct visit, visits->len - 1).thread;

				search->low[above] = MIN(search->low[above], search->low[thread]);
			}
			continue;
		}
		to = g_array_index(search->edges, struct edge, visit->edge++).to;
		if (search->number[to] == NOT_SEEN)
			enter(search, visits, to);
		else if (search->component[to] == NOT_SEEN)
			search->low[thread] = MIN(search->low[thread], search->number[to]);
	}
}

/* What a circle waited for most, of the waits inside it, and how long. */
static int64_t describe(struct knot *knot, const GArray *directs, const uint32_t *component,
			uint32_t number)
{
	g_autoptr(GArray) uses = g_array_new(FALSE, TRUE, sizeof(int64_t));
	struct idmap places; /* resource -> index in uses */
	int64_t most = 0;

	idmap_init(&places);
	for (guint i = 0; i < directs->len; i++) {
		const struct direct *at = &g_array_index(directs, struct direct, i);
		uint32_t place;
		int64_t *use;

		if (!at->lock || component[at->waiter] != number || component[at->lead] != number)
			continue;
		knot->ns += at->ns;
		place = idmap_get(&places, at->resource);
		if (place == IDMAP_NONE) {
			place = uses->len;
			idmap_set(&places, at->resource, place);
			g_array_set_size(uses, place + 1);
		}
		use = &g_array_index(uses, int64_t, place);
		*use += at->ns;
		if (*use > most) {
			most = *use;
			knot->resource = at->resource;
			knot->host = at->host;
		}
	}
	idmap_clear(&places);
	return most;
}

/* The longest waits of all its threads for each other have a moment in common. */
static bool is_at_once(const struct knot *knot, const GArray *directs, const uint32_t *component,
		       uint32_t number)
{
	int64_t begin = INT64_MIN, end = INT64_MAX;

	for (guint k = 0; k < knot->threads->len; k++) {
		const struct direct *longest = NULL;

		for (guint i = 0; i < directs->len; i++) {
			const struct direct *at = &g_array_index(directs, struct direct, i);

			if (at->lock && at->waiter == g_array_index(knot->threads, uint32_t, k) &&
			    component[at->lead] == number && (!longest || at->ns > longest->ns))
				longest = at;
		}
		if (!longest)
			return false;
		begin = MAX(begin, longest->begin);
		end = MIN(end, longest->begin + longest->ns);
	}
	return begin < end;
}

static void add_circles(struct waiting *waiting, const GArray *directs, const struct search *search,
			uint32_t thread_count)
{
	uint32_t *sizes = g_new0(uint32_t, search->components + 1);

	for (uint32_t i = 0; i < thread_count; i++)
		if (search->component[i] != NOT_SEEN)
			sizes[search->component[i]]++;
	for (uint32_t c = 0; c < search->components; c++) {
		struct knot knot = {.circle = true};
		int64_t most;

		if (sizes[c] < 2)
			continue;
		knot.threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		for (uint32_t i = 0; i < thread_count; i++)
			if (search->component[i] == c)
				g_array_append_val(knot.threads, i);
		knot.waiters = knot.threads->len;
		most = describe(&knot, directs, search->component, c);
		if ((double) knot.ns >= KNOT_SHARE * (double) waiting->imposed &&
		    ((double) most >= ONE_LOCK * (double) knot.ns ||
		     is_at_once(&knot, directs, search->component, c)))
			g_array_append_val(waiting->knots, knot);
		else
			g_array_free(knot.threads, TRUE);
	}
	g_free(sizes);
}

static void add_bottlenecks(struct waiting *waiting)
{
	for (guint i = 0; i < waiting->imposers->len; i++) {
		const struct imposer *imposer =
			&g_array_index(waiting->imposers, struct imposer, i);
		struct knot knot = {.ns = imposer->ns,
				    .resource = imposer->resource,
				    .host = imposer->host,
				    .waiters = imposer->waiters};

		if (imposer->tracer ||
		    (double) imposer->ns < (imposer->waiters < WAITERS_MIN ? ALONE : BOTTLENECK) *
						   (double) waiting->imposed)
			continue;
		knot.threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		if (imposer->thread != NO_THREAD)
			g_array_append_val(knot.threads, imposer->thread);
		g_array_append_val(waiting->knots, knot);
	}
}

static int largest_first(gconstpointer a, gconstpointer b)
{
	const struct knot *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (int) y->circle - (int) x->circle;
}

void knots_find(struct waiting *waiting, const GArray *directs, uint32_t thread_count)
{
	g_autoptr(GArray)
		sorted = g_array_sized_new(FALSE, FALSE, sizeof(struct direct), directs->len + 1);
	struct search search = {.next = 0};

	g_array_append_vals(sorted, directs->data, directs->len);
	g_array_sort(sorted, by_ends);
	search.edges = edges_of(sorted, MAX((int64_t) (EDGE_SHARE * (double) waiting->imposed), 1));
	search.number = g_new(uint32_t, thread_count + 1);
	search.low = g_new(uint32_t, thread_count + 1);
	search.component = g_new(uint32_t, thread_count + 1);
	search.stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	memset(search.number, 0xff, sizeof(uint32_t) * (thread_count + 1));
	memset(search.component, 0xff, sizeof(uint32_t) * (thread_count + 1));
	for (guint i = 0; i < search.edges->len; i++) {
		uint32_t from = g_array_index(search.edges, struct edge, i).from;

		if (search.number[from] == NOT_SEEN)
			visit_from(&search, from);
	}
	add_circles(waiting, sorted, &search, thread_count);
	add_bottlenecks(waiting);
	g_array_sort(waiting->knots, largest_first);
	g_array_free((GArray *) search.edges, TRUE);
	g_free(search.number);
	g_free(search.low);
	g_free(search.component);
	g_array_free(search.stack, TRUE);
}
