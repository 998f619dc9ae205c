/* SPDX-License-Identifier: MIT */
/* Findings with their ids, for people and as JSON; see findings/findings.h. */
#include "findings/findings.h"

#include <inttypes.h>

#include "report/report.h"

#define SHOWN 8 /* in text: the report above has them all in its own words */

static guint shown_of(const GArray *findings, guint most)
{
	return most ? MIN(findings->len, most) : findings->len;
}

void text_findings(const struct session *session, const GArray *findings, struct output *output)
{
	uint32_t limit = session->asked.options->limit;
	guint shown = shown_of(findings, limit ? MIN(limit, SHOWN) : 0);
	char sum[32];

	if (!findings->len)
		return;
	text_heading(output, "Findings (whylate explain ID TRACE shows one in full)");
	for (guint i = 0; i < shown; i++) {
		const struct finding *at = &g_array_index(findings, struct finding, i);
		g_autofree char *line = g_strdup_printf(
			"%s  %s: %s%s", at->id, when_duration(sum, at->ns), at->title,
			at->spans_gap ? " [spans lost events: it may not be real]" : "");

		text_wrapped(output, line, 2, 10);
	}
	text_omitted(output, findings->len - shown);
}

static const struct column example_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct finding, thread)},
	{"begin", COLUMN_TIME, FIELD(struct finding, begin)},
	{"end", COLUMN_TIME, FIELD(struct finding, end)},
	{0}};

GETTER(const void *, if_seen, struct finding, is_thread(row->thread) ? row : NULL);

const struct column finding_columns[] = {
	{"id", COLUMN_TEXT, FIELD_HERE(struct finding, id), .merged = MERGED_FIRST},
	{"kind", COLUMN_TEXT, FIELD(struct finding, kind), .merged = MERGED_FIRST},
	{"title", COLUMN_TEXT, FIELD(struct finding, title), .merged = MERGED_FIRST},
	{"ns", COLUMN_NS, FIELD(struct finding, ns), .merged = MERGED_SUM},
	{"count", COLUMN_WHOLE, FIELD(struct finding, count), .merged = MERGED_SUM},
	{"threads", COLUMN_WHOLE, FIELD(struct finding, threads), .merged = MERGED_SUM},
	{"spans_gap", COLUMN_BOOL, FIELD(struct finding, spans_gap), .merged = MERGED_ANY},
	{"example", COLUMN_OBJECT, .at = if_seen, .columns = example_columns},
	{0}};

json_t *json_finding(const struct session *session, const struct finding *finding)
{
	json_t *object = json_object(), *example = json_null();

	json_object_set_new(object, "id", json_string(finding->id));
	json_object_set_new(object, "kind", json_string(finding->kind));
	json_object_set_new(object, "title", json_text(finding->title));
	json_object_set_new(object, "ns", json_integer(finding->ns));
	json_object_set_new(object, "count", json_integer((json_int_t) finding->count));
	json_object_set_new(object, "threads", json_integer(finding->threads));
	json_object_set_new(object, "spans_gap", json_boolean(finding->spans_gap));
	if (is_thread(finding->thread)) {
		example = json_thread_head(session, finding->thread);
		json_object_set_new(example, "begin", json_integer(finding->begin));
		json_object_set_new(example, "end", json_integer(finding->end));
	}
	json_object_set_new(object, "example", example);
	return object;
}

void json_findings(const struct session *session, const GArray *findings, uint32_t limit,
		   FILE *file)
{
	guint shown = shown_of(findings, limit);
	json_t *list = json_array();

	for (guint i = 0; i < shown; i++)
		json_array_append_new(
			list, json_finding(session, &g_array_index(findings, struct finding, i)));
	json_member(file, "findings", list, false);
	if (shown < findings->len)
		json_member(file, "findings_omitted", json_integer(findings->len - shown), false);
}
