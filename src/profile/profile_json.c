/* SPDX-License-Identifier: MIT */
/* The profile report as JSON: whylate-profile-1; names and shape:
 * interface.md. What --save writes is the same, with nothing left out. */
#include "findings/findings.h"
#include "latencies/roots.h"
#include "profile/saved.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>

static uint32_t limit_of(const struct session *session, bool whole)
{
	return whole ? 0 : session->asked.options->limit;
}

static json_t *bucket_json(const struct profiles *profiles, guint bucket, uint64_t count)
{
	const int64_t *from = profiles->buckets.from;

	return json_pack("{s:i,s:I,s:I,s:I}", "bucket", (int) bucket, "from_ns",
			 (json_int_t) from[bucket], "to_ns", (json_int_t) from[bucket + 1], "count",
			 (json_int_t) count);
}

static json_t *example_json(const struct session *session, const struct example *example)
{
	json_t *object;

	if (example->latency < 0)
		return json_null();
	if (example->thread < session->trace.model.thread_count) {
		object = json_thread_head(session, example->thread);
		json_saw(example->thread, example->begin, example->end);
	} else {
		object = json_object();
		json_object_set_new(object, "host",
				    json_integer(example->thread - operation_of_host(0)));
		json_object_set_new(object, "tid", json_null());
		json_object_set_new(object, "pid", json_null());
		json_object_set_new(object, "name", json_null());
	}
	json_object_set_new(object, "begin", json_integer(example->begin));
	json_object_set_new(object, "end", json_integer(example->end));
	return object;
}

static json_t *texts_json(const GPtrArray *texts)
{
	json_t *list = json_array();

	for (guint i = 0; i < texts->len; i++)
		json_array_append_new(list, json_text(g_ptr_array_index(texts, i)));
	return list;
}

static json_t *by_bucket_json(const struct peak *peak, const struct part *part)
{
	json_t *object = json_object();
	char key[16];

	for (guint b = peak->range.first; b <= peak->range.last; b++)
		if (part->by_bucket[b - peak->range.first]) {
			g_snprintf(key, sizeof key, "%u", b);
			json_object_set_new(object, key,
					    json_integer(part->by_bucket[b - peak->range.first]));
		}
	return object;
}

static json_t *resources_json(const struct part *part, uint32_t limit)
{
	json_t *list = json_array();

	for (guint i = 0; i < part->resources->len && (!limit || i < limit); i++) {
		const struct part_resource *at =
			&g_array_index(part->resources, struct part_resource, i);

		json_array_append_new(list, json_pack("{s:o,s:I,s:I}", "resource",
						      json_text(at->key), "ns", (json_int_t) at->ns,
						      "waits", (json_int_t) at->count));
	}
	return list;
}

static json_t *tree_json(const struct peak *peak, const struct part *part, uint32_t limit)
{
	json_t *object = json_object(), *children;
	guint shown = limit ? MIN(part->children->len, limit) : part->children->len;

	json_object_set_new(object, "node", json_text(part->node));
	if (part->label)
		json_object_set_new(object, "label", json_text(part->label));
	if (part->functions && part->functions->len)
		json_object_set_new(object, "functions", texts_json(part->functions));
	if (part->resources)
		json_object_set_new(object, "resources", resources_json(part, limit));
	if (part->resources && limit && part->resources->len > limit)
		json_object_set_new(object, "resources_omitted",
				    json_integer(part->resources->len - limit));
	json_object_set_new(object, "maxcount", json_integer((json_int_t) part->maxcount));
	json_object_set_new(object, "ns", json_integer(part->ns));
	json_object_set_new(object, "operations", json_integer((json_int_t) part->operations));
	json_object_set_new(object, "root", json_boolean(part->root));
	if (part->children->len) {
		json_object_set_new(object, "own_maxcount",
				    json_integer((json_int_t) part->own_maxcount));
		json_object_set_new(object, "own_ns", json_integer(part->own_ns));
		if (part->loops)
			json_object_set_new(object, "loops",
					    json_integer((json_int_t) part->loops));
	}
	if (part->cut)
		json_object_set_new(object, "cut", json_true());
	if (part->spans_gap)
		json_object_set_new(object, "spans_gap", json_true());
	if (part->by_bucket)
		json_object_set_new(object, "ns_by_bucket", by_bucket_json(peak, part));
	if (!part->children->len)
		return object;
	children = json_array();
	for (guint i = 0; i < shown; i++)
		json_array_append_new(children,
				      tree_json(peak, g_ptr_array_index(part->children, i), limit));
	json_object_set_new(object, "children", children);
	if (shown < part->children->len)
		json_object_set_new(object, "children_omitted",
				    json_integer(part->children->len - shown));
	return object;
}

