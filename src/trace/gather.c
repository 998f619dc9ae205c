/* SPDX-License-Identifier: MIT */
/* See gather.h. */
#include "trace/gather.h"

#include "trace/clocks.h"
#include "trace/losses.h"
#include "trace/shift.h"

/* All hosts to one time; what packets woke to who sent them. */
static bool bring_together(struct trace *trace, const GPtrArray *clock_offsets, GError **error)
{
	struct pairs pairs;
	bool ok;

	pairs_init(&pairs, &trace->timeline);
	ok = clocks_find(trace, &pairs, clock_offsets, error);
	if (ok) {
		trace_shift(trace);
		clocks_follow(trace, &pairs);
		losses_follow(trace, &pairs);
	}
	pairs_clear(&pairs);
	return ok;
}

bool trace_gather(struct trace *trace, const GPtrArray *clock_offsets, GError **error)
{
	flow_end(&trace->flow);
	if (trace->events && !bring_together(trace, clock_offsets, error))
		return false;
	trace->names_gathered = intern_count(trace->model.names);
	trace->operations_gathered = trace->timeline.operations.used;
	return true;
}
