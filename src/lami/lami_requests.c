/* SPDX-License-Identifier: MIT */
/* LAMI tables of requests: each one with its largest cause, and all causes; see lami.h. The
 * figures are those of `whylate requests`.
 */
#include "lami/lami.h"

#include "tracking/request_costs.h"
#include "tracking/request_list.h"

const struct lami_table lami_requests = {
	"requests",
	"Requests, the slowest first",
	{{"Number", LAMI_NUMBER, NULL},
	 {"Request", LAMI_STRING, NULL},
	 {"Finished by", LAMI_PROCESS, NULL},
	 {"When", LAMI_TIME_RANGE, NULL},
	 {"Largest cause", LAMI_STRING, NULL},
	 {"Which was", LAMI_STRING, NULL},
	 {"Of it", LAMI_DURATION, NULL},
	 {"Share", LAMI_RATIO, NULL},
	 {"Unfinished", LAMI_BOOL, NULL},
	 {"Spans lost events", LAMI_BOOL, NULL}}};

const struct lami_table lami_causes = {
	"causes",
	"Where the time of all requests went",
	{{"Cause", LAMI_STRING, NULL},
	 {"Which was", LAMI_STRING, NULL},
	 {"Time", LAMI_DURATION, NULL},
	 {"Share", LAMI_RATIO, NULL},
	 {"Requests", LAMI_NUMBER, "requests"},
	 {"To be changed by", LAMI_STRING, NULL},
	 {"Seen most in", LAMI_PROCESS, NULL},
	 {"When", LAMI_TIME_RANGE, NULL},
	 {"Spans lost events", LAMI_BOOL, NULL}}};

static void write_request(struct lami_report *report, const struct costs *costs, guint listed)
{
	const struct user_requests *requests = costs->requests;
	const struct user_request *request =
		user_request_at(requests, g_array_index(requests->listed, uint32_t, listed));
	g_autofree char *label = user_request_label(requests, request);
	guint first, end;

	lami_number(report, request->id);
	lami_string(report, label);
	lami_process(report, request->last);
	lami_time_range(report, request->begin, request->end);
	costs_of(costs, listed, &first, &end);
	if (first < end) {
		const struct cost *cost = &g_array_index(costs->costs, struct cost, first);
		const struct user_cause *cause =
			&g_array_index(costs->causes, struct user_cause, cost->cause);

		lami_string(report, cause->kind);
		lami_string(report, cause->label);
		lami_duration(report, cost->value);
		lami_ratio(report, cost->value, request->end - request->begin);
	} else {
		for (int i = 0; i < 4; i++)
			lami_unknown(report);
	}
	lami_bool(report, request->unfinished);
	lami_bool(report, request->spans_gap);
}

static void write_causes(struct lami_report *report, const struct costs *costs)
{
	lami_begin(report, &lami_causes);
	for (guint i = 0; i < costs->causes->len && lami_row(report); i++) {
		const struct user_cause *cause =
			&g_array_index(costs->causes, struct user_cause, i);

		lami_string(report, cause->kind);
		lami_string(report, cause->label);
		lami_duration(report, cause->value);
		lami_ratio(report, cause->value, costs->total);
		lami_number(report, cause->requests);
		lami_string(report, change_text(cause->change));
		lami_process(report, cause->thread);
		lami_time_range(report, cause->begin, cause->end);
		lami_bool(report, cause->spans_gap);
	}
}

bool lami_write_requests(struct lami_report *report, GError **error)
{
	const struct session *session = report->session;
	struct request_scope scope = {session->asked.options->requests.picks, "pick",
				      session->asked.from, session->asked.to};
	struct user_requests *requests = user_requests_new(session, &scope, error);
	struct costs *costs;
	GArray *order;

	if (!requests)
		return false;
	costs = costs_new(requests);
	order = requests_slowest(requests);
	lami_begin(report, &lami_requests);
	for (guint i = 0; i < order->len && lami_row(report); i++)
		write_request(report, costs, g_array_index(order, guint, i));
	write_causes(report, costs);
	g_array_free(order, TRUE);
	costs_free(costs);
	user_requests_free(requests);
	return true;
}
