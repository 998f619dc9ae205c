/* SPDX-License-Identifier: MIT */
/* The waiting that threads and resources impose on others, over all threads: a
 * wait-for graph weighted by time, the time redistributed down its chains.
 *
 * Place: imposed/, the part of the overview that answers without a target.
 *
 *   A  ──┤ waits for B                    ├──
 *   B  ──work──┤ waits for C     ├──work──      of A's wait: B's work is B's,
 *   C  ────────┤ disk    ├─work──               the rest C's: its work, and the disk's
 *
 * Every wait of a user thread is led to who or what ended it (wait_lead(), as in
 * causality) and walked down over the intervals meanwhile, clipped, to what people
 * can act on: a thread that worked, slept by its own timer, waited for a CPU, or a
 * device. All of a wait's time goes to threads, but for what only hardware took.
 * Time ready without a CPU is imposed by who ran there. Not imposed, and summed
 * apart: sleeps by one's own timer, waits for a next request (contacts.h, inferred),
 * waits that nobody ended (but for a lock whose holder is known: locks.h), waits whose end is
 * unknown, waits of shells and the like for the programs that they started (waits for a child by
 * who was there before the trace; these only say how long the programs ran), and waits of the
 * tracer's own processes (named lttng or lttng-*).
 *
 * A resource has, of these waits: a device, or a peer in the network, the time at
 * the chains' ends; a lock, the time in which threads waited for it themselves; the
 * CPU, the time in which its quota or its way out of idling kept threads waiting.
 * So threads and resources are two views, not two parts.
 *
 * Cost is bounded: of each thread the WAITS_MAX longest waits are followed, chains
 * to a depth of DEPTH_MAX, and all in all STEPS_MAX intervals; where these are not
 * enough, each thread has its share of them; and RUNS_MAX runs of those who had the CPU.
 * What is left out is said.
 * Source: the wait-for graphs of lttng-based work
 * on waiting dependency (Ezzati-Jivan, Fournier, Dagenais); rules 1 to 4 of
 * semantics.md, "Blocking causality".
 */
#ifndef WHYLATE_IMPOSED_WAITING_H
#define WHYLATE_IMPOSED_WAITING_H

#include "imposed/contacts.h"

/* What a thread did while others waited for it. */
enum imposed {
	IMPOSED_WORK,   /* worked, or was interrupted */
	IMPOSED_CPU,    /* was ready, without a CPU */
	IMPOSED_SLEEP,  /* slept by its own timer */
	IMPOSED_DEVICE, /* waited for a device, the network, an interrupt */
	IMPOSED_OTHER,  /* what is not known, or waited for who waits for it */
	IMPOSED_RAN,    /* ran where others were ready to */
	IMPOSED_KINDS
};

struct imposer {
	uint32_t thread;   /* NO_THREAD: a resource */
	uint32_t resource; /* interned key, 0: a thread */
	uint16_t host;
	int64_t ns;
	int64_t by[IMPOSED_KINDS]; /* sums to ns; of a thread */
	int64_t through;   /* thread: of waits that led to it, or over it to others */
	uint32_t waiters;  /* different threads */
	uint32_t waiter;   /* the one that lost most to it in one wait, … */
	int64_t begin, end; /* … and that wait */
	int64_t worst;     /* … and how much */
	bool spans_gap;    /* events were lost during some of these waits */
};

/* Threads that wait for each other in a circle (over all of the time), or one
 * thread or resource that takes much of all waiting; none if that is little. */
struct knot {
	GArray *threads;   /* owned; uint32_t; none: a resource alone */
	uint32_t resource; /* what most of it was waited on, 0: not known */
	uint16_t host;     /* … where */
	int64_t ns;
	uint32_t waiters;
	bool circle;
};

struct waiting {
	GArray *imposers;   /* struct imposer; largest first, threads and resources */
	GArray *knots;      /* struct knot; largest first */
	GArray *edges;      /* struct waited_for, most time first; NULL: not asked for (--format
			       html shows it) */
	int64_t imposed;    /* sum over the waits that count */
	int64_t by_threads; /* of that: on threads; the sum over `imposers` that are threads */
	int64_t own, idle, open, unknown, children, tracer; /* not imposed: see above */
	int64_t left_out;   /* ns of waits not followed, … */
	uint64_t left_out_count; /* … and their number */
};

struct waiting *waiting_new(const struct session *session);
void waiting_free(struct waiting *waiting);

const char *imposed_text(enum imposed kind);

/* knots.c: a wait of `waiter` that led to `lead`, on `resource`. */
struct direct {
	uint32_t waiter, lead, resource;
	int64_t ns;
	uint16_t host; /* the waiter's */
};
void knots_find(struct waiting *waiting, const GArray *directs, uint32_t thread_count);

/* edges.c: all waits of one thread that led to one other, on one resource. */
struct waited_for {
	uint32_t waiter, lead, resource;
	int64_t ns;
	uint64_t count;
};
/* Of struct direct, which it sorts. */
GArray *edges_new(GArray *directs);

#endif
