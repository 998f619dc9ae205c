/* SPDX-License-Identifier: MIT */
/* What the analyses need of a trace, and how to record it.
 *
 * Place: coverage/. One table: the coverage of each report, `check` and the presets of
 * `record` go by it. Which command needs what is said by its own struct command_needs. Source:
 * lttng-events.md for what is traced where.
 */
#ifndef WHYLATE_COVERAGE_NEEDS_H
#define WHYLATE_COVERAGE_NEEDS_H

#include <stdbool.h>

#include "event/kinds.h"

struct session;

enum need_name {
	NEED_SWITCH,
	NEED_ALL_THREADS,
	NEED_WAKING,
	NEED_WAKEUP,
	NEED_FORK,
	NEED_EXEC,
	NEED_SYSCALLS,
	NEED_IRQ,
	NEED_SOFTIRQ,
	NEED_VECTOR,
	NEED_HRTIMER,
	NEED_BLOCK,
	NEED_BIO,
	NEED_WORK,
	NEED_NET_RECEIVE,
	NEED_NET_SEND,
	NEED_FAULT,
	NEED_STATEDUMP,
	NEED_KALLSYMS,
	NEED_CALLSTACK,
	NEED_SAMPLES,
	NEED_FUNCTIONS,
	NEED_TID,
	NEED_GUEST_ENTRIES,
	NEED_COUNT
};
#define NEED(name) (1u << NEED_##name)

/* What analyses of threads and their waits have in common. */
#define NEEDS_DEGRADED                                                                             \
	(NEED(WAKING) | NEED(WAKEUP) | NEED(IRQ) | NEED(SOFTIRQ) | NEED(HRTIMER) | NEED(BLOCK) |   \
	 NEED(NET_RECEIVE) | NEED(NET_SEND) | NEED(STATEDUMP) | NEED(TID))
#define NEEDS_POORER (NEED(EXEC) | NEED(BIO) | NEED(WORK) | NEED(KALLSYMS) | NEED(GUEST_ENTRIES))

/* One thing an analysis needs of a trace. */
struct need {
	const char *name;    /* as LTTng has it, for people */
	enum event_kind kinds[3]; /* any one of them fulfils it; EV_OTHER ends the list */
	const char *without; /* what is lost */
	const char *recorded_by; /* the lttng line that would add it */
	bool (*fulfilled)(const struct session *session); /* NULL: by kinds */
	/* The same of the kernel's own tracers. Its name, if not the first of … */
	const char *other_name;
	const char *tracepoints; /* … these, "SYSTEM:PATTERN,…"; NULL: none, but … */
	const char *other_line; /* … this, where "@" stands for the tracer */
};

/* What recorded a trace: by its first host. */
enum traced_by { TRACED_BY_LTTNG, TRACED_BY_FTRACE, TRACED_BY_PERF };

extern const struct need needs[NEED_COUNT];
enum traced_by needs_tracer(const struct session *session);
/* "lttng", "ftrace", "perf", as record --tracer has them. */
const char *needs_tracer_name(enum traced_by tracer);
/* What it is called there, and the line that would add it; free both with g_free(). */
char *need_name(const struct need *need, enum traced_by tracer);
char *need_line(const struct need *need, enum traced_by tracer);
bool need_is_met(const struct session *session, const struct need *need);
/* One command line that records all of these (bits: NEED()) besides, as far as the tracer's lines
 * do it; `channel`: to an own one of LTTng's, NULL. NULL: none does; free with g_free(). */
char *needs_line(unsigned missing, enum traced_by tracer, const char *channel);
/* What else may be needed for some of them; NULL: nothing. */
const char *needs_note(unsigned missing, enum traced_by tracer);

#endif
