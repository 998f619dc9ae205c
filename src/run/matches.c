/* SPDX-License-Identifier: MIT */
/* Noting and choosing; see matches.h. */
#include "run/matches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run/command.h"
#include "run/option_values.h"
#include "util/pattern.h"

/* "The thread analysed is the event's subject: the woken thread of a wake-up,
 * the new one of a fork or exec, next of a switch, else the thread current there." */
static int32_t subject(const struct event *event)
{
	switch (event->kind) {
	case EV_SCHED_SWITCH:
		return event->sched_switch.next_tid;
	case EV_SCHED_WAKING:
	case EV_SCHED_WAKEUP:
	case EV_SCHED_WAKEUP_NEW:
		return event->wake.tid;
	case EV_PROCESS_FORK:
		return event->fork.child_tid;
	case EV_PROCESS_EXEC:
		return event->exec.tid;
	default:
		return event->has_tid ? event->tid : 0;
	}
}

/* Which is the nth of all hosts is known only by their common time: the first n
 * of each host, or the last one. */
static void note_candidate(struct match *match, const struct event *event)
{
	struct candidate candidate = {event->time,    event->host,          event->cpu,
				      subject(event), event_is_user(event), event->name};
	bool last = match->filter->nth == FILTER_LAST;
	uint32_t *of_host;

	if (match->of_host->len <= event->host)
		g_array_set_size(match->of_host, event->host + 1u);
	of_host = &g_array_index(match->of_host, uint32_t, event->host);
	if (last && *of_host) {
		g_array_index(match->candidates, struct candidate, *of_host - 1) = candidate;
		return;
	}
	if (!last && *of_host >= match->filter->nth)
		return;
	g_array_append_val(match->candidates, candidate);
	*of_host = last ? match->candidates->len : *of_host + 1;
}

static void note_match(struct match *match, const struct event *event)
{
	if (match->filter->nth != FILTER_LAST && match->seen != match->filter->nth)
		return;
	match->found = true;
	match->time = event->time;
	match->host = event->host;
	match->cpu = event->cpu;
	match->tid = subject(event);
	match->user = event_is_user(event);
	match->event = event->name;
}

/* All of them are of use, with what was captured. Source of the hash: FNV-1a. */
static void note_boundary(struct session *session, const struct event *event, bool end)
{
	const struct request_options *options = &session->asked.options->requests;
	struct boundary mark = {.time = event->time,
				.host = event->host,
				.end = end,
				.cpu = event->cpu,
				.tid = subject(event),
				.user = event_is_user(event)};

	for (guint i = 0; options->captures && i < options->captures->len; i++)
		mark.key = ((i ? mark.key : UINT64_C(14695981039346656037)) ^
			    event_filter_captured(end ? options->end : options->begin,
						  g_ptr_array_index(options->captures, i))) *
			   UINT64_C(1099511628211);
	g_array_append_val(session->asked.boundaries, mark);
}

void matches_note(struct session *session, const struct event *event)
{
	const char *host = session->asked.options->host;

	if (host && g_strcmp0(host, model_host(&session->trace.model, event->host)->hostname) != 0)
		return;
	for (int i = 0; i < MATCH_COUNT; i++) {
		struct match *match = &session->asked.matches[i];

		if (!(event->matches & (1u << i)))
			continue;
		if (i == MATCH_BEGIN || i == MATCH_END)
			note_boundary(session, event, i == MATCH_END);
		match->seen++;
		if (session->trace.model.hosts->len > 1)
			note_candidate(match, event);
		else
			note_match(match, event);
	}
}

void matches_note_fields(struct session *session, unsigned filter, uint64_t conditions,
			 const char *names)
{
	struct match *match = &session->asked.matches[filter];

	match->met = true;
	match->keys |= conditions;
	if (!match->fields)
		match->fields = g_strdup(names);
}

bool session_wants_match(const struct session *session)
{
	return options_name_events(session->asked.options);
}

