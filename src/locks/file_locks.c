/* SPDX-License-Identifier: MIT */
/* The locks of files; what counts as one is in locks.h.
 *
 * Part of locks/.
 */
#include "locks/file_locks.h"

#include <linux/futex.h>
#include <string.h>

#include "locks/futexes.h"
#include "model/files.h"
#include "objects/calls.h"

#define FLOCK_SHARED 1
#define FLOCK_EXCLUSIVE 2
#define FLOCK_UNLOCK 8
#define F_SETLK_OP 6
#define F_SETLKW_OP 7
#define F_SETLK64_OP 13
#define F_SETLKW64_OP 14
#define F_OFD_SETLK_OP 37
#define F_OFD_SETLKW_OP 38

static struct lock file_lock_of(enum lock_kind kind, const struct thread *thread, uint32_t file)
{
	return (struct lock) {.kind = (uint8_t) kind,
			      .host = thread->host,
			      .pid = -1,
			      .resource = file,
			      .certain = true};
}

static bool same_process(const struct flow *flow, uint32_t index, const struct thread *thread)
{
	const struct thread *other = flow_thread(flow, index);

	return other == thread || (other->pid >= 0 && other->pid == thread->pid);
}

/* Ends the holds of the process (by `fd` only, -1: any), or of all others; with
 * `exclusive` only those that nobody can share. Whose process is gone meanwhile ended
 * with it: who reads the log sees to that, as it is in order of ends. */
static void files_released(struct flow *flow, struct lock *lock, const struct thread *thread,
			   int32_t fd, bool others, bool exclusive)
{
	for (guint i = lock->open ? lock->open->len : 0; i-- > 0;) {
		struct hold hold = g_array_index(lock->open, struct hold, i);

		if (same_process(flow, hold.thread, thread) == others ||
		    (!others && fd >= 0 && hold.fd != fd) || (exclusive && hold.shared))
			continue;
		g_array_remove_index(lock->open, i);
		lock_hold_ends(flow, lock, &hold, flow->time);
	}
}

/* Unlocked through another descriptor, perhaps a duplicate: it may have been any. */
static void unlocked_perhaps(struct flow *flow, struct lock *lock, const struct thread *thread)
{
	for (guint i = 0; lock->open && i < lock->open->len; i++) {
		struct hold *hold = &g_array_index(lock->open, struct hold, i);

		if (same_process(flow, hold->thread, thread)) {
			hold->again = true;
			hold->proved = false;
		}
	}
}

static uint32_t file_of_call(struct flow *flow, struct thread *thread)
{
	uint32_t key = fd_key(thread_files(flow, thread), thread->flow.call.fd);

	return g_str_has_prefix(intern_text(flow->names, key), "file:") ? key : 0;
}

struct lock lock_of_unnamed(struct flow *flow, const struct thread *thread)
{
	return file_lock_of(LOCK_FLOCK, thread, intern_id(flow->names, "file:(name not recorded)"));
}

/* A file whose name the tracer did not copy: that two of them are one is not known. */
static void lock_unnamed(struct flow *flow, uint32_t index, struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	struct lock like = lock_of_unnamed(flow, thread), *lock;

	lock = lock_touched(flow, lock_findnew(flow, &like, like.resource));
	files_released(flow, lock, thread, call->fd, false, false);
	if (!(call->op & FLOCK_UNLOCK))
		lock_hold_opens(flow, lock,
				&(struct hold) {.begin = flow->time,
						.end = INT64_MAX,
						.thread = index,
						.fd = call->fd,
						.taken = true,
						.shared = true});
}

