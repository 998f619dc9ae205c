/* SPDX-License-Identifier: MIT */
/* Cycles of owners, and groups that look like one; see deadlocks.h. */
#include "contention/deadlocks.h"

#include <string.h>

#include "contention/holders.h"

#define SUSPECT_MIN INT64_C(100000000) /* ns: a shorter wait at the end may just go on */
#define NAMED_MAX 8 /* members named in words */

static void deadlock_free(gpointer data)
{
	struct deadlock *deadlock = data;

	g_array_free(deadlock->members, TRUE);
	g_free(deadlock);
}

/* Who has the lock now for certain, other than `waiter`; NO_THREAD. */
static uint32_t owner_of(const struct session *session, const struct lock *lock, uint32_t waiter)
{
	if (lock_known_until(session, lock) != INT64_MAX)
		return NO_THREAD; /* it may have been given up in a gap */
	for (guint i = 0; lock->open && i < lock->open->len; i++) {
		const struct hold *hold = &g_array_index(lock->open, struct hold, i);

		if (hold->proved && !hold->again && hold->thread != waiter &&
		    model_thread(&session->trace.model, hold->thread)->state != THREAD_DEAD)
			return hold->thread;
	}
	return NO_THREAD;
}

/* Everybody who waits for a lock when the trace ends. */
static GArray *find_stuck(const struct session *session)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct stuck));

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);
		const struct block *block;
		struct stuck stuck = {.thread = i, .since = thread->flow.since};

		if (thread->state != THREAD_BLOCKED)
			continue;
		block = block_at(&session->trace.timeline, thread->flow.block);
		if (!block_lock(session, block))
			continue;
		stuck.lock = block->lock;
		stuck.owner = owner_of(session, lock_at(&session->trace.flow, block->lock), i);
		g_array_append_val(list, stuck);
	}
	return list;
}

/* `list` is in order of threads. */
static struct stuck *stuck_of(const GArray *list, uint32_t thread)
{
	guint low = 0, high = list->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		struct stuck *at = &g_array_index(list, struct stuck, middle);

		if (at->thread == thread)
			return at;
		if (at->thread < thread)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static const struct stuck *next_of(const GArray *stuck, const struct stuck *at)
{
	return at->owner == NO_THREAD ? NULL : stuck_of(stuck, at->owner);
}

/* All of them, and whose they are. */
struct deadlocks {
	GPtrArray *list;       /* owned; struct deadlock */
	GHashTable *of_thread; /* owned; thread -> its struct deadlock */
};

static struct deadlock *deadlock_new(struct deadlocks *found, bool proved)
{
	struct deadlock *deadlock = g_new0(struct deadlock, 1);

	deadlock->members = g_array_new(FALSE, FALSE, sizeof(struct stuck));
	deadlock->proved = proved;
	g_ptr_array_add(found->list, deadlock);
	return deadlock;
}

static void add_member(struct deadlocks *found, struct deadlock *deadlock, const struct stuck *at)
{
	g_array_append_vals(deadlock->members, at, 1);
	g_hash_table_insert(found->of_thread, GUINT_TO_POINTER(at->thread), deadlock);
}

/* The cycle that `on` is part of, its first thread first. */
static void add_cycle(struct deadlocks *found, const GArray *stuck, const struct stuck *on)
{
	struct deadlock *deadlock = deadlock_new(found, true);
	const struct stuck *first = on, *at;

	for (at = next_of(stuck, on); at != on; at = next_of(stuck, at))
		if (at->thread < first->thread)
			first = at;
	at = first;
	do {
		add_member(found, deadlock, at);
		at = next_of(stuck, at);
	} while (at != first);
}

/* Each waits for one owner at most: from every thread along the owners, until where
 * an earlier walk has been (nothing new), or this one (a cycle). */
static void find_cycles(struct deadlocks *found, const GArray *stuck)
{
	g_autofree guint *walk_of = g_new0(guint, stuck->len + 1);

	for (guint i = 0; i < stuck->len; i++) {
		const struct stuck *at = &g_array_index(stuck, struct stuck, i);
		guint *walk = &walk_of[i];

		while (at && !*walk) {
			*walk = i + 1;
			at = next_of(stuck, at);
			if (at)
				walk = &walk_of[at - (const struct stuck *) stuck->data];
		}
		if (at && *walk == i + 1)
			add_cycle(found, stuck, at);
	}
}

/* A plain mutex that nobody gave up in all that time. */
static bool is_suspect(const struct session *session, const struct stuck *stuck)
{
	const struct lock *lock = lock_at(&session->trace.flow, stuck->lock);
	const struct thread *thread = model_thread(&session->trace.model, stuck->thread);
	int64_t waited = thread->end - stuck->since;

	return lock->kind == LOCK_FUTEX && lock->certain && stuck->owner == NO_THREAD &&
	       waited >= SUSPECT_MIN && lock->released <= stuck->since &&
	       waited / 10 > lock->longest &&
	       !host_unseen(model_host(&session->trace.model, thread->host), stuck->since,
			    thread->end);
}

/* Those of one process side by side. */
struct suspect {
	uint16_t host;
	int32_t pid;
	const struct stuck *stuck;
};

static int by_process(gconstpointer a, gconstpointer b)
{
	const struct suspect *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->stuck->thread < y->stuck->thread ? -1 : x->stuck->thread > y->stuck->thread;
}

static GArray *find_suspects(const struct session *session, const struct deadlocks *found,
			     const GArray *stuck)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct suspect));

	for (guint i = 0; i < stuck->len; i++) {
		const struct stuck *at = &g_array_index(stuck, struct stuck, i);
		const struct thread *thread = model_thread(&session->trace.model, at->thread);
		struct suspect suspect = {thread->host, thread->pid, at};

		/* a PID that is not known says nothing of who belongs together */
		if (thread->pid >= 0 && is_suspect(session, at) &&
		    !g_hash_table_contains(found->of_thread, GUINT_TO_POINTER(at->thread)))
			g_array_append_val(list, suspect);
	}
	g_array_sort(list, by_process);
	return list;
}