static double share_of(int64_t part, int64_t whole)
{
	return whole > 0 ? (double) (long) ((double) part / (double) whole * 1e4 + 0.5) / 1e4 : 0;
}

static json_t *root_json(const struct session *session, const struct peak *peak,
			 const struct root *root)
{
	g_autoptr(GPtrArray) path = root_path(root);
	json_t *object = json_object();

	json_object_set_new(object, "path", texts_json(path));
	json_object_set_new(object, "maxcount", json_integer((json_int_t) root->maxcount));
	json_object_set_new(object, "share", json_real(share_of(root->ns, peak->sum)));
	json_object_set_new(object, "ns", json_integer(root->ns));
	json_object_set_new(object, "example",
			    example_json(session, root->own ? &root->part->own_example
							    : &root->part->example));
	return object;
}

static json_t *roots_json(const struct session *session, const struct peak *peak, uint32_t limit,
			  json_t *object)
{
	json_t *list = json_array();

	for (guint i = 0; i < peak->roots->len; i++) {
		if (limit && i >= limit) {
			json_object_set_new(object, "roots_omitted",
					    json_integer(peak->roots->len - limit));
			break;
		}
		json_array_append_new(list, root_json(session, peak,
						      &g_array_index(peak->roots, struct root, i)));
	}
	return list;
}

const char *peak_status_text(enum peak_status status)
{
	static const char *const texts[] = {"root cause found", "maximum depth reached",
					    "too few operations"};

	return texts[status];
}

static json_t *peak_json(const struct session *session, const struct peak *peak, guint number,
			 uint32_t limit)
{
	json_t *object = json_object();
	struct root most;

	json_object_set_new(object, "peak", json_integer(number));
	json_object_set_new(object, "first_bucket", json_integer(peak->range.first));
	json_object_set_new(object, "mode_bucket", json_integer(peak->range.mode));
	json_object_set_new(object, "last_bucket", json_integer(peak->range.last));
	json_object_set_new(object, "count", json_integer((json_int_t) peak->count));
	if (!peak->roots)
		return object;
	json_object_set_new(object, "sum_ns", json_integer(peak->sum));
	json_object_set_new(object, "spans_gap", json_integer((json_int_t) peak->spans_gap));
	json_object_set_new(object, "status", json_string(peak_status_text(peak->status)));
	json_object_set_new(object, "roots", roots_json(session, peak, limit, object));
	if (roots_most_time(peak, &most))
		json_object_set_new(object, "most_time", root_json(session, peak, &most));
	json_object_set_new(object, "tree", tree_json(peak, peak->tree, limit));
	return object;
}

static json_t *lapse_json(const struct profiles *profiles, const struct profile *profile)
{
	json_t *rows = json_array();

	for (guint i = 0; i < profile->lapses->len; i++) {
		const struct lapse *lapse = &g_array_index(profile->lapses, struct lapse, i);
		json_t *counts;

		if (!lapse->counts)
			continue;
		counts = json_object();
		for (guint b = 0; b < profiles->buckets.count; b++) {
			char key[16];

			if (!lapse->counts[b])
				continue;
			g_snprintf(key, sizeof key, "%u", b);
			json_object_set_new(counts, key,
					    json_integer((json_int_t) lapse->counts[b]));
		}
		json_array_append_new(rows,
				      json_pack("{s:I,s:o}", "begin",
						(json_int_t) (profiles->session->asked.from +
							      (int64_t) i * profiles->lapse_step),
						"counts", counts));
	}
	return json_pack("{s:I,s:o}", "step_ns", (json_int_t) profiles->lapse_step, "rows", rows);
}

static json_t *scope_json(enum per per, const char *scope)
{
	static const char *const keys[] = {"", "thread", "process", "resource", "cpu"};
	json_t *object = json_object();

	if (per != PER_NOTHING)
		json_object_set_new(object, keys[per], json_text(scope));
	return object;
}

