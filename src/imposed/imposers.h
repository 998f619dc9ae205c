/* SPDX-License-Identifier: MIT */
/* Who and what imposed waiting on others, as waiting.h finds it.
 *
 * Place: imposed/, what all its files know.
 */
#ifndef WHYLATE_IMPOSED_IMPOSERS_H
#define WHYLATE_IMPOSED_IMPOSERS_H

#include "waits/wait.h"

/* What a thread did while others waited for it. */
enum imposed {
	IMPOSED_WORK,   /* worked, or was interrupted */
	IMPOSED_CPU,    /* was ready, without a CPU */
	IMPOSED_SLEEP,  /* slept by its own timer */
	IMPOSED_DEVICE, /* waited for a device, an interrupt */
	IMPOSED_LIMIT, /* was kept back by the kernel: memory.high, io.max, dirty pages */
	IMPOSED_NETWORK, /* waited for a packet: its way, a peer that is not traced */
	IMPOSED_SILENCE, /* did not answer, or end, in the time that was given to it */
	IMPOSED_OTHER,  /* what is not known, or waited for who waits for it */
	IMPOSED_RAN,    /* ran where others were ready to */
	IMPOSED_IN_WAY, /* is named by the wait's reason: its data were in the way */
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
	struct wait told;  /* resource: what lost most to it, if that has a reason; block NULL */
	int64_t told_ns;
	bool spans_gap;    /* events were lost during some of these waits */
	bool tracer;       /* a thread of the recorder's: it stands behind all others */
};

/* Threads that wait for each other in a circle: for one lock that they take turns on, or at one
 * time; or one thread or resource that takes much of all waiting; none if that is little. */
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
	GArray *lost;       /* int64_t, of each thread: what was imposed on it */
	int64_t imposed;    /* sum over the waits that count */
	int64_t by_threads; /* of that: on threads; the sum over `imposers` that are threads */
	int64_t own, idle, open, unknown, children, tracer; /* not imposed: see above */
	int64_t left_out;   /* ns of waits not followed, … */
	uint64_t left_out_count; /* … and their number */
};

/* knots.c: a wait of `waiter` that led to `lead`, on `resource`. */
struct direct {
	uint32_t waiter, lead, resource;
	bool lock; /* it is one */
	int64_t begin, ns;
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
