/* SPDX-License-Identifier: MIT */
/* The delay report for people, in the shapes of the LTTV Delay Analyzer
 * (Fournier and Dagenais, section 2.4): lineage, state summary with node ids,
 * instances by node, blocking causality as an indented tree. First what
 * answers the question, then the details.
 */
#include "delay/delay.h"

#include <string.h>

#include "findings/findings.h"
#include "samples/programs.h"

#define CONFIGURATION_SHOWN 3
#define DETAILED_MAX 3 /* threads: of more what they waited for and when is left out */

static void target(const struct session *session, struct output *output)
{
	const struct match *match = &session->asked.matches[MATCH_TARGET];
	g_autofree char *who = NULL, *line = NULL;
	char at[48];

	if (session->asked.target == NO_THREAD)
		return;
	who = thread_words(session, session->asked.target);
	line = g_strdup_printf("Target: %s by %s at %s", session_text(session, match->event), who,
			       when_time(at, match->time, session->asked.options->utc, true));
	text_wrapped(output, line, 0, 2);
}

/* Of what all this was said: behind the answer, before what shows it. */
static void frame(const struct delay *delay, struct output *output)
{
	const struct session *session = delay->session;
	g_autoptr(GString) line = g_string_new(NULL);
	char from[48], to[48], length[32];
	bool utc = session->asked.options->utc;

	g_string_append_printf(line, "Window: %s to %s, %s",
			       when_time(from, session->asked.from, utc, true),
			       when_time(to, session->asked.to, utc, true),
			       when_duration(length, session->asked.to - session->asked.from));
	text_wrapped(output, line->str, 0, 2);
	if (session->trace.model.hosts->len)
		for (guint i = 0; i < session->trace.model.hosts->len; i++) {
			const struct host *host = model_host(&session->trace.model, i);

			g_string_printf(line, "Host: %s, Linux %s, %s, %u CPU%s",
					trace_host_name(&session->trace, i),
					host->kernel ? host->kernel : "(version not said)",
					host->tracer ? host->tracer : "(tracer not said)",
					host->cpus->len, host->cpus->len == 1 ? "" : "s");
			text_clock(line, session, host);
			text_guest(line, session, host);
			text_wrapped(output, line->str, 0, 2);
		}
}

/* "the 3 threads dig", "8 threads, poolw-0 (pid 260) and others" */
static char *threads_words(const struct delay *delay)
{
	const struct session *session = delay->session;
	uint32_t first = g_array_index(delay->threads, struct stretch, 0).thread;
	g_autofree char *who = NULL;
	bool same = true;

	if (delay->threads->len == 1)
		return thread_words(session, first);
	for (guint i = 1; i < delay->threads->len; i++)
		same &= strcmp(session_thread_name(session, first),
			       session_thread_name(
				       session,
				       g_array_index(delay->threads, struct stretch, i).thread)) ==
			0;
	if (same)
		return g_strdup_printf("the %u threads %s", delay->threads->len,
				       session_thread_name(session, first));
	who = thread_words(session, first);
	return g_strdup_printf("%u threads, %s and others", delay->threads->len, who);
}

/* "62.1 % (12.3 ms): …. Without it, 9.8 ms sooner." */
static void verdict_line(const struct delay *delay, guint at, struct output *output)
{
	const struct worth *worth = worth_at(delay->worths, at);
	g_autofree char *gone = worth ? worth_words(worth) : NULL;
	g_autofree char *line =
		g_strconcat(g_ptr_array_index(delay->verdict, at), gone ? " " : NULL, gone, NULL);

	text_wrapped(output, line, 2, 2);
}

static void verdict(const struct delay *delay, struct output *output)
{
	g_autofree char *who = NULL, *heading = NULL;
	bool many = delay->threads->len > 1;
	int64_t ns = 0;
	char length[32];

	if (!delay->verdict->len) {
		if (many)
			text_wrapped(output,
				     "So many threads have no common answer: ask for a few with "
				     "--thread, or for a --target.",
				     0, 2);
		return;
	}
	if (delay->session->asked.target == NO_THREAD) {
		for (guint i = 0; i < delay->threads->len; i++)
			ns += g_array_index(delay->threads, struct stretch, i).end -
			      g_array_index(delay->threads, struct stretch, i).begin;
		who = threads_words(delay);
		heading = g_strdup_printf("Where the time of %s went: %s of %s in the window", who,
					  when_duration(length, ns),
					  many ? "their lives" : "its life");
	}
	if (heading)
		text_wrapped(output, heading, 0, 2);
	else
		text_heading(output, "Why not sooner: where the window's time went");
	for (guint i = 0; i < delay->verdict->len; i++)
		verdict_line(delay, i, output);
	configuration_text(delay->configuration, CONFIGURATION_SHOWN, 2, output);
	if (delay->worths->len)
		text_wrapped(output,
			     "\"Without it\" takes all else as it was, in the recorded order; "
			     "--sort worth puts what is worth most first.",
			     0, 2);
	if (delay->session->trace.timeline.samples.used)
		text_wrapped(output,
			     "Shares of functions are of that one's own code, or of the call; "
			     "'whylate functions' has them of all its work, the critical path's "
			     "sums of the path; what less of one would save: --what-if "
			     "'function=NAME: x0.5'.",
			     0, 2);
	fputc('\n', output->file);
}

