/* SPDX-License-Identifier: MIT */
/* The overview for people; see imposed/wait_groups.h. */
#include "waits/contention.h"
#include "imposed/wait_groups.h"

#include <inttypes.h>
#include <string.h>

#include "run/containers.h"
#include "findings/findings.h"
#include "imposed/waiting.h"
#include "report/report.h"

#define NAMES_SHOWN 8 /* of a container's threads */

static guint shown(const struct session *session, const GArray *list)
{
	uint32_t limit = session->asked.options->limit;

	return limit && list->len > limit ? limit : list->len;
}

static void more(const struct output *output, guint all, guint printed)
{
	if (all > printed)
		fprintf(output->file, "  [... %u more; --limit 0 shows all ...]\n", all - printed);
}

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

static void threads(const struct session *session, const struct overview *overview,
		    struct output *output)
{
	guint count = shown(session, overview->threads);
	bool several = session->trace.model.hosts->len > 1;
	char columns[4][32];

	text_heading(output,
		     "Threads that did something or delayed one that did, most waiting first");
	fprintf(output->file, "  %7s %-16s %10s %11s %10s %10s%s\n", "TID", "NAME", "WORKING",
		"INTERRUPTED", "BLOCKED", "UNKNOWN", several ? "  HOST" : "");
	for (guint i = 0; i < count; i++) {
		const struct thread_total *total =
			&g_array_index(overview->threads, struct thread_total, i);
		g_autofree char *name = text_safe(session_thread_name(session, total->thread));

		g_autofree char *on = text_safe(session_on(session, total->thread));

		fprintf(output->file, "  %7d %-16s %10s %11s %10s %10s%s%s\n",
			model_thread(&session->trace.model, total->thread)->tid, name,
			when_duration(columns[0], total->wib[WIB_WORKING]),
			when_duration(columns[1], total->wib[WIB_INTERRUPTED]),
			when_duration(columns[2], total->wib[WIB_BLOCKED]),
			when_duration(columns[3], total->wib[WIB_UNKNOWN]), several ? "  " : "",
			several ? on + strlen(" on ") : "");
	}
	more(output, overview->threads->len, count);
	fprintf(output->file,
		"  Idle: %u threads waited %s in all and delayed nobody seen; "
		"%" PRIu64 " kernel threads\n",
		overview->idle->len, when_duration(columns[0], overview->idle_ns),
		overview->kernel_threads);
	if (!session->asked.options->limit || session->asked.options->verbose)
		idle(session, overview, output);
}

static void waits(const struct session *session, const struct overview *overview,
		  struct output *output)
{
	guint count = shown(session, overview->waits);
	char sum[32], longest[32], when[48];

	text_heading(output, "What they waited for, largest sum first");
	for (guint i = 0; i < count; i++) {
		const struct wait_group *group =
			&g_array_index(overview->waits, struct wait_group, i);
		g_autofree char *leaf = leaf_key(session, group->leaf), *words = NULL;
		g_autoptr(GString) line = g_string_new(NULL);

		g_string_append_printf(line, "%s: %s (%d)%s %s", when_duration(sum, group->ns),
				       session_thread_name(session, group->thread),
				       model_thread(&session->trace.model, group->thread)->tid,
				       session_on(session, group->thread), leaf);
		if (group->resource && strcmp(session_text(session, group->resource), "poll") != 0)
			g_string_append_printf(line, " on %s",
					       session_text(session, group->resource));
		if (group->count > 1)
			g_string_append_printf(line, ", %" PRIu64 " times, longest %s",
					       group->count,
					       when_duration(longest, group->longest));
		words = cause_words(&group->cause);
		g_string_append_printf(line, " at %s; %s",
				       when_time(when, group->longest_begin,
						 session->asked.options->utc, false),
				       words);
		if (group->spans_gap)
			g_string_append(line, " [spans lost events: it may not be real]");
		text_wrapped(output, line->str, 2, 4);
	}
	more(output, overview->waits->len, count);
}

static void container_line(const struct session *session, const struct container *at,
			   struct output *output)
{
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
	text_wrapped(output, line->str, 2, 4);
}

/* Namespaces that --container takes; nothing where all is in the host's. */
static void containers(const struct session *session, struct output *output)
{
	GArray *list = containers_new(session);
	guint count = shown(session, list);

	if (list->len)
		text_heading(output, "Containers: namespaces other than the host's");
	for (guint i = 0; i < count; i++)
		container_line(session, &g_array_index(list, struct container, i), output);
	more(output, list->len, count);
	containers_free(list);
}

/* What hangs: waits of these threads that nobody had ended. */
static void open_waits(const struct session *session, const struct overview *overview,
		       struct output *output)
{
	uint32_t limit = session->asked.options->limit, printed = 0;
	char length[32];

	for (guint i = 0; i < overview->waits->len; i++) {
		const struct wait_group *group =
			&g_array_index(overview->waits, struct wait_group, i);
		g_autofree char *leaf = NULL;
		g_autoptr(GString) line = NULL;

		if (group->cause.kind != CAUSE_STILL_BLOCKED && group->cause.kind != CAUSE_DEADLOCK)
			continue;
		if (!printed)
			text_heading(output, "Still blocked at the end, longest first");
		if (limit && printed++ >= limit)
			continue;
		printed += !limit;
		leaf = leaf_key(session, group->leaf);
		line = g_string_new(NULL);
		g_string_append_printf(line, "%s: %s (%d)%s %s", when_duration(length, group->ns),
				       session_thread_name(session, group->thread),
				       model_thread(&session->trace.model, group->thread)->tid,
				       session_on(session, group->thread), leaf);
		if (group->resource && strcmp(session_text(session, group->resource), "poll") != 0)
			g_string_append_printf(line, " on %s",
					       session_text(session, group->resource));
		if (group->spans_gap)
			g_string_append(line, " [spans lost events: it may not be real]");
		text_wrapped(output, line->str, 2, 4);
	}
	more(output, printed, limit ? MIN(limit, printed) : printed);
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

static void calls(const struct session *session, const struct overview *overview,
		  struct output *output)
{
	guint count = shown(session, overview->calls);
	char total[32], mean[32], longest[32];
	bool marked = false;

