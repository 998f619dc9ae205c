/* SPDX-License-Identifier: MIT */
/* The critical path's sums as JSON: "critical_path_totals" of the delay report.
 * Each of the three lists adds up to the window.
 */
#include "report/report.h"

static json_t *sums(const struct total *total)
{
	return json_pack("{s:I,s:I}", "ns", (json_int_t) total->ns, "count",
			 (json_int_t) total->count);
}

static json_t *by_thread(const struct session *session, const GArray *list)
{
	static const char *const keys[] = {[WIB_WORKING] = "working_ns",
					   [WIB_INTERRUPTED] = "interrupted_ns",
					   [WIB_BLOCKED] = "blocked_ns",
					   [WIB_UNKNOWN] = "unknown_ns"};
	json_t *array = json_array();

	for (guint i = 0; list && i < list->len; i++) {
		const struct total *total = &g_array_index(list, struct total, i);
		json_t *object = json_thread_head(session, total->thread), *figures = sums(total);

		json_object_update(object, figures);
		json_decref(figures);
		for (size_t wib = 0; wib < G_N_ELEMENTS(keys); wib++)
			json_object_set_new(object, keys[wib], json_integer(total->wib[wib]));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *by_resource(const struct session *session, const GArray *list)
{
	json_t *array = json_array();

	for (guint i = 0; list && i < list->len; i++) {
		const struct total *total = &g_array_index(list, struct total, i);
		json_t *object = sums(total);

		json_object_set_new(object, "resource", json_resource(session, total->resource));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *by_kind(const struct session *session, const GArray *list)
{
	json_t *array = json_array();

	for (guint i = 0; list && i < list->len; i++) {
		const struct total *total = &g_array_index(list, struct total, i);
		g_autofree char *leaf = leaf_kind_key(session, total->leaf);
		json_t *object = sums(total);

		json_object_set_new(object, "leaf", json_text(leaf));
		json_object_set_new(object, "kind", json_string(cause_kind_text(total->cause)));
		json_array_append_new(array, object);
	}
	return array;
}

json_t *path_totals_json(const struct delay *delay)
{
	const struct session *session = delay->session;
	struct path_totals totals = {0};
	json_t *object = json_object();

	if (delay->path)
		path_totals_init(&totals, session, delay->path);
	json_object_set_new(object, "by_thread", by_thread(session, totals.threads));
	json_object_set_new(object, "by_resource", by_resource(session, totals.resources));
	json_object_set_new(object, "by_kind", by_kind(session, totals.kinds));
	if (delay->path)
		path_totals_clear(&totals);
	return object;
}
