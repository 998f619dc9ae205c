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
#include "whatif/replay.h"

/* Of the latencies of all requests, ns; percentiles are the nearest rank's. */
struct latencies {
	int64_t mean, p50, p90, p99, max;
	double within; /* the share of them that meets the limit; -1: there is none */
};

struct requests_what_if {
	struct replay *replay; /* owned */
	uint32_t requests; /* that were answered: of these it is told */
	uint32_t sooner, later;
	struct gain gain;
	int64_t limit;     /* ns: of the first limit of requests' latencies; 0: none */
	struct latencies recorded, changed;
};

/* NULL and an error if no request was answered, or as replay_new() has it. */
struct requests_what_if *requests_what_if_new(const struct user_requests *requests, GError **error);
void requests_what_if_free(struct requests_what_if *what_if);
void requests_what_if_text(const struct requests_what_if *what_if, struct output *output);
extern const struct column requests_what_if_columns[];

#endif
