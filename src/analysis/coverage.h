/* What the trace could not tell: lost events, open ends, and events that were
 * not recorded.
 *
 * Place: analysis/. One table (coverage.c) says what each analysis needs; the
 * commands that check or record traces read the same. Source: semantics.md,
 * "Coverage".
 */
#ifndef WHYLATE_ANALYSIS_COVERAGE_H
#define WHYLATE_ANALYSIS_COVERAGE_H

#include "analysis/session.h"

/* One thing an analysis needs of a trace. */
struct need {
	const char *name;    /* as LTTng has it, for people */
	enum event_kind kinds[3]; /* any one of them fulfils it; EV_OTHER ends the list */
	const char *without; /* what is lost */
	const char *recorded_by; /* the lttng line that would add it */
	bool (*fulfilled)(const struct session *session); /* NULL: by kinds */
};

extern const struct need needs[]; /* ends with name NULL */
bool need_is_met(const struct session *session, const struct need *need);

struct coverage {
	uint64_t events, discarded_events, discarded_packets;
	uint64_t entries_unseen, exits_unseen, wakeups_unseen;
	int64_t cpu_unknown_ns;
	uint64_t undescribed_threads;
	/* user threads, whole trace; ended by what is not known, by a softIRQ of
	 * which no more is known */
	int64_t blocked_ns, blocked_unknown_ns, blocked_softirq_ns;
	GPtrArray *missing;  /* owned strings */
};

void coverage_init(struct coverage *coverage, const struct session *session);
void coverage_clear(struct coverage *coverage);
double coverage_unknown_share(const struct coverage *coverage);
double coverage_softirq_share(const struct coverage *coverage);

/* Name of a kind of odd data, for --verbose. */
const char *odd_text(enum odd odd);

#endif
