/* SPDX-License-Identifier: MIT */
/* Memory that a thread frees before it gets some.
 *
 * Place: disk/.
 */
#ifndef WHYLATE_DISK_RECLAIM_H
#define WHYLATE_DISK_RECLAIM_H

#include "state/state.h"

/* mm_vmscan_direct_reclaim_begin and _end. */
void flow_reclaim(struct flow *flow, struct cpu *cpu, const struct event *event);
/* The thread that runs queued a bio that writes. */
void reclaim_writes(struct flow *flow, const struct cpu *cpu);

#endif
