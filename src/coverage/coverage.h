/* SPDX-License-Identifier: MIT */
/* What the trace could not tell: lost events, open ends, and events that were
 * not recorded.
 *
 * Place: coverage/. needs.c says what each analysis needs; check.c what that
 * means for each command. Source: semantics.md,
 * "Coverage".
 */
#ifndef WHYLATE_COVERAGE_COVERAGE_H
#define WHYLATE_COVERAGE_COVERAGE_H

#include "coverage/stalls.h"
#include "run/session.h"

struct coverage {
	uint64_t events, discarded_events, discarded_packets;
	guint gaps; /* of all CPUs */
	uint64_t entries_unseen, exits_unseen, wakeups_unseen;
	int64_t cpu_unknown_ns;
	uint64_t undescribed_threads;
	/* user threads, whole trace; ended by what is not known, by a softIRQ of
	 * which no more is known */
	int64_t blocked_ns, blocked_unknown_ns, blocked_softirq_ns;
	struct stalled stalled; /* CPUs did nothing and were not idle */
	int64_t read_from, read_until; /* of a window's trace; -1: from its begin, to its end */
	char *caution;       /* owned: what may make the first answer wrong; NULL */
	GPtrArray *missing;  /* owned strings */
	guint kinds_missing; /* … so many of them are kinds of data that were not recorded */
};

void coverage_init(struct coverage *coverage, const struct session *session);
/* The report is to tell of it: one of a stretch of those that end in it or later. */
bool coverage_tells_gap(const struct session *session, const struct gap *gap);
void coverage_clear(struct coverage *coverage);
/* What is missing besides events: "NAME: what that means", owned strings. Returns the time
 * in which CPUs did nothing and were not idle. */
struct stalled coverage_troubles(const struct session *session, GPtrArray *list);
double coverage_unknown_share(const struct coverage *coverage);
double coverage_softirq_share(const struct coverage *coverage);

/* Name of a kind of odd data, for --verbose. */
const char *odd_text(enum odd odd);

#endif
