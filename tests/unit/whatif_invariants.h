/* SPDX-License-Identifier: MIT */
/* What must hold of every re-timing, whatever was fed (semantics.md, "What if", "Must hold"):
 *
 *   no rule         nothing moves, by no nanosecond
 *   shorter         nobody gets anywhere later: than recorded, and than with less of it gone;
 *                   two choices together save at least what each alone does
 *   order           nobody reaches later things sooner
 *   reach           of one thread alone, without those that it does not hang on: the same
 *
 * Stretches are chosen by chance, from a seed. For random events (test_random.c) and fuzzed ones.
 */
#ifndef WHYLATE_TESTS_WHATIF_INVARIANTS_H
#define WHYLATE_TESTS_WHATIF_INVARIANTS_H

#include <glib.h>

#include "whatif/retime.h"

static inline uint64_t choose_by_chance(guint32 seed, uint32_t thread, const struct span *span)
{
	uint64_t hash = seed;

	hash = (hash ^ thread) * UINT64_C(0x9E3779B97F4A7C15);
	hash = (hash ^ (uint64_t) span->begin) * UINT64_C(0xBF58476D1CE4E5B9);
	hash ^= hash >> 31;
	return (hash >> 8 & 1) | (hash >> 11 & 3) % 2 << 1;
}

/* Two things: stretches of all threads, each of none, one, or both. Free with gone_free(). */
static inline struct gone *gone_by_chance(const struct session *session, guint32 seed)
{
	struct gone *gone = gone_new(session);

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		struct spans spans;
		struct span span;

		spans_begin(&spans, session, i, session->asked.from, session->asked.to);
		while (spans_next(&spans, &span)) {
			uint64_t things = choose_by_chance(seed, i, &span);

			if (things)
				gone_add(gone, i,
					 (struct gone_part) {span.begin, span.end, things});
		}
	}
	gone_close(gone);
	return gone;
}

/* The scenarios in which each recorded time is looked at. */
enum { SCENARIO_SAME, SCENARIO_ONE, SCENARIO_OTHER, SCENARIO_BOTH, SCENARIO_FREE, SCENARIO_ALL };

static inline void
check_retimed_thread(const struct session *session, const struct retimed *retimed, uint32_t thread)
{
	int64_t before[SCENARIO_ALL];
	struct spans spans;
	struct span span;

	for (guint i = 0; i < SCENARIO_ALL; i++)
		before[i] = INT64_MIN;
	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next(&spans, &span)) {
		int64_t now[SCENARIO_ALL];

		for (guint i = 0; i < SCENARIO_ALL; i++) {
			now[i] = retimed_at(retimed, i, thread, span.end);
			g_assert_cmpint(now[i], >=, before[i]);
			g_assert_cmpint(now[i], <=, span.end);
			before[i] = now[i];
		}
		g_assert_cmpint(now[SCENARIO_SAME], ==, span.end);
		g_assert_cmpint(now[SCENARIO_BOTH], <=, now[SCENARIO_ONE]);
		g_assert_cmpint(now[SCENARIO_BOTH], <=, now[SCENARIO_OTHER]);
		g_assert_cmpint(now[SCENARIO_FREE], <=, now[SCENARIO_BOTH]);
	}
}

/* Re-timed for one thread's half of the window alone, that comes out the same. */
static inline void check_way(const struct session *session, struct rules *rules,
			     const struct retimed *all, const struct scenario *scenarios,
			     uint32_t thread)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	int64_t from = MAX(life->begin, session->asked.from);
	int64_t to = MIN(life->end, session->asked.to);
	struct way way = {thread, thread, from, from + (to - from) / 2};
	g_autoptr(GArray) ways = g_array_new(FALSE, FALSE, sizeof way);
	struct retimed *retimed;

	if (track_empty(&life->track) || from >= to)
		return;
	g_array_append_val(ways, way);
	retimed = retime_ways(session, rules, scenarios, SCENARIO_ALL, ways, session->asked.from,
			      session->asked.to);
	for (guint i = 0; i < SCENARIO_ALL; i++)
		g_assert_cmpint(retimed_at(retimed, i, thread, way.to), ==,
				retimed_at(all, i, thread, way.to));
	retimed_free(retimed);
}

#define WAYS_OF 8 /* of so many threads one has its way to it checked */

static inline void check_retimed(const struct session *session, guint32 seed)
{
	static const struct scenario scenarios[SCENARIO_ALL] = {[SCENARIO_ONE] = {1, 0},
								[SCENARIO_OTHER] = {2, 0},
								[SCENARIO_BOTH] = {3, 0},
								[SCENARIO_FREE] = {3, FREE_CPUS}};
	struct gone *gone = gone_by_chance(session, seed);
	struct rules *rules = rules_of_gone(session, gone, 2);
	struct retimed *retimed = retime(session, rules, scenarios, SCENARIO_ALL,
					 session->asked.from, session->asked.to);

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		check_retimed_thread(session, retimed, i);
	/* which one, the seed says: each takes as long as all that is before it here */
	for (uint32_t i = seed % WAYS_OF; i < session->trace.model.thread_count; i += WAYS_OF)
		check_way(session, rules, retimed, scenarios, i);
	retimed_free(retimed);
	rules_free(rules);
	gone_free(gone);
}

#endif
