/* SPDX-License-Identifier: MIT */
/* What must hold of a finished session whatever was fed into it: states tile each
 * life, children sum to their parent, the critical path tiles the window, every
 * wait has a cause, peaks and parts make up what they are of, holders of a lock lie
 * in the wait for it. For random events (test_random.c) and fuzzed ones
 * (tests/fuzz/).
 *
 * Source: semantics.md, "Working, Interrupted, Blocked" (tiling), "Critical path".
 */
#ifndef WHYLATE_TESTS_INVARIANTS_H
#define WHYLATE_TESTS_INVARIANTS_H

#include <glib.h>
#include <limits.h>

#include "whylate/whylate.h"

#include "contention/contention.h"
#include "contention/holders.h"

/* Of a node and all below it. */
static inline int64_t sum_of(const struct node *node)
{
	int64_t sum = 0, length = 0;

	for (guint i = 0; i < node->instances->len; i++) {
		const struct instance *at = &g_array_index(node->instances, struct instance, i);

		g_assert_cmpint(at->begin, <, at->end);
		length += at->end - at->begin;
	}
	g_assert_cmpint(length, ==, node->ns);
	g_assert_cmpuint(node->count, ==, node->instances->len);
	for (guint i = 0; i < node->children->len; i++)
		sum += sum_of(g_ptr_array_index(node->children, i));
	if (node->children->len)
		g_assert_cmpint(sum, ==, node->ns);
	return node->ns;
}

/* Each wait has a cause that can be said, and children inside it. */
static inline void check_waits(const struct session *session, const GPtrArray *waits, int64_t from,
			       int64_t to)
{
	for (guint i = 0; i < waits->len; i++) {
		const struct wait *wait = g_ptr_array_index(waits, i);
		struct cause cause = wait_cause(session, wait);

		g_assert_nonnull(cause.label);
		cause_clear(&cause);
		g_assert_cmpint(wait->begin, >=, from);
		g_assert_cmpint(wait->end, <=, to);
		if (wait->children)
			check_waits(session, wait->children, wait->begin, wait->end);
	}
}

static inline void check_thread(const struct session *session, uint32_t index)
{
	const struct thread *thread = model_thread(&session->trace.model, index);
	int64_t at = MAX(thread->begin, session->asked.from),
		to = MIN(thread->end, session->asked.to);
	struct node *summary;
	struct path *path;
	struct spans spans;
	struct span span;
	GPtrArray *waits;
	uint32_t omitted;

	if (at >= to)
		return;
	spans_begin(&spans, session, index, session->asked.from, session->asked.to);
	while (spans_next(&spans, &span)) {
		g_assert_cmpint(span.begin, ==, at);
		g_assert_cmpint(span.end, >, at);
		at = span.end;
	}
	g_assert_cmpint(at, ==, to);
	summary = summary_new(session, index, session->asked.from, session->asked.to);
	g_assert_cmpint(sum_of(summary), ==, to - MAX(thread->begin, session->asked.from));
	node_free(summary);
	path = path_new(session, index, session->asked.from, session->asked.to);
	at = session->asked.from;
	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);

		g_assert_cmpint(piece->begin, ==, at);
		at = piece->end;
	}
	g_assert_cmpint(at, ==, session->asked.to);
	path_free(path);
	waits = causality_new(session, index, session->asked.from, session->asked.to, 0, &omitted);
	check_waits(session, waits, session->asked.from, session->asked.to);
	g_ptr_array_free(waits, TRUE);
}

static inline void check_threads(const struct session *session)
{
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		check_thread(session, i);
}

/* Parts sum to what they are parts of, and no count exceeds what it counts. */
static inline void check_part(const struct part *part)
{
	int64_t sum = part->children->len ? part->own_ns : part->ns;

	g_assert_cmpint(part->ns, >=, 0);
	g_assert_cmpuint(part->maxcount, <=, part->operations);
	g_assert_cmpint(part->sum, ==, 0);
	for (guint i = 0; i < part->children->len; i++) {
		const struct part *child = g_ptr_array_index(part->children, i);

		if (!part_is_own(child)) /* what own_ns is */
			sum += child->ns;
		g_assert_cmpuint(child->operations, <=, part->operations);
		check_part(child);
	}
	g_assert_cmpint(sum, ==, part->ns);
}

/* How many profiles there are; 0: none, or what was asked for is not there. */
static inline guint check_profiles(const struct session *session)
{
	g_autoptr(GError) error = NULL;
	guint found;
	struct profiles *profiles = profiles_new(session, 2, &error);

	if (!profiles) {
		g_assert_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE);
		return 0;
	}
	roots_search(profiles);
	for (guint i = 0; i < profiles->list->len; i++) {
		const struct profile *profile = g_ptr_array_index(profiles->list, i);
		uint64_t count = 0;
		int64_t sum = 0;

		for (guint p = 0; p < profile->peaks->len; p++) {
			const struct peak *peak = &g_array_index(profile->peaks, struct peak, p);

			count += peak->count;
			sum += peak->sum;
			g_assert_cmpuint(peak->roots->len, >, 0);
			g_assert_cmpint(peak->tree->ns, ==, peak->sum);
			check_part(peak->tree);
		}
		g_assert_cmpuint(count, ==, profile->count);
		g_assert_cmpint(sum, ==, profile->sum);
		g_assert_cmpint(profile->min, <=, profile->percentiles[0]);
		g_assert_cmpint(profile->percentiles[2], <=, profile->max);
	}
	found = profiles->list->len;
	profiles_free(profiles);
	return found;
}

/* Owners lie in the wait, one after the other where only one can have the lock, and
 * with what is between them make it up. */
static inline void check_lock(const struct session *session, const struct hold *wait,
			      uint32_t number)
{
	struct block block = {.lock = number};
	struct lock_wait *lock =
		lock_wait_new(session, &block, wait->thread, wait->begin, wait->end);
	int64_t at = wait->begin, sum = 0, length = wait->end - wait->begin;

	if (!lock)
		return;
	lock_wait_look(session, lock, UINT_MAX);
	for (guint i = 0; i < lock->holdings->len; i++) {
		const struct holding *holding = &g_array_index(lock->holdings, struct holding, i);

		g_assert_cmpint(holding->begin, >=, wait->begin);
		g_assert_cmpint(holding->begin, <, holding->end);
		g_assert_cmpint(holding->end, <=, wait->end);
		if (lock->lock->kind <= LOCK_PI)
			g_assert_cmpint(holding->begin, >=, at);
		at = holding->end;
	}
	for (guint i = 0; i < lock->holders->len; i++)
		sum += g_array_index(lock->holders, struct holder, i).ns;
	g_assert_cmpint(lock->between, >=, 0);
	if (lock->lock->kind <= LOCK_PI)
		g_assert_cmpint(sum + lock->between, ==, length);
	lock_wait_free(lock);
}

/* How many locks were waited for in the window. */
static inline guint check_locks(const struct session *session)
{
	GArray *list = contention_new(session, NULL, session->asked.from, session->asked.to);
	guint seen = list->len;

	g_array_free(list, TRUE);
	for (uint32_t i = 1; i <= session->trace.flow.locks->len; i++) {
		const struct lock *lock = lock_at(&session->trace.flow, i);

		for (uint32_t k = 0; k < lock->waits.used; k++)
			check_lock(session,
				   hold_at(&session->trace.timeline.holds, &lock->waits, k), i);
	}
	return seen;
}

#endif
