/* SPDX-License-Identifier: MIT */
/* See bearing.h. */
#include "coverage/bearing.h"

#include "coverage/needs.h"
#include "run/command.h"
#include "util/error.h"

#define UNKNOWN_MAX 0.1 /* of all CPUs' time: more of it unknown may hide the cause */

/* What the command cannot do without, and the trace lacks; NULL. */
static const struct need *lacking(const struct session *session, const struct command *command)
{
	uint32_t wanted = command->needs.impossible;

	for (int i = 0; i < NEED_COUNT; i++)
		if (wanted >> i & 1 && !need_is_met(session, &needs[i]))
			return &needs[i];
	return NULL;
}

bool trace_bears_command(const struct session *session, const struct command *command)
{
	return !lacking(session, command);
}

bool trace_bears_answer(const struct session *session, GError **error)
{
	const struct need *need = lacking(session, session->asked.options->command);
	g_autofree char *name = need ? need_name(need, needs_tracer(session)) : NULL;
	g_autofree char *line = need ? need_line(need, needs_tracer(session)) : NULL;

	if (!need || session->asked.options->force)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_DAMAGE,
		    "%s has no answer from this trace: it has no %s, so %s; record it with: %s "
		    "(--force prints what there is)",
		    session->asked.options->command->name, name, need->without, line);
	return false;
}

/* The share of the CPUs' time in which what ran there is not known. */
static double unknown_share(const struct session *session)
{
	double unknown = 0, whole = 0; /* of a damaged clock there are times beyond all sums */

	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);

		for (guint c = 0; c < host->cpus->len; c++) {
			const struct cpu *cpu = g_ptr_array_index(host->cpus, c);

			unknown += cpu ? (double) cpu->unknown_ns : 0;
			whole += cpu ? (double) (host->end - host->begin) : 0;
		}
	}
	return whole > 0 ? unknown / whole : 0.0;
}

static uint64_t events_lost(const struct session *session)
{
	uint64_t lost = 0;

	for (guint i = 0; i < session->trace.model.hosts->len; i++)
		lost += model_host(&session->trace.model, i)->discarded_events;
	return lost;
}

char *answer_caution(const struct session *session)
{
	const struct need *need = lacking(session, session->asked.options->command);
	g_autofree char *name = need ? need_name(need, needs_tracer(session)) : NULL;
	uint64_t lost = events_lost(session);
	double unknown = unknown_share(session);

	if (need)
		return g_strdup_printf("this trace has no %s, so %s: what follows is no answer",
				       name, need->without);
	if (lost > session->trace.events)
		return g_strdup_printf("%.0f %% of the events were lost: what follows may be wrong",
				       100.0 * (double) lost /
					       (double) (lost + session->trace.events));
	if (unknown > UNKNOWN_MAX)
		return g_strdup_printf("what ran is unknown for %.0f %% of the CPUs' time: what "
				       "follows may be wrong",
				       100.0 * unknown);
	if (session->asked.options->command->needs.degraded & NEED(WAKING) &&
	    !need_is_met(session, &needs[NEED_WAKING]) &&
	    !need_is_met(session, &needs[NEED_WAKEUP]))
		return g_strdup("this trace has no wake-ups (sched_waking, sched_wakeup), so what "
				"ended waits is not known: what follows may be wrong");
	return NULL;
}
