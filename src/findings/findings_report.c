/* SPDX-License-Identifier: MIT */
/* Findings with their ids, for people and as JSON; see findings/findings.h. */
#include "findings/findings.h"

#include <inttypes.h>

#include "report/report.h"

#define SHOWN 8 /* in text: the report above has them all in its own words */

void text_findings(const struct session *session, const GArray *findings, struct output *output)
{
	bool all = session->asked.options->limit == 0;
	guint shown = all ? findings->len : MIN(rows_limited(session, findings->len), SHOWN);
	char sum[32];

	if (!findings->len)
		return;
	text_heading(output, "Findings");
	for (guint i = 0; i < shown; i++) {
		const struct finding *at = &g_array_index(findings, struct finding, i);
		g_autofree char *line = g_strdup_printf(
			"%s  %s: %s%s", at->id, when_duration(sum, at->ns), at->title,
			at->spans_gap ? " [spans lost events: it may not be real]" : "");

		text_wrapped(output, line, 2, 10);
	}
	text_omitted(output, findings->len - shown);
	text_suggestion(session,
			&(struct suggestion) {.command = "explain",
					      .word = g_array_index(findings, struct finding, 0).id,
					      .asked = true,
					      .why = "the first in full; another by its id"},
			2, output);
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