static void lineage(const struct delay *delay, struct output *output)
{
	const struct session *session = delay->session;
	char length[32];

	if (!delay->lineage->len || session->asked.target == NO_THREAD)
		return;
	text_heading(output, "Lineage: after the window's begin");
	for (guint i = 0; i < delay->lineage->len; i++) {
		const struct stretch *at = &g_array_index(delay->lineage, struct stretch, i);
		g_autofree char *who = thread_words(session, at->thread);
		bool last = i + 1 == delay->lineage->len;

		fputs("  ", output->file);
		text_escaped(output, who);
		fprintf(output->file, "%s ran for %s before %s\n", i ? " which" : "",
			when_duration(length, at->end - at->begin),
			last ? "reaching the target" : "creating");
	}
}

/* Whose code the samples' stacks name, and whose not. */
static void sample_notes(const struct session *session, struct output *output)
{
	g_autoptr(GPtrArray) notes = program_notes(session);

	if (notes->len)
		text_heading(output, "Samples: where the names of their functions are from");
	for (guint i = 0; i < notes->len; i++)
		text_wrapped(output, notes->pdata[i], 2, 2);
}

/* --- which threads --------------------------------------------------------------------------- */

/* As many threads as a list has rows: of a whole system most only sleep, and what is said of each
 * are dozens of lines. */
static GArray *threads_shown(const struct delay *delay)
{
	uint32_t limit = delay->session->asked.options->limit;
	GArray *shown = NULL;

	if (!limit || delay->threads->len <= limit || delay->session->asked.target != NO_THREAD) {
		shown = g_array_new(FALSE, FALSE, sizeof(struct stretch));
		return g_array_append_vals(shown, delay->threads->data, delay->threads->len);
	}
	shown = delay_most_active(delay);
	return g_array_set_size(shown, limit);
}

/* Which they are, and in what order. */
static void shown_line(const struct delay *delay, const GArray *shown, struct output *output)
{
	g_autofree char *line = NULL;

	if (delay->threads->len < 2 || delay->session->asked.target != NO_THREAD)
		return; /* a target's ancestors are told of as its lineage */
	fputc('\n', output->file);
	if (shown->len == delay->threads->len)
		line = g_strdup_printf(
			"Of the %u threads, in the order in which they were first seen:",
			shown->len);
	else
		line = g_strdup_printf(
			"Of the %u of %u threads that worked or were ready to run longest, in that "
			"order; --limit 0 shows all:",
			shown->len, delay->threads->len);
	text_wrapped(output, line, 0, 2);
}

static void left_out_line(struct output *output)
{
	fputc('\n', output->file);
	text_wrapped(output,
		     "Each wait of so many threads, and when they were in each state, is left out: "
		     "--thread NAME or TID shows it of one, --limit 0 of all.",
		     0, 2);
}

void delay_text(const struct delay *delay, struct output *output)
{
	struct report report = {delay->session, delay, output};
	const struct options *options = delay->session->asked.options;
	g_autoptr(GArray) threads = NULL;
	bool brief;

	target(delay->session, output);
	if (delay->what_if)
		what_if_text(delay->what_if, output);
	verdict(delay, output);
	frame(delay, output);
	if (delay->session->asked.options->path) {
		path_steps_text(&report);
		text_coverage_now(delay->session, output);
		return;
	}
	lineage(delay, output);
	threads = threads_shown(delay);
	shown_line(delay, threads, output);
	brief = threads->len > DETAILED_MAX && options->limit && !options->verbose &&
		delay->session->asked.target == NO_THREAD;
	for (guint i = 0; i < threads->len; i++)
		summary_text(&report, &g_array_index(threads, struct stretch, i), brief);
	critical_path_text(&report);
	locks_text(&report, delay->locks);
	if (brief)
		left_out_line(output);
	for (guint i = 0; !brief && i < threads->len; i++)
		causality_text(&report, &g_array_index(threads, struct stretch, i));
	for (guint i = 0; !brief && i < threads->len; i++)
		instances_text(&report, &g_array_index(threads, struct stretch, i));
	text_findings(delay->session, delay->findings, output);
	sample_notes(delay->session, output);
	text_coverage_now(delay->session, output);
}
