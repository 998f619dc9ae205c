/* SPDX-License-Identifier: MIT */
/* See stretches.h. */
#include "run/stretches.h"

#include <stdio.h>

#include "run/session.h"
#include "flow/forget.h"
#include "util/error.h"
#include "util/when.h"

#define HISTORY (INT64_C(10) * 1000000000) /* ns: kept of the past, at least */
#define FORGET_AT 100000 /* records more than were kept: time to look what can go */

void stretches_init(struct session *session)
{
	struct stretches *stretches = &session->asked.stretches;

	stretches->every = session->asked.options->every;
	stretches->next = stretches->every ? INT64_MIN : INT64_MAX;
	if (stretches->every) /* no event may wait for ever, as they would in a file */
		flow_live(&session->trace.flow);
}

void stretches_clear(struct stretches *stretches)
{
	g_free(stretches->refused);
	g_clear_error(&stretches->error);
}

static int64_t time_plus(int64_t time, int64_t ns)
{
	return time > INT64_MAX - ns ? INT64_MAX : time + ns;
}

static void set_current(struct stretches *stretches, int64_t begin)
{
	stretches->begin = begin;
	stretches->end = MIN(time_plus(begin, stretches->every), stretches->to);
	stretches->next = stretches->end;
}

/* The multiple of the length, counted from `from`, that `time` lies behind. */
static int64_t grid(const struct stretches *stretches, int64_t from, int64_t time)
{
	uint64_t behind = (uint64_t) time - (uint64_t) from;

	if (time >= from)
		return (int64_t) ((uint64_t) from + behind / (uint64_t) stretches->every *
							    (uint64_t) stretches->every);
	return time; /* before what is asked for */
}

/* The first event says what --from and --to are counted from. */
static void first_event(struct session *session, int64_t time)
{
	const struct options *options = session->asked.options;
	struct stretches *stretches = &session->asked.stretches;

	stretches->begun = true;
	stretches->from = stretches->to = time;
	if (options->from.kind != WHEN_NONE)
		stretches->from = when_resolve(&options->from, time, time, time, options->utc);
	stretches->to =
		options->to.kind == WHEN_NONE
			? INT64_MAX
			: when_resolve(&options->to, time, time, stretches->from, options->utc);
	set_current(stretches, grid(stretches, stretches->from, time));
	if (time < stretches->from)
		stretches->end = stretches->next =
			MIN(stretches->from, time_plus(time, stretches->every));
}

/* What the reports tell of a recording as a whole begins anew. */
static void begin_counts(struct session *session)
{
	session->trace.events = session->trace.user_events = 0;
	for (int i = 0; i < MATCH_COUNT; i++) {
		session->asked.matches[i].seen = 0;
		session->asked.matches[i].found = false;
		g_array_set_size(session->asked.matches[i].candidates, 0);
		g_array_set_size(session->asked.matches[i].of_host, 0);
	}
	flow_begin_counts(&session->trace.flow, session->asked.stretches.end);
}

/* No report is a failure only if no stretch has one. */
static void note_refusal(struct session *session, const GError *error)
{
	struct stretches *stretches = &session->asked.stretches;
	char a[48], b[48];

	if (!stretches->refused)
		stretches->refused = g_strdup(error->message);
	if (session->asked.options->quiet)
		return;
	fprintf(stderr, "whylate: no report of %s to %s: %s\n",
		when_time(a, stretches->begin, session->asked.options->utc, false),
		when_time(b, stretches->end, session->asked.options->utc, false), error->message);
}

static void report(struct session *session)
{
	struct stretches *stretches = &session->asked.stretches;
	int64_t from = MAX(stretches->begin, stretches->from);
	GError *error = NULL;

	if (!session->trace.events || from >= stretches->end || stretches->done)
		return;
	if (stretches->report(session, from, stretches->end, stretches->data, &error)) {
		stretches->reported++;
	} else if (g_error_matches(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE)) {
		note_refusal(session, error);
		g_error_free(error);
	} else {
		stretches->error = error;
		stretches->done = true;
	}
}

/* What analyses look back for beyond the stretch (who turned to whom first, who sent
 * the packet) they find if it was as recent as that.
 * Records may grow by as many as were kept before they are looked through: so
 * each is looked at a few times only, however short the stretches. */
static void forget(struct session *session)
{
	struct stretches *stretches = &session->asked.stretches;

	if (flow_records(&session->trace.flow) < 2 * stretches->kept + FORGET_AT)
		return;
	flow_forget(&session->trace.flow, MIN(stretches->begin, stretches->end - HISTORY));
	stretches->kept = flow_records(&session->trace.flow);
}

void stretches_reach(struct session *session, int64_t time)
{
	struct stretches *stretches = &session->asked.stretches;

	if (!stretches->begun)
		first_event(session, time);
	if (time < stretches->next || stretches->done)
		return;
	report(session);
	forget(session);
	begin_counts(session);
	if (time >= stretches->to) {
		stretches->done = true;
		stretches->next = INT64_MAX;
		return;
	}
	set_current(stretches, MAX(stretches->end, grid(stretches, stretches->from, time)));
	if (time < stretches->from) {
		stretches->begin = time;
		stretches->end = stretches->next =
			MIN(stretches->from, time_plus(time, stretches->every));
	}
}

bool stretches_cut(struct session *session, int64_t time)
{
	struct stretches *stretches = &session->asked.stretches;

	if (!stretches->begun || stretches->done || !session->trace.events)
		return false;
	stretches->end = time;
	report(session);
	forget(session);
	begin_counts(session);
	set_current(stretches, time);
	return true;
}

void stretches_pass(struct session *session, int64_t time)
{
	session->asked.stretches.live = true;
	flow_live(&session->trace.flow);
	if (session->asked.stretches.begun && time >= session->asked.stretches.next)
		stretches_reach(session, time);
}

static int64_t last_event(const struct session *session)
{
	int64_t last = INT64_MIN;

	for (guint i = 0; i < session->trace.model.hosts->len; i++)
		if (model_host(&session->trace.model, i)->any)
			last = MAX(last, model_host(&session->trace.model, i)->end);
	return last;
}

bool stretches_end(struct session *session, GError **error)
{
	struct stretches *stretches = &session->asked.stretches;

	if (stretches->begun && !stretches->done) {
		stretches->end = MIN(stretches->end, last_event(session));
		report(session);
	}
	if (stretches->error) {
		g_propagate_error(error, g_steal_pointer(&stretches->error));
		return false;
	}
	if (stretches->reported)
		return true;
	if (!stretches->begun)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "the trace has no kernel events");
	else if (stretches->refused)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE, "%s", stretches->refused);
	else
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--from and --to: the trace has no events between them");
	return false;
}
