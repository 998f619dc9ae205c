/* SPDX-License-Identifier: MIT */
/* Re-timing: when each thread would have reached what it reached, had some stretches been shorter
 * or longer.
 *
 *   T  ──work──┤ waits for W      ├──work──        N(T, e) = max(N(T, b), N(W, w) + (e - w))
 *              b                  e ▲
 *   W  ────work x0.5────┬ w ────────┘
 *
 * The same threads do the same things in the same order, woken by the same wakers; only lengths
 * change. With no rule nothing moves, to the ns. Several scenarios, each a choice of the rules,
 * are re-timed at once, as most of the time goes into reading the states and asking whom a wait
 * is led to.
 *
 * Place: whatif/, over waits/ (whom a wait is led to) and ready/. One pass over all threads'
 * stored states in time order; what is kept are the points where a thread's shift changes.
 * Source: semantics.md, "What if".
 */
#ifndef WHYLATE_WHATIF_RETIME_H
#define WHYLATE_WHATIF_RETIME_H

#include "run/session.h"
#include "rules/rules.h"
#include "whatif/reach.h"

#define SCENARIOS_MAX 64

/* Where the model is not sure, what it takes to be true. */
enum scenario_flags {
	FREE_CPUS = 1,    /* nobody waits for a CPU: the lower bound */
	ANCHORS_MOVE = 2, /* waits that keep their time of day, as nothing tells what they hang
			     on, keep their length instead */
	NO_INFERRED = 4,  /* who is only concluded to have been waited for is not followed: the
			     wait keeps its time of day */
	CPUS_AS_BEFORE = 8, /* whoever waited for a CPU on which another ran, and comes sooner, but
			       not before that one had begun to run, gets it when he did */
	SERVES_AT_ONCE = 16, /* whoever waits for what comes first, from anybody, takes it when it
				comes, also before what came from others first; and whoever wants
				a lock before the one who had it, has no wait for that */
};

/* The least and the most that a saving may be, by what is not sure. */
#define LOWEST (NO_INFERRED | CPUS_AS_BEFORE)
#define HIGHEST (ANCHORS_MOVE | SERVES_AT_ONCE)

struct scenario {
	uint64_t rules; /* a bit each */
	unsigned flags; /* enum scenario_flags */
};

struct retimed;

/* False: nothing may be told of a run without this or that, as one of the hosts is a guest of
 * another. What wakes its threads would stay where its virtual CPUs were recorded on their host. */
bool retime_holds(const struct session *session);

/* Of what all threads did in [from, to), which a rule may change; what was before stays. `rules`
 * count what they pick. 1 to SCENARIOS_MAX scenarios. Free with retimed_free(), before the
 * rules. */
struct retimed *retime(const struct session *session, struct rules *rules,
		       const struct scenario *scenarios, guint count, int64_t from, int64_t to);
/* The same, of those threads only that the ways (struct way; of none all) hang on, and as far as
 * they do: of others, and later, nothing may be asked. */
struct retimed *retime_ways(const struct session *session, struct rules *rules,
			    const struct scenario *scenarios, guint count, const GArray *ways,
			    int64_t from, int64_t to);
void retimed_free(struct retimed *retimed);

/* N(thread, time) in a scenario: when `thread` reaches what it reached at `time`; ns. */
int64_t retimed_at(const struct retimed *retimed, guint scenario, uint32_t thread, int64_t time);
/* The last time at which `thread` had reached no more than what it reaches at the new time. */
int64_t retimed_when(const struct retimed *retimed, guint scenario, uint32_t thread,
		     int64_t new_time);
/* The same; `near`: what a call before has left, of the same scenario and thread; at first 0. */
int64_t retimed_at_near(const struct retimed *retimed, guint scenario, uint32_t thread,
			int64_t time, uint32_t *near);
int64_t retimed_when_near(const struct retimed *retimed, guint scenario, uint32_t thread,
			  int64_t new_time, uint32_t *near);
/* ns that the way takes less than it did; below 0: more. */
int64_t retimed_saved(const struct retimed *retimed, guint scenario, const struct way *way);
/* The same of ways of one thread; `near`: what one before has left, of the same scenario; at first
 * 0. */
int64_t retimed_saved_near(const struct retimed *retimed, guint scenario, const struct way *way,
			   uint32_t *near);
/* Where `thread` first is not where it was: the time, and by how much; 0: nowhere. */
int64_t retimed_drift(const struct retimed *retimed, guint scenario, uint32_t thread, int64_t *at);
/* Orders that were kept and that SERVES_AT_ONCE has found another one for: locks' numbers, threads
 * that wait for what comes first. A set of order_of_lock() and order_of_thread(); borrowed. */
GHashTable *retimed_orders(const struct retimed *retimed);
static inline gpointer order_of_lock(uint32_t lock)
{
	return GSIZE_TO_POINTER((gsize) lock << 1 | 1);
}
static inline gpointer order_of_thread(uint32_t thread)
{
	return GSIZE_TO_POINTER((gsize) thread << 1);
}
/* Waits for each other at one and the same time, and for what was not over: how many. */
uint64_t retimed_cycles(const struct retimed *retimed);

#endif
