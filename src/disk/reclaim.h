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
/* … or issued such a request itself. */
void reclaim_issues(struct flow *flow, const struct cpu *cpu, const struct event *event);

/* Threads swap to the disk of that name: they wrote there, again and again, as they needed memory
 * in a page fault. Only the kernel's own threads write files out of memory (pageout()). */
bool disk_has_swap(const struct host *host, uint32_t name);

#endif
