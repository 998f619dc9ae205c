/* SPDX-License-Identifier: MIT */
/* Who ran on a CPU while a thread was ready to: sums by name.
 *
 * Place: ready/, for the verdict and the overview. Source: semantics.md,
 * `by:NAME` (time split exactly by who ran).
 */
#ifndef WHYLATE_WAITS_RUNNERS_H
#define WHYLATE_WAITS_RUNNERS_H

#include "ready/ready.h"
#include "run/session.h"

struct runners {
	GHashTable *by; /* owned; name -> int64_t ns; NULL until something is added */
	int64_t ns;     /* sum */
	int64_t idle[READY_KINDS]; /* of it nobody ran, and why */
	int64_t pinned, free; /* of it READY_PINNED; in that, the other CPU was idle */
	int64_t longest;      /* … the longest of these: ns, and */
	struct ready worst;   /* … what it was */
	uint32_t rival;       /* … who had the CPU most of it, NO_THREAD */
	unsigned limits; /* that throttled: 1 << enum ready_limit */
	int deepest;    /* idle state of these, plus 1; 0: none recorded */
};

/* Adds [span.begin, span.end) of `thread`, which was preempted or waiting on the
 * CPU `span.ref`. Returns why. */
struct ready runners_add(struct runners *runners, const struct session *session, uint32_t thread,
			 const struct span *span);
/* The same where ready_of() is known. */
void runners_add_ready(struct runners *runners, const struct session *session, uint32_t thread,
		       const struct span *span, const struct ready *ready);
/* The same, but of nobody's time only: who else ran is not counted. */
struct ready runners_add_idle(struct runners *runners, const struct session *session,
			      uint32_t thread, const struct span *span);
void runners_clear(struct runners *runners);

/* "hog-0 52 %, hog-1 47 %": the three largest of at least 1 %; of nobody also
 * why: "nobody 76 % (slow wake-up from idle)". */
void runners_append(const struct runners *runners, GString *text);
/* "on it ran hog-0 52 %, hog-1 40 %, others 8 %; it was idle …", with the main reason of that
 * alone. `cpu`: what "it" is called. */
void runners_append_brief(const struct runners *runners, const char *cpu, GString *text);
/* "(inferred: …)": by which limits it was throttled. */
void runners_append_throttled(const struct runners *runners, GString *text);
/* Why nobody ran: "slow wake-up from idle, C-state 2"; with the time of each if
 * there are several reasons. Nothing if somebody always did. */
void runners_append_idle(const struct runners *runners, GString *text);
/* "CPU 1 was idle for 95 % of it: it is pinned to CPU 0 by itself (…), as is dbproc (259)": if the
 * thread was ready where others ran, half of the time or more while a CPU was idle to which it
 * may not go; else nothing, and false. */
bool runners_append_pinned(const struct runners *runners, const struct session *session,
			   uint32_t thread, GString *text);

#endif
