/* SPDX-License-Identifier: MIT */
/* What threads and resources impose on others, as JSON: the overview's "waiting",
 * "waiting_sums" and "knots". Times are sums over the threads that waited.
 */
#include "report/report.h"

#include "imposed/waiting.h"

/* The wait that lost most to it. */
static json_t *example(const struct session *session, const struct imposer *imposer)
{
	json_t *object = json_thread_head(session, imposer->waiter);

	json_saw(imposer->waiter, imposer->begin, imposer->end);
	json_object_set_new(object, "begin", json_integer(imposer->begin));
	json_object_set_new(object, "end", json_integer(imposer->end));
	json_object_set_new(object, "ns", json_integer(imposer->worst));
	return object;
}

static json_t *imposer_json(const struct session *session, const struct imposer *imposer)
{
	static const char *const keys[IMPOSED_KINDS] = {
		[IMPOSED_WORK] = "working_ns", [IMPOSED_CPU] = "wait_cpu_ns",
		[IMPOSED_SLEEP] = "sleep_ns",  [IMPOSED_DEVICE] = "device_ns",
		[IMPOSED_OTHER] = "other_ns",  [IMPOSED_RAN] = "ran_ns"};
	json_t *object;

	if (imposer->resource) {
		object = json_pack("{s:s,s:i,s:o}", "kind", "resource", "host", (int) imposer->host,
				   "resource", json_resource(session, imposer->resource));
	} else {
		object = json_thread_head(session, imposer->thread);
		json_object_set_new(object, "kind", json_string("thread"));
		for (int i = 0; i < IMPOSED_KINDS; i++)
			json_object_set_new(object, keys[i], json_integer(imposer->by[i]));
		json_object_set_new(object, "through_ns", json_integer(imposer->through));
	}
	json_object_set_new(object, "ns", json_integer(imposer->ns));
	json_object_set_new(object, "waiters", json_integer(imposer->waiters));
	json_object_set_new(object, "spans_gap", json_boolean(imposer->spans_gap));
	json_object_set_new(object, "example", example(session, imposer));
	return object;
}

static json_t *knot_json(const struct session *session, const struct waiting *waiting,
			 const struct knot *knot)
{
	json_t *object = json_object(), *threads = json_array();
	double share = (double) knot->ns / (double) MAX(waiting->imposed, 1);

	json_object_set_new(object, "kind", json_string(knot->circle ? "circle" : "bottleneck"));
	for (guint i = 0; i < knot->threads->len; i++)
		json_array_append_new(threads,
				      json_thread_head(session,
						       g_array_index(knot->threads, uint32_t, i)));
	json_object_set_new(object, "threads", threads);
	if (knot->resource) {
		json_object_set_new(object, "host", json_integer(knot->host));
		json_object_set_new(object, "resource", json_resource(session, knot->resource));
	}
	json_object_set_new(object, "ns", json_integer(knot->ns));
	json_object_set_new(object, "share", json_real((double) (long) (share * 1e4 + 0.5) / 1e4));
	json_object_set_new(object, "waiters", json_integer(knot->waiters));
	return object;
}

static json_t *sums_json(const struct waiting *waiting)
{
	const struct {
		const char *key;
		int64_t value;
	} sums[] = {{"imposed_ns", waiting->imposed},
		    {"by_threads_ns", waiting->by_threads},
		    {"own_ns", waiting->own},
		    {"idle_ns", waiting->idle},
		    {"open_ns", waiting->open},
		    {"unknown_ns", waiting->unknown},
		    {"children_ns", waiting->children},
		    {"tracer_ns", waiting->tracer},
		    {"left_out_ns", waiting->left_out},
		    {"left_out", (int64_t) waiting->left_out_count}};
	json_t *object = json_object();

	for (size_t i = 0; i < G_N_ELEMENTS(sums); i++)
		json_object_set_new(object, sums[i].key, json_integer(sums[i].value));
	return object;
}

void waiting_json(const struct session *session, const struct waiting *waiting, FILE *file)
{
	json_t *list = json_array(), *knots = json_array();
	uint32_t limit = session->asked.options->limit;
	guint shown = limit ? MIN(limit, waiting->imposers->len) : waiting->imposers->len;

	for (guint i = 0; i < shown; i++)
		json_array_append_new(list,
				      imposer_json(session, &g_array_index(waiting->imposers,
									   struct imposer, i)));
	for (guint i = 0; i < waiting->knots->len; i++) {
		const struct knot *knot = &g_array_index(waiting->knots, struct knot, i);

		json_array_append_new(knots, knot_json(session, waiting, knot));
	}
	json_member(file, "waiting", list, false);
	if (waiting->imposers->len > shown)
		json_member(file, "waiting_omitted", json_integer(waiting->imposers->len - shown),
			    false);
	json_member(file, "waiting_sums", sums_json(waiting), false);
	json_member(file, "knots", knots, false);
}
