/* SPDX-License-Identifier: MIT */
/* Requests and their costs as JSON (whylate-requests-1) and CSV. */
#include <inttypes.h>
#include <string.h>

#include "requests/lattice.h"
#include "requests/path_tree.h"
#include "findings/findings.h"
#include "report/report.h"

static enum metric metric_of(const struct costs *costs)
{
	return costs->requests->session->asked.options->requests.metric;
}

static json_t *share_json(int64_t part, int64_t whole)
{
	return json_real(whole ? (double) part / (double) whole : 0.0);
}

/* Where a cause is seen most: a thread and a time, and the request. */
static json_t *example_json(const struct costs *costs, const struct user_cause *cause)
{
	const struct session *session = costs->requests->session;
	json_t *object = json_thread_head(session, cause->thread);

	json_object_set_new(object, "begin", json_integer(cause->begin));
	json_object_set_new(object, "end", json_integer(cause->end));
	json_object_set_new(object, "request",
			    json_integer(user_request_at(costs->requests, cause->request)->id));
	return object;
}

static json_t *cause_json(const struct costs *costs, const struct user_cause *cause, int64_t value,
			  int64_t whole)
{
	json_t *object = json_object();

	json_object_set_new(object, "kind", json_string(cause->kind));
	json_object_set_new(object, "label", json_text(cause->label));
	json_object_set_new(object, metric_unit(metric_of(costs)), json_integer(value));
	json_object_set_new(object, "share", share_json(value, whole));
	json_object_set_new(object, "requests", json_integer(cause->requests));
	json_object_set_new(object, "user_can_change",
			    change_text(cause->change) ? json_string(change_text(cause->change))
						       : json_null());
	json_object_set_new(object, "spans_gap", json_boolean(cause->spans_gap));
	json_object_set_new(object, "example", example_json(costs, cause));
	return object;
}

