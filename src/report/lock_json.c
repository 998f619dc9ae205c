/* SPDX-License-Identifier: MIT */
/* Locks as JSON: who held the lock of one wait, in which order, doing what; all
 * locks by the waiting they cost; deadlocks. */
#include "waits/contention.h"
#include "waits/deadlocks.h"
#include "report/report.h"

static json_t *thread_member(json_t *object, const struct session *session, uint32_t thread)
{
	const struct thread *life = model_thread(&session->trace.model, thread);

	json_object_set_new(object, "host", json_integer(life->host));
	json_object_set_new(object, "tid", json_integer(life->tid));
	json_object_set_new(object, "name", json_text(session_thread_name(session, thread)));
	return object;
}

static const char *certainty(bool proved)
{
	return proved ? "seen" : "inferred";
}

static json_t *holding_json(const struct session *session, const struct holding *holding)
{
	json_t *object = thread_member(json_object(), session, holding->thread);

	json_object_set_new(object, "begin", json_integer(holding->begin));
	json_object_set_new(object, "end", json_integer(holding->end));
	json_object_set_new(object, "certainty", json_string(certainty(holding->proved)));
	return object;
}

static json_t *holder_json(const struct session *session, const struct holder *holder)
{
	json_t *object = thread_member(json_object(), session, holder->thread);
	g_autofree char *leaf = leaf_key(session, holder->leaf);

	json_object_set_new(object, "ns", json_integer(holder->ns));
	json_object_set_new(object, "count", json_integer(holder->count));
	json_object_set_new(object, "certainty", json_string(certainty(holder->proved)));
	json_object_set_new(object, "working_ns", json_integer(holder->wib[WIB_WORKING]));
	json_object_set_new(object, "interrupted_ns", json_integer(holder->wib[WIB_INTERRUPTED]));
	json_object_set_new(object, "blocked_ns", json_integer(holder->wib[WIB_BLOCKED]));
	json_object_set_new(object, "unknown_ns", json_integer(holder->wib[WIB_UNKNOWN]));
	json_object_set_new(object, "longest", json_text(leaf));
	json_object_set_new(object, "longest_ns", json_integer(holder->leaf_ns));
	if (holder->resource)
		json_object_set_new(object, "resource", json_resource(session, holder->resource));
	return object;
}

static json_t *inversion_json(const struct session *session, const struct inversion *inversion)
{
	json_t *object = thread_member(json_object(), session, inversion->thread);

	json_object_set_new(object, "waiter_priority", json_integer(inversion->waiter));
	json_object_set_new(object, "owner_priority", json_integer(inversion->owner));
	json_object_set_new(object, "boosted_to",
			    inversion->boosted == NO_PRIORITY ? json_null()
							      : json_integer(inversion->boosted));
	json_object_set_new(object, "kept_off_ns", json_integer(inversion->kept_off));
	if (is_thread(inversion->instead))
		json_object_set_new(object, "instead",
				    thread_member(json_object(), session, inversion->instead));
	return object;
}

static json_t *contention_json(const struct session *session, const struct contention *at)
{
	const struct lock *lock = lock_at(&session->trace.flow, at->lock);
	json_t *object = json_object(), *holders = json_array(), *longest;
	uint32_t limit = session->asked.options->limit;

	json_object_set_new(object, "kind", json_string(lock_kind_text(lock)));
	json_object_set_new(object, "name", json_text(session_text(session, lock->resource)));
	json_object_set_new(object, "host", json_integer(lock->host));
	json_object_set_new(object, "pid", lock->pid >= 0 ? json_integer(lock->pid) : json_null());
	json_object_set_new(object, "waits", json_integer((json_int_t) at->waits));
	json_object_set_new(object, "waiters", json_integer(at->waiters));
	json_object_set_new(object, "ns", json_integer(at->ns));
	json_object_set_new(object, "queue", json_integer(at->queue));
	json_object_set_new(object, "certainty", json_string(certainty(!at->inferred)));
	longest = thread_member(json_object(), session, at->longest_thread);
	json_object_set_new(longest, "begin", json_integer(at->longest_begin));
	json_object_set_new(longest, "end", json_integer(at->longest_end));
	json_object_set_new(object, "longest", longest);
	for (guint i = 0; i < at->holders->len && (!limit || i < limit); i++) {
		const struct holder *holder = &g_array_index(at->holders, struct holder, i);
		json_t *entry = thread_member(json_object(), session, holder->thread);

		json_object_set_new(entry, "ns", json_integer(holder->ns));
		json_object_set_new(entry, "certainty", json_string(certainty(holder->proved)));
		json_array_append_new(holders, entry);
	}
	json_object_set_new(object, "holders", holders);
	if (limit && at->holders->len > limit)
		json_object_set_new(object, "holders_omitted",
				    json_integer(at->holders->len - limit));
	json_object_set_new(object, "between_ns", json_integer(at->between));
	if (at->convoy.handovers)
		json_object_set_new(
			object, "convoy",
			json_pack("{s:I,s:I,s:i,s:i}", "begin", (json_int_t) at->convoy.begin,
				  "end", (json_int_t) at->convoy.end, "handovers",
				  (int) at->convoy.handovers, "queue", (int) at->convoy.longest));
	if (at->inverted)
		json_object_set_new(object, "priority_inversion",
				    inversion_json(session, &at->inversion));
	return object;
}

