/* SPDX-License-Identifier: MIT */
/* What became of the limits, for people and as JSON; see limits/judge.h. */
#include "limits/judge.h"

#include <string.h>

#include "report/report.h"

/* "26.1 ms", or "19.9 ms to 20.4 ms" where it is not known exactly. */
static char *value_words(const struct judgement *judgement)
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
		g_autofree char *value = value_words(judgement);

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
		if (at->outcome == OUTCOME_EXCEEDED && is_thread(at->thread) &&
		    at->begin < at->end) {
			g_autofree char *host = text_host_option(session, at->thread);

			fprintf(output->file,
				"      whylate delay TRACE%s --thread %d --from %" G_GINT64_FORMAT
				"ns --to %" G_GINT64_FORMAT "ns\n",
				host, model_thread(&session->trace.model, at->thread)->tid,
				at->begin, at->end);
		}
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

/* Times and counts are integers, shares of 1 are not. */
static json_t *value_json(double value, enum limit_unit unit)
{
	return unit == LIMIT_SHARE ? json_real(value) : json_integer((json_int_t) value);
}

static json_t *example_json(const struct session *session, const struct judgement *judgement)
{
	json_t *object;

	if (!is_thread(judgement->thread) || judgement->begin >= judgement->end)
		return json_null();
	object = json_thread_head(session, judgement->thread);
	json_object_set_new(object, "begin", json_integer(judgement->begin));
	json_object_set_new(object, "end", json_integer(judgement->end));
	return object;
}

json_t *json_judgement(const struct session *session, const struct judgement *judgement)
{
	const struct limit *limit = judgement->limit;
	enum limit_unit unit = limit->bound.unit;
	json_t *object = json_object();

	json_object_set_new(object, "name", json_text(limit->name));
	json_object_set_new(object, "limit", json_text(limit->text));
	json_object_set_new(object, "outcome", json_string(outcome_text(judgement->outcome)));
	json_object_set_new(object, "unit", json_string(limit_unit_text(unit)));
	json_object_set_new(object, "bound", value_json(limit->bound.number, unit));
	json_object_set_new(object, "value",
			    judgement->measured ? value_json(judgement->low, unit) : json_null());
	if (judgement->measured && judgement->high > judgement->low)
		json_object_set_new(object, "value_high", value_json(judgement->high, unit));
	json_object_set_new(object, "subject", json_text(judgement->subject));
	json_object_set_new(object, "subjects", json_integer(judgement->subjects));
	json_object_set_new(object, "exceeded", json_integer(judgement->exceeded));
	json_object_set_new(object, "cause", json_text(judgement->cause));
	json_object_set_new(object, "why", json_text(judgement->why));
	if (session)
		json_object_set_new(object, "example", example_json(session, judgement));
	return object;
}

void json_limits(const struct session *session, FILE *file)
{
	json_t *list;

	if (!session->found.judged)
		return;
	list = json_array();
	for (guint i = 0; i < session->found.judged->len; i++)
		json_array_append_new(
			list, json_judgement(session, g_ptr_array_index(session->found.judged, i)));
	json_member(file, "limits", list, false);
}