static json_t *summary_json(const struct costs *costs)
{
	json_t *list = json_array();

	for (guint i = 0; i < costs->causes->len; i++) {
		const struct user_cause *cause =
			&g_array_index(costs->causes, struct user_cause, i);
		json_t *object = cause_json(costs, cause, cause->value, costs->total),
		       *first = json_thread_head(costs->requests->session, cause->first_thread);

		json_object_set_new(first, "time", json_integer(cause->first));
		json_object_set_new(object, "first", first);
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *causes_json(const struct costs *costs, guint listed)
{
	json_t *list = json_array();
	guint first, end;
	int64_t whole = 0;

	costs_of(costs, listed, &first, &end);
	for (guint i = first; i < end; i++)
		whole += g_array_index(costs->costs, struct cost, i).value;
	for (guint i = first; i < end; i++) {
		const struct cost *cost = &g_array_index(costs->costs, struct cost, i);
		const struct user_cause *cause =
			&g_array_index(costs->causes, struct user_cause, cost->cause);

		json_array_append_new(list, cause_json(costs, cause, cost->value, whole));
	}
	return list;
}

static json_t *threads_json(const struct costs *costs, guint listed)
{
	json_t *list = json_array();
	guint first, end;

	thread_costs_of(costs, listed, &first, &end);
	for (guint i = first; i < end; i++) {
		const struct thread_cost *at =
			&g_array_index(costs->threads, struct thread_cost, i);
		json_t *object = json_thread_head(costs->requests->session, at->thread);

		json_object_set_new(object, "ns", json_integer(at->ns));
		json_array_append_new(list, object);
	}
	return list;
}

/* What a request is, without what it cost. */
static json_t *head_json(const struct user_requests *requests, const struct user_request *request)
{
	g_autofree char *label = user_request_label(requests, request);
	const struct thread *first = model_thread(&requests->session->trace.model, request->first);
	const struct thread *last = model_thread(&requests->session->trace.model, request->last);

	return json_pack("{s:I,s:s,s:I,s:I,s:I,s:o,s:i,s:i,s:i,s:b,s:b}", "id",
			 (json_int_t) request->id, "kind", user_request_kind(requests), "begin",
			 (json_int_t) request->begin, "end", (json_int_t) request->end, "ns",
			 (json_int_t) (request->end - request->begin), "label", json_text(label),
			 "host", (int) last->host, "first_tid", (int) first->tid, "last_tid",
			 (int) last->tid, "unfinished", request->unfinished, "spans_gap",
			 request->spans_gap);
}

static json_t *inner_json(const struct user_requests *requests, uint32_t place)
{
	json_t *list = json_array();

	for (guint i = place; i < requests->list->len; i++) {
		const struct user_request *request = user_request_at(requests, i);

		if (request->begin > user_request_at(requests, place - 1)->end)
			break;
		if (request->parent == place) {
			json_t *object = head_json(requests, request);

			json_object_set_new(object, "inner", inner_json(requests, i + 1));
			json_array_append_new(list, object);
		}
	}
	return list;
}

/* --limit keeps the slowest; they are told in order of their begin. */
static guint8 *shown(const struct user_requests *requests, guint *count)
{
	guint limit = requests->session->asked.options->limit;
	guint8 *show = g_new0(guint8, requests->listed->len + 1);
	GArray *order = requests_slowest(requests);

	*count = limit ? MIN(limit, order->len) : order->len;
	for (guint i = 0; i < *count; i++)
		show[g_array_index(order, guint, i)] = 1;
	g_array_free(order, TRUE);
	return show;
}

static void list_json(const struct costs *costs, FILE *file)
{
	const struct user_requests *requests = costs->requests;
	guint count;
	g_autofree guint8 *show = shown(requests, &count);
	const char *comma = "";

	fputs(",\n\"requests\": [", file);
	for (guint i = 0; i < requests->listed->len; i++) {
		uint32_t place = g_array_index(requests->listed, uint32_t, i);
		json_t *object;

		if (!show[i])
			continue;
		object = head_json(requests, user_request_at(requests, place));
		json_object_set_new(object, "threads", threads_json(costs, i));
		json_object_set_new(object, "causes", causes_json(costs, i));
		json_object_set_new(object, "inner", inner_json(requests, place + 1));
		fputs(comma, file);
		json_dumpf(object, file, JSON_REAL_PRECISION(6));
		json_decref(object);
		comma = ",\n";
	}
	fputs("]", file);
	if (count < requests->listed->len)
		json_member(file, "requests_omitted", json_integer(requests->listed->len - count),
			    false);
}

static json_t *nodes_json(const struct lattice *lattice)
{
	json_t *list = json_array();

	for (guint i = 0; i < lattice->nodes->len; i++) {
		const struct lattice_node *node =
			&g_array_index(lattice->nodes, struct lattice_node, i);

		json_array_append_new(
			list, json_pack("{s:o,s:I,s:I,s:I}", "label", json_text(node->label),
					"requests", (json_int_t) node->requests, "ns",
					(json_int_t) node->ns, "rest_ns", (json_int_t) node->rest));
	}
	return list;
}

static json_t *edge_json(const struct lattice_edge *edge)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:o}", "from", (json_int_t) edge->from, "to",
			 (json_int_t) edge->to, "requests", (json_int_t) edge->requests, "cost_ns",
			 (json_int_t) edge->cost, "condition",
			 edge->condition ? json_integer(edge->condition) : json_null());
}

static json_t *conditions_json(const struct costs *costs, const struct lattice *lattice)
{
	const struct user_requests *requests = costs->requests;
	json_t *list = json_array();

	for (guint i = 0; i < lattice->conditions->len; i++) {
		const struct condition *at =
			&g_array_index(lattice->conditions, struct condition, i);
		json_t *ids = json_array(), *edges = json_array();

		for (guint k = 0; k < at->requests->len; k++) {
			uint32_t listed = g_array_index(lattice->merged, uint32_t,
							g_array_index(at->requests, guint, k));

			json_array_append_new(
				ids, json_integer(user_request_at(requests,
								  g_array_index(requests->listed,
										uint32_t, listed))
							  ->id));
		}
		for (guint k = 0; k < at->edges->len; k++)
			json_array_append_new(
				edges,
				edge_json(&g_array_index(lattice->edges, struct lattice_edge,
							 g_array_index(at->edges, guint, k))));
		json_array_append_new(list, json_pack("{s:I,s:o,s:I,s:I,s:I,s:o}", "id",
						      (json_int_t) i + 1, "requests", ids,
						      "cost_ns", (json_int_t) at->cost, "mean_ns",
						      (json_int_t) at->mean[1], "others_mean_ns",
						      (json_int_t) at->mean[0], "branches", edges));
	}
	return list;
}

static json_t *lattice_json(const struct costs *costs)
{
	struct lattice *lattice = lattice_new(costs);
	json_t *edges = json_array(), *object;

	for (guint i = 0; i < lattice->edges->len; i++)
		json_array_append_new(edges, edge_json(&g_array_index(lattice->edges,
								      struct lattice_edge, i)));
	object = json_pack("{s:I,s:o,s:o,s:o}", "merged", (json_int_t) lattice->merged->len,
			   "nodes", nodes_json(lattice), "edges", edges, "conditions",
			   conditions_json(costs, lattice));
	lattice_free(lattice);
	return object;
}