static int by_number(gconstpointer a, gconstpointer b)
{
	const struct event_place *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static bool is_named(const struct session *session, const char *event_name)
{
	for (int i = 0; i < MATCH_COUNT; i++)
		if (session->asked.matches[i].filter &&
		    event_filter_wants(session->asked.matches[i].filter, event_name))
			return true;
	return false;
}

GArray *session_named_places(const struct session *session)
{
	g_autoptr(GArray) named = g_array_new(FALSE, FALSE, sizeof(struct event_place));
	GHashTableIter iter;
	gpointer name;

	if (!session->trace.places)
		return NULL;
	g_hash_table_iter_init(&iter, session->trace.class_names);
	while (g_hash_table_iter_next(&iter, &name, NULL)) {
		const struct places_of_name *of_name;

		if (!is_named(session, session_text(session, GPOINTER_TO_UINT(name))))
			continue;
		of_name = event_places_of(session->trace.places, GPOINTER_TO_UINT(name));
		if (of_name->many)
			return NULL;
		if (of_name->list)
			g_array_append_vals(named, of_name->list->data, of_name->list->len);
	}
	g_array_sort(named, by_number);
	return g_steal_pointer(&named);
}

bool session_has_matches(const struct session *session)
{
	for (int i = 0; i < MATCH_COUNT; i++) {
		const struct match *match = &session->asked.matches[i];

		if (match->filter && (!match->found || match->filter->nth == FILTER_LAST ||
				      i == MATCH_BEGIN || i == MATCH_END))
			return false;
	}
	return true;
}

static void shift_time(const struct session *session, uint16_t host, int64_t *time)
{
	*time = clock_line_at(&model_host(&session->trace.model, host)->clock.line, *time);
}

void session_shift_matches(struct session *session)
{
	for (guint i = 0; i < session->asked.boundaries->len; i++) {
		struct boundary *mark =
			&g_array_index(session->asked.boundaries, struct boundary, i);

		shift_time(session, mark->host, &mark->time);
	}
	for (int m = 0; m < MATCH_COUNT; m++)
		for (guint i = 0; i < session->asked.matches[m].candidates->len; i++) {
			struct candidate *at = &g_array_index(session->asked.matches[m].candidates,
							      struct candidate, i);

			shift_time(session, at->host, &at->time);
		}
}

/* "; it has 'NAME', …"; somebody who names a program means its start. */
static char *nearest_events(const struct session *session, const char *option, const char *name)
{
	struct nearest nearest = {.wanted = name};
	g_autofree char *list = NULL;
	GHashTableIter iter;
	gpointer key;
	bool like_one;

	g_hash_table_iter_init(&iter, session->trace.class_names);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		nearest_offer(&nearest, session_text(session, GPOINTER_TO_UINT(key)));
	like_one = nearest.kept && nearest.best[0].distance <= strlen(name) / 2;
	list = nearest_list(&nearest, "; it has ");
	if (like_one)
		return g_steal_pointer(&list);
	return g_strdup_printf("; if it is a program: --%s 'sched_process_exec filename=*/%s' is "
			       "its start%s",
			       option, name, list);
}

static bool event_declared(const struct session *session, const struct event_filter *filter)
{
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, session->trace.class_names);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		if (event_filter_wants(filter, session_text(session, GPOINTER_TO_UINT(key))))
			return true;
	return false;
}

/* "; filename has '/bin/sh', …" of the conditions that were not met at times. */
static char *other_values(const GArray *conditions)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < conditions->len; i++) {
		const struct filter_condition *at =
			&g_array_index(conditions, struct filter_condition, i);
		g_autofree char *before = g_strdup_printf("; other values of %s are ", at->key);
		g_autofree char *list = at->unmet ? nearest_list(at->unmet, before) : NULL;

		g_string_append(text, list ? list : "");
	}
	return g_string_free(text, FALSE);
}

/* The event exists, but none is as the conditions say. */
static bool no_match(const char *option, const struct match *match, GError **error)
{
	const GArray *conditions = match->filter->conditions;
	g_autofree char *others = NULL;

	if (!match->met)
		return options_refuse(error,
				      "--%s '%s': such events were enabled, but none occurred",
				      option, match->filter->text);
	for (guint i = 0; i < conditions->len && i < 64; i++)
		if (!(match->keys & (UINT64_C(1) << i)))
			return options_refuse(
				error, "--%s '%s': these events have no field '%s'; they have: %s",
				option, match->filter->text,
				g_array_index(conditions, struct filter_condition, i).key,
				match->fields);
	others = other_values(conditions);
	return options_refuse(error,
			      "--%s '%s': such events happened, but none with these values%s",
			      option, match->filter->text, others);
}

static bool check_match(const struct session *session, const char *option,
			const struct match *match, GError **error)
{
	g_autofree char *near = NULL;

	if (!match->filter || match->found)
		return true;
	if (event_declared(session, match->filter)) {
		if (match->seen)
			return options_refuse(error,
					      "--%s '%s': the trace has only %" PRId64
					      " such events; lower nth, or use nth=last",
					      option, match->filter->text, match->seen);
		return no_match(option, match, error);
	}
	near = nearest_events(session, option, match->filter->event);
	return options_refuse(error, "--%s '%s': the trace has no event '%s'%s", option,
			      match->filter->text, match->filter->event, near);
}

static int by_candidate_time(gconstpointer a, gconstpointer b)
{
	const struct candidate *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

/* The nth of all hosts, by their common time. */
static void choose_match(struct match *match)
{
	GArray *list = match->candidates;
	const struct candidate *chosen;
	int64_t nth;

	if (!match->filter || !list->len)
		return;
	g_array_sort(list, by_candidate_time);
	nth = match->filter->nth == FILTER_LAST ? list->len : match->filter->nth;
	if (nth > list->len)
		return;
	chosen = &g_array_index(list, struct candidate, nth - 1);
	match->found = true;
	match->time = chosen->time;
	match->host = chosen->host;
	match->cpu = chosen->cpu;
	match->tid = chosen->tid;
	match->user = chosen->user;
	match->event = chosen->event;
}

static uint32_t match_thread(const struct session *session, const struct match *match)
{
	return session_event_thread(session, match->host, match->cpu, match->tid, match->user,
				    match->time);
}

bool matches_resolve(struct session *session, GError **error)
{
	static const char *const options[] = {"target", "from", "to", "begin", "end"};

	for (int i = 0; i < MATCH_COUNT; i++) {
		choose_match(&session->asked.matches[i]);
		if (!check_match(session, options[i], &session->asked.matches[i], error))
			return false;
	}
	return true;
}

bool matches_find_target(struct session *session, GError **error)
{
	const struct match *target = &session->asked.matches[MATCH_TARGET];

	if (!target->filter)
		return true;
	session->asked.target = match_thread(session, target);
	return is_thread(session->asked.target) ||
	       options_refuse(error, "--target '%s': %s", target->filter->text,
			      session->asked.target == IDLE_THREAD
				      ? "it happened in the idle loop, where no thread runs; name "
					"an event "
					"of the thread that was late"
				      : "which thread it happened in is not known");
}
