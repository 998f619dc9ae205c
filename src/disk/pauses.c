/* SPDX-License-Identifier: MIT */
/* Writers that the kernel puts to sleep since too many pages are dirty; see pauses.h.
 *
 *   P ── write, write, write … ──              fills the pages that may be dirty
 *   T ── write ── balance_dirty_pages ─┤ sleeps for `pause`, by a timer ├── write returns
 *   disk          ──── writes pages back, slowly ──────────────────────────
 *
 * Near the limit on dirty pages every writer to that disk is put to sleep, whoever dirtied them.
 * The event tells the limit and the pause; who filled them is who has written most into files there
 * that the disk has not yet (written.h): inferred. Without the event a sleep inside a write into a
 * file of a disk that a timer of the kernel's ended is taken for such a pause, if a megabyte or
 * more waits to be written: inferred altogether. So is one in a page fault where a file is mapped
 * to be written to: dirtying a page is writing it. Where it is not known which disk that is, it is
 * taken to be the one that did most in the last second. What looks alike, and is none: a wait in a
 * write that a request's completion ended, and sleeps by one's own timer, which are in other calls.
 *
 * Part of disk/. Source: balance_dirty_pages() in the kernel's mm/page-writeback.c.
 */
#include "disk/pauses.h"

#include <stdlib.h>
#include <string.h>

#include "disk/block_requests.h"
#include "disk/written.h"
#include "event/softirqs.h"
#include "objects/calls.h"
#include "objects/mappings.h"

#define PAGE 4096 /* bytes: where it is more, the limit said is too small */
#define WAITING_MIN (1 << 20)
#define RATE_NS 1000000000 /* the time over which a disk's rate is taken */
#define PAUSE_MAX INT64_C(250000000) /* ns: mm/page-writeback.c has 200 ms, and the clock ticks */

/* "254:0" as dev; 0: it is none (a file system in the network). */
static uint32_t dev_of(const char *bdi)
{
	char *end;
	unsigned long major = strtoul(bdi, &end, 10);

	return *end == ':' ? (uint32_t) (major << 20 | strtoul(end + 1, NULL, 10)) : 0;
}

/* `files`: the disk that they are on, IDMAP_NONE where that is not known. */
static uint32_t pause_reason(struct flow *flow, struct host *host, uint32_t dev, uint32_t files,
			     uint64_t limit, uint64_t dirty)
{
	uint32_t disk = request_disk(flow, host, dev);
	struct reason reason = reason_of_kind(REASON_DIRTY);
	g_autofree char *key =
		g_strconcat("limit:dirty pages of ", intern_text(flow->names, disk), NULL);
	struct served_sums served = served_since(flow, host, dev, NO_THREAD, flow->time - RATE_NS);
	struct waiting_sums waiting = waiting_for(flow, host, files);

	reason.flags = REASON_ENDS | (limit ? 0 : REASON_INFERRED);
	reason.object = intern_id(flow->names, key);
	reason.text = disk;
	reason.number = limit;
	reason.result = (int32_t) ((served.own.bytes + served.other.bytes) >> 10);
	if (is_thread(waiting.most.thread) && waiting.most.bytes * 8 > waiting.bytes) {
		reason.thread = waiting.most.thread;
		reason.call = waiting.most.file;
		reason.amount = dirty ? MIN(waiting.most.bytes, dirty) : waiting.most.bytes;
		reason.other = waiting.second;
		reason.count = (uint16_t) waiting.processes;
	}
	return reason_new(flow->timeline, &reason);
}

void flow_dirty_pause(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct host *host = flow_host(flow, event);
	struct thread *current = flow_current(flow, cpu);
	uint32_t dev = event->dirty.bdi ? dev_of(event->dirty.bdi) : 0;

	host->has_pauses = true;
	if (!current || cpu_interrupted(cpu))
		return;
	current->flow.pause = 0;
	if (dev)
		file_is_on(flow, host, cpu->current, dev, false);
	if (dev && event->dirty.pause > 0)
		current->flow.pause = pause_reason(flow, host, dev, dev, event->dirty.limit * PAGE,
						   event->dirty.dirty * PAGE);
}

/* A timer of the kernel's ended it. */
static bool by_timer(const struct flow *flow, const struct block *block)
{
	return block->kind == WAKER_HRTIMER ||
	       (block->kind == WAKER_SOFTIRQ &&
		block->context == PACK(FRAME_SOFTIRQ, SOFTIRQ_TIMER) &&
		(!block->detail || detail_at(flow->timeline, block->detail)->kind == DETAIL_TIMER));
}

/* It writes to a file, by a call or where it has mapped it, and frees no memory for that: the disk
 * of the file, IDMAP_NONE where that is not known. False: it does not. */
static bool writes_to(struct flow *flow, struct host *host, struct thread *thread, uint32_t *disk)
{
	uint32_t key;

	if (thread->flow.reclaims != INT64_MIN)
		return false;
	if (thread->flow.call.open) {
		*disk = disk_of_call(flow, host, thread);
		return flow_call_info(flow, thread->flow.call.name)->effect == DOES_WRITE;
	}
	key = thread->flow.fault ? mapping_written(flow, thread, thread->flow.fault_address) : 0;
	*disk = key ? disk_of_file(flow, host, key) : 0;
	return key && flow->time - thread->flow.since <= PAUSE_MAX;
}

void pause_explains(struct flow *flow, struct thread *woken, struct block *block)
{
	struct host *host = model_host(flow->model, woken->host);
	uint32_t reason = woken->flow.pause, files, dev;

	woken->flow.pause = 0;
	if (block->reason || !(woken->flow.call.open || woken->flow.fault) ||
	    !by_timer(flow, block))
		return;
	if (!reason && !host->has_pauses && !host_unseen(host, woken->flow.since, flow->time) &&
	    writes_to(flow, host, woken, &files)) {
		dev = files == IDMAP_NONE ? busiest_since(flow, host, flow->time - RATE_NS) : files;
		if (dev && waiting_for(flow, host, files).bytes >= WAITING_MIN)
			reason = pause_reason(flow, host, dev, files, 0, 0);
	}
	block->reason = reason;
}