static json_t *profile_json(const struct profiles *profiles, const struct profile *profile,
			    uint32_t limit)
{
	static const char *const percentiles[] = {"p50_ns", "p90_ns", "p99_ns"};
	json_t *object = json_object(), *buckets = json_array(), *peaks = json_array();

	json_object_set_new(object, "operation", json_text(profile->operation));
	if (profile->label)
		json_object_set_new(object, "label", json_text(profile->label));
	json_object_set_new(object, "scope", scope_json(profile->per, profile->scope));
	json_object_set_new(object, "resolution", json_integer(profiles->buckets.resolution));
	json_object_set_new(object, "count", json_integer((json_int_t) profile->count));
	json_object_set_new(object, "spans_gap", json_integer((json_int_t) profile->spans_gap));
	json_object_set_new(object, "sum_ns", json_integer(profile->sum));
	json_object_set_new(object, "min_ns", json_integer(profile->min));
	json_object_set_new(object, "max_ns", json_integer(profile->max));
	for (int i = 0; i < 3; i++)
		json_object_set_new(object, percentiles[i],
				    profile->percentiles[i] < 0
					    ? json_null()
					    : json_integer(profile->percentiles[i]));
	for (guint b = 0; b < profiles->buckets.count; b++)
		if (profile->counts[b])
			json_array_append_new(buckets,
					      bucket_json(profiles, b, profile->counts[b]));
	json_object_set_new(object, "buckets", buckets);
	for (guint i = 0; i < profile->peaks->len; i++)
		json_array_append_new(peaks,
				      peak_json(profiles->session,
						&g_array_index(profile->peaks, struct peak, i),
						i + 1, limit));
	json_object_set_new(object, "peaks", peaks);
	if (profile->lapses)
		json_object_set_new(object, "time_lapse", lapse_json(profiles, profile));
	return object;
}

static json_t *comparison_json(const struct session *session, const GArray *comparison,
			       uint32_t limit)
{
	json_t *list = json_array(), *object = json_object();
	json_int_t changed = 0;

	for (guint i = 0; i < comparison->len; i++) {
		const struct compared *at = &g_array_index(comparison, struct compared, i);
		json_t *entry;

		changed += at->changed;
		if (limit && i >= limit)
			continue;
		entry = json_object();
		json_object_set_new(entry, "operation", json_text(at->operation));
		json_object_set_new(entry, "scope", scope_json(at->per, at->scope));
		json_object_set_new(entry, "distance",
				    at->distance < 0 ? json_null() : json_real(at->distance));
		json_object_set_new(entry, "slower",
				    at->distance < 0 ? json_null() : json_real(at->slower));
		json_object_set_new(entry, "noise",
				    at->noise < 0 ? json_null() : json_real(at->noise));
		json_object_set_new(entry, "changed", json_boolean(at->changed));
		json_object_set_new(entry, "count", json_integer((json_int_t) at->count));
		json_object_set_new(entry, "saved_count",
				    json_integer((json_int_t) at->saved_count));
		json_array_append_new(list, entry);
	}
	json_object_set_new(object, "file", json_text(session->asked.options->profile.compare));
	json_object_set_new(object, "threshold",
			    json_real(session->asked.options->profile.threshold));
	json_object_set_new(object, "changed", json_integer(changed));
	json_object_set_new(object, "operations", list);
	if (limit && comparison->len > limit)
		json_object_set_new(object, "operations_omitted",
				    json_integer(comparison->len - limit));
	return object;
}

void profile_json_write(const struct profiles *profiles, const GArray *comparison,
			const struct saved *resumed, bool whole, FILE *file)
{
	const struct session *session = profiles->session;
	uint32_t limit = limit_of(session, whole);
	guint shown = limit ? MIN(profiles->list->len, limit) : profiles->list->len;
	g_autofree char *filters = NULL;
	g_autoptr(GArray) findings = findings_new();
	struct coverage coverage;

	coverage_init(&coverage, session);
	json_open(file, "whylate-profile-1");
	json_member(file, "hosts", json_hosts(session), false);
	json_member(file, "coverage", json_coverage(session, &coverage), false);
	json_member(file, "window", json_window(session), false);
	findings_add_profiles(findings, profiles);
	findings_sort(findings);
	json_limits(session, file);
	json_findings(session, findings, limit, file);
	filters = saved_filters(session->asked.options);
	json_member(file, "filters", json_text(filters), false);
	json_member(file, "recordings", saved_recordings(resumed, session), false);
	fputs(",\n\"profiles\": [", file);
	for (guint i = 0; i < shown; i++) {
		json_t *profile =
			profile_json(profiles, g_ptr_array_index(profiles->list, i), limit);

		fputs(i ? ",\n" : "", file);
		json_dumpf(profile, file, JSON_REAL_PRECISION(6));
		json_decref(profile);
	}
	fputs("]", file);
	if (shown < profiles->list->len)
		json_member(file, "profiles_omitted", json_integer(profiles->list->len - shown),
			    false);
	if (comparison)
		json_member(file, "comparison", comparison_json(session, comparison, limit), false);
	fputs("}\n", file);
	coverage_clear(&coverage);
}