static gint64 process_key(uint16_t host, int32_t pid)
{
	return (gint64) host << 32 | (uint32_t) pid;
}

/* Process -> how many threads of it are alive. */
static GHashTable *count_alive(const struct session *session)
{
	GHashTable *alive = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);
		gint64 key = process_key(thread->host, thread->pid);
		guint count;

		if (thread->state == THREAD_DEAD || thread->pid < 0)
			continue;
		count = GPOINTER_TO_UINT(g_hash_table_lookup(alive, &key));
		g_hash_table_insert(alive, g_memdup2(&key, sizeof key),
				    GUINT_TO_POINTER(count + 1));
	}
	return alive;
}

/* The suspects of one process, `count` from `first` on: they wait for different
 * mutexes, or are all that is left of it. */
static void add_suspects(struct deadlocks *found, GHashTable *alive, const struct suspect *first,
			 guint count)
{
	gint64 key = process_key(first->host, first->pid);
	struct deadlock *deadlock;
	bool different = false;

	for (guint i = 1; i < count; i++)
		different |= first[i].stuck->lock != first->stuck->lock;
	if (!different && GPOINTER_TO_UINT(g_hash_table_lookup(alive, &key)) > count)
		return;
	deadlock = deadlock_new(found, false);
	for (guint i = 0; i < count; i++)
		add_member(found, deadlock, first[i].stuck);
}

/* Proved ones before suspected ones, in order of their first member. */
static int in_order(gconstpointer a, gconstpointer b)
{
	const struct deadlock *x = *(struct deadlock *const *) a,
			      *y = *(struct deadlock *const *) b;
	uint32_t first = g_array_index(x->members, struct stuck, 0).thread;
	uint32_t other = g_array_index(y->members, struct stuck, 0).thread;

	if (x->proved != y->proved)
		return x->proved ? -1 : 1;
	return first < other ? -1 : first > other;
}

static void *deadlocks_find(const struct session *session)
{
	struct deadlocks *found = g_new(struct deadlocks, 1);
	g_autoptr(GArray) stuck = find_stuck(session), suspects = NULL;
	g_autoptr(GHashTable) alive = NULL;

	found->list = g_ptr_array_new_with_free_func(deadlock_free);
	found->of_thread = g_hash_table_new(NULL, NULL);
	find_cycles(found, stuck);
	suspects = find_suspects(session, found, stuck);
	if (suspects->len)
		alive = count_alive(session);
	for (guint i = 0, count; i < suspects->len; i += count) {
		const struct suspect *first = &g_array_index(suspects, struct suspect, i);

		for (count = 1; i + count < suspects->len; count++)
			if (first[count].host != first->host || first[count].pid != first->pid)
				break;
		add_suspects(found, alive, first, count);
	}
	g_ptr_array_sort(found->list, in_order);
	return found;
}

static void deadlocks_free(gpointer data)
{
	struct deadlocks *found = data;

	g_ptr_array_free(found->list, TRUE);
	g_hash_table_destroy(found->of_thread);
	g_free(found);
}

static const struct deadlocks *deadlocks_in(const struct session *session)
{
	return session_make_once(session, deadlocks_find, deadlocks_free);
}

const GPtrArray *deadlocks_of(const struct session *session)
{
	return deadlocks_in(session)->list;
}

const struct deadlock *deadlock_of(const struct session *session, uint32_t thread)
{
	return g_hash_table_lookup(deadlocks_in(session)->of_thread, GUINT_TO_POINTER(thread));
}

char *deadlock_words(const struct session *session, const struct deadlock *deadlock)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < MIN(deadlock->members->len, NAMED_MAX); i++) {
		const struct stuck *at = &g_array_index(deadlock->members, struct stuck, i);
		const char *key =
			session_text(session, lock_at(&session->trace.flow, at->lock)->resource);
		const char *colon = strchr(key, ':');
		bool file = g_str_has_prefix(key, "file:");

		g_string_append_printf(text, "%s%s (%d)%s%s for %.*s%s%s", i ? ", " : "",
				       session_thread_name(session, at->thread),
				       model_thread(&session->trace.model, at->thread)->tid,
				       session_on(session, at->thread), i ? "" : " waits",
				       file || !colon ? 0 : (int) (colon - key), key,
				       file || !colon ? "" : " ", colon ? colon + 1 : key);
		if (at->owner != NO_THREAD)
			g_string_append_printf(text, ", which %s (%d)%s has",
					       session_thread_name(session, at->owner),
					       model_thread(&session->trace.model, at->owner)->tid,
					       session_on(session, at->owner));
	}
	if (deadlock->members->len > NAMED_MAX)
		g_string_append_printf(text, " and %u more", deadlock->members->len - NAMED_MAX);
	return g_string_free(text, FALSE);
}
