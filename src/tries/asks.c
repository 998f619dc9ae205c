/* SPDX-License-Identifier: MIT */
/* See asks.h. */
#include "tries/asks.h"

#include "model/files.h"
#include "objects/calls.h"
#include "tries/peer_tries.h"

#define SPIN_MIN 20 /* tries; some programs look twice or three times before they wait */
#define SPINS_MAX 65536 /* kept of a host */
#define TRY_AGAIN 11

static bool finds_nothing(const struct call_info *info, int64_t ret)
{
	switch (info->wait) {
	case WAIT_FD:
		return ret == -TRY_AGAIN || ret == SPIN_NOT_OPEN;
	case WAIT_ACCEPT:
		return ret == -TRY_AGAIN;
	case WAIT_POLL:
	case WAIT_SELECT:
	case WAIT_EPOLL:
		return ret == 0;
	default:
		return false;
	}
}

/* What it asked since is kept, if that is enough. */
static void keep(struct flow *flow, struct thread *thread)
{
	struct host *host = model_host(flow->model, thread->host);

	if (thread->flow.spin.count >= SPIN_MIN && host->spins->len < SPINS_MAX)
		g_array_append_val(host->spins, thread->flow.spin);
	thread->flow.spin.count = 0;
}

static bool goes_on(const struct flow *flow, const struct thread *thread)
{
	const struct host *host = model_host(flow->model, thread->host);
	const struct spin *spin = &thread->flow.spin;

	return thread->flow.block == thread->flow.spin_block &&
	       !host_unseen(host, spin->end, flow->time);
}

/* Of descriptors that are not there it asks one after the other; one that is there is closed among
 * them. */
static bool is_same(const struct spin *spin, const struct call *call, int64_t ret)
{
	if (!spin->count || spin->call != call->name)
		return false;
	return spin->result == SPIN_NOT_OPEN ? ret == SPIN_NOT_OPEN : spin->fd == call->fd;
}

void spin_call_ends(struct flow *flow, uint32_t index, int64_t ret)
{
	struct thread *thread = flow_thread(flow, index);
	const struct call *call = &thread->flow.call;
	struct spin *spin = &thread->flow.spin;
	const struct call_info *info;
	bool nothing, same;

	if (!spin->count && ret != -TRY_AGAIN && ret != SPIN_NOT_OPEN && ret != 0)
		return;
	info = flow_call_info(flow, call->name);
	nothing = finds_nothing(info, ret);
	if ((!spin->count && !nothing) || call->inherited)
		return;
	if (spin->count && !goes_on(flow, thread))
		keep(flow, thread);
	same = is_same(spin, call, ret);
	if (nothing && !same) {
		keep(flow, thread);
		*spin = (struct spin) {
			.thread = index,
			.maker = NO_THREAD,
			.call = call->name,
			.fd = call->fd,
			.object = ret == -TRY_AGAIN ? fd_key(thread_files(flow, thread), call->fd)
						    : 0,
			.result = (int32_t) ret,
			.begin = call->begin};
		thread->flow.spin_block = thread->flow.block;
	}
	if (nothing) {
		spin->count++;
		spin->end = flow->time;
	} else if (same) {
		spin->end = flow->time;
		spin->maker = peer_input_maker(flow, index, spin->object);
		keep(flow, thread);
	}
}

void spin_ends(struct flow *flow, uint32_t index)
{
	keep(flow, flow_thread(flow, index));
}