void lock_flock(struct flow *flow, uint32_t index, struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	uint32_t file = file_of_call(flow, thread);
	struct lock like = file_lock_of(LOCK_FLOCK, thread, file), *lock;
	int32_t fd = call->fd;
	guint before;

	if (!file) {
		lock_unnamed(flow, index, thread);
		return;
	}
	lock = lock_touched(flow, lock_findnew(flow, &like, file));
	if (call->waits)
		lock_waited(flow, lock, index, call->begin);
	before = lock->open ? lock->open->len : 0;
	files_released(flow, lock, thread, fd, false, false); /* given up, or changed in kind */
	if (call->op & FLOCK_UNLOCK) {
		if (before && lock->open->len == before)
			unlocked_perhaps(flow, lock, thread);
		return;
	}
	files_released(flow, lock, thread, -1, true, !(call->op & FLOCK_EXCLUSIVE));
	lock_hold_opens(flow, lock,
			&(struct hold) {.begin = flow->time,
					.end = INT64_MAX,
					.thread = index,
					.fd = fd,
					.taken = true,
					.proved = true,
					.shared = call->op & FLOCK_SHARED});
}

static bool is_fcntl_lock(int32_t op)
{
	return op == F_SETLK_OP || op == F_SETLKW_OP || op == F_SETLK64_OP || op == F_SETLKW64_OP ||
	       op == F_OFD_SETLK_OP || op == F_OFD_SETLKW_OP;
}

void lock_fcntl(struct flow *flow, uint32_t index, struct thread *thread)
{
	uint32_t file = is_fcntl_lock(thread->flow.call.op) ? file_of_call(flow, thread) : 0;
	struct lock like = file_lock_of(LOCK_FCNTL, thread, file), *lock;

	if (!file)
		return;
	lock = lock_touched(flow, lock_findnew(flow, &like, file));
	if (thread->flow.call.waits)
		lock_waited(flow, lock, index, thread->flow.call.begin);
	for (guint i = 0; lock->open && i < lock->open->len; i++) {
		struct hold *hold = &g_array_index(lock->open, struct hold, i);

		if (same_process(flow, hold->thread, thread)) {
			hold->again = true; /* locks another range, or unlocks */
			return;
		}
	}
	/* `shared`: other processes may have other ranges */
	lock_hold_opens(flow, lock,
			&(struct hold) {.begin = flow->time,
					.end = INT64_MAX,
					.thread = index,
					.fd = thread->flow.call.fd,
					.taken = true,
					.shared = true});
}

void lock_file_closed(struct flow *flow, struct thread *thread)
{
	uint32_t file = flow->locks->len ? file_of_call(flow, thread) : 0, index;
	struct lock like = file_lock_of(LOCK_FLOCK, thread, file);

	if (!file)
		return;
	index = lock_find(flow, &like, file);
	if (index)
		files_released(flow, lock_touched(flow, index), thread, thread->flow.call.fd, false,
			       false);
	like.kind = LOCK_FCNTL; /* any descriptor of the file, once closed, takes them all along */
	index = lock_find(flow, &like, file);
	if (index)
		files_released(flow, lock_touched(flow, index), thread, -1, false, false);
}

/* Somebody is off the CPU in a call that writes this file: from now on it is noted who
 * does so one after the other. */
static void watch_file(struct flow *flow, struct thread *thread)
{
	struct lock like = file_lock_of(LOCK_INODE, thread, file_of_call(flow, thread));

	if (like.resource) {
		lock_findnew(flow, &like, like.resource);
		flow->inode_locks = true;
	}
}

void lock_file_written(struct flow *flow, uint32_t index, struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	struct lock like = file_lock_of(LOCK_INODE, thread, file_of_call(flow, thread)), *lock;
	struct hold hold = {.thread = index, .fd = -1};
	uint32_t number = like.resource ? lock_find(flow, &like, like.resource) : 0;

	if (!number)
		return;
	lock = lock_touched(flow, number);
	if (lock->releaser == index && lock->released >= call->begin)
		return; /* given up before its end, when it woke somebody */
	hold.begin = MAX(call->begin, lock->released);
	lock->releaser = index;
	lock_hold_ends(flow, lock, &hold, flow->time);
}

uint32_t lock_waited_for(struct flow *flow, struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	uint8_t effect;
	struct lock like;

	if (!call->open || call->lock)
		return call->open ? call->lock : 0;
	effect = flow_call_info(flow, call->name)->effect;
	if (effect == DOES_WRITE)
		watch_file(flow, thread);
	if (effect != DOES_FLOCK && (effect != DOES_FCNTL || !is_fcntl_lock(call->op)))
		return 0;
	like = file_lock_of(effect == DOES_FLOCK ? LOCK_FLOCK : LOCK_FCNTL, thread,
			    file_of_call(flow, thread));
	return like.resource ? lock_findnew(flow, &like, like.resource) : 0;
}

