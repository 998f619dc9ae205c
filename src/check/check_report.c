/* SPDX-License-Identifier: MIT */
/* What can be answered from a trace, as text and JSON: whylate-check-1. */
#include "check/check.h"

#include "report/report.h"

static const char *const meanings[] = {"all that it needs was recorded",
				       "its answers lack something, and say so",
				       "what it tells by was not recorded"};

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

void check_text(const struct session *session, struct output *output)
{
	struct check check;

	check_init(&check, session);
	text_hosts(session, output);
	text_heading(output, "Can it be answered from this trace?");
	for (guint c = 0; c < check.count; c++)
		fprintf(output->file, "  %-10s %-9s %s\n", check.commands[c]->name,
			answer_text(check.answers[c]), meanings[check.answers[c]]);
	findings_text(&check, "What is missing, and how to record it", true, output);
	findings_text(&check, "What would tell more", false, output);
	check_clear(&check);
}

static json_t *commands_json(const struct check *check, unsigned commands)
{
	json_t *list = json_array();

	for (guint c = 0; c < check->count; c++)
		if (commands & 1u << c)
			json_array_append_new(list, json_string(check->commands[c]->name));
	return list;
}

static json_t *findings_json(const struct check *check)
{
	json_t *list = json_array();

	for (guint i = 0; i < check->findings->len; i++) {
		const struct finding *finding = &g_array_index(check->findings, struct finding, i);
		json_t *object = json_object();

		json_object_set_new(object, "kind", json_string(finding_kind_text(finding->kind)));
		json_object_set_new(object, "name", json_text(finding->name));
		json_object_set_new(object, "means", json_text(finding->means));
		json_object_set_new(object, "remedy",
				    finding->remedy ? json_text(finding->remedy) : json_null());
		json_object_set_new(object, "impossible",
				    commands_json(check, finding->impossible));
		json_object_set_new(object, "degraded", commands_json(check, finding->degraded));
		json_object_set_new(object, "poorer", commands_json(check, finding->poorer));
		json_array_append_new(list, object);
	}
	return list;
}

void check_json(const struct session *session, struct output *output)
{
	json_t *answers = json_array();
	struct coverage coverage;
	struct check check;

	check_init(&check, session);
	coverage_init(&coverage, session);
	for (guint c = 0; c < check.count; c++)
		json_array_append_new(answers,
				      json_pack("{s:s,s:s}", "command", check.commands[c]->name,
						"answer", answer_text(check.answers[c])));
	json_open(output->file, "whylate-check-1");
	json_member(output->file, "hosts", json_hosts(session), false);
	json_member(output->file, "coverage", json_coverage(session, &coverage), false);
	json_member(output->file, "commands", answers, false);
	json_member(output->file, "findings", findings_json(&check), false);
	fputs("}\n", output->file);
	coverage_clear(&coverage);
	check_clear(&check);
}
