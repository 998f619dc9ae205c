/* SPDX-License-Identifier: MIT */
/* See endings.h. */
#include "threads/endings.h"

#include <signal.h>
#include <string.h>

#include "objects/calls.h"

#define SIGNAL_IGNORED 1 /* signal_generate.result: TRACE_SIGNAL_IGNORED */

static bool asks_to_end(int32_t sig)
{
	return sig == SIGTERM || sig == SIGINT || sig == SIGHUP || sig == SIGQUIT;
}

static bool same_process(const struct flow *flow, uint32_t a, uint32_t b)
{
	const struct thread *one = flow_thread(flow, a), *other = flow_thread(flow, b);

	return a == b || (one->pid >= 0 && one->pid == other->pid && one->host == other->host);
}

/* The first signal by which the process of `sender` asked that of `target` to end; NULL. */
static const struct end_signal *
first_asked(const struct flow *flow, const struct host *host, uint32_t sender, uint32_t target)
{
	guint size = G_N_ELEMENTS(host->endings);
	const struct end_signal *first = NULL;

	for (guint i = 0; i < MIN(size, host->endings_next); i++) {
		const struct end_signal *at = &host->endings[(host->endings_next - 1 - i) % size];

		if (is_thread(at->sender) && is_thread(at->target) &&
		    same_process(flow, at->sender, sender) &&
		    same_process(flow, at->target, target))
			first = at;
	}
	return first;
}

/* It was for time to go by: its own limit ended it, or it was for the program sleep. */
static bool is_for_time(const struct flow *flow, const struct block *block)
{
	const struct wake_detail *detail =
		block->detail ? detail_at(flow->timeline, block->detail) : NULL;

	if (block->reason && reason_at(flow->timeline, block->reason)->kind)
		return false;
	if (is_thread(block->child))
		return strcmp(intern_text(flow->names, flow_thread(flow, block->child)->name),
			      "sleep") == 0;
	return block->kind == WAKER_HRTIMER || block->why == WHY_TIME_LIMIT ||
	       (detail && detail->kind == DETAIL_TIMER);
}

/* The waits of `thread` since `since` that were for time to go by. */
static void mark_since(struct flow *flow, const struct thread *thread, int64_t since,
		       uint32_t reason)
{
	struct track_pos pos = track_end_pos(flow->timeline, &thread->track);
	const struct interval *interval;
	int64_t at;

	while ((interval = track_step_back(flow->timeline, &thread->track, &pos, &at)) &&
	       at >= since) {
		struct block *block;

		if (PACK_KIND(interval->leaf) != LEAF_BLOCK_SYSCALL)
			continue;
		block = block_at(flow->timeline, interval->ref);
		if (is_for_time(flow, block))
			block->reason = reason;
	}
}

/* What a wait of timeout(1) and the like is in. */
static bool is_for_child(const struct flow *flow, const struct block *block)
{
	const char *key = intern_text(flow->names, block->resource);

	return strcmp(key, "signal") == 0 || g_str_has_prefix(key, "child:");
}

static struct reason unended(const struct flow *flow, const struct end_signal *asked,
			     uint32_t target, int32_t sig)
{
	struct reason reason = reason_of_kind(REASON_UNENDED);

	reason.thread = target;
	reason.other = asked ? asked->sender : NO_THREAD;
	reason.begin = asked ? asked->time : 0;
	reason.count = asked ? (uint16_t) asked->sig : 0;
	reason.result = sig;
	reason.flags = asked && asked->ignored ? REASON_IGNORED : 0;
	reason.from = reason.until = flow->time;
	return reason;
}

/* A limit ended the thread's last wait, and now it asks the target to end, or kills it. */
static void limit_of_life(struct flow *flow, struct thread *thread, uint32_t target, int32_t sig)
{
	struct block *block = block_at(flow->timeline, thread->flow.timed_out);
	struct reason reason = unended(flow, NULL, target, sig);

	if (!thread->flow.timed_out || !is_for_child(flow, block) ||
	    (block->reason && reason_at(flow->timeline, block->reason)->kind))
		return;
	reason.from = INT64_MIN; /* what the target did meanwhile is why it was not done */
	block->reason = reason_new(flow->timeline, &reason);
}

void ending_signal(struct flow *flow, struct host *host, const struct cpu *cpu,
		   const struct event *event)
{
	int32_t sig = event->signal.sig;
	uint32_t target = thread_find(flow, event->host, event->signal.tid);
	struct end_signal ending = {.time = flow->time,
				    .sender = cpu->current,
				    .target = target,
				    .sig = sig,
				    .ignored = event->signal.result == SIGNAL_IGNORED};
	const struct end_signal *asked;
	struct thread *thread;

	if ((sig != SIGKILL && !asks_to_end(sig)) || target == IDMAP_NONE || cpu_interrupted(cpu) ||
	    !is_thread(cpu->current) || same_process(flow, cpu->current, target))
		return;
	thread = flow_thread(flow, cpu->current);
	if (!thread->flow.call.open)
		return; /* the kernel's, or not known */
	asked = first_asked(flow, host, cpu->current, target);
	if (!asked) {
		limit_of_life(flow, thread, target, sig);
	} else if (sig == SIGKILL && !host_unseen(host, asked->time, flow->time)) {
		struct reason reason = unended(flow, asked, target, sig);

		mark_since(flow, thread, asked->time, reason_new(flow->timeline, &reason));
	}
	if (asks_to_end(sig))
		host->endings[host->endings_next++ % G_N_ELEMENTS(host->endings)] = ending;
}
