/* SPDX-License-Identifier: MIT */
/* Which commands can answer from this trace, and what stands in their way.
 *
 * Place: check/. From what each command needs (struct command_needs), and from what befell the
 * recording: lost events, damage, CPUs that begin late, clocks.
 */
#ifndef WHYLATE_CHECK_CHECK_H
#define WHYLATE_CHECK_CHECK_H

#include "run/command.h"
#include "coverage/coverage.h"
#include "coverage/needs.h"

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
	unsigned impossible, degraded, poorer; /* bit per command of struct check */
	int need;          /* enum need_name; -1: it is none of these */
};

#define CHECK_COMMANDS_MAX 32
struct check {
	/* borrowed; those that need something of a trace, and so have an answer */
	const struct command *commands[CHECK_COMMANDS_MAX];
	enum answer answers[CHECK_COMMANDS_MAX];
	guint count;       /* of both */
	enum traced_by tracer; /* of the trace */
	GArray *findings;  /* owned; struct finding, the gravest first */
};

/* check_answer.c: the first sentences of the report, owned: what can be answered, and the gravest
 * that is missing. Free with g_ptr_array_unref(). */
GPtrArray *check_answer(const struct check *check, const struct session *session);
/* … and the one line with which a next recording has all of it (of much, whylate's own), or if
 * nothing grave is missing what would tell more; NULL: nothing is, or no recording prevents it.
 * Free with g_free(). */
char *check_record_with(const struct check *check);
/* The line that makes buffers larger. */
const char *check_buffers(enum traced_by tracer);
/* What may keep that from changing anything; NULL. */
const char *check_record_note(const struct check *check);

/* All commands' bits. */
unsigned check_all(const struct check *check);
void check_init(struct check *check, const struct session *session);
void check_clear(struct check *check);

/* check_report.c */
struct output;
void check_json(const struct session *session, struct output *output);
void check_text(const struct session *session, struct output *output);

/* "yes", "degraded", "no". */
const char *answer_text(enum answer answer);
/* "event", "lost-events", … */
const char *finding_kind_text(enum finding_kind kind);

#endif
