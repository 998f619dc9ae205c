/* SPDX-License-Identifier: MIT */
/* What holds for requests of any session, however odd its events: each one's causes and threads add
 * up to its latency; a stretch of a thread is of one request at most; a request lies inside the one
 * that it is part of; two requests' steps add up to their latencies, aligned with each other or
 * not.
 */
#ifndef REQUEST_INVARIANTS_H
#define REQUEST_INVARIANTS_H

#include "diff/diff.h"
#include "requests/lattice.h"
#include "requests/path_tree.h"
#include "tracking/request_list.h"

static inline void check_costs(const struct user_requests *requests)
{
	struct costs *costs = costs_new(requests);
	struct tree_node *tree = tree_new(costs, costs->requests);
	struct lattice *lattice = lattice_new(costs, 0);
	int64_t total = 0, nodes = 0;

	for (guint i = 0; i < requests->listed->len; i++) {
		const struct user_request *request =
			user_request_at(requests, g_array_index(requests->listed, uint32_t, i));
		int64_t causes = 0, threads = 0;
		guint first, end;

		costs_of(costs, i, &first, &end);
		for (guint k = first; k < end; k++)
			causes += g_array_index(costs->costs, struct cost, k).value;
		thread_costs_of(costs, i, &first, &end);
		for (guint k = first; k < end; k++)
			threads += g_array_index(costs->threads, struct thread_cost, k).ns;
		g_assert_cmpint(causes, ==, request->end - request->begin);
		g_assert_cmpint(threads, ==, request->end - request->begin);
		total += causes;
	}
	g_assert_cmpint(costs->total, ==, total);
	g_assert_cmpint(tree->ns, ==, total);
	for (guint i = 0; i < lattice->nodes->len; i++)
		nodes += g_array_index(lattice->nodes, struct lattice_node, i).ns;
	if (lattice->merged->len == requests->listed->len)
		g_assert_cmpint(nodes, ==, total);
	for (guint i = 0; i < lattice->edges->len; i++) {
		const struct lattice_edge *edge =
			&g_array_index(lattice->edges, struct lattice_edge, i);

		g_assert_cmpuint(edge->from, <, edge->to);
		g_assert_cmpint(edge->cost, >=, 0);
	}
	lattice_free(lattice);
	tree_free(tree);
	costs_free(costs);
}

static inline int64_t steps_ns(const GArray *steps)
{
	int64_t ns = 0;

	for (guint i = 0; i < steps->len; i++)
		ns += g_array_index(steps, struct step, i).end -
		      g_array_index(steps, struct step, i).begin;
	return ns;
}

static inline void check_alignment(const struct user_requests *requests)
{
	struct costs *costs = costs_new(requests);
	const struct user_request *ends[2];
	struct alignment *alignment;

	if (requests->listed->len >= 2) {
		ends[0] = user_request_at(requests, g_array_index(requests->listed, uint32_t, 0));
		ends[1] = user_request_at(requests, g_array_index(requests->listed, uint32_t,
								  requests->listed->len - 1));
		alignment = alignment_new(costs, ends[0], costs, ends[1]);
		for (int side = 0; side < 2; side++) {
			int64_t ns = alignment->matched_ns[side] + alignment->left_out_ns[side];

			for (guint i = 0; i < alignment->divergences->len; i++)
				ns += g_array_index(alignment->divergences, struct divergence, i)
					      .ns[side];
			g_assert_cmpint(ns, ==, ends[side]->end - ends[side]->begin);
			g_assert_cmpint(steps_ns(alignment->steps[side]) +
						alignment->left_out_ns[side],
					==, ns);
		}
		alignment_free(alignment);
	}
	costs_free(costs);
}

/* `session` must have recorded exchanges (flow.exchanges_wanted). */
static inline void check_requests(struct session *session)
{
	struct options *options = session->asked.options;
	struct request_options before = options->requests;
	uint32_t limit = options->limit;
	g_autoptr(GPtrArray) picks = g_ptr_array_new();
	struct request_scope scope = {picks, "pick", session->asked.from, session->asked.to};

	options->limit = 0;
	options->requests.metric = METRIC_LATENCY;
	for (int preset = PRESET_SERVER; preset <= PRESET_SYSCALL; preset++)
		for (int follow = FOLLOW_FLOW; follow <= FOLLOW_THREAD; follow++) {
			struct user_requests *requests;

			options->requests.preset = (enum request_preset) preset;
			options->requests.follow = (enum follow) follow;
			requests = user_requests_new(session, &scope, NULL);
			g_assert_nonnull(requests);
			for (guint i = 0; i + 1 < requests->working.used; i++) {
				const struct working *at = working_at(requests, i);

				g_assert_true(at->begin < at->end);
				g_assert_true(
					at[0].thread < at[1].thread ||
					(at[0].thread == at[1].thread && at[0].end <= at[1].begin));
			}
			for (guint i = 0; i < requests->list.used; i++) {
				const struct user_request *at = user_request_at(requests, i);

				g_assert_cmpint(at->begin, <=, at->end);
				g_assert_cmpuint(at->id, ==, i + 1);
				g_assert_cmpuint(at->parent, <, at->id);
			}
			check_costs(requests);
			check_alignment(requests);
			user_requests_free(requests);
		}
	options->requests = before;
	options->limit = limit;
}

#endif
