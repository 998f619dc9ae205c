/* SPDX-License-Identifier: MIT */
/* What requests and their costs are made of when they are written: the columns of their records,
 * which JSON, CSV and text have in common.
 *
 * Place: requests/. `data` of these reports is the struct costs.
 */
#ifndef WHYLATE_REQUESTS_REQUESTS_COLUMNS_H
#define WHYLATE_REQUESTS_REQUESTS_COLUMNS_H

#include "report/report.h"
#include "requests/requests_what_if.h"
#include "settings/configuration.h"
#include "tracking/request_costs.h"
#include "traits/requests_apart.h"

struct requests_report {
	struct user_requests *requests;
	struct costs *costs;
	GArray *configuration; /* struct configuration */
	struct requests_what_if *what_if; /* with --what-if; else NULL */
	struct requests_apart *apart; /* of latencies; else NULL */
	struct tree_node *tree; /* of latencies, where the format has it; else NULL */
};

void requests_json(const struct requests_report *made, struct output *output);
void requests_text(const struct requests_report *made, struct output *output);
void requests_dot(const struct costs *costs, struct output *output);
void requests_csv(const struct requests_report *made, struct output *output);

/* A cause and what one request, or all, were charged for it. */
struct charge {
	struct user_cause cause; /* a copy, its label borrowed */
	int64_t value, whole;
	struct saving saving; /* without it: a request in the mean, or the one */
	bool one; /* it is of one request */
};
extern const struct column charge_columns[];
/* struct charge: of all requests together; of one that is listed. Free with g_array_unref(). */
GArray *charges_new(const struct costs *costs);
GArray *charges_of_request(const struct costs *costs, guint listed);

/* Of struct tree_node. */
extern const struct column tree_columns[];

/* "13.6 ms", "1.5 MB", "312": a value of the metric; free with g_free(). */
char *metric_value_text(enum metric metric, int64_t value);
/* For g_array_sort(), of guint. */
int ascending(gconstpointer a, gconstpointer b);

#endif
