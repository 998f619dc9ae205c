/* SPDX-License-Identifier: MIT */
/* See idle_peer.h. */
#include "net/idle_peer.h"

#include "objects/calls.h"

#define INTERVALS_MAX 10000 /* looked at: some hundred waits */

/* A wait in which servers wait for their next client; or for a signal, whose sender is not in the
 * way of an answer. */
static bool is_for_anybody(const struct flow *flow, uint32_t leaf)
{
	const struct call_info *info;

	if (PACK_KIND(leaf) != LEAF_BLOCK_SYSCALL)
		return false;
	info = flow_call_info(flow, PACK_NUMBER(leaf));
	return info->wait == WAIT_POLL || info->wait == WAIT_SELECT || info->wait == WAIT_EPOLL ||
	       info->wait == WAIT_RING || info->wait == WAIT_ACCEPT || info->wait == WAIT_SIGNAL ||
	       info->moves == MOVES_IN || info->moves == MOVES_RECEIVE;
}

bool peer_idles(const struct flow *flow, uint32_t number, int64_t since)
{
	const struct thread *thread = flow_thread(flow, number);
	struct track_pos pos = track_end_pos(flow->timeline, &thread->track);
	int64_t end = flow->time, begin = end, idle = 0;
	const struct interval *interval;

	since = MAX(since, thread->begin);
	for (uint32_t i = 0; i < INTERVALS_MAX && end > since; i++) {
		interval = track_step_back(flow->timeline, &thread->track, &pos, &begin);
		if (!interval)
			break;
		begin = MAX(begin, since);
		if (begin < end && is_for_anybody(flow, interval->leaf))
			idle += end - begin;
		end = MIN(begin, end);
	}
	return idle * 2 > flow->time - since;
}
