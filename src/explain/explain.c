/* SPDX-License-Identifier: MIT */
/* One finding in full, by its id; see findings/findings.h.
 *
 * What it is, how much of it there is, and the delay report of the thread and time in which it is
 * seen best; for people and as JSON (whylate-explain-1).
 */
#include <inttypes.h>
#include <string.h>

#include "findings/findings.h"
#include "report/report.h"
#include "util/error.h"

static const struct {
	const char *kind, *meaning, *unit;
} kinds[] = {
	{"wait", "threads of one name waited in one call for one resource", "waits"},
	{"imposer", "others waited for it, or for what it waited for", "threads that waited"},
	{"peak", "operations of one latency peak that spent their time alike", "operations"},
	{"cause", "what requests spent their time on", "requests"},
};

static size_t kind_of(const struct finding *finding)
{
	size_t i = 0;

	while (i + 1 < G_N_ELEMENTS(kinds) && strcmp(kinds[i].kind, finding->kind) != 0)
		i++;
	return i;
}

static void head_text(const struct session *session, const struct finding *finding,
		      struct output *output)
{
	size_t kind = kind_of(finding);
	g_autoptr(GString) line = g_string_new(NULL);
	char sum[32], length[32], when[48];

	g_string_printf(line, "%s: %s", finding->id, finding->title);
	text_wrapped(output, line->str, 0, 2);
	g_string_printf(line, "%s %s: %s.", strchr("aeiou", *finding->kind) ? "An" : "A",
			finding->kind, kinds[kind].meaning);
	text_wrapped(output, line->str, 2, 2);
	g_string_printf(line, "%s in all, %" PRIu64 " %s%s", when_duration(sum, finding->ns),
			finding->count, kinds[kind].unit,
			finding->spans_gap ? "; some span lost events: they may not be real" : "");
	text_wrapped(output, line->str, 2, 2);
	if (!is_thread(finding->thread)) {
		text_wrapped(output, "It is seen in no thread.", 2, 2);
		return;
	}
	g_string_printf(line,
			"Seen best in %s (%d)%s, %s from %s; the rest of this report is of that.",
			session_thread_name(session, finding->thread),
			model_thread(&session->trace.model, finding->thread)->tid,
			session_on(session, finding->thread),
			when_duration(length, finding->end - finding->begin),
			when_time(when, finding->begin, session->asked.options->utc, false));
	text_wrapped(output, line->str, 2, 2);
	fputc('\n', output->file);
}

/* The delay report of the finding's thread and time. */
static void delay_of(const struct session *session, const struct finding *finding,
		     struct output *output)
{
	struct session narrowed = *session;
	struct options options = *session->asked.options;
	uint32_t thread = finding->thread;

	options.command = COMMAND_DELAY;
	options.depth = 0;
	narrowed.asked.options = &options;
	narrowed.asked.selected = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(narrowed.asked.selected, thread);
	narrowed.asked.from = finding->begin;
	narrowed.asked.to = finding->end;
	delay_write(&narrowed, output);
	g_array_free(narrowed.asked.selected, TRUE);
}

bool explain_write(const struct session *session, struct output *output, GError **error)
{
	struct finding finding;
	bool has_thread;

	if (!finding_look_up(session, session->asked.options->finding, &finding)) {
		g_set_error(
			error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			"explain '%s': the trace has no such finding%s",
			session->asked.options->finding,
			"; give the options too that choose (--operation, --thread, --from …) of "
			"the report that named it");
		return false;
	}
	has_thread = is_thread(finding.thread) && finding.begin < finding.end;
	if (session->asked.options->format == FORMAT_JSON) {
		json_open(output->file, "whylate-explain-1");
		json_member(output->file, "finding", json_finding(session, &finding), false);
		fputs(",\n\"delay\": ", output->file);
		if (has_thread)
			delay_of(session, &finding, output);
		else
			fputs("null", output->file);
		fputs("}\n", output->file);
	} else {
		head_text(session, &finding, output);
		if (has_thread)
			delay_of(session, &finding, output);
	}
	g_free(finding.title);
	return true;
}