static json_t *tree_json(const struct tree_node *node)
{
	json_t *children = json_array();

	for (guint i = 0; i < node->children->len; i++)
		json_array_append_new(children, tree_json(g_ptr_array_index(node->children, i)));
	return json_pack("{s:o,s:I,s:I,s:I,s:I,s:I,s:o}", "label", json_text(node->label), "ns",
			 (json_int_t) node->ns, "requests", (json_int_t) node->values->len,
			 "p50_ns", (json_int_t) tree_percentile(node, 50), "p95_ns",
			 (json_int_t) tree_percentile(node, 95), "p99_ns",
			 (json_int_t) tree_percentile(node, 99), "children", children);
}

void requests_json(const struct costs *costs, struct output *output)
{
	g_autoptr(GArray) findings = findings_new();
	static const char *const metrics[] = {"latency",   "cpu",       "wait", "disk-bytes",
					      "disk-time", "net-bytes", "calls"};
	const struct user_requests *requests = costs->requests;
	const struct session *session = requests->session;
	struct coverage coverage;

	coverage_init(&coverage, session);
	json_open(output->file, "whylate-requests-1");
	json_member(output->file, "hosts", json_hosts(session), false);
	json_member(output->file, "coverage", json_coverage(session, &coverage), false);
	json_member(output->file, "window", json_window(session), false);
	json_limits(session, output->file);
	findings_add_costs(findings, costs);
	findings_sort(findings);
	json_findings(session, findings, session->asked.options->limit, output->file);
	json_member(output->file, "metric", json_string(metrics[metric_of(costs)]), false);
	json_member(output->file, "follow",
		    json_string(session->asked.options->requests.follow == FOLLOW_FLOW ? "flow"
										       : "thread"),
		    false);
	json_member(output->file, "count", json_integer(requests->listed->len), false);
	json_member(output->file, "not_picked", json_integer(requests->omitted), false);
	json_member(output->file, "of_tracer", json_integer(requests->of_tracer), false);
	json_member(output->file, "not_followed", json_integer(costs->not_followed), false);
	json_member(output->file, "unknown_connections", json_integer(requests->unknown_ends),
		    false);
	list_json(costs, output->file);
	json_member(output->file, "summary", summary_json(costs), false);
	if (metric_of(costs) == METRIC_LATENCY) {
		struct tree_node *tree = tree_new(costs);

		json_member(output->file, "tree", tree_json(tree), false);
		json_member(output->file, "lattice", lattice_json(costs), false);
		tree_free(tree);
	}
	json_member(output->file, "unassigned_ns", json_integer(requests->unassigned_ns), false);
	json_member(output->file, "unassigned_working_ns",
		    json_integer(requests->unassigned_working_ns), false);
	fputs("}\n", output->file);
	coverage_clear(&coverage);
}

void requests_csv(const struct costs *costs, struct output *output)
{
	const struct user_requests *requests = costs->requests;
	guint count;
	g_autofree guint8 *show = shown(requests, &count);
	FILE *file = output->file;

	fputs("id,kind,label,host,tid,begin,end,ns,unfinished,spans_gap,cause_kind,cause,value,"
	      "unit\r\n",
	      file);
	for (guint i = 0; i < requests->listed->len; i++) {
		const struct user_request *request =
			user_request_at(requests, g_array_index(requests->listed, uint32_t, i));
		const struct thread *last =
			model_thread(&requests->session->trace.model, request->last);
		g_autofree char *label = user_request_label(requests, request);
		guint first, end;

		if (!show[i])
			continue;
		costs_of(costs, i, &first, &end);
		fprintf(file, "%u,%s,", request->id, user_request_kind(requests));
		csv_cell(file, label);
		fprintf(file, ",%u,%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%s,%s,", last->host,
			last->tid, request->begin, request->end, request->end - request->begin,
			request->unfinished ? "true" : "false",
			request->spans_gap ? "true" : "false");
		if (first < end) { /* its largest cause */
			const struct cost *cost = &g_array_index(costs->costs, struct cost, first);
			const struct user_cause *cause =
				&g_array_index(costs->causes, struct user_cause, cost->cause);

			fprintf(file, "%s,", cause->kind);
			csv_cell(file, cause->label);
			fprintf(file, ",%" PRId64 ",%s\r\n", cost->value,
				metric_unit(metric_of(costs)));
		} else {
			fputs(",,,\r\n", file);
		}
	}
}
