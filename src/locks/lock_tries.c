/* SPDX-License-Identifier: MIT */
/* Tries of file locks; see lock_tries.h. */
#include "locks/lock_tries.h"

#include "locks/file_locks.h"
#include "objects/calls.h"
#include "objects/resource.h"

#define TRY_AGAIN 11 /* EAGAIN, EACCES of the traced kernel */
#define NO_ACCESS 13

static bool same_process(const struct flow *flow, uint32_t a, uint32_t b)
{
	const struct thread *x = model_thread(flow->model, a), *y = model_thread(flow->model, b);

	return a == b || (x->pid >= 0 && x->pid == y->pid);
}

/* The hold of another process that lasted longest in [from, now): it may be over. */
static struct hold longest_hold(struct flow *flow, const struct lock *lock, uint32_t index,
				int64_t from)
{
	const struct pages *store = &flow->timeline->holds;
	struct hold longest = {.thread = NO_THREAD};
	int64_t most = 0;

	for (uint32_t i = hold_find(store, &lock->holds, from); i < lock->holds.used; i++) {
		const struct hold *hold = hold_at(store, &lock->holds, i);
		int64_t ns = MIN(hold->end, flow->time) - MAX(hold->begin, from);

		if (ns > most && !same_process(flow, hold->thread, index)) {
			most = ns;
			longest = *hold;
		}
	}
	for (guint i = 0; lock->open && i < lock->open->len; i++) {
		const struct hold *hold = &g_array_index(lock->open, struct hold, i);
		int64_t end = MIN(flow_thread(flow, hold->thread)->end, flow->time);

		if (end - MAX(hold->begin, from) > most &&
		    !same_process(flow, hold->thread, index)) {
			most = end - MAX(hold->begin, from);
			longest = *hold;
			longest.end = end;
		}
	}
	return longest;
}

/* The only other process that gave it up since the try failed last, NO_THREAD. */
static uint32_t last_released(struct flow *flow, const struct lock *lock, const struct try *try)
{
	const struct pages *store = &flow->timeline->holds;
	uint32_t found = NO_THREAD;

	for (uint32_t i = hold_find(store, &lock->holds, try->last); i < lock->holds.used; i++) {
		uint32_t thread = hold_at(store, &lock->holds, i)->thread;

		if (same_process(flow, thread, try->thread))
			continue;
		if (found != NO_THREAD && !same_process(flow, found, thread))
			return NO_THREAD;
		found = thread;
	}
	return found;
}

/* When `thread` gave it up after `since`, else now. */
static int64_t released_at(struct flow *flow, const struct lock *lock, uint32_t thread,
			   int64_t since)
{
	const struct pages *store = &flow->timeline->holds;

	for (uint32_t i = hold_find(store, &lock->holds, since); i < lock->holds.used; i++)
		if (same_process(flow, hold_at(store, &lock->holds, i)->thread, thread))
			return hold_at(store, &lock->holds, i)->end;
	return flow->time;
}

/* The only other process that has called for the lock, and is not over. */
static uint32_t only_other(struct flow *flow, const struct lock *lock, uint32_t index)
{
	uint32_t found = NO_THREAD;

	for (guint i = 0; lock->open && i < lock->open->len; i++) {
		uint32_t thread = g_array_index(lock->open, struct hold, i).thread;

		if (same_process(flow, thread, index) ||
		    flow_thread(flow, thread)->state == THREAD_DEAD)
			continue;
		if (found != NO_THREAD && !same_process(flow, found, thread))
			return NO_THREAD;
		found = thread;
	}
	return found;
}

/* The lock stands for those of all files without a name. */
static bool is_unnamed(struct flow *flow, uint32_t number)
{
	const struct lock *lock = lock_at(flow, number);
	struct thread like = {.host = lock->host};

	return lock->resource == lock_of_unnamed(flow, &like).resource;
}

static void explain(struct flow *flow, struct try *try, uint32_t lock, uint32_t holder,
		    int64_t until, bool inferred)
{
	struct reason reason = reason_of_kind(REASON_LOCK_TRIED);

	reason.thread = holder;
	reason.from = try->since;
	reason.until = until;
	reason.flags = inferred ? REASON_INFERRED : 0;
	if (lock_at(flow, lock)->kind != LOCK_FLOCK || is_unnamed(flow, lock))
		lock = 0; /* who held it when is not in its log */
	try_explained(flow, try, &reason, lock);
}