void json_locks(FILE *file, const struct session *session, const GArray *locks)
{
	uint32_t limit = session->asked.options->limit;
	json_t *list = json_array();
	guint count = limit ? MIN(limit, locks->len) : locks->len;

	for (guint i = 0; i < count; i++)
		json_array_append_new(list,
				      contention_json(session,
						      &g_array_index(locks, struct contention, i)));
	json_member(file, "locks", list, false);
	if (locks->len > count)
		json_member(file, "locks_omitted", json_integer(locks->len - count), false);
}

static json_t *deadlock_json(const struct session *session, const struct deadlock *deadlock)
{
	json_t *object = json_object(), *threads = json_array();

	json_object_set_new(object, "certainty", json_string(certainty(deadlock->proved)));
	for (guint i = 0; i < deadlock->members->len; i++) {
		const struct stuck *at = &g_array_index(deadlock->members, struct stuck, i);
		const struct lock *lock = lock_at(&session->trace.flow, at->lock);
		json_t *entry = thread_member(json_object(), session, at->thread);

		json_object_set_new(entry, "since", json_integer(at->since));
		json_object_set_new(entry, "lock",
				    json_text(session_text(session, lock->resource)));
		json_object_set_new(entry, "owner",
				    at->owner == NO_THREAD
					    ? json_null()
					    : thread_member(json_object(), session, at->owner));
		json_array_append_new(threads, entry);
	}
	json_object_set_new(object, "threads", threads);
	return object;
}

void json_deadlocks(FILE *file, const struct session *session)
{
	json_t *list = json_array();

	for (guint i = 0; i < session->found.deadlocks->len; i++)
		json_array_append_new(
			list,
			deadlock_json(session, g_ptr_array_index(session->found.deadlocks, i)));
	json_member(file, "deadlocks", list, false);
}

json_t *json_lock(const struct session *session, const struct wait *wait)
{
	struct lock_wait *lock =
		lock_wait_new(session, wait->block, wait->thread, wait->begin, wait->end);
	json_t *object, *holders, *holdings;
	struct inversion inversion;
	uint32_t limit = session->asked.options->limit;
	guint shown;

	if (!lock)
		return NULL;
	shown = limit ? MIN(limit, lock->holders->len) : lock->holders->len;
	lock_wait_look(session, lock, shown);
	object = json_object();
	holders = json_array();
	holdings = json_array();
	json_object_set_new(object, "kind", json_string(lock_kind_text(lock->lock)));
	json_object_set_new(object, "name", json_text(session_text(session, lock->lock->resource)));
	for (guint i = 0; i < shown; i++)
		json_array_append_new(holders,
				      holder_json(session,
						  &g_array_index(lock->holders, struct holder, i)));
	json_object_set_new(object, "holders", holders);
	if (lock->holders->len > shown)
		json_object_set_new(object, "holders_omitted",
				    json_integer(lock->holders->len - shown));
	for (guint i = 0; i < lock->holdings->len && (!limit || i < limit); i++)
		json_array_append_new(
			holdings,
			holding_json(session, &g_array_index(lock->holdings, struct holding, i)));
	json_object_set_new(object, "sequence", holdings);
	if (limit && lock->holdings->len > limit)
		json_object_set_new(object, "sequence_omitted",
				    json_integer(lock->holdings->len - limit));
	json_object_set_new(object, "between_ns", json_integer(lock->between));
	if (lock_wait_inversion(session, lock, wait->thread, wait->begin, wait->end, &inversion))
		json_object_set_new(object, "priority_inversion",
				    inversion_json(session, &inversion));
	lock_wait_free(lock);
	return object;
}
