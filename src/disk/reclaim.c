/* SPDX-License-Identifier: MIT */
/* Memory that a thread frees before it gets some: direct reclaim.
 *
 *   T   ─ own code ┤ fault ── queues a write ── queues a write ┤ own code, as far as is known
 *                  └──────────── reclaim ──────────────────────┘
 *
 * A thread that writes to a disk in a page fault writes out what was in memory, to have room for
 * the page. The fault has no end in the trace; until its last write it was not over.
 *
 * Where events tell of it (mm_vmscan_direct_reclaim_begin and _end, mm_vmscan_memcg_…), it is what
 * lies between these.
 *
 * Part of disk/. Source: the kernel's mm/vmscan.c, try_to_free_mem_cgroup_pages();
 * docs/semantics.md, "Memory limits".
 */
#include "disk/reclaim.h"

#include "disk/block_requests.h"
#include "state/holdback.h"

static void make_reclaim(struct flow *flow, struct span *span, void *data)
{
	(void) flow;
	(void) data;
	if (span->leaf == PACK(LEAF_WORK_USER, 0))
		span->ref = REF_RECLAIM;
}

#define SWAP_WRITES 3 /* one may be what another thread wrote, and left to be issued */

static bool is_in_fault(const struct thread *thread)
{
	return thread && thread->flow.fault && !thread->flow.call.open && thread->flow.has_call;
}

void reclaim_issues(struct flow *flow, const struct cpu *cpu, const struct event *event)
{
	const struct thread *thread = cpu_interrupted(cpu) ? NULL : flow_current(flow, cpu);
	struct host *host = flow_host(flow, event);
	uint32_t name;

	if (!is_in_fault(thread) || (event->block.tid >= 0 && event->block.tid != thread->tid))
		return;
	name = request_disk(flow, host, event->block.dev);
	for (guint i = 0; i < G_N_ELEMENTS(host->swap_disks); i++) {
		struct swap_disk *disk = &host->swap_disks[i];

		if (disk->name && disk->name != name)
			continue;
		disk->name = name;
		disk->writes += disk->writes < SWAP_WRITES;
		return;
	}
}

bool disk_has_swap(const struct host *host, uint32_t name)
{
	for (guint i = 0; i < G_N_ELEMENTS(host->swap_disks); i++)
		if (host->swap_disks[i].name == name)
			return name && host->swap_disks[i].writes >= SWAP_WRITES;
	return false;
}

void reclaim_writes(struct flow *flow, const struct cpu *cpu)
{
	struct thread *thread = cpu_interrupted(cpu) ? NULL : flow_current(flow, cpu);
	int64_t since;

	if (!is_in_fault(thread))
		return;
	since = MAX(thread->flow.last_call, thread->flow.reclaimed);
	thread->flow.reclaimed = flow->time;
	track_rewrite(flow, thread, since, make_reclaim, NULL);
	flow_refresh(flow, thread, cpu);
}

/* What the events say holds, whatever it works in; in a call that stays the call's. */
void flow_reclaim(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = cpu_interrupted(cpu) ? NULL : flow_current(flow, cpu);
	int64_t since;

	if (!thread)
		return;
	since = thread->flow.reclaims;
	thread->flow.reclaims = event->kind == EV_RECLAIM_BEGIN ? flow->time : INT64_MIN;
	if (event->kind == EV_RECLAIM_BEGIN || since == INT64_MIN || thread->flow.call.open ||
	    !thread->flow.has_call || since < thread->flow.last_call)
		return;
	track_rewrite(flow, thread, since, make_reclaim, NULL);
	flow_refresh(flow, thread, cpu);
}
