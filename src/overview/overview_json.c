/* SPDX-License-Identifier: MIT */
/* The overview as JSON: whylate-overview-1; shapes as in the delay report. */
#include "waits/contention.h"
#include "imposed/wait_groups.h"

#include "run/containers.h"
#include "findings/findings.h"
#include "imposed/waiting.h"
#include "report/report.h"

static void cut(const struct session *session, FILE *file, const char *key, json_t *list)
{
	uint32_t limit = session->asked.options->limit;
	g_autofree char *omitted = g_strconcat(key, "_omitted", NULL);
	size_t size = json_array_size(list);

	if (limit && size > limit) {
		for (size_t i = size; i > limit; i--)
			json_array_remove(list, i - 1);
		json_member(file, key, list, false);
		json_member(file, omitted, json_integer((json_int_t) (size - limit)), false);
	} else {
		json_member(file, key, list, false);
	}
}

static json_t *threads(const struct session *session, const struct overview *overview)
{
	json_t *list = json_array();

	for (guint i = 0; i < overview->threads->len; i++) {
		const struct thread_total *total =
			&g_array_index(overview->threads, struct thread_total, i);
		json_t *object = json_thread_head(session, total->thread);

		json_object_set_new(object, "begin", json_integer(total->begin));
		json_object_set_new(object, "end", json_integer(total->end));
		json_object_set_new(object, "working_ns", json_integer(total->wib[WIB_WORKING]));
		json_object_set_new(object, "interrupted_ns",
				    json_integer(total->wib[WIB_INTERRUPTED]));
		json_object_set_new(object, "blocked_ns", json_integer(total->wib[WIB_BLOCKED]));
		json_object_set_new(object, "unknown_ns", json_integer(total->wib[WIB_UNKNOWN]));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *waits(const struct session *session, const struct overview *overview)
{
	json_t *list = json_array();

	for (guint i = 0; i < overview->waits->len; i++) {
		const struct wait_group *group =
			&g_array_index(overview->waits, struct wait_group, i);
		json_t *object = json_thread_head(session, group->thread);
		g_autofree char *leaf = leaf_key(session, group->leaf);

		json_object_set_new(object, "leaf", json_text(leaf));
		if (group->resource)
			json_object_set_new(object, "resource",
					    json_resource(session, group->resource));
		json_object_set_new(object, "ns", json_integer(group->ns));
		json_object_set_new(object, "count", json_integer((json_int_t) group->count));
		json_object_set_new(object, "longest_ns", json_integer(group->longest));
		json_object_set_new(object, "longest_begin", json_integer(group->longest_begin));
		json_object_set_new(object, "spans_gap", json_boolean(group->spans_gap));
		json_object_set_new(object, "cause", json_cause(&group->cause));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *idle(const struct session *session, const struct overview *overview)
{
	json_t *list = json_array();

	for (guint i = 0; i < overview->idle->len; i++)
		json_array_append_new(list, json_thread_head(session, g_array_index(overview->idle,
										    uint32_t, i)));
	return list;
}

static json_t *calls(const struct session *session, const struct overview *overview)
{
	json_t *list = json_array();

	for (guint i = 0; i < overview->calls->len; i++) {
		const struct call_total *call =
			&g_array_index(overview->calls, struct call_total, i);
		json_t *object = json_object();

		json_object_set_new(object, "name", json_text(session_text(session, call->name)));
		json_object_set_new(object, "count", json_integer((json_int_t) call->stat.count));
		json_object_set_new(object, "spans_gap",
				    json_integer((json_int_t) call->stat.spans_gap));
		json_object_set_new(object, "sum_ns", json_integer(call->stat.total));
		json_object_set_new(object, "max_ns", json_integer(call->stat.longest));
		json_object_set_new(object, "modes", json_integer(call->peaks));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *containers(const struct session *session)
{
	GArray *list = containers_new(session);
	json_t *array = json_array();

	for (guint i = 0; i < list->len; i++) {
		const struct container *at = &g_array_index(list, struct container, i);
		json_t *object = json_object(), *names = json_array();
		bool pid = at->kind == NAMESPACE_PID;

		for (guint n = 0; n < at->names->len; n++)
			json_array_append_new(
				names,
				json_text(session_text(session,
						       g_array_index(at->names, uint32_t, n))));
		json_object_set_new(object, "host", json_integer(at->host));
		json_object_set_new(object, "kind", json_string(pid ? "pid" : "cgroup"));
		json_object_set_new(object, "namespace", json_integer(at->number));
		json_object_set_new(object, "level", pid ? json_integer(at->level) : json_null());
		json_object_set_new(object, "parent",
				    at->parent ? json_integer(at->parent) : json_null());
		json_object_set_new(object, "first",
				    at->first == NO_THREAD ? json_null()
							   : json_thread_head(session, at->first));
		json_object_set_new(object, "threads", json_integer(at->threads));
		json_object_set_new(object, "names", names);
		json_array_append_new(array, object);
	}
	containers_free(list);
	return array;
}

void overview_json(const struct session *session, const struct waiting *waiting,
		   struct output *output)
{
	struct overview *overview = overview_new(session);
	g_autoptr(GArray)
		locks = contention_new(session, NULL, session->asked.from, session->asked.to);
	g_autoptr(GArray) findings = findings_new();
	g_autofree bool *tracers = session_tracers(session); /* nobody's trouble */
	struct coverage coverage;
	FILE *file = output->file;

	findings_add_waits(findings, session, overview->waits, tracers);
	findings_add_imposers(findings, session, waiting);
	findings_sort(findings);
	coverage_init(&coverage, session);
	json_open(file, "whylate-overview-1");
	json_member(file, "hosts", json_hosts(session), false);
	json_member(file, "coverage", json_coverage(session, &coverage), false);
	json_member(file, "window", json_window(session), false);
	json_limits(session, file);
	json_findings(session, findings, session->asked.options->limit, file);
	cut(session, file, "threads", threads(session, overview));
	cut(session, file, "waits", waits(session, overview));
	json_locks(file, session, locks);
	json_deadlocks(file, session);
	waiting_json(session, waiting, file);
	cut(session, file, "system_calls", calls(session, overview));
	json_member(file, "idle",
		    json_pack("{s:I,s:I,s:I}", "threads", (json_int_t) overview->idle->len,
			      "blocked_ns", (json_int_t) overview->idle_ns, "kernel_threads",
			      (json_int_t) overview->kernel_threads),
		    false);
	cut(session, file, "idle_threads", idle(session, overview));
	cut(session, file, "containers", containers(session));
	fputs("}\n", file);
	coverage_clear(&coverage);
	overview_free(overview);
}
