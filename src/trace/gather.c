/* SPDX-License-Identifier: MIT */
/* See gather.h. */
#include "trace/gather.h"

#include "guests/behind.h"
#include "guests/guests.h"
#include "guests/host_time.h"
#include "guests/shared_disk.h"
#include "trace/clocks.h"
#include "trace/losses.h"
#include "trace/shift.h"

/* All hosts to one time; what packets woke to who sent them. */
static bool bring_together(struct trace *trace, const struct gather_options *options,
			   GError **error)
{
	GArray *machines =
		machines_new(&trace->model, &trace->timeline, trace->kinds[EV_KVM_ENTRY]);
	struct pairs pairs;
	bool ok;

	pairs_init(&pairs, &trace->timeline);
	ok = clocks_find(trace, &pairs, options->clock_offsets, error) &&
	     guests_match(&trace->model, &trace->timeline, machines, options->guests, error);
	if (ok) {
		trace_shift(trace);
		host_time_apply(&trace->model, &trace->timeline);
		behind_apply(&trace->model, &trace->timeline);
		shared_disk_apply(&trace->model, &trace->timeline, machines);
		clocks_follow(trace, &pairs);
		losses_follow(trace, &pairs);
	}
	pairs_clear(&pairs);
	machines_free(machines);
	return ok;
}

bool trace_gather(struct trace *trace, const struct gather_options *options, GError **error)
{
	flow_end(&trace->flow);
	if (trace->events && !bring_together(trace, options, error))
		return false;
	timeline_spill_first(&trace->timeline);
	trace->names_gathered = intern_count(trace->model.names);
	trace->operations_gathered = trace->timeline.operations.used;
	return true;
}
