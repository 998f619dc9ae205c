/* SPDX-License-Identifier: MIT */
/* The Trace Server Protocol's annotations of time graphs: findings, where each is seen best, and
 * lost events. Part of tsp/. */
#include "tsp/outputs.h"

#include <string.h>

#include "tsp/report_json.h"

#define FINDINGS "Findings"
#define LOST "Lost events"

static void put_annotation(struct asking *asking, int64_t entry, int64_t begin, int64_t end,
			   const char *label, const char *style)
{
	struct output *out = &asking->out;

	json_begin(out, NULL, '{', LINES_NOT);
	json_put_whole(out, "time", begin);
	json_put_whole(out, "duration", end - begin);
	json_put_whole(out, "entryId", entry);
	json_put_text(out, "type", "CHART");
	json_put_text(out, "label", label);
	put_style(asking, style);
	json_end(out, '}');
}

/* Of the thread that the finding is seen in: its entry; -1: its row is not there. */
static int64_t entry_of(const struct server *server, const json_t *example, int64_t begin)
{
	uint32_t thread = session_thread_at(
		server->session, (uint16_t) json_integer_value(json_object_get(example, "host")),
		(int32_t) json_integer_value(json_object_get(example, "tid")), begin);

	return is_thread(thread) ? thread_entry(thread) : -1;
}

static void put_findings(struct asking *asking, const json_t *findings, const struct times *range)
{
	json_begin(&asking->out, FINDINGS, '[', LINES_NOT);
	for (size_t i = 0; i < json_array_size(findings); i++) {
		const json_t *finding = json_array_get(findings, i);
		const json_t *example = json_object_get(finding, "example");
		int64_t begin = json_integer_value(json_object_get(example, "begin"));
		int64_t end = json_integer_value(json_object_get(example, "end"));
		g_autofree char *label = NULL;

		if (!json_is_object(example) || begin > range->to || end < range->from)
			continue;
		label = g_strdup_printf("%s: %s", json_string_value(json_object_get(finding, "id")),
					json_string_value(json_object_get(finding, "title")));
		put_annotation(asking, entry_of(asking->server, example, begin), begin, end, label,
			       "finding");
	}
	json_end(&asking->out, ']');
}

static void put_lost(struct asking *asking, const struct times *range)
{
	const struct model *model = &asking->server->session->trace.model;

	json_begin(&asking->out, LOST, '[', LINES_NOT);
	for (guint h = 0; h < model->hosts->len; h++) {
		const struct host *host = model_host(model, h);

		for (guint i = 0; i < host->gaps->len; i++) {
			const struct gap *gap = &g_array_index(host->gaps, struct gap, i);
			g_autofree char *label = g_strdup_printf("lost events of CPU %u", gap->cpu);

			if (gap->begin <= range->to && gap->end >= range->from)
				put_annotation(asking, -1, gap->begin, gap->end, label, "lost");
		}
	}
	json_end(&asking->out, ']');
}

/* False: refused. */
static bool is_annotated(struct asking *asking)
{
	return output_row_find(asking, asking->given[1], NULL, NULL);
}

void annotation_categories(struct asking *asking)
{
	if (!is_annotated(asking))
		return;
	model_begin(asking);
	json_begin(&asking->out, "model", '{', LINES_NOT);
	json_begin(&asking->out, "annotationCategories", '[', LINES_NOT);
	if (strcmp(asking->given[1], "threads") == 0)
		json_put_text(&asking->out, NULL, FINDINGS);
	json_put_text(&asking->out, NULL, LOST);
	json_end(&asking->out, ']');
	json_end(&asking->out, '}');
	model_end(asking);
}

static bool wants_category(const struct asking *asking, const char *category)
{
	const json_t *wanted = parameter(asking, "requested_marker_categories");

	for (size_t i = 0; i < json_array_size(wanted); i++)
		if (g_strcmp0(json_string_value(json_array_get(wanted, i)), category) == 0)
			return true;
	return !json_array_size(wanted);
}

/* Findings are of the whole trace: they do not change with what a client looks at. */
void annotations_get(struct asking *asking)
{
	bool findings =
		strcmp(asking->given[1], "threads") == 0 && wants_category(asking, FINDINGS);
	struct times range, all;
	json_t *report = NULL;

	if (!is_annotated(asking) || !asked_times(asking, true, &range))
		return;
	all = (struct times) {asking->server->session->trace.begin,
			      asking->server->session->trace.end, 0};
	if (findings && !(report = report_json(asking, "overview", &all, NULL)))
		return;
	model_begin(asking);
	json_begin(&asking->out, "model", '{', LINES_NOT);
	json_begin(&asking->out, "annotations", '{', LINES_NOT);
	if (findings)
		put_findings(asking, json_object_get(report, "findings"), &range);
	if (wants_category(asking, LOST))
		put_lost(asking, &range);
	json_end(&asking->out, '}');
	json_end(&asking->out, '}');
	model_end(asking);
	json_decref(report);
}
