/* SPDX-License-Identifier: MIT */
/* Which commands can answer from this trace, and what stands in their way.
 *
 * Place: check/. From the table in needs.c, and from what befell the recording: lost
 * events, damage, CPUs that begin late, clocks.
 */
#ifndef WHYLATE_CHECK_CHECK_H
#define WHYLATE_CHECK_CHECK_H

#include "run/coverage.h"

enum answer { ANSWER_YES, ANSWER_DEGRADED, ANSWER_NO };
enum finding_kind {
	FINDING_EVENT,     /* not recorded */
	FINDING_CONTEXT,
	FINDING_STATEDUMP,
	FINDING_SYMBOLS,
	FINDING_LOST,      /* by the tracer */
	FINDING_DAMAGE,    /* of a file, or reading stopped */
	FINDING_TRACE,     /* CPUs, hosts, clocks */
	FINDING_USER_TRACE /* beside it; nothing is missing */
};

struct finding {
	enum finding_kind kind;
	char *name;        /* owned; of what is missing */
	char *means;       /* owned; what is not known for that */
	char *remedy;      /* owned; how to record it, a command line mostly; NULL: none */
	unsigned impossible, degraded, poorer; /* bit per enum command */
};

struct check {
	enum answer answers[COMMAND_COUNT];
	GArray *findings;  /* owned; struct finding, the gravest first */
};

/* Commands that analyse traces, and so have an answer. */
#define CHECKED_COMMANDS                                                                           \
	(1u << COMMAND_OVERVIEW | 1u << COMMAND_DELAY | 1u << COMMAND_PROFILE |                    \
	 1u << COMMAND_REQUESTS | 1u << COMMAND_DIFF | 1u << COMMAND_FUNCTIONS)

void check_init(struct check *check, const struct session *session);
void check_clear(struct check *check);

/* "yes", "degraded", "no". */
const char *answer_text(enum answer answer);
/* "event", "lost-events", … */
const char *finding_kind_text(enum finding_kind kind);

#endif
