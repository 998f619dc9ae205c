/* SPDX-License-Identifier: MIT */
/* See window.h. */
#include "run/window.h"

#include <inttypes.h>
#include <stdlib.h>

#include "run/option_values.h"
#include "util/when.h"

void window_bounds(struct session *session)
{
	bool any = false;

	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);

		if (!host->any)
			continue;
		session->trace.begin = any ? MIN(session->trace.begin, host->begin) : host->begin;
		session->trace.end = any ? MAX(session->trace.end, host->end) : host->end;
		any = true;
	}
}

static bool resolve_when(const struct session *session, const struct when *when,
			 const struct match *match, int64_t base, int64_t fallback, int64_t *time)
{
	if (when->kind == WHEN_NONE) {
		*time = fallback;
		return false;
	}
	*time = when->kind == WHEN_EVENT
			? match->time
			: when_resolve(when, session->trace.begin, session->trace.end, base,
				       session->asked.options->utc);
	return true;
}

bool window_resolve(struct session *session, GError **error)
{
	const struct options *options = session->asked.options;
	const struct match *target = &session->asked.matches[MATCH_TARGET];
	char a[48], b[48], c[48];
	bool has_from;

	if (session->asked.of_stretch) {
		session->asked.to = target->filter ? target->time : session->asked.to;
		return session->asked.from < session->asked.to ||
		       options_refuse(error, "--target '%s': it happened as the stretch began",
				      target->filter->text);
	}
	has_from = resolve_when(session, &options->from, &session->asked.matches[MATCH_FROM],
				session->trace.begin, session->trace.begin, &session->asked.from);
	if (options->from.kind == WHEN_FROM_END && session->asked.from < session->trace.begin)
		session->asked.from =
			session->trace.begin; /* --last longer than the trace: all of it */
	if (options->to.kind != WHEN_NONE && target->filter)
		return options_refuse(
			error, "--to and --target exclude each other: the target's time is the end "
			       "of the window");
	if (target->filter)
		session->asked.to = target->time;
	else
		resolve_when(session, &options->to, &session->asked.matches[MATCH_TO],
			     has_from ? session->asked.from : session->trace.begin,
			     session->trace.end, &session->asked.to);
	if (options->to.kind == WHEN_FROM_BEGIN && session->asked.to > session->trace.end)
		session->asked.to = session->trace.end;
	if (options->lami) {
		session->asked.from = MAX(session->asked.from, session->trace.begin);
		session->asked.to = MIN(session->asked.to, session->trace.end);
	}
	if (has_from && (session->asked.from < session->trace.begin ||
			 session->asked.from >= session->trace.end)) {
		bool date =
			llabs(session->asked.from - session->trace.begin) > INT64_C(86400000000000);

		return options_refuse(
			error,
			"--from is %s, which is not inside the trace: it runs from %s to %s "
			"(%" PRId64 "ns to %" PRId64 "ns)",
			when_time(a, session->asked.from, options->utc, date),
			when_time(b, session->trace.begin, options->utc, date),
			when_time(c, session->trace.end, options->utc, date), session->trace.begin,
			session->trace.end);
	}
	if (session->asked.from < session->trace.begin || session->asked.to > session->trace.end ||
	    session->asked.from > session->trace.end || session->asked.to < session->trace.begin) {
		bool date = session->trace.end - session->trace.begin > INT64_C(86400000000000) ||
			    session->asked.from < session->trace.begin - INT64_C(86400000000000) ||
			    session->asked.to > session->trace.end + INT64_C(86400000000000);

		return options_refuse(
			error,
			"the window %s to %s is not inside the trace, which runs from %s to "
			"%s (%" PRId64 "ns to %" PRId64 "ns)",
			when_time(a, session->asked.from, options->utc, date),
			when_time(b, session->asked.to, options->utc, date),
			when_time(c, session->trace.begin, options->utc, date),
			when_time((char[48]) {0}, session->trace.end, options->utc, date),
			session->trace.begin, session->trace.end);
	}
	if (session->asked.from >= session->asked.to)
		return options_refuse(
			error, "the window is empty: it begins at %s and ends at %s%s",
			when_time(a, session->asked.from, options->utc, false),
			when_time(b, session->asked.to, options->utc, false),
			target->filter ? ", the target's time; nth=2 or nth=last may mean a "
					 "later one"
				       : "");
	return true;
}
