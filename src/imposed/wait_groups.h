/* SPDX-License-Identifier: MIT */
/* The overview: what is in a trace nobody knows yet.
 *
 * Place: imposed/. Who worked and who waited most and for what; waiting
 * that delayed nobody is folded into one sum. A thread counts as idle when
 * it was there before and after the trace, hardly worked, and no wait of a
 * thread that is not idle ended by it (found by following waits from those
 * threads to their wakers, and on). Of a thread that would be idle but for
 * having been waited for, only what it waited meanwhile counts.
 */
#ifndef WHYLATE_IMPOSED_WAIT_GROUPS_H
#define WHYLATE_IMPOSED_WAIT_GROUPS_H

#include "imposed/idle_threads.h"
#include "waits/causes.h"
#include "ready/runners.h"
#include "run/session.h"

/* Waits of one thread that have the leaf, resource and cause in common. */
struct wait_group {
	uint32_t thread, leaf, resource;
	uint8_t waker_kind;
	uint32_t waker;      /* thread that ended the longest, NO_THREAD */
	uint64_t count;
	int64_t ns, longest;
	int64_t longest_begin, longest_end;
	int64_t last_end;    /* while it is built */
	struct runners runners; /* of time ready but without a CPU */
	bool spans_gap;      /* some of it overlaps lost events */
	struct cause cause;  /* of the longest; label owned */
};

struct call_total {
	uint32_t name;
	struct call_stat stat;
	unsigned peaks;      /* of its latencies: peaks.h */
	unsigned clear_peaks; /* … with more than a few calls */
};

struct overview {
	GArray *threads;     /* struct thread_total; not idle, most not working first */
	GArray *waits;       /* struct wait_group of these, longest sum first */
	GArray *calls;       /* struct call_total, largest sum first */
	GArray *ended;       /* uint32_t: threads that came and went, longest first */
	GArray *idle;        /* uint32_t: idle threads that are not the kernel's */
	uint64_t kernel_threads;
	int64_t idle_ns;     /* what the idle ones waited */
};

struct overview *overview_new(const struct session *session);
void overview_free(struct overview *overview);
/* The waits of these threads (uint32_t) in the session's window: struct wait_group, in no order.
 * Free with g_array_free(). */
GArray *wait_groups_new(const struct session *session, const GArray *threads);
/* The waits of a thread, of which only what lies in `needed` counts (struct needed, see
 * idle_threads.h; NULL: all); then, when all have been added, names of what has no waker. */
void wait_groups_add(const struct session *session, uint32_t thread, GArray *needed,
		     GArray *groups);
void wait_groups_name(GArray *groups);
void wait_group_clear(gpointer group);

#endif
