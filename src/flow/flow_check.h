/* SPDX-License-Identifier: MIT */
/* What must hold between two events, restated: of CPUs, threads, their stacks and the stores.
 *
 * Place: flow/, under the door. It is for debugging: with --enable-checks, or with sanitizers,
 * flow_step() asks after the first few events and then every few thousand, flow_end() for all.
 * It ends the program at the first thing that does not hold.
 */
#ifndef WHYLATE_FLOW_FLOW_CHECK_H
#define WHYLATE_FLOW_FLOW_CHECK_H

#include "state/state.h"

/* `whole`: all intervals of all threads too, not only the last ones. */
void flow_check(const struct flow *flow, bool whole);

/* To be called after each event. */
static inline void flow_check_now_and_then(struct flow *flow)
{
#ifdef WHYLATE_CHECKS
	uint64_t count = ++flow->steps;

	if ((count & (count - 1)) == 0 || count % 4096 == 0)
		flow_check(flow, false);
#else
	(void) flow;
#endif
}

static inline void flow_check_at_end(const struct flow *flow)
{
#ifdef WHYLATE_CHECKS
	flow_check(flow, true);
#else
	(void) flow;
#endif
}

#endif
