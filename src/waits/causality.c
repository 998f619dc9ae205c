/* SPDX-License-Identifier: MIT */
/* The tree of waits; see causality.h.
 *
 *   T  ──────┤ b        blocked          e ├── woken by P at e
 *   P  ──work──┤ blocked ├──work──────────▶    its waits in [b, e), clipped,
 *                                              are the children; the rest is P's share
 */
#include "waits/causality.h"

/* Waits explained below others in one report, if there is a limit at all: each thread of it has
 * its part of them, and EACH_MIN times its limit at least. Traces need 50 a thread, 300 at most. */
#define WAITS_MAX 200000
#define EACH_MIN 4

struct builder {
	const struct session *session;
	uint32_t limit;
	GPtrArray *level; /* borrowed waits that are to be explained, */
	GPtrArray *next;  /* and those below them, which come after all of these */
	uint32_t left;    /* so many waits may be added */
};

static void wait_free(gpointer data)
{
	struct wait *wait = data;

	if (wait->children)
		g_ptr_array_free(wait->children, TRUE);
	g_free(wait);
}

/* The longest first; among equals the earlier. */
static int by_length(gconstpointer a, gconstpointer b)
{
	const struct wait *x = *(struct wait *const *) a, *y = *(struct wait *const *) b;
	int64_t length_x = x->end - x->begin, length_y = y->end - y->begin;

	if (length_x != length_y)
		return length_x > length_y ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_begin(gconstpointer a, gconstpointer b)
{
	const struct wait *x = *(struct wait *const *) a, *y = *(struct wait *const *) b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static struct wait *wait_new(const struct session *session, uint32_t thread,
			     const struct span *span)
{
	struct wait *wait = g_new0(struct wait, 1);

	*wait = wait_of(session, thread, span);
	wait->spans_gap = session_spans_gap(session, thread, span);
	return wait;
}

static void add_share(struct wait *share, const struct span *span)
{
	int64_t *sums[] = {&share->unknown, &share->working, &share->interrupted, &share->blocked};

	*sums[leaf_wib(span->leaf)] += span->end - span->begin;
}

/* Keeps the longest `limit`; returns the length that a further one must pass. */
static int64_t cut(GPtrArray *waits, uint32_t limit)
{
	const struct wait *last;

	g_ptr_array_sort(waits, by_length);
	g_ptr_array_set_size(waits, (gint) limit);
	last = g_ptr_array_index(waits, limit - 1);
	return last->end - last->begin;
}

/* The waits of `thread` in [from, to); adds all its time to `share` if there
 * is one. */
static GPtrArray *collect(const struct builder *builder, uint32_t thread, int64_t from, int64_t to,
			  uint32_t *omitted, struct wait *share)
{
	const struct session *session = builder->session;
	GPtrArray *waits = g_ptr_array_new_with_free_func(wait_free);
	uint32_t limit = builder->limit, found = 0;
	int64_t shortest = -1;
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, from, to);
	while (spans_next(&spans, &span)) {
		int64_t length = span.end - span.begin;
		struct wait *wait;

		if (share)
			add_share(share, &span);
		if (!leaf_is_blocked(span.leaf) || length < session->asked.options->min_duration)
			continue;
		found++;
		if (length <= shortest)
			continue;
		wait = wait_new(session, thread, &span);
		wait_cut_at(wait, session, to);
		g_ptr_array_add(waits, wait);
		if (limit && waits->len >= 2 * limit + 16)
			shortest = cut(waits, limit);
	}
	if (limit && waits->len > limit)
		cut(waits, limit);
	*omitted = found - waits->len;
	g_ptr_array_sort(waits, by_begin);
	return waits;
}

/* The thread waits itself in `wait` or in one above it: it is being explained. */
static bool on_path(const struct wait *wait, uint32_t thread)
{
	for (; wait; wait = wait->above)
		if (wait->thread == thread)
			return true;
	return false;
}

/* Below `above` come these, as long as there is room; they are counted else. */
static void add_below(struct builder *builder, struct wait *above, GPtrArray *waits)
{
	if (builder->limit && waits->len > builder->left) {
		above->omitted += waits->len - builder->left;
		if (builder->left)
			cut(waits, builder->left);
		g_ptr_array_set_size(waits, (gint) builder->left);
		g_ptr_array_sort(waits, by_begin);
	}
	builder->left -= builder->limit ? waits->len : 0;
	for (guint i = 0; i < waits->len; i++) {
		struct wait *child = g_ptr_array_index(waits, i);

		child->above = above;
		g_ptr_array_add(builder->next, child);
	}
}

/* The waits of who queued the worker's item, before those of the worker. */
static void collect_first(struct builder *builder, struct wait *wait)
{
	const struct lead *lead = &wait->lead;
	GPtrArray *waits;
	uint32_t omitted;

	if (!is_thread(lead->first) || on_path(wait, lead->first))
		return;
	waits = collect(builder, lead->first, wait->begin, lead->first_until, &omitted, NULL);
	wait->omitted += omitted;
	for (guint i = 0; i < waits->len; i++)
		g_ptr_array_insert(wait->children, (gint) i, g_ptr_array_index(waits, i));
	g_ptr_array_set_free_func(waits, NULL);
	g_ptr_array_free(waits, TRUE);
	if (builder->limit && wait->children->len > builder->limit) {
		wait->omitted += wait->children->len - builder->limit;
		cut(wait->children, builder->limit);
		g_ptr_array_sort(wait->children, by_begin);
	}
}

/* Rule 2: "Walk P's own intervals over [b, e) (clipped), and apply the same
 * rules to each of P's Blocked intervals, one level deeper." */
static void explain(struct builder *builder, struct wait *wait, bool last)
{
	uint32_t waker;
	struct lead lead;

	if (!wait_lead(builder->session, wait, &lead))
		return;
	waker = lead.thread;
	if (on_path(wait, waker)) {
		wait->cycle = !lead.handed_over;
		return;
	}
	if (last) /* there is no deeper level */
		return;
	wait->has_share = true;
	wait->lead = lead;
	wait->children = collect(builder, waker, lead.from, lead.until, &wait->omitted, wait);
	collect_first(builder, wait);
	add_below(builder, wait, wait->children);
}

/* Level by level, so that where there are too many it is the deepest that are left out. */
static void explain_levels(struct builder *builder)
{
	uint32_t asked = builder->session->asked.options->depth;
	uint32_t depth = asked && asked < LEVELS_MAX ? asked : LEVELS_MAX;

	for (uint32_t i = 1; i <= depth && builder->level->len; i++) {
		GPtrArray *done = builder->level;

		for (guint k = 0; k < done->len; k++)
			explain(builder, g_ptr_array_index(done, k), i == depth);
		builder->level = builder->next;
		builder->next = done;
		g_ptr_array_set_size(done, 0);
	}
}

GPtrArray *causality_new(const struct session *session, uint32_t thread, int64_t from, int64_t to,
			 uint32_t limit, uint32_t *omitted)
{
	guint threads = MAX(session->asked.selected->len, 1);
	struct builder builder = {session, limit, g_ptr_array_new(), g_ptr_array_new(),
				  MAX(WAITS_MAX / threads, limit * EACH_MIN)};
	GPtrArray *waits = collect(&builder, thread, from, to, omitted, NULL);

	for (guint i = 0; i < waits->len; i++)
		g_ptr_array_add(builder.level, g_ptr_array_index(waits, i));
	explain_levels(&builder);
	g_ptr_array_free(builder.level, TRUE);
	g_ptr_array_free(builder.next, TRUE);
	return waits;
}
