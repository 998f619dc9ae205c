/* SPDX-License-Identifier: MIT */
/* Timed waits on a futex, again and again; see futex_tries.h. */
#include "locks/futex_tries.h"

#include <linux/futex.h>
#include <string.h>

#include "objects/calls.h"

#define TRY_AGAIN 11 /* EAGAIN, ETIMEDOUT of the traced kernel */
#define TIMED_OUT 110
#define CALLS_BETWEEN 4 /* the wait, and what notes that another one is over */

static struct try try_of(struct flow *flow, const struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	uint64_t word = call->flags & ~UINT64_C(7);
	int32_t pid = thread->pid >= 0 ? thread->pid : thread->tid;

	return (struct try) {
		.kind = TRY_FUTEX,
		.id = try_id(thread->host, TRY_FUTEX, word ^ (uint64_t) pid << 40),
		.object = key_format(flow, "futex:0x%" G_GINT64_MODIFIER "x", (guint64) word),
		.call = call->name,
		.since = call->begin,
		.result = -TIMED_OUT,
		.target = NO_THREAD};
}

/* The thread did nothing between this wait and the one before: calls that tell the time, and
 * other ones on a futex, are part of it (call_info.passes). */
static bool at_once(const struct thread *thread, const struct try *try)
{
	return thread->flow.doings == try->doings;
}

/* Since it tried last, before it began to wait again. */
static bool wrote_to_others(const struct flow *flow, const struct thread *thread,
			    const struct try *try)
{
	uint32_t sent = thread->flow.call.waits ? block_at(flow->timeline, thread->flow.block)->sent
						: thread->flow.sent;

	return thread->flow.sent_at > try->last &&
	       g_str_has_prefix(intern_text(flow->names, sent), "socket:");
}

/* It did next to nothing between: a try that goes on. Who writes to others as the time is up has
 * done what the time limit is for; to a pipe it may note that the wait is over. */
static bool goes_on(const struct flow *flow, const struct thread *thread, const struct try *try)
{
	if (wrote_to_others(flow, thread, try))
		return false;
	return at_once(thread, try) || thread->flow.calls - try->calls <= CALLS_BETWEEN;
}

/* When `index` was woken on that word last, and by whom. */
static const struct try *woken_before(struct flow *flow, uint32_t index, const struct try *like)
{
	const struct try *try = try_find(flow, index, like);

	return try && try->over ?
	try : NULL
		;
}

#define THROUGH 2 /* threads, by whom an answer comes */

/* `index` waited as the try's last wait expired, and went on by what its thread, or one that went
 * on by that, did then: it waited for who tried, whose time limit it was. */
static bool waited_for(const struct flow *flow, const struct try *try, uint32_t index, int depth)
{
	const struct thread *thread = flow_thread(flow, index);
	struct track_pos pos = track_end_pos(flow->timeline, &thread->track);
	const struct interval *interval;
	int64_t end = flow->time, begin;

	for (; end > try->last; end = begin) {
		const struct block *block;

		interval = track_step_back(flow->timeline, &thread->track, &pos, &begin);
		if (!interval)
			return false;
		if (!leaf_is_blocked(interval->leaf) || begin >= try->last || end == flow->time)
			continue;
		block = block_at(flow->timeline, interval->ref);
		if (block->kind != WAKER_THREAD)
			return false;
		return block->waker == try->thread ||
		       (depth && is_thread(block->waker) &&
			waited_for(flow, try, block->waker, depth - 1));
	}
	return false;
}

static void explain(struct flow *flow, struct try *try, uint32_t thread, int64_t from,
		    int64_t until)
{
	struct reason reason = reason_of_kind(REASON_FUTEX_TIMED);

	reason.thread = thread;
	reason.from = from;
	reason.until = until;
	reason.flags = REASON_INFERRED;
	try_explained(flow, try, &reason, 0);
}

/* `waker` has ended the wait of a try that had expired before. */
static void woken(struct flow *flow, struct try *try, const struct try *like, uint32_t waker)
{
	const struct try *before = woken_before(flow, waker, like);
	int64_t since = try->since;

	if (before && before->made > since && is_thread(before->maker) &&
	    before->maker != try->thread) {
		try->since = before->made;
		explain(flow, try, waker, before->made, flow->time);
		try->since = since;
		explain(flow, try, before->maker, since, before->made);
	} else {
		explain(flow, try, waker, since, flow->time);
	}
}

