/* SPDX-License-Identifier: MIT */
/* A trace's line of `whylate batch`; see batch.h. */
#include "batch/batch_parts.h"

#include <string.h>

#include "findings/findings.h"
#include "imposed/wait_groups.h"
#include "latencies/roots.h"
#include "imposed/waiting.h"
#include "report/report.h"

static json_t *buckets_json(const uint64_t *counts, guint length)
{
	json_t *object = json_object();
	char key[16];

	for (guint b = 0; counts && b < length; b++)
		if (counts[b]) {
			g_snprintf(key, sizeof key, "%u", b);
			json_object_set_new(object, key, json_integer((json_int_t) counts[b]));
		}
	return object;
}

static json_t *latencies_json(const struct histogram *latencies)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:o}", "count", (json_int_t) latencies->count, "sum_ns",
			 (json_int_t) latencies->sum, "min_ns", (json_int_t) latencies->min,
			 "max_ns", (json_int_t) latencies->max, "buckets",
			 buckets_json(latencies->counts, MEASURE_BUCKETS));
}

json_t *measures_json(const struct measures *measures)
{
	json_t *list = json_array();

	for (guint i = 0; i < measures->list->len; i++) {
		const struct measure *at = g_ptr_array_index(measures->list, i);
		json_t *object = json_object(), *parts = json_array();

		json_object_set_new(object, "subject", json_text(at->subject));
		if (at->sure.count)
			json_object_set_new(object, "sure", latencies_json(&at->sure));
		if (at->doubtful.count)
			json_object_set_new(object, "doubtful", latencies_json(&at->doubtful));
		for (guint p = 0; p < at->parts->len; p++)
			json_array_append_new(
				parts,
				json_integer((json_int_t) g_array_index(at->parts, double, p)));
		if (at->parts->len) {
			json_object_set_new(object, "parts_ns", parts);
			json_object_set_new(object, "whole_ns",
					    json_integer((json_int_t) at->whole));
			json_object_set_new(object, "unknown_ns",
					    json_integer((json_int_t) at->unknown));
		} else {
			json_decref(parts);
			json_object_set_new(object, "value", json_integer((json_int_t) at->value));
		}
		if (at->open)
			json_object_set_new(object, "open", json_true());
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *limits_json(const struct session *session)
{
	json_t *list = json_array();

	for (guint i = 0; session->found.judged && i < session->found.judged->len; i++) {
		const struct judgement *at = g_ptr_array_index(session->found.judged, i);
		json_t *object = json_judgement(session, at);

		json_object_set_new(object, "measures", measures_json(at->measures));
		json_object_set_new(object, "lacks", json_text(at->measures->lacks));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *profiles_json(const struct profiles *profiles)
{
	json_t *list = json_array();

	for (guint i = 0; i < profiles->list->len; i++) {
		const struct profile *at = g_ptr_array_index(profiles->list, i);

		json_array_append_new(
			list, json_pack("{s:o,s:I,s:I,s:I,s:I,s:I,s:o}", "operation",
					json_text(at->operation), "count", (json_int_t) at->count,
					"spans_gap", (json_int_t) at->spans_gap, "sum_ns",
					(json_int_t) at->sum, "min_ns", (json_int_t) at->min,
					"max_ns", (json_int_t) at->max, "buckets",
					buckets_json(at->counts, profiles->buckets.count)));
	}
	return list;
}

/* The largest waits, bottlenecks and peaks. */
static json_t *line_findings_json(const struct session *session, struct profiles *peaks)
{
	g_autoptr(GArray) findings = findings_new();
	g_autofree bool *tracers = session_tracers(session); /* nobody's trouble */
	struct overview *overview = overview_new(session);
	struct waiting *waiting = waiting_new(session);
	uint32_t limit = session->asked.options->limit;
	json_t *list = json_array();

	findings_add_waits(findings, session, overview->waits, tracers);
	findings_add_imposers(findings, session, waiting);
	if (peaks)
		findings_add_profiles(findings, peaks);
	findings_sort(findings);
	for (guint i = 0; i < findings->len && (!limit || i < limit); i++)
		json_array_append_new(
			list, json_finding(session, &g_array_index(findings, struct finding, i)));
	waiting_free(waiting);
	overview_free(overview);
	return list;
}

void batch_line_write(const struct session *session, struct output *output)
{
	/* a pattern that names nothing here is no failure of this trace */
	struct profiles *fine = profiles_new(session, MEASURE_RESOLUTION, NULL);
	struct profiles *peaks = profiles_new(session, 1, NULL);
	struct coverage coverage;
	json_t *object = json_object();

	coverage_init(&coverage, session);
	json_object_set_new(object, "schema", json_string("whylate-batch-1"));
	json_object_set_new(object, "kind", json_string("trace"));
	json_object_set_new(object, "hosts", json_hosts(session));
	json_object_set_new(object, "window", json_window(session));
	json_object_set_new(object, "events", json_integer((json_int_t) coverage.events));
	json_object_set_new(object, "lost_events",
			    json_integer((json_int_t) coverage.discarded_events));
	json_object_set_new(object, "lost_packets",
			    json_integer((json_int_t) coverage.discarded_packets));
	json_object_set_new(object, "damaged",
			    json_boolean(session->trace.damages->len || session->trace.stopped));
	json_object_set_new(object, "limits", limits_json(session));
	if (peaks)
		roots_search(peaks);
	json_object_set_new(object, "findings", line_findings_json(session, peaks));
	json_object_set_new(object, "resolution", json_integer(MEASURE_RESOLUTION));
	json_object_set_new(object, "profiles", fine ? profiles_json(fine) : json_array());
	json_dumpf(object, output->file, JSON_COMPACT | JSON_REAL_PRECISION(6));
	fputc('\n', output->file);
	json_decref(object);
	coverage_clear(&coverage);
	profiles_free(peaks);
	profiles_free(fine);
}
