/* SPDX-License-Identifier: MIT */
/* What can be answered from a trace, as text and JSON: whylate-check-1. */
#include "check/check.h"

#include <string.h>

#include "report/report.h"

/* "overview, delay" */
static char *names_of(const struct check *check, unsigned commands)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint c = 0; c < check->count; c++)
		if (commands & 1u << c)
			g_string_append_printf(text, "%s%s", text->len ? ", " : "",
					       check->commands[c]->name);
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static void finding_text(const struct check *check, const struct finding *finding,
			 struct output *output)
{
	g_autofree char *impossible = names_of(check, finding->impossible);
	g_autofree char *degraded = names_of(check, finding->degraded);
	g_autoptr(GString) line = g_string_new(finding->name);

	g_string_append_printf(line, ": %s", finding->means);
	if (*impossible)
		g_string_append_printf(line, "; no %s without", impossible);
	if (*degraded && finding->degraded != check_all(check))
		g_string_append_printf(line, "%s%s", *impossible ? ", and less of " : "; less of ",
				       degraded);
	text_wrapped(output, line->str, 2, 6);
	if (finding->remedy)
		text_wrapped(output, finding->remedy, 6, 8);
}

static void findings_text(const struct check *check, const char *heading, bool grave,
			  struct output *output)
{
	bool any = false;

	for (guint i = 0; i < check->findings->len; i++) {
		const struct finding *finding = &g_array_index(check->findings, struct finding, i);

		if (grave != (finding->impossible || finding->degraded))
			continue;
		if (!any)
			text_heading(output, heading);
		any = true;
		finding_text(check, finding, output);
	}
}

/* The answer comes first. */
static void answer_lines(const struct check *check, const struct session *session,
			 struct output *output)
{
	g_autofree char *record_with = check_record_with(check);
	bool all = true;

	text_answer(output, check_answer(check, session));
	for (guint c = 0; c < check->count; c++)
		all &= check->answers[c] == ANSWER_YES;
	if (!record_with)
		return;
	fputs(all ? "One more line would tell more:\n" : "Record it next time with:\n",
	      output->file);
	text_command(output, record_with, 2);
	if (check_record_note(check))
		text_wrapped(output, check_record_note(check), 2, 0);
}

/* "delay      yes     Why was the target not reached sooner?" */
static void question_line(const struct check *check, guint c, struct output *output)
{
	static const char *const words[] = {"yes", "partly", "no"};
	const char *summary = check->commands[c]->summary;
	g_autofree char *line =
		g_strdup_printf("%-9s  %-6s  %.*s", check->commands[c]->name,
				words[check->answers[c]], (int) strcspn(summary, "\n"), summary);

	text_wrapped(output, line, 2, 19);
}

void check_text(const struct session *session, struct output *output)
{
	struct check check;

	check_init(&check, session);
	text_hosts(session, output);
	answer_lines(&check, session, output);
	text_heading(output, "Which questions can this trace answer?");
	for (guint c = 0; c < check.count; c++)
		question_line(&check, c, output);
	findings_text(&check, "What is missing, and how to record it", true, output);
	findings_text(&check, "What would tell more", false, output);
	check_clear(&check);
}

/* Names of the commands that have a bit. */
static guint put_commands(const struct report *report, unsigned commands)
{
	const struct check *check = report->data;

	for (guint c = 0; c < check->count; c++)
		if (commands & 1u << c)
			json_put_text(report->output, NULL, check->commands[c]->name);
	return 0;
}

GETTER(const char *, kind, struct finding, finding_kind_text(row->kind));
GETTER(guint, put_impossible, struct finding, put_commands(report, row->impossible));
GETTER(guint, put_degraded, struct finding, put_commands(report, row->degraded));
GETTER(guint, put_poorer, struct finding, put_commands(report, row->poorer));

static const struct column lack_columns[] = {
	{"kind", COLUMN_TEXT, .text = kind},
	{"name", COLUMN_TEXT, FIELD(struct finding, name)},
	{"means", COLUMN_TEXT, FIELD(struct finding, means)},
	{"remedy", COLUMN_TEXT, FIELD(struct finding, remedy)},
	{"impossible", COLUMN_LIST, .each = put_impossible},
	{"degraded", COLUMN_LIST, .each = put_degraded},
	{"poorer", COLUMN_LIST, .each = put_poorer},
	{0}};

static guint put_answers(const struct report *report, const void *row)
{
	const struct check *check = row;

	for (guint c = 0; c < check->count; c++) {
		json_begin(report->output, NULL, '{', LINES_NOT);
		json_put_text(report->output, "command", check->commands[c]->name);
		json_put_text(report->output, "answer", answer_text(check->answers[c]));
		json_end(report->output, '}');
	}
	return 0;
}

static void write_answer(const struct report *report, const void *row)
{
	json_put_answer(report->output, check_answer(row, report->session));
}

GETTER(char *, record_with, struct check, check_record_with(row));

static const struct column report_columns[] = {
	COLUMNS(report_hosts),
	COLUMNS(report_coverage),
	{NULL, COLUMN_WRITTEN, .write = write_answer},
	{"record_with", COLUMN_TEXT, .owned = record_with},
	{"commands", COLUMN_LIST, .each = put_answers},
	{"findings", COLUMN_LIST, FIELD(struct check, findings), .columns = lack_columns},
	{0}};

void check_json(const struct session *session, struct output *output)
{
	struct check check;
	struct report report = {session, &check, output};

	check_init(&check, session);
	json_report(&report, "whylate-check-1", report_columns, &check);
	check_clear(&check);
}
