/* SPDX-License-Identifier: MIT */
/* What became of the limits, for people and as JSON; see limits/judge.h. */
#include "limits/judge.h"

#include <string.h>

#include "report/report.h"
#include "limits/limits_report.h"

/* "26.1 ms", or "19.9 ms to 20.4 ms" where it is not known exactly. */
static char *value_text(const struct judgement *judgement)
{
	enum limit_unit unit = judgement->limit->bound.unit;
	char low[32], high[32];

	limit_value_text(low, judgement->low, unit);
	limit_value_text(high, judgement->high, unit);
	return strcmp(low, high) == 0 ? g_strdup(low) : g_strdup_printf("%s to %s", low, high);
}

char *judgement_text(const struct judgement *judgement)
{
	GString *text = g_string_new(NULL);

	if (judgement->limit->name)
		g_string_append_printf(text, "%s: ", judgement->limit->name);
	g_string_append(text, judgement->limit->text);
	if (judgement->measured) {
		g_autofree char *value = value_text(judgement);

		g_string_append_printf(text, ": %s", value);
		if (judgement->subject)
			g_string_append_printf(text, " (%s)", judgement->subject);
	}
	if (judgement->exceeded > 1)
		g_string_append_printf(text, "; %u of %u exceed it", judgement->exceeded,
				       judgement->subjects);
	if (judgement->why)
		g_string_append_printf(text, "%s%s", judgement->measured ? "; " : ": ",
				       judgement->why);
	if (judgement->cause)
		g_string_append_printf(text, "; %s", judgement->cause);
	return g_string_free(text, FALSE);
}

void limits_text(const struct session *session, struct output *output)
{
	static const char *const words[] = {"kept:", "EXCEEDED:", "does not apply:", "NOT JUDGED:"};

	if (!session->found.judged)
		return;
	fprintf(output->file, "%sLimits%s\n", output->color ? "\033[1m" : "",
		output->color ? "\033[0m" : "");
	for (guint i = 0; i < session->found.judged->len; i++) {
		const struct judgement *at = g_ptr_array_index(session->found.judged, i);
		g_autofree char *text = judgement_text(at);
		g_autofree char *line = g_strconcat(words[at->outcome], " ", text, NULL);

		text_wrapped(output, line, 2, 4);
		if (at->outcome == OUTCOME_EXCEEDED && is_thread(at->thread) && at->begin < at->end)
			text_suggestion(session,
					&(struct suggestion) {.command = "delay",
							      .thread = &at->thread,
							      .from = at->begin,
							      .to = at->end},
					6, output);
	}
	fputc('\n', output->file);
}

static void put_number(const struct report *report, const char *key, double value,
		       enum limit_unit unit)
{
	if (unit == LIMIT_SHARE) /* times and counts are integers, shares of 1 are not */
		json_put_real(report->output, key, value);
	else
		json_put_whole(report->output, key, (int64_t) value);
}

static void write_numbers(const struct report *report, const void *row)
{
	const struct judgement *judgement = row;
	enum limit_unit unit = judgement->limit->bound.unit;

	put_number(report, "bound", judgement->limit->bound.number, unit);
	if (judgement->measured)
		put_number(report, "value", judgement->low, unit);
	else
		json_put_null(report->output, "value");
	if (judgement->measured && judgement->high > judgement->low)
		put_number(report, "value_high", judgement->high, unit);
}

GETTER(const char *, limit_name, struct judgement, row->limit->name);
GETTER(const char *, limit_text, struct judgement, row->limit->text);
GETTER(const char *, outcome, struct judgement, outcome_text(row->outcome));
GETTER(const char *, unit, struct judgement, limit_unit_text(row->limit->bound.unit));
GETTER(const void *, if_seen, struct judgement,
       is_thread(row->thread) && row->begin < row->end ? row : NULL);

GETTER(bool, of_one_trace, void, report->session != NULL);

static const struct column example_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct judgement, thread)},
	{"begin", COLUMN_TIME, FIELD(struct judgement, begin)},
	{"end", COLUMN_TIME, FIELD(struct judgement, end)},
	{0}};

const struct column judgement_columns[] = {
	{"name", COLUMN_TEXT, .text = limit_name},
	{"limit", COLUMN_TEXT, .text = limit_text},
	{"outcome", COLUMN_TEXT, .text = outcome},
	{"unit", COLUMN_TEXT, .text = unit},
	{NULL, COLUMN_WRITTEN, .write = write_numbers},
	{"subject", COLUMN_TEXT, FIELD(struct judgement, subject)},
	{"subjects", COLUMN_WHOLE, FIELD(struct judgement, subjects)},
	{"exceeded", COLUMN_WHOLE, FIELD(struct judgement, exceeded)},
	{"cause", COLUMN_TEXT, FIELD(struct judgement, cause)},
	{"why", COLUMN_TEXT, FIELD(struct judgement, why)},
	{"example", COLUMN_OBJECT, .at = if_seen, .columns = example_columns, .when = of_one_trace},
	{0}};

GETTER(const void *, judged, void, report->session->found.judged);

const struct column report_limits[] = {{"limits", COLUMN_LIST, .at = judged,
					.stored = STORED_POINTERS, .columns = judgement_columns,
					.absent = true},
				       {0}};