/* Of two calls on one file: the waker had the file's own lock in its call. */
static void inode_released(struct flow *flow, struct thread *thread, struct block *block,
			   const struct waker *waker)
{
	const struct call *call = &flow_thread(flow, waker->thread)->flow.call;
	struct lock like = file_lock_of(LOCK_INODE, thread, file_of_call(flow, thread)), *lock;
	struct hold hold = {.thread = waker->thread, .fd = -1};

	if (!like.resource)
		return;
	block->lock = lock_findnew(flow, &like, like.resource);
	lock = lock_touched(flow, block->lock);
	lock_waited(flow, lock, thread_find(flow, thread->host, thread->tid), thread->flow.since);
	hold.begin = MAX(call->begin, lock->released);
	lock->releaser = waker->thread;
	lock_hold_ends(flow, lock, &hold, flow->time);
}

/* Whoever wakes a waiter for a file's lock had one in its way until now. */
static void owner_wakes(struct flow *flow, struct lock *lock, uint32_t waker)
{
	const struct thread *thread = flow_thread(flow, waker);
	bool known = false;

	for (guint i = 0; lock->open && i < lock->open->len; i++) {
		struct hold *hold = &g_array_index(lock->open, struct hold, i);

		if (same_process(flow, hold->thread, thread))
			known = hold->proved = true;
	}
	if (known)
		files_released(flow, lock, thread, -1, false, false);
	else /* who ends may have sent a signal only: SIGCHLD */
		lock_released(
			flow, lock, waker,
			!thread->flow.call.open ||
				!g_str_has_prefix(intern_text(flow->names, thread->flow.call.name),
						  "exit"));
}

/* A waiter is woken without a lock being given up: by a signal, by the end of its own
 * process, by another waiter that leads it on to look again. */
static bool gives_nothing_up(struct flow *flow, const struct thread *thread,
			     const struct block *block, uint32_t waker)
{
	struct thread *other = flow_thread(flow, waker);
	const struct call *call = &other->flow.call;
	const char *name;

	if (!call->open)
		return false;
	name = intern_text(flow->names, call->name);
	if (call_signals(name))
		return true;
	if (strcmp(name, "exit_group") == 0 && thread->pid >= 0 && other->pid == thread->pid)
		return true;
	return call->waits && lock_waited_for(flow, other) == block->lock;
}

void lock_waiter_woken(struct flow *flow, struct thread *thread, struct block *block,
		       const struct waker *waker)
{
	const struct call *call;
	struct lock *lock;

	if (waker->kind != WAKER_THREAD)
		return;
	if (!block->lock && waker->same_file)
		inode_released(flow, thread, block, waker);
	if (!block->lock)
		return;
	lock = lock_touched(flow, block->lock);
	call = &flow_thread(flow, waker->thread)->flow.call;
	switch (lock->kind) {
	case LOCK_FLOCK:
	case LOCK_FCNTL: /* an owner of what was in the way */
		if (!gives_nothing_up(flow, thread, block, waker->thread))
			owner_wakes(flow, lock, waker->thread);
		break;
	case LOCK_PI: /* "hands over to the top waiter" */
		if (call->open && (call->op & FUTEX_CMD_MASK) == FUTEX_UNLOCK_PI)
			lock_hold_opens(flow, lock,
					&(struct hold) {.begin = flow->time,
							.end = INT64_MAX,
							.taken = true,
							.proved = true,
							.fd = -1,
							.thread = thread_find(flow, thread->host,
									      thread->tid)});
		break;
	case LOCK_FUTEX:
		if (lock->read && is_thread(waker->thread) && call->open &&
		    flow_call_info(flow, call->name)->wait == WAIT_FUTEX)
			lock_writer_woken(flow, lock, thread, block, waker->thread);
		break;
	default:
		break;
	}
}
