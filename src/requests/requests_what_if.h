/* SPDX-License-Identifier: MIT */
/* requests --what-if: how long each request would have taken, had something been faster.
 *
 * Place: requests/, over whatif/. A request's new latency is from when its first thread reaches
 * what it did at its begin to when its last one reaches what it did at its end. Source:
 * semantics.md, "What if".
 */
#ifndef WHYLATE_REQUESTS_REQUESTS_WHAT_IF_H
#define WHYLATE_REQUESTS_REQUESTS_WHAT_IF_H

#include "report/report.h"
#include "tracking/requests.h"

/* Of the latencies of all requests, ns; percentiles are the nearest rank's. */
struct latencies {
	int64_t mean, p50, p90, p99, max;
	double within; /* the share of them that meets the limit; -1: there is none */
};

struct requests_what_if {
	GPtrArray *rules;  /* borrowed; their texts */
	uint64_t count;    /* stretches that they pick */
	int64_t picked;    /* ns of these, as recorded */
	uint32_t requests; /* that were answered: of these it is told */
	uint32_t sooner, later;
	int64_t saved;     /* ns, of all of them together; below 0: they take longer */
	int64_t saved_from, saved_to; /* … what is not sure leaves room for */
	int64_t saved_at_most;        /* … had there been a free CPU always */
	int64_t limit;     /* ns: of the first limit of requests' latencies; 0: none */
	struct latencies recorded, changed;
};

/* NULL and an error if a rule picks nothing, no request was answered, or the replay without rules
 * moves anything. Free with g_free(). */
struct requests_what_if *requests_what_if_new(const struct user_requests *requests, GError **error);
void requests_what_if_text(const struct requests_what_if *what_if, struct output *output);
extern const struct column requests_what_if_columns[];

#endif
