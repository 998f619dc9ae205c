/* SPDX-License-Identifier: MIT */
/* The delay report for people, in the shapes of the LTTV Delay Analyzer
 * (Fournier and Dagenais, section 2.4): lineage, state summary with node ids,
 * instances by node, blocking causality as an indented tree. First what
 * answers the question, then the details.
 */
#include "delay/delay.h"

#include "findings/findings.h"

static void head(const struct delay *delay, struct output *output)
{
	const struct session *session = delay->session;
	const struct match *match = &session->asked.matches[MATCH_TARGET];
	g_autoptr(GString) line = g_string_new(NULL);
	char from[48], to[48], length[32];
	bool utc = session->asked.options->utc;

	if (session->asked.target != NO_THREAD) {
		g_autofree char *who = thread_words(session, session->asked.target);

		g_string_append_printf(line, "Target: %s by %s at %s",
				       session_text(session, match->event), who,
				       when_time(to, match->time, utc, true));
		text_wrapped(output, line->str, 0, 2);
		g_string_truncate(line, 0);
	}
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
			text_wrapped(output, line->str, 0, 2);
		}
}

static void verdict(const struct delay *delay, struct output *output)
{
	const struct stretch *at;
	g_autofree char *who = NULL, *heading = NULL;
	char length[32];

	if (!delay->verdict->len) {
		if (delay->threads->len > 1)
			text_wrapped(output,
				     "Several threads are asked for; lineage, critical path "
				     "and verdict are made for a --target or a single "
				     "--thread.",
				     0, 2);
		return;
	}
	if (delay->session->asked.target == NO_THREAD) {
		at = &g_array_index(delay->threads, struct stretch, 0);
		who = thread_words(delay->session, at->thread);
		heading = g_strdup_printf("Where the time of %s went: %s of its life in the window",
					  who, when_duration(length, at->end - at->begin));
	}
	text_heading(output, heading ? heading : "Why not sooner: where the window's time went");
	for (guint i = 0; i < delay->verdict->len; i++)
		text_wrapped(output, g_ptr_array_index(delay->verdict, i), 2, 2);
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

void delay_text(const struct delay *delay, struct output *output)
{
	struct report report = {delay->session, delay, output};
	const GArray *threads = delay->threads;

	head(delay, output);
	verdict(delay, output);
	if (delay->session->asked.options->path) {
		path_steps_text(&report);
		text_coverage_now(delay->session, output);
		return;
	}
	lineage(delay, output);
	for (guint i = 0; i < threads->len; i++)
		summary_text(&report, &g_array_index(threads, struct stretch, i));
	critical_path_text(&report);
	locks_text(&report, delay->locks);
	for (guint i = 0; i < threads->len; i++)
		causality_text(&report, &g_array_index(threads, struct stretch, i));
	for (guint i = 0; i < threads->len; i++)
		instances_text(&report, &g_array_index(threads, struct stretch, i));
	text_findings(delay->session, delay->findings, output);
	text_coverage_now(delay->session, output);
}
