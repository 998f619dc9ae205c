/* SPDX-License-Identifier: MIT */
/* What differs between two sets of requests, or two stretches of time, or two traces.
 *
 *   sides ─► causes: mean cost per request on each side, and their difference
 *         ├► alignment: one request of each, step by step (align.h)
 *         └► calls: the latency profiles of each system call (calls_compared())
 *
 * Place: diff/, behind `whylate diff`. As the causes of a request add up to its latency,
 * the causes' differences add up to that of the mean latencies. Source: the differential
 * summaries of X-ray (Attariyan, Chow, Flinn, OSDI 2012); ranking by the distance of
 * profiles as OSprof does (Joukov et al., OSDI 2006).
 */
#ifndef WHYLATE_DIFF_DIFF_H
#define WHYLATE_DIFF_DIFF_H

#include "diff/diff_calls.h"

/* `other`: the session of a second trace, or NULL; with --what-if that is the run re-timed. NULL
 * and `error` if a side has nothing. */
struct diff *diff_new(const struct session *session, const struct session *other, GError **error);
void diff_free(struct diff *diff);

#endif