	if (!count)
		return;
	text_heading(output, session->asked.options->every
				     ? "System calls of this stretch, by time spent in them"
				     : "System calls of the whole trace, by time spent in them");
	fprintf(output->file, "  %-24s %10s %10s %10s %10s %6s\n", "NAME", "CALLS", "TOTAL", "MEAN",
		"LONGEST", "PEAKS");
	for (guint i = 0; i < count; i++) {
		const struct call_total *call =
			&g_array_index(overview->calls, struct call_total, i);
		g_autofree char *name = g_strconcat(session_text(session, call->name),
						    call->stat.spans_gap ? " *" : "", NULL);
		g_autofree char *safe = text_safe(name);

		marked |= call->stat.spans_gap > 0;
		fprintf(output->file, "  %-24s %10" PRIu64 " %10s %10s %10s %6u\n", safe,
			call->stat.count, when_duration(total, call->stat.total),
			when_duration(mean, call->stat.total / (int64_t) call->stat.count),
			when_duration(longest, call->stat.longest), call->peaks);
	}
	text_gap_note(output, marked);
	more(output, overview->calls->len, count);
	more_peaks(overview, session, output);
}

/* The longest wait of a thread that came in the trace, else of any. */
static const struct wait_group *
most_telling(const struct session *session, const struct overview *overview)
{
	for (guint i = 0; i < overview->waits->len; i++) {
		const struct wait_group *group =
			&g_array_index(overview->waits, struct wait_group, i);

		if (model_thread(&session->trace.model, group->thread)->born)
			return group;
	}
	return overview->waits->len ? &g_array_index(overview->waits, struct wait_group, 0) : NULL;
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

/* The call with more than one peak in which most time was spent. */
static void profile_next(const struct session *session, const struct overview *overview,
			 struct output *output)
{
	for (guint i = 0; i < overview->calls->len; i++) {
		const struct call_total *call =
			&g_array_index(overview->calls, struct call_total, i);

		if (call->clear_peaks < 2 || waits_by_design(session_text(session, call->name)))
			continue;
		fprintf(output->file,
			"  whylate profile TRACE --operation syscall:%s    "
			"# what makes its slow ones slow\n",
			session_text(session, call->name));
		return;
	}
}

/* A command that can be pasted: the thread that ended or waited most. */
static void next(const struct session *session, const struct overview *overview,
		 struct output *output)
{
	const struct wait_group *group = most_telling(session, overview);

	text_heading(output, "Next");
	if (session->trace.kinds[EV_FUNCTION_ENTRY] || session->trace.flow.user.entries ||
	    session->trace.flow.has_callstacks)
		fputs("  whylate functions TRACE    # where the time goes along the calls "
		      "recorded\n",
		      output->file);
	for (guint i = 0; i < overview->ended->len && i < 3; i++) {
		uint32_t index = g_array_index(overview->ended, uint32_t, i);
		const struct thread *thread = model_thread(&session->trace.model, index);
		g_autofree char *name = text_safe(session_thread_name(session, index));

		g_autofree char *host = text_host_option(session, index);

		fprintf(output->file,
			"  whylate delay TRACE%s --thread %d    # why %s took so long\n", host,
			thread->tid, name);
	}
	if (session->trace.kinds[EV_PROCESS_EXEC])
		fputs("  whylate delay TRACE --target 'sched_process_exec filename=*/PROGRAM'"
		      "    # why PROGRAM did not start sooner\n",
		      output->file);
	profile_next(session, overview, output);
	if (group) {
		g_autofree char *host = text_host_option(session, group->thread);

		fprintf(output->file,
			"  whylate delay TRACE%s --thread %d --from %" PRId64 "ns --to %" PRId64
			"ns    # its longest wait for one thing\n",
			host, model_thread(&session->trace.model, group->thread)->tid,
			group->longest_begin, group->longest_end);
	}
}

void overview_text(const struct session *session, struct output *output)
{
	struct overview *overview = overview_new(session);
	g_autoptr(GArray)
		locks = contention_new(session, NULL, session->asked.from, session->asked.to);
	g_autoptr(GArray) findings = findings_new();
	g_autofree bool *tracers = session_tracers(session); /* nobody's trouble */
	struct waiting *waiting = waiting_new(session);
	struct coverage coverage;

	coverage_init(&coverage, session);
	text_hosts(session, output);
	threads(session, overview, output);
	waiting_text(session, waiting, output);
	waits(session, overview, output);
	deadlocks_text(session, output);
	open_waits(session, overview, output);
	locks_text(session, locks, output);
	containers(session, output);
	calls(session, overview, output);
	findings_add_waits(findings, session, overview->waits, tracers);
	findings_add_imposers(findings, session, waiting);
	findings_sort(findings);
	text_findings(session, findings, output);
	text_coverage(session, &coverage, output);
	next(session, overview, output);
	coverage_clear(&coverage);
	waiting_free(waiting);
	overview_free(overview);
}
