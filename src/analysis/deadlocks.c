/* Cycles of owners, and groups that look like one; see deadlocks.h. */
#include "analysis/deadlocks.h"

#include "analysis/locks.h"

#define SUSPECT_MIN INT64_C(100000000) /* ns: a shorter wait at the end may just go on */

static void deadlock_free(gpointer data)
{
	struct deadlock *deadlock = data;

	g_array_free(deadlock->members, TRUE);
	g_free(deadlock);
}

/* Who has the lock now for certain, other than `waiter`; NO_THREAD. */
static uint32_t owner_of(const struct session *session, const struct lock *lock, uint32_t waiter)
{
	for (guint i = 0; lock->open && i < lock->open->len; i++) {
		const struct hold *hold = &g_array_index(lock->open, struct hold, i);

		if (hold->proved && !hold->again && hold->thread != waiter &&
		    model_thread(&session->model, hold->thread)->state != THREAD_DEAD)
			return hold->thread;
	}
	return NO_THREAD;
}

/* Everybody who waits for a lock when the trace ends. */
static GArray *find_stuck(const struct session *session)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct stuck));

	for (uint32_t i = 0; i < session->model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->model, i);
		const struct block *block;
		struct stuck stuck = {.thread = i, .since = thread->flow.since};

		if (thread->state != THREAD_BLOCKED)
			continue;
		block = block_at(&session->timeline, thread->flow.block);
		if (!block_lock(session, block))
			continue;
		stuck.lock = block->lock;
		stuck.owner = owner_of(session, lock_at(&session->flow, block->lock), i);
		g_array_append_val(list, stuck);
	}
	return list;
}

static struct stuck *stuck_of(GArray *list, uint32_t thread)
{
	for (guint i = 0; i < list->len; i++)
		if (g_array_index(list, struct stuck, i).thread == thread)
			return &g_array_index(list, struct stuck, i);
	return NULL;
}

static struct deadlock *deadlock_add(GPtrArray *found, bool proved)
{
	struct deadlock *deadlock = g_new0(struct deadlock, 1);

	deadlock->members = g_array_new(FALSE, FALSE, sizeof(struct stuck));
	deadlock->proved = proved;
	g_ptr_array_add(found, deadlock);
	return deadlock;
}

static const struct deadlock *found_with(GPtrArray *found, uint32_t thread)
{
	for (guint i = 0; i < found->len; i++) {
		const struct deadlock *deadlock = g_ptr_array_index(found, i);

		if (stuck_of(deadlock->members, thread))
			return deadlock;
	}
	return NULL;
}

/* From `first` along the owners back to it; each cycle once. */
static void add_cycle(GPtrArray *found, GArray *stuck, const struct stuck *first)
{
	const struct stuck *at = first;
	struct deadlock *deadlock;

	for (guint steps = 0; steps < stuck->len; steps++) {
		at = at->owner == NO_THREAD ? NULL : stuck_of(stuck, at->owner);
		if (!at)
			return;
		if (at == first)
			break;
	}
	if (at != first || found_with(found, first->thread))
		return;
	deadlock = deadlock_add(found, true);
	do {
		g_array_append_vals(deadlock->members, at, 1);
		at = stuck_of(stuck, at->owner);
	} while (at != first);
}

/* The longest that the lock was ever held, as far as it was seen. */
static int64_t longest_hold(const struct session *session, const struct lock *lock)
{
	int64_t longest = 0;

	for (uint32_t i = 0; i < lock->holds.used; i++) {
		const struct hold *hold = hold_at(&session->timeline.holds, &lock->holds, i);

		if (hold->taken)
			longest = MAX(longest, hold->end - hold->begin);
	}
	return longest;
}

/* A plain mutex that nobody gave up in all that time. */
static bool is_suspect(const struct session *session, const struct stuck *stuck)
{
	const struct lock *lock = lock_at(&session->flow, stuck->lock);
	const struct thread *thread = model_thread(&session->model, stuck->thread);
	int64_t waited = thread->end - stuck->since;

	return lock->kind == LOCK_FUTEX && lock->certain && stuck->owner == NO_THREAD &&
	       waited >= SUSPECT_MIN && lock->released <= stuck->since &&
	       waited > 10 * longest_hold(session, lock) &&
	       !host_gap_over(model_host(&session->model, thread->host), stuck->since, thread->end);
}

/* Threads of the process that are alive and not among the members. */
static guint others_alive(const struct session *session, int32_t pid, uint16_t host,
			  GArray *members)
{
	guint count = 0;

	for (uint32_t i = 0; i < session->model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->model, i);

		count += thread->pid == pid && thread->host == host &&
			 thread->state != THREAD_DEAD && !stuck_of(members, i);
	}
	return count;
}

static guint different_locks(const GArray *members)
{
	guint count = 0;

	for (guint i = 0; i < members->len; i++) {
		guint k = 0;

		while (k < i && g_array_index(members, struct stuck, k).lock !=
					g_array_index(members, struct stuck, i).lock)
			k++;
		count += k == i;
	}
	return count;
}

static void add_suspects(const struct session *session, GPtrArray *found, GArray *stuck,
			 const struct stuck *first)
{
	const struct thread *thread = model_thread(&session->model, first->thread);
	struct deadlock *deadlock;

	if (!is_suspect(session, first) || found_with(found, first->thread))
		return;
	deadlock = deadlock_add(found, false);
	for (guint i = 0; i < stuck->len; i++) {
		const struct stuck *at = &g_array_index(stuck, struct stuck, i);
		const struct thread *other = model_thread(&session->model, at->thread);

		if (other->host == thread->host && other->pid == thread->pid &&
		    is_suspect(session, at) && !found_with(found, at->thread))
			g_array_append_vals(deadlock->members, at, 1);
	}
	if (different_locks(deadlock->members) < 2 &&
	    (thread->pid < 0 ||
	     others_alive(session, thread->pid, thread->host, deadlock->members)))
		g_ptr_array_remove(found, deadlock);
}

GPtrArray *deadlocks_new(const struct session *session)
{
	GPtrArray *found = g_ptr_array_new_with_free_func(deadlock_free);
	GArray *stuck = find_stuck(session);

	for (guint i = 0; i < stuck->len; i++)
		add_cycle(found, stuck, &g_array_index(stuck, struct stuck, i));
	for (guint i = 0; i < stuck->len; i++)
		add_suspects(session, found, stuck, &g_array_index(stuck, struct stuck, i));
	g_array_free(stuck, TRUE);
	return found;
}

const struct deadlock *deadlock_of(const struct session *session, uint32_t thread)
{
	return session->deadlocks ? found_with(session->deadlocks, thread) : NULL;
}

char *deadlock_words(const struct session *session, const struct deadlock *deadlock)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < deadlock->members->len; i++) {
		const struct stuck *at = &g_array_index(deadlock->members, struct stuck, i);
		const struct lock *lock = lock_at(&session->flow, at->lock);

		g_string_append_printf(text, "%s%s (%d)%s%s for %s", i ? ", " : "",
				       session_thread_name(session, at->thread),
				       model_thread(&session->model, at->thread)->tid,
				       session_on(session, at->thread), i ? "" : " waits",
				       session_text(session, lock->resource));
		if (at->owner != NO_THREAD)
			g_string_append_printf(text, ", which %s (%d)%s has",
					       session_thread_name(session, at->owner),
					       model_thread(&session->model, at->owner)->tid,
					       session_on(session, at->owner));
	}
	return g_string_free(text, FALSE);
}
