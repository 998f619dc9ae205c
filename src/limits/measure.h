/* SPDX-License-Identifier: MIT */
/* What limits are about, taken from one trace: for each subject (an operation, a thread, all of
 * them) sums that those of other traces can be added to.
 *
 * Place: limits/, between limits.h and judge.h. What lost events make doubtful is kept apart:
 * an operation that overlaps a hole may not have been one, time that is unknown may have been any.
 * Adding two measures is exact and order does not matter; percentiles are exact of one trace,
 * and known up to their bucket of several (`values` is of one trace only).
 *
 * Histograms have resolution 16, the finest that profiles have. A verdict stands only if what lost
 * events and unknown time make doubtful leads to the same verdict either way.
 */
#ifndef WHYLATE_LIMITS_MEASURE_H
#define WHYLATE_LIMITS_MEASURE_H

#include "limits/limits.h"
#include "run/session.h"
#include "util/histogram.h"

/* Buckets a factor of two: the finest that profiles have, so that coarser ones are sums of them. */
#define MEASURE_RESOLUTION 16
#define MEASURE_BUCKETS (OCTAVES * MEASURE_RESOLUTION)

struct measure {
	char *subject; /* owned; "syscall:read, nginx (213)" */
	struct histogram sure, doubtful; /* of latencies, at MEASURE_RESOLUTION */
	GArray *sure_values, *doubtful_values; /* owned; int64_t, sorted; NULL: not kept (several
						  traces, or no percentile is asked for) */
	GArray *parts; /* owned; double, ns: of the limit's state and of each condition's */
	double whole, unknown; /* ns: the threads' time, and that of it which is unknown; of a
				    function's: their work, and that of it without samples */
	double variance; /* ns²: what chance allows of so many samples, at 95 % */
	double value; /* duration (ns), lost (events) */
	bool open; /* duration: it began before the trace, or went on after it; lost:
				    a file is damaged */
	/* in one trace: where it is seen best */
	uint32_t thread; /* NO_THREAD: none */
	int64_t begin, end;
};

/* The measures of a limit, by subject. */
struct measures {
	GPtrArray *list; /* owned; struct measure; sorted by subject */
	bool merged; /* of several traces */
	char *lacks; /* owned; why there can be none, NULL */
};

struct measures *measures_new(const struct session *session, const struct limit *limit);
struct measures *measures_empty(void);
void measures_free(struct measures *measures);
/* The measure of that subject, a new one if there is none. */
struct measure *measures_find(struct measures *measures, const char *subject);
/* Adds what another trace, or several, had. */
void measures_add(struct measures *measures, const struct measures *others,
		  const struct limit *limit);

/* The session's threads, patterns and window as the limit narrows them: a copy to ask with. Clear
 * with measure_scope_clear(). False: no such thread is in the window. */
struct measure_scope {
	struct session session; /* shares all but what is below */
	struct options options;
	GArray *selected; /* owned */
	GPtrArray *operations; /* owned */
};
bool measure_scope_init(struct measure_scope *scope, const struct session *session,
			const struct limit *limit);
void measure_scope_clear(struct measure_scope *scope);

/* A limit on states counts this part of the thread's time: not a wait for a next request, or for
 * none (waits/idle.h). */
bool measure_counts(const struct session *session, uint32_t thread, const struct span *span);

#endif
