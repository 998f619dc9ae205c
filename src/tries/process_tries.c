/* SPDX-License-Identifier: MIT */
/* Tries that are about processes; see process_tries.h. */
#include "tries/process_tries.h"

#include "model/container.h"
#include "objects/calls.h"

#define NO_SUCH_PROCESS 3 /* ESRCH */
#define WNOHANG_BIT 1u

static struct try try_of(struct flow *flow, uint32_t index, uint32_t target, int32_t pid)
{
	const struct thread *thread = flow_thread(flow, index);

	return (struct try) {.kind = TRY_END,
			     .id = try_id(thread->host, TRY_END, (uint32_t) pid),
			     .number = (uint32_t) pid,
			     .call = thread->flow.call.name,
			     .target = target};
}

/* It is no more: who asked after it waited for its end. */
static void process_gone(struct flow *flow, uint32_t index, const struct try *like, uint32_t target)
{
	struct try *try = tries_any(flow, TRY_END) ? try_succeeds(flow, index, like) : NULL;
	struct reason reason = reason_of_kind(REASON_PROCESS_ENDS);

	if (!try)
		return;
	reason.thread = target;
	reason.from = try->since;
	reason.until =
		is_thread(target) ? MIN(flow_thread(flow, target)->end, flow->time) : try->since;
	if (is_thread(target))
		try_explained(flow, try, &reason, 0);
	try_drop(flow, try);
}

void process_signalled(struct flow *flow, uint32_t index, int64_t ret)
{
	const struct thread *thread = flow_thread(flow, index);
	int32_t pid = (int32_t) thread->flow.call.argument, signal = thread->flow.call.op;
	uint32_t target = thread_by_number(flow->model, thread, pid);
	struct try like;

	if (!is_thread(target) || target == index)
		return;
	if (ret == 0 && signal == 0) {
		like = try_of(flow, index, target, pid);
		try_failed(flow, index, &like);
	} else if (ret == -NO_SUCH_PROCESS) {
		like = try_of(flow, index, target, pid);
		process_gone(flow, index, &like, target);
	}
}

/* It has just waited in such a call itself: what it asks now is whether others ended, too, as
 * shells do. */
static bool has_waited_for_child(const struct flow *flow, const struct thread *thread)
{
	struct track_pos pos = track_end_pos(flow->timeline, &thread->track);
	const struct interval *at;
	int64_t begin;

	while ((at = track_step_back(flow->timeline, &thread->track, &pos, &begin)))
		if (leaf_is_blocked(at->leaf))
			return PACK_KIND(at->leaf) == LEAF_BLOCK_SYSCALL &&
			       flow_call_info(flow, PACK_NUMBER(at->leaf))->wait == WAIT_CHILD;
	return false;
}

void process_asked_after(struct flow *flow, uint32_t index, int64_t ret)
{
	const struct thread *thread = flow_thread(flow, index);
	const struct call *call = &thread->flow.call;
	int32_t pid = (int32_t) call->argument;
	uint32_t target;
	struct try like;

	if (!(call->flags & WNOHANG_BIT) || ret < 0)
		return;
	if (ret > 0 && call->waits)
		return; /* the call's argument is what it returned */
	if (ret == 0 && pid <= 0 && has_waited_for_child(flow, thread))
		return;
	target = thread_by_number(flow->model, thread, ret ? (int32_t) ret : pid);
	like = try_of(flow, index, ret || pid <= 0 ? NO_THREAD : target, pid);
	if (ret == 0)
		try_failed(flow, index, &like);
	else
		process_gone(flow, index, &like, target);
}
