/* SPDX-License-Identifier: MIT */
/* The overview for people; see imposed/wait_groups.h. */
#include "overview/failed_calls.h"
#include "overview/overview.h"
#include "overview/overview_what_if.h"

#include <inttypes.h>
#include <string.h>

#include "run/containers.h"
#include "findings/findings.h"

#define NAMES_SHOWN 8 /* of a container's threads */

static void idle(const struct session *session, const struct overview *overview,
		 struct output *output)
{
	g_autoptr(GString) line = g_string_new("Idle are:");

	for (guint i = 0; i < overview->idle->len; i++) {
		uint32_t thread = g_array_index(overview->idle, uint32_t, i);

		g_string_append_printf(line, "%s %s (%d)%s", i ? "," : "",
				       session_thread_name(session, thread),
				       model_thread(&session->trace.model, thread)->tid,
				       session_on(session, thread));
	}
	text_wrapped(output, line->str, 2, 2);
}

static void threads(const struct report *report, const struct overview *overview)
{
	static const struct text_table table = {.columns = thread_total_columns, .in_bytes = true};
	const struct session *session = report->session;
	struct output *output = report->output;
	char ns[32];

	text_heading(
		output,
		"Threads that worked or delayed others, most waiting first, the tracer's last");
	text_table(report, &table, ROWS(overview->threads));
	fprintf(output->file,
		"  Idle: %u threads waited %s in all and delayed no other thread; "
		"%" PRIu64 " kernel threads\n",
		overview->idle->len, when_duration(ns, overview->idle_ns),
		overview->kernel_threads);
	if (!session->asked.options->limit || session->asked.options->verbose)
		idle(session, overview, output);
}

/* "lockholder (209) blocked/futex on lock:0x…" */
static void append_wait(GString *line, const struct session *session,
			const struct wait_group *group)
{
	g_autofree char *leaf = leaf_key(session, group->leaf);

	g_string_append_printf(line, "%s (%d)%s %s", session_thread_name(session, group->thread),
			       model_thread(&session->trace.model, group->thread)->tid,
			       session_on(session, group->thread), leaf);
	if (group->resource && strcmp(session_text(session, group->resource), "poll") != 0)
		g_string_append_printf(line, " on %s", session_text(session, group->resource));
}

static void wait_line(const struct report *report, const void *row)
{
	const struct session *session = report->session;
	const struct wait_group *group = row;
	g_autofree char *words = cause_words(&group->cause);
	g_autoptr(GString) line = g_string_new(NULL);
	char sum[32], longest[32], when[48];

	g_string_append_printf(line, "%s: ", when_duration(sum, group->ns));
	append_wait(line, session, group);
	if (group->count > 1)
		g_string_append_printf(line, ", %" PRIu64 " times, longest %s", group->count,
				       when_duration(longest, group->longest));
	g_string_append_printf(
		line, " at %s; %s",
		when_time(when, group->longest_begin, session->asked.options->utc, false), words);
	if (group->spans_gap)
		g_string_append(line, " [spans lost events: it may not be real]");
	text_wrapped(report->output, line->str, 2, 4);
}

static void container_line(const struct report *report, const void *row)
{
	const struct session *session = report->session;
	const struct container *at = row;
	g_autofree char *number = namespace_text(at->kind, at->number);
	g_autoptr(GString) line = g_string_new(number);
	guint names = 0;

	g_string_append_printf(line, ": %u thread%s", at->threads, at->threads == 1 ? "" : "s");
	if (at->first != NO_THREAD)
		g_string_append_printf(line, ", first process %s (%d)",
				       session_thread_name(session, at->first),
				       model_thread(&session->trace.model, at->first)->tid);
	if (at->kind == NAMESPACE_PID && at->level > 1 && at->parent) {
		g_autofree char *parent = namespace_text(at->kind, at->parent);

		g_string_append_printf(line, ", inside %s", parent);
	}
	for (guint i = 0; i < at->names->len && names < NAMES_SHOWN; i++)
		g_string_append_printf(line, "%s%s", names++ ? ", " : "; ",
				       session_text(session,
						    g_array_index(at->names, uint32_t, i)));
	if (at->names->len > names)
		g_string_append_printf(line, ", and %u more names", at->names->len - names);
	text_wrapped(report->output, line->str, 2, 4);
}

