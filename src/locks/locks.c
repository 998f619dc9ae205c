/* SPDX-License-Identifier: MIT */
/* The log of who takes and gives up locks; what counts as one is in locks.h.
 *
 * After lost events nothing is known of who has what: lock_forget().
 */
#include "locks/locks.h"

#define CROWD 32 /* open holds; most locks have one */

void locks_init(struct flow *flow)
{
	flow->locks = g_array_new(FALSE, TRUE, sizeof(struct lock));
	flow->free_locks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	idmap_init(&flow->lock_index);
}

void lock_clear(struct lock *lock)
{
	log_clear(&lock->holds);
	log_clear(&lock->waits);
	if (lock->open)
		g_array_free(lock->open, TRUE);
	if (lock->boosts)
		g_array_free(lock->boosts, TRUE);
}

void locks_clear(struct flow *flow)
{
	for (guint i = 0; i < flow->locks->len; i++)
		lock_clear(&g_array_index(flow->locks, struct lock, i));
	g_array_free(flow->free_locks, TRUE);
	g_array_free(flow->locks, TRUE);
	idmap_clear(&flow->lock_index);
}

static uint64_t lock_key(const struct lock *lock, uint64_t number)
{
	/* a PI futex is at its address what a plain one is */
	uint64_t space = lock->kind == LOCK_PI ? LOCK_FUTEX : lock->kind;

	number = (number ^ (uint32_t) lock->pid * UINT64_C(0x9E3779B97F4A7C15)) *
		 UINT64_C(0xBF58476D1CE4E5B9);
	return number ^ (space << 16 | lock->host) * UINT64_C(0x94D049BB133111EB);
}

void lock_forget(struct lock *lock, int64_t since)
{
	if (lock->open)
		g_array_set_size(lock->open, 0);
	lock->released = since;
}

/* What was known before events were lost holds no longer. */
struct lock *lock_touched(struct flow *flow, uint32_t index)
{
	struct lock *lock = lock_at(flow, index);
	int64_t gap = host_last_gap_end(model_host(flow->model, lock->host), flow->time);

	if (lock->touched < gap)
		lock_forget(lock, gap);
	lock->touched = flow->time;
	return lock;
}

uint32_t lock_find(const struct flow *flow, const struct lock *like, uint64_t number)
{
	uint32_t index = idmap_get(&flow->lock_index, lock_key(like, number));

	return index == IDMAP_NONE ? 0 : index;
}

uint32_t lock_findnew(struct flow *flow, const struct lock *like, uint64_t number)
{
	uint32_t index = lock_find(flow, like, number);

	if (index)
		return index;
	if (flow->free_locks->len) {
		index = g_array_index(flow->free_locks, uint32_t, flow->free_locks->len - 1);
		g_array_set_size(flow->free_locks, flow->free_locks->len - 1);
		*lock_at(flow, index) = *like;
	} else {
		g_array_append_vals(flow->locks, like, 1);
		index = flow->locks->len;
	}
	lock_at(flow, index)->released = INT64_MIN;
	lock_at(flow, index)->touched = flow->time;
	idmap_set(&flow->lock_index, lock_key(like, number), index);
	return index;
}

struct hold *lock_open_hold(const struct lock *lock, uint32_t thread)
{
	for (guint i = 0; lock->open && i < lock->open->len; i++) {
		struct hold *hold = &g_array_index(lock->open, struct hold, i);

		if (hold->thread == thread)
			return hold;
	}
	return NULL;
}

void lock_hold_drops(struct lock *lock, const struct hold *hold)
{
	g_array_remove_index(lock->open, (guint) (hold - (struct hold *) lock->open->data));
}

/* Logged only where it lasted: two locks of one file may be given up at once. */
void lock_hold_ends(struct flow *flow, struct lock *lock, const struct hold *hold, int64_t end)
{
	struct hold over = *hold;

	over.end = end;
	if (over.begin < end)
		hold_append(&flow->timeline->holds, &lock->holds, &over);
	if (over.taken)
		lock->longest = MAX(lock->longest, end - over.begin);
	if (over.shared)
		lock->longest_shared = MAX(lock->longest_shared, end - over.begin);
	lock->released = MAX(lock->released, end);
}

/* Those whose holders died, with nobody seen to wait for what they had: a lock that
 * many short-lived processes share is not to gather all of them. */
static void bury_dead(struct flow *flow, struct lock *lock)
{
	for (guint i = lock->open->len; i-- > 0;) {
		struct hold hold = g_array_index(lock->open, struct hold, i);

		if (flow_thread(flow, hold.thread)->state != THREAD_DEAD)
			continue;
		g_array_remove_index(lock->open, i);
		lock_hold_ends(flow, lock, &hold, flow->time);
	}
	lock->crowd = MAX(CROWD, 2 * lock->open->len);
}

void lock_hold_opens(struct flow *flow, struct lock *lock, const struct hold *hold)
{
	if (!lock->open)
		lock->open = g_array_new(FALSE, FALSE, sizeof *hold);
	g_array_append_val(lock->open, *hold);
	if (lock->open->len > MAX(CROWD, lock->crowd))
		bury_dead(flow, lock);
}

/* `thread` waited for the lock until now, asleep or spinning. */
void lock_waited(struct flow *flow, struct lock *lock, uint32_t thread, int64_t since)
{
	struct hold wait = {.begin = since, .end = flow->time, .thread = thread, .fd = -1};

	if (since < flow->time)
		hold_append(&flow->timeline->holds, &lock->waits, &wait);
}

/* `thread` gives the lock up now, whether it was known to have it or not. */
void lock_released(struct flow *flow, struct lock *lock, uint32_t thread, bool proved)
{
	const struct hold *known = lock_open_hold(lock, thread);
	struct hold hold = {.begin = lock->released, .end = INT64_MAX, .thread = thread, .fd = -1};

	if (known) {
		hold = *known;
		lock_hold_drops(lock, known);
		lock->turns += hold.taken;
	}
	hold.proved |= proved;
	if (lock->kind != LOCK_FLOCK && lock->open && !hold.shared)
		g_array_set_size(lock->open, 0); /* only one had it */
	lock_hold_ends(flow, lock, &hold, flow->time);
}
