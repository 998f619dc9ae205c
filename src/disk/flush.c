/* SPDX-License-Identifier: MIT */
/* Whose data a disk was busy with while a thread waited for it; see flush.h.
 *
 *   P ── writes 24 MB into its own file ──
 *   T ── writes 512 bytes ── fsync ─┤ blocked                               ├──
 *   jbd2                            commits: ─┤ disk, P's pages ├┤ disk ├───┘ wakes T
 *
 * A journal's commit takes along what others have written into files of that file system
 * (data=ordered, and transactions are shared), and requests of others stand before one's own in a
 * disk's queue. Which it was does not matter to T: the disk was busy with P's data in its call.
 * That is measured (written.h): P is named if the disk was at data of others for a fourth of the
 * call and longer than at the thread's own, and most at P's. Waits of jbd2's meanwhile, which T's
 * leads to, get the same reason.
 *
 * What looks alike: a disk that is slow with the thread's own data. That is said too, of calls
 * that write.
 *
 * Part of disk/. Source: the kernel's fs/jbd2/commit.c.
 */
#include "disk/flush.h"

#include "disk/block_requests.h"
#include "disk/written.h"
#include "objects/calls.h"

#define CALL_MIN 1000000 /* ns: calls that take less are not asked about */
#define BYTES_MIN 65536  /* a journal's own blocks are less */

/* The request that ended the wait, at once or through a worker; NULL: none did. */
static const struct wake_detail *request_of(const struct flow *flow, const struct block *block)
{
	const struct wake_detail *detail =
		block->detail ? detail_at(flow->timeline, block->detail) : NULL;

	if (detail && detail->kind == DETAIL_WORK && detail->behind)
		detail = detail_at(flow->timeline, detail->behind);
	return detail && detail->kind == DETAIL_REQUEST ? detail : NULL;
}

/* The longest wait of the thread since `from` that is over; of those for a disk, if `disk`. */
static struct block *longest_since(struct flow *flow, const struct thread *thread, int64_t from,
				   bool disk)
{
	struct track_pos pos = track_end_pos(flow->timeline, &thread->track);
	struct block *longest = NULL;
	struct interval *interval;
	int64_t at, end = flow->time, most = 0;

	while ((interval = track_step_back(flow->timeline, &thread->track, &pos, &at)) &&
	       end > from) {
		struct block *block = leaf_is_blocked(interval->leaf)
					      ? block_at(flow->timeline, interval->ref)
					      : NULL;

		if (block && block->kind != WAKER_NONE && end - at > most &&
		    (!disk || request_of(flow, block))) {
			longest = block;
			most = end - at;
		}
		end = at;
	}
	return longest;
}

static void explain(struct flow *flow, const struct thread *thread, int64_t from, uint32_t reason)
{
	struct track_pos pos = track_end_pos(flow->timeline, &thread->track);
	struct interval *interval;
	int64_t at, end = flow->time;

	while ((interval = track_step_back(flow->timeline, &thread->track, &pos, &at)) &&
	       end > from) {
		struct block *block = leaf_is_blocked(interval->leaf)
					      ? block_at(flow->timeline, interval->ref)
					      : NULL;

		if (block && !block->reason && request_of(flow, block))
			block->reason = reason;
		end = at;
	}
}

/* The disk of that name, among those that did anything; 0. */
static uint32_t disk_named(struct flow *flow, struct host *host, uint32_t name)
{
	for (guint i = 0; i < G_N_ELEMENTS(host->disk_ends); i++)
		if (host->disk_ends[i].dev &&
		    request_disk(flow, host, host->disk_ends[i].dev) == name)
			return host->disk_ends[i].dev;
	return 0;
}

/* The kernel thread that ended the wait with no request of its own known; NULL. */
static const struct thread *helper_of(const struct flow *flow, const struct block *block)
{
	const struct thread *waker = block->kind == WAKER_THREAD && is_thread(block->waker)
					     ? flow_thread(flow, block->waker)
					     : NULL;

	return waker && !waker->made_syscall ? waker : NULL;
}

static bool is_writing(const struct flow *flow, const struct thread *thread)
{
	uint32_t name = thread->flow.call.name;

	return flow_call_info(flow, name)->effect == DOES_WRITE ||
	       is_sync_call(intern_text(flow->names, name));
}

/* 0: nothing to be said. */
static uint32_t flush_reason(struct flow *flow, uint32_t index, const struct served_sums *sums,
			     uint32_t disk)
{
	const struct thread *thread = flow_thread(flow, index);
	const struct written *most = &sums->most;
	int64_t length = flow->time - thread->flow.call.begin;
	struct reason reason = reason_of_kind(REASON_FLUSH);
	g_autofree char *key = g_strconcat("device:", intern_text(flow->names, disk), NULL);

	reason.object = intern_id(flow->names, key);
	reason.text = disk;
	reason.begin = thread->flow.call.begin;
	reason.number = sums->own.bytes + sums->other.bytes;
	if (is_thread(most->thread) && most->bytes >= BYTES_MIN && most->busy >= length / 8 &&
	    sums->other.busy >= length / 4 && sums->other.busy > sums->own.busy &&
	    most->busy * 4 > sums->other.busy) {
		reason.flags = most->file ? REASON_INFERRED : 0;
		reason.thread = most->thread;
		reason.other = sums->second;
		reason.count = (uint16_t) sums->processes;
		reason.call = most->file;
		reason.ns = most->busy;
		reason.amount = most->bytes;
	} else if (is_writing(flow, thread) && sums->own.busy >= length / 2 &&
		   sums->other.busy <= sums->own.busy / 8) {
		reason.other = index;
		reason.ns = sums->own.busy;
		reason.amount = sums->own.bytes;
	} else {
		return 0;
	}
	return reason_new(flow->timeline, &reason);
}

void flush_explains(struct flow *flow, uint32_t index, struct thread *thread)
{
	struct host *host = model_host(flow->model, thread->host);
	int64_t from = thread->flow.call.begin;
	const struct thread *helper = NULL;
	const struct wake_detail *request;
	const struct block *longest;
	struct served_sums sums;
	uint32_t disk, reason;

	if (flow->time - from < CALL_MIN || !host->served->len ||
	    host_unseen(host, from, flow->time))
		return;
	longest = longest_since(flow, thread, from, false);
	if (longest && !request_of(flow, longest)) {
		helper = helper_of(flow, longest);
		longest = helper ? longest_since(flow, helper, from, true) : NULL;
	}
	request = longest ? request_of(flow, longest) : NULL;
	disk = request ? disk_named(flow, host, request->text) : 0;
	if (!disk)
		return;
	sums = served_since(flow, host, disk, index, from);
	reason = flush_reason(flow, index, &sums, request->text);
	if (!reason)
		return;
	explain(flow, thread, from, reason);
	if (helper)
		explain(flow, helper, from, reason);
}
