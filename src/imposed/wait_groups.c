/* SPDX-License-Identifier: MIT */
/* Waits that have their state, resource and end in common; see wait_groups.h. */
#include "imposed/wait_groups.h"

#include "parts/make_parts.h"
#include "waits/idle.h"
#include "run/choosing.h"

#include "waits/summary.h"

void wait_group_clear(gpointer data)
{
	struct wait_group *group = data;

	cause_clear(&group->cause);
	runners_clear(&group->runners);
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

static bool is_idle_wait(const struct session *session, uint32_t thread, const struct span *span)
{
	struct wait wait;

	if (!leaf_is_blocked(span->leaf))
		return false;
	wait = wait_of(session, thread, span);
	return wait_is_idle(session, &wait);
}

void wait_groups_add(const struct session *session, uint32_t thread, GArray *needed, GArray *groups)
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
		struct ready ready;
		int64_t ns = needed_ns(needed, &at, &span);

		if (ns <= 0 || is_idle_wait(session, thread, &span))
			continue;
		ready = ready_of(session, thread, &span);
		if (ready.kind == READY_YIELDED)
			continue;
		if (ready.kind == READY_THROTTLED) {
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
			runners_add_ready(&group->runners, session, thread, &span, &ready);
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
void wait_groups_name(GArray *groups)
{
	for (guint i = 0; i < groups->len; i++) {
		struct wait_group *group = &g_array_index(groups, struct wait_group, i);
		GString *text;

		if (group->cause.kind != CAUSE_WAIT_CPU && group->waker_kind != THROTTLED)
			continue;
		text = g_string_new(
			group->waker_kind == THROTTLED ? "throttled " : "meanwhile on that CPU: ");
		if (group->waker_kind == THROTTLED)
			runners_append_throttled(&group->runners, text);
		else
			runners_append(&group->runners, text);
		group->cause.label = g_string_free(text, FALSE);
	}
}

struct groups_by_thread {
	const GArray *threads;
	GArray **groups; /* of each */
};

static void add_thread(const struct session *session, guint part, void *data)
{
	struct groups_by_thread *by = data;

	by->groups[part] = g_array_new(FALSE, TRUE, sizeof(struct wait_group));
	wait_groups_add(session, g_array_index(by->threads, uint32_t, part), NULL,
			by->groups[part]);
}

GArray *wait_groups_new(const struct session *session, const GArray *threads)
{
	GArray *groups = g_array_new(FALSE, TRUE, sizeof(struct wait_group));
	struct groups_by_thread by = {threads, g_new(GArray *, threads->len)};

	g_array_set_clear_func(groups, wait_group_clear);
	if (idle_know_for(session, threads->len))
		parts_make(session, threads->len, add_thread, &by);
	else
		for (guint i = 0; i < threads->len; i++)
			add_thread(session, i, &by);
	for (guint i = 0; i < threads->len; i++) {
		g_array_append_vals(groups, by.groups[i]->data, by.groups[i]->len);
		g_array_free(by.groups[i], TRUE);
	}
	g_free(by.groups);
	wait_groups_name(groups);
	return groups;
}
