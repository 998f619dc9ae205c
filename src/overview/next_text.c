/* SPDX-License-Identifier: MIT */
/* The overview's last part: the commands that go on from here, fit for this trace. What the
 * recorder itself did leads to none of them. */
#include "overview/overview.h"

#include <string.h>

#include "waits/state_names.h"

#define ENDED_MAX 3 /* threads that came and went */

/* The longest wait of a thread that came in the trace, else of any. */
static const struct wait_group *
most_telling(const struct session *session, const struct overview *overview, const bool *tracers)
{
	const struct wait_group *first = NULL;

	for (guint i = 0; i < overview->waits->len; i++) {
		const struct wait_group *group =
			&g_array_index(overview->waits, struct wait_group, i);

		if (tracers[group->thread])
			continue;
		if (model_thread(&session->trace.model, group->thread)->born)
			return group;
		first = first ? first : group;
	}
	return first;
}

/* These wait for work, children or time by design: slow is what they are for. */
static bool waits_by_design(const char *call)
{
	static const char *const calls[] = {
		"epoll",           "poll",          "ppoll",     "select",          "pselect",
		"wait4",           "waitid",        "nanosleep", "clock_nanosleep", "accept",
		"rt_sigtimedwait", "rt_sigsuspend", "pause"};

	for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
		if (g_str_has_prefix(call, calls[i]))
			return true;
	return false;
}

/* Somebody but the recorder waited in it. */
static bool delayed_somebody(const struct session *session, const struct overview *overview,
			     const bool *tracers, const char *call)
{
	g_autofree char *wanted = g_strconcat("syscall:", call, NULL);

	for (guint i = 0; i < overview->waits->len; i++) {
		const struct wait_group *group =
			&g_array_index(overview->waits, struct wait_group, i);
		g_autofree char *leaf = leaf_element(session, group->leaf);

		if (!tracers[group->thread] && strcmp(leaf, wanted) == 0)
			return true;
	}
	return false;
}

/* The call with more than one peak in which most time was spent. */
static void profile_next(const struct overview_report *made, const bool *tracers,
			 struct output *output)
{
	const struct session *session = made->session;

	for (guint i = 0; i < made->overview->calls->len; i++) {
		const struct call_total *call =
			&g_array_index(made->overview->calls, struct call_total, i);
		const char *name = session_text(session, call->name);
		g_autofree char *operation = g_strconcat("syscall:", name, NULL);

		if (call->clear_peaks < 2 || waits_by_design(name) ||
		    !delayed_somebody(session, made->overview, tracers, name))
			continue;
		text_suggestion(session,
				&(struct suggestion) {.command = "profile",
						      .option = "operation",
						      .value = operation,
						      .why = "what makes the slow ones slow"},
				2, output);
		return;
	}
}

/* Why a program that came in the trace did not start sooner. */
static void start_next(const struct session *session, const struct overview *overview,
		       const bool *tracers, struct output *output)
{
	/* of several hosts the event may be another one's */
	for (guint i = 0; i < overview->ended->len && session->trace.model.hosts->len == 1; i++) {
		uint32_t index = g_array_index(overview->ended, uint32_t, i);
		const struct thread *thread = model_thread(&session->trace.model, index);
		const char *program = session_text(session, thread->program);
		g_autofree char *target = NULL, *why = NULL;

		if (!thread->execed || tracers[index] || !*program ||
		    program[strcspn(program, " '\"*?")])
			continue;
		target = g_strdup_printf("sched_process_exec filename=%s tid=%d", program,
					 thread->tid);
		why = g_strdup_printf("why %s (%d) did not start sooner",
				      session_thread_name(session, index), thread->tid);
		text_suggestion(session,
				&(struct suggestion) {.command = "delay",
						      .option = "target",
						      .value = target,
						      .why = why},
				2, output);
		return;
	}
}

/* Somebody took connections, and read from them: what was asked may be called requests. */
static void requests_next(const struct session *session, const bool *tracers, struct output *output)
{
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		if (model_thread(&session->trace.model, i)->accepted && !tracers[i]) {
			text_suggestion(session,
					&(struct suggestion) {.command = "requests",
							      .why = "how long requests took, and "
								     "what they spent it on"},
					2, output);
			return;
		}
}

static void threads_next(const struct session *session, const struct overview *overview,
			 const bool *tracers, struct output *output)
{
	const struct wait_group *group = most_telling(session, overview, tracers);
	int shown = 0;

	for (guint i = 0; i < overview->ended->len && shown < ENDED_MAX; i++) {
		uint32_t index = g_array_index(overview->ended, uint32_t, i);
		g_autofree char *why =
			g_strdup_printf("why %s (%d) took so long",
					session_thread_name(session, index),
					model_thread(&session->trace.model, index)->tid);

		if (tracers[index])
			continue;
		text_suggestion(
			session,
			&(struct suggestion) {.command = "delay", .thread = &index, .why = why}, 2,
			output);
		shown++;
	}
	if (group)
		text_suggestion(session,
				&(struct suggestion) {.command = "delay",
						      .thread = &group->thread,
						      .from = group->longest_begin,
						      .to = group->longest_end,
						      .why = "the longest wait for one thing"},
				2, output);
}

void overview_next(const struct overview_report *made, struct output *output)
{
	const struct session *session = made->session;
	g_autofree bool *tracers = session_tracers(session);

	text_heading(output, "Next");
	if (session->trace.kinds[EV_FUNCTION_ENTRY] || session->trace.flow.user.entries ||
	    session->trace.flow.has_callstacks)
		text_suggestion(session,
				&(struct suggestion) {.command = "functions",
						      .why = "where the time goes along the calls "
							     "recorded"},
				2, output);
	requests_next(session, tracers, output);
	threads_next(session, made->overview, tracers, output);
	start_next(session, made->overview, tracers, output);
	profile_next(made, tracers, output);
}
