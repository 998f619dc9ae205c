/* SPDX-License-Identifier: MIT */
/* What the analyses need of a trace, and how to record it.
 *
 * Place: run/. One table: the coverage of each report, `check` and the presets of
 * `record` go by it. Source: lttng-events.md for what is traced where.
 */
#ifndef WHYLATE_RUN_NEEDS_H
#define WHYLATE_RUN_NEEDS_H

#include "run/session.h"

/* One thing an analysis needs of a trace. */
struct need {
	const char *name;    /* as LTTng has it, for people */
	enum event_kind kinds[3]; /* any one of them fulfils it; EV_OTHER ends the list */
	struct {    /* bit per enum command: without it, its answers are … */
		unsigned impossible, degraded, poorer;
	} commands;
	const char *without; /* what is lost */
	const char *recorded_by; /* the lttng line that would add it */
	bool (*fulfilled)(const struct session *session); /* NULL: by kinds */
};

extern const struct need needs[]; /* ends with name NULL */
/* Some answer of the command is the poorer without it. */
bool need_of(const struct need *need, enum command command);
bool need_is_met(const struct session *session, const struct need *need);

#endif