/* Namespaces that --container takes; nothing where all is in the host's. */
static void containers(const struct report *report)
{
	GArray *list = containers_new(report->session);

	if (list->len)
		text_heading(report->output, "Containers: namespaces other than the host's");
	text_lines(report, ROWS(list), container_line);
	g_array_free(list, TRUE);
}

static void open_wait_line(const struct report *report, const void *row)
{
	const struct wait_group *group = row;
	g_autoptr(GString) line = g_string_new(NULL);
	char length[32];

	g_string_append_printf(line, "%s: ", when_duration(length, group->ns));
	append_wait(line, report->session, group);
	if (group->spans_gap)
		g_string_append(line, " [spans lost events: it may not be real]");
	text_wrapped(report->output, line->str, 2, 4);
}

/* What hangs: waits of these threads that nobody had ended. */
static void open_waits(const struct report *report, const struct overview *overview)
{
	g_autoptr(GPtrArray) open = g_ptr_array_new();

	for (guint i = 0; i < overview->waits->len; i++) {
		struct wait_group *group = &g_array_index(overview->waits, struct wait_group, i);

		if (group->cause.kind == CAUSE_STILL_BLOCKED || group->cause.kind == CAUSE_DEADLOCK)
			g_ptr_array_add(open, group);
	}
	if (open->len)
		text_heading(report->output, "Still blocked at the end, longest first");
	text_lines(report, ROWS(open), open_wait_line);
}

/* Where there is more than one behaviour, a profile tells them apart. */
static void more_peaks(const struct overview *overview, const struct session *session,
		       struct output *output)
{
	g_autoptr(GString) line = g_string_new("More than one peak of latency:");
	guint named = 0;

	for (guint i = 0; i < overview->calls->len; i++) {
		const struct call_total *call =
			&g_array_index(overview->calls, struct call_total, i);

		if (call->clear_peaks > 1)
			g_string_append_printf(line, "%s %s (%u)", named++ ? "," : "",
					       session_text(session, call->name),
					       call->clear_peaks);
	}
	if (named)
		text_wrapped(output, line->str, 2, 4);
}

static void calls(const struct report *report, const struct overview *overview)
{
	static const struct text_table table = {
		.columns = call_columns, .in_bytes = true, .note_first = true};

	if (!overview->calls->len)
		return;
	text_heading(report->output, report->session->asked.options->every
					     ? "System calls of this stretch, by time spent in them"
					     : "System calls of the whole trace, by time spent in "
					       "them");
	text_table(report, &table, ROWS(overview->calls));
	more_peaks(overview, report->session, report->output);
}

void overview_text(const struct overview_report *made, struct output *output)
{
	struct report report = {made->session, made, output};
	const struct overview *overview = made->overview;

	text_hosts(made->session, output);
	if (made->what_if)
		overview_what_if_text(made->what_if, output);
	threads(&report, overview);
	waiting_text(&report, made->waiting);
	text_heading(output, "What they waited for, largest sum first, of the tracer last");
	text_lines(&report, ROWS(overview->waits), wait_line);
	deadlocks_text(made->session, output);
	open_waits(&report, overview);
	locks_text(&report, made->locks);
	containers(&report);
	calls(&report, overview);
	if (made->configuration->len)
		text_heading(output, "What settings made programs do");
	configuration_text(made->configuration,
			   rows_limited(made->session, made->configuration->len), 2, output);
	if (made->failed->len)
		text_heading(output, "Calls that failed as something was short, broken or gone");
	failed_calls_text(made->session, made->failed,
			  rows_limited(made->session, made->failed->len), output);
	text_findings(made->session, made->findings, output);
	text_coverage_now(made->session, output);
	overview_next(made, output);
}