/* The pauses since the last failure are over. */
static void settle(struct flow *flow, struct try *try, uint32_t number, bool failed)
{
	struct lock *lock = lock_touched(flow, number);
	struct hold hold;
	uint32_t other;

	if (lock->kind == LOCK_FLOCK && !is_unnamed(flow, number)) {
		hold = longest_hold(flow, lock, try->thread, try->since);
		if (hold.thread != NO_THREAD)
			explain(flow, try, number, hold.thread, MIN(hold.end, flow->time), false);
		return;
	}
	other = only_other(flow, lock, try->thread);
	if (lock->kind == LOCK_FLOCK && other == NO_THREAD && !failed)
		other = last_released(flow, lock, try);
	if (is_thread(try->maker) && !(failed && try->maker == other))
		explain(flow, try, number, try->maker, try->made, true);
	else if (other != NO_THREAD)
		explain(flow, try, number, other, released_at(flow, lock, other, try->last), true);
}

static bool had_called(struct flow *flow, const struct try *try, uint32_t index)
{
	const struct lock *lock = lock_at(flow, try->number);

	for (guint i = 0; lock->open && i < lock->open->len; i++) {
		const struct hold *hold = &g_array_index(lock->open, struct hold, i);

		if (same_process(flow, hold->thread, index))
			return hold->begin < try->last;
	}
	return false;
}

static uint32_t lock_tried(struct flow *flow, struct thread *thread)
{
	uint32_t number = lock_waited_for(flow, thread);
	struct lock like;

	if (number || flow_call_info(flow, thread->flow.call.name)->effect != DOES_FLOCK)
		return number;
	like = lock_of_unnamed(flow, thread);
	return lock_findnew(flow, &like, like.resource);
}

/* A blocking call that the thread's own alarm ended: the lock was held all the time. */
static void given_up(struct flow *flow, uint32_t index, struct thread *thread)
{
	struct block *block = block_at(flow->timeline, thread->flow.block);
	uint32_t number = lock_waited_for(flow, thread);
	struct reason reason = reason_of_kind(REASON_UNLOCKED);
	int64_t from = thread->flow.call.begin;

	if (!number || block->reason || is_unnamed(flow, number) ||
	    host_unseen(model_host(flow->model, thread->host), from, flow->time))
		return;
	if (lock_at(flow, number)->kind == LOCK_FLOCK)
		reason.thread = longest_hold(flow, lock_at(flow, number), index, from).thread;
	else
		reason.flags = REASON_INFERRED;
	if (!is_thread(reason.thread))
		reason.thread = only_other(flow, lock_at(flow, number), index);
	if (!is_thread(reason.thread))
		return;
	reason.object = key_of_fd(flow, thread, thread->flow.call.fd);
	reason.from = from;
	reason.until = flow->time;
	block->reason = reason_new(flow->timeline, &reason);
}

void lock_call_ended(struct flow *flow, uint32_t index, int64_t ret)
{
	struct thread *thread = flow_thread(flow, index);
	bool failed = ret == -TRY_AGAIN || ret == -NO_ACCESS;
	uint32_t number;
	struct try like, *try;

	if (call_ended_by_alarm(flow, thread, ret))
		given_up(flow, index, thread);
	if ((!failed && (ret || !tries_any(flow, TRY_LOCK))) || thread->flow.call.waits)
		return;
	number = lock_tried(flow, thread);
	if (!number)
		return;
	like = (struct try) {.kind = TRY_LOCK,
			     .id = try_id(thread->host, TRY_LOCK, number),
			     .number = number,
			     .object = key_of_fd(flow, thread, thread->flow.call.fd),
			     .call = thread->flow.call.name,
			     .result = -TRY_AGAIN,
			     .target = NO_THREAD};
	if (failed) {
		try = try_find(flow, index, &like);
		if (try && try->passed && try_pauses(flow, index, try->passed).count)
			try_drop(flow, try); /* all went well before the last pause */
		else if (try)
			try->passed = 0;
		try = try_failed(flow, index, &like);
		if (try)
			settle(flow, try, number, true);
		return;
	}
	try = try_find(flow, index, &like);
	if (lock_at(flow, number)->kind == LOCK_FLOCK) {
		try = try ? try_succeeds(flow, index, &like) : NULL;
		if (try) {
			settle(flow, try, number, false);
			try_drop(flow, try);
		}
		return;
	}
	tries_made(flow, like.id, index, had_called, index, false);
	/* it may be another range of the file: the try goes on if it fails again */
	if (!try || try->passed || !try_paused(flow, try))
		return;
	try->passed = flow->time;
	if (is_thread(try->maker))
		settle(flow, try, number, false);
}
