/* SPDX-License-Identifier: MIT */
/* What requests cost, and what for: each stretch of a request is put down to one cause, and
 * the causes are summed.
 *
 * Place: tracking/, between requests.h and the reports. For --metric latency the stretches
 * are the pieces of the request's path, so its causes sum to its latency; for the others
 * they are what the threads did while they worked on the request (struct working).
 *
 * A wait for a lock is the lock's, whatever its owner did with it meanwhile; a wait for who
 * himself waits for a device, the device's; and so on: the cause is where the critical path
 * ends. The call and the file through which the request's own thread came to it are part of
 * its name. Source: the summaries of X-ray (Attariyan, Chow, Flinn, OSDI 2012), with causes
 * from the kernel's trace in place of configuration tokens.
 */
#ifndef WHYLATE_TRACKING_REQUEST_COSTS_H
#define WHYLATE_TRACKING_REQUEST_COSTS_H

#include "path/function_totals.h"
#include "tracking/piece_cause.h"
#include "timeline/saving.h"

#define CAUSE_EXAMPLES 8
#define COSTS_OF_PAGE 2000 /* requests whose costs a page shows: the slowest */

struct user_cause {
	const char *kind;     /* static: cause_kind_text(), "other-request", "call", "file" … */
	char *label;          /* owned */
	enum user_change change;
	int64_t value;        /* ns, bytes or calls, by metric; over the listed requests */
	double squares;       /* sum of the squares of each request's */
	bool spans_gap;       /* some of these requests do */
	uint32_t requests;    /* that it touched: */
	uint32_t ids[CAUSE_EXAMPLES]; /* … the first of them */
	int64_t latencies;    /* … and what all of these took, ns */
	int64_t slow;         /* value in the slowest tenth (costs.slow) */
	uint32_t slow_requests; /* … of which it touched so many */
	uint32_t closed;      /* while it is filled: of so many requests */
	uint32_t thread;      /* … where its largest part is seen: who, */
	int64_t begin, end;   /* … when, */
	uint32_t request;     /* … in which request: place from 0 */
	int64_t largest;      /* … and how much */
	int64_t first;        /* when it is seen first */
	uint32_t first_thread;
	struct saving mean;   /* a request, without it; not known until somebody finds out */
	struct saving p90;    /* … 90 % of them take no longer than so much less */
};

/* Of one request (`listed`: place in requests->listed), one cause. */
struct cost {
	uint32_t listed, cause;
	int64_t value;
	struct saving saving; /* of the request, without the cause in any */
};

/* A stretch of a thread's time that was put down to a cause. */
struct put_down {
	uint32_t cause, thread;
	int64_t begin, end;
};

/* The slowest are slow if they take so many times as long as half of them. */
#define SLOW_SPREAD 1.5

/* Of one request on its way, a thread's part. */
struct thread_cost {
	uint32_t listed, thread;
	int64_t ns;
};

struct costs {
	const struct user_requests *requests; /* borrowed */
	struct piece_namer *namer; /* owned; what the threads and pieces are called */
	GArray *causes;   /* struct user_cause; largest first */
	GArray *costs; /* struct cost by listed, largest first; of the slowest requests only, as
			     many as --limit lets a report name */
	GArray *functions; /* struct function_total, of all ways; with --metric latency; NULL */
	GArray *stretches; /* struct put_down, as they were met; NULL: not asked for, or too many */
	GArray *threads; /* struct thread_cost by listed, largest first; with --metric latency */
	int64_t total; /* over the causes */
	/* the slowest tenth, of it those that are SLOW_SPREAD, if there are any; one at least: */
	uint32_t slow_count;
	int64_t slow_ns; /* … what they took together, */
	int64_t slow_from; /* … the fastest of them, ns */
	uint32_t not_followed; /* requests whose ways were not looked for: requests.h */

	/* while it is filled */
	GHashTable *index; /* kind and label -> place in causes, from 1 */
	struct idmap places; /* listed and cause -> place in costs */
	guint8 *kept; /* owned; by listed: its costs are; NULL: all */
	guint8 *is_slow; /* owned; by listed: it is one of slow_count */
};

struct costs *costs_new(const struct user_requests *requests);
/* … with their stretches, as far as --metric latency has them. */
struct costs *costs_new_with_stretches(const struct user_requests *requests);
/* … whose threads are called as `namer`, which it takes, does. */
struct costs *costs_new_named(const struct user_requests *requests, struct piece_namer *namer);
void costs_free(struct costs *costs);

/* With the stretches, the costs of those are kept, too, that stand for all: all, or of very many
 * some that are spread evenly. */
bool costs_stand_for_all(const struct costs *costs, guint listed);

/* The costs of one listed request: [*first, *end) of costs->costs; of its threads. */
void costs_of(const struct costs *costs, guint listed, guint *first, guint *end);
void thread_costs_of(const struct costs *costs, guint listed, guint *first, guint *end);

/* What the part of a piece of a request's path from `at` until *until is put down to: its kind,
 * static; its label. */
const char *piece_part_put_down_to(const struct costs *costs, const struct user_request *request,
				   const struct path *path, const struct piece *piece, int64_t at,
				   int64_t *until, GString *label, enum user_change *change);

/* "ns", "bytes", "calls": what the values of a metric are. */
const char *metric_unit(enum metric metric);

static inline const struct user_request *listed_request(const struct costs *costs, guint listed)
{
	return user_request_at(costs->requests,
			       g_array_index(costs->requests->listed, uint32_t, listed));
}
static inline enum metric metric_of(const struct costs *costs)
{
	return costs->requests->session->asked.options->requests.metric;
}

#endif
