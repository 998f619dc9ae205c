/* Who ran on a CPU while a thread was ready to: sums by name.
 *
 * Place: analysis/, for the verdict and the overview. Source: semantics.md,
 * `by:NAME` (time split exactly by who ran).
 */
#ifndef WHYLATE_ANALYSIS_RUNNERS_H
#define WHYLATE_ANALYSIS_RUNNERS_H

#include "analysis/session.h"

struct runners {
	GHashTable *by; /* owned; name -> int64_t ns; NULL until something is added */
	int64_t ns;     /* sum */
};

/* Adds [span.begin, span.end) of a thread that was preempted or waiting on the
 * CPU `span.ref` of `host`. */
void runners_add(struct runners *runners, const struct session *session, uint16_t host,
		 const struct span *span);
void runners_clear(struct runners *runners);

/* "hog-0 52 %, hog-1 47 %": the three largest of at least 1 %. */
void runners_append(const struct runners *runners, GString *text);
/* Share of the time in which nobody ran there. */
double runners_idle(const struct runners *runners);

/* The thread was throttled in `span`, which is *inferred*: it was runnable when it
 * left, yet the scheduler took the idle thread, and the CPU stayed idle. Nothing
 * but a used-up quota of its cgroup keeps a runnable thread off an idle CPU for
 * long (a move to another CPU does for some µs). Source: semantics.md, "Scheduled
 * out"; the kernel's pick_next_task_fair() passes over throttled groups. */
bool span_is_throttled(const struct session *session, uint16_t host, const struct span *span);

#endif