/* It is remembered by whom the thread was woken, for those who wait on. */
static void remember(struct flow *flow, uint32_t index, const struct try *like, uint32_t waker)
{
	struct try *try = try_find(flow, index, like);

	if (!try && tries_watch(flow, like->id)) {
		try_failed(flow, index, like);
		try = try_find(flow, index, like);
	}
	if (!try)
		return;
	try->over = true;
	try->turns = (uint16_t) MIN(try->turns + 1, UINT16_MAX);
	try->maker = waker;
	try->made = try->last = flow->time;
}

static void expired(struct flow *flow, uint32_t index, struct try *like)
{
	const struct thread *thread = flow_thread(flow, index);
	struct try *try = try_find(flow, index, like);

	if (try && (try->over || !goes_on(flow, thread, try))) {
		like->turns = try->turns;
		try_drop(flow, try);
		try = NULL;
	}
	if (try)
		try->loose |= !at_once(thread, try);
	try_failed(flow, index, like);
	if (try)
		try->maker = NO_THREAD;
}

/* The thread that ended the call's wait, or that woke the word before it was waited for. */
static uint32_t waker_of(const struct flow *flow, const struct thread *thread,
			 const struct try *try, int64_t ret)
{
	const struct block *block;

	if (ret == -TRY_AGAIN)
		return try ? try->maker : NO_THREAD;
	if (ret || !thread->flow.call.waits)
		return NO_THREAD;
	block = block_at(flow->timeline, thread->flow.block);
	return block->kind == WAKER_THREAD ? block->waker : NO_THREAD;
}

void futex_thread_ends(struct flow *flow, uint32_t index)
{
	uint32_t at = flow_thread(flow, index)->flow.tries;

	while (at) {
		struct try *try = &tries_all(flow)[at - 1];

		at = try->next;
		if (try->kind != TRY_FUTEX || !try->over || !try->loose || !try->reason ||
		    try->turns > 1)
			continue;
		if (flow->time - try->made < reason_at(flow->timeline, try->reason)->ns)
			try_taken_back(flow, try);
	}
}

/* --- FUTEX_TRYLOCK_PI -------------------------------------------------------------- */

/* The owner gives it up: until now it was in the way of who tried more than once. That the next
 * try succeeds need not be seen: without waiters it is taken in user space. */
static void pi_unlocked(struct flow *flow, struct try *try, uint32_t owner)
{
	struct reason reason = reason_of_kind(REASON_LOCK_TRIED);

	reason.thread = owner;
	reason.from = try->since;
	reason.until = flow->time;
	if (try->count > 1 && try_paused(flow, try))
		try_explained(flow, try, &reason, 0);
	try_drop(flow, try);
}

/* The kernel sees to it that the owner gives the lock up by a call, too. */
static void pi_call_ended(struct flow *flow, uint32_t index, int64_t ret)
{
	const struct thread *thread = flow_thread(flow, index);
	struct try like = try_of(flow, thread), *try;

	like.kind = TRY_LOCK;
	like.id = try_id(thread->host, TRY_LOCK, like.id);
	like.since = 0;
	like.result = -TRY_AGAIN;
	if ((thread->flow.call.op & FUTEX_CMD_MASK) == FUTEX_UNLOCK_PI) {
		if (ret == 0)
			tries_tell(flow, like.id, index, pi_unlocked);
	} else if (ret == -TRY_AGAIN) {
		try_failed(flow, index, &like);
	} else {
		try = try_find(flow, index, &like);
		if (try)
			try_drop(flow, try);
	}
}

void futex_call_ended(struct flow *flow, uint32_t index, int64_t ret)
{
	const struct thread *thread = flow_thread(flow, index);
	int command = thread->flow.call.op & FUTEX_CMD_MASK;
	struct try like, *try;
	uint32_t waker;

	if (command == FUTEX_TRYLOCK_PI ||
	    (command == FUTEX_UNLOCK_PI && tries_any(flow, TRY_LOCK))) {
		pi_call_ended(flow, index, ret);
		return;
	}
	if (ret != -TIMED_OUT && !tries_any(flow, TRY_FUTEX))
		return;
	like = try_of(flow, thread);
	if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) {
		tries_made(flow, like.id, index, NULL, 0, false);
		return;
	}
	if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET)
		return;
	if (ret == -TIMED_OUT) {
		expired(flow, index, &like);
		return;
	}
	try = try_find(flow, index, &like);
	waker = waker_of(flow, thread, try, ret);
	if (!is_thread(waker) || waker == index)
		return;
	if (try && !try->over && goes_on(flow, thread, try) &&
	    !waited_for(flow, try, waker, THROUGH))
		woken(flow, try, &like, waker);
	remember(flow, index, &like, waker);
}
