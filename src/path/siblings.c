/* SPDX-License-Identifier: MIT */
/* See siblings.h. */
#include "path/siblings.h"

#include <string.h>

#define MANY 3 /* two are told one by one */

struct family {
	uint32_t first, last; /* as the path meets them */
	guint count;
	bool beside; /* two lived at one time */
};

static bool has_siblings(const struct thread *thread)
{
	return thread->born && thread->pid == thread->tid && is_thread(thread->parent);
}

/* Two processes are the same if their leaders are: TIDs come round. */
static uint32_t process_of(const struct session *session, uint32_t thread)
{
	return session->trace.processes.first[thread];
}

/* A worker of a traced guest's machine: any of them does what comes next. */
static bool is_pooled(const struct session *session, uint32_t thread)
{
	const struct thread *life = model_thread(&session->trace.model, thread);

	return !life->vcpu && life->pid >= 0 && life->pid != life->tid &&
	       strcmp(session_thread_name(session, thread), session_own_name(session, thread)) != 0;
}

static gint64 family_key(const struct thread *thread)
{
	return (gint64) ((uint64_t) thread->parent << 32 | thread->name);
}

static gint64 pool_key(const struct session *session, uint32_t thread)
{
	return (gint64) (UINT64_C(1) << 63 | (uint64_t) process_of(session, thread) << 32 |
			 model_thread(&session->trace.model, thread)->name);
}

static void add_pooled(struct siblings *siblings, const struct session *session, uint32_t thread)
{
	gint64 key = pool_key(session, thread);
	struct family fresh = {.first = thread, .last = thread}, *family;

	family = g_hash_table_lookup(siblings->families, &key);
	if (!family) {
		family = g_memdup2(&fresh, sizeof fresh);
		g_hash_table_insert(siblings->families, g_memdup2(&key, sizeof key), family);
	}
	family->count++;
}

static void add(struct siblings *siblings, const struct session *session, uint32_t thread)
{
	const struct thread *life = model_thread(&session->trace.model, thread), *last;
	gint64 key = family_key(life);
	struct family fresh = {.first = thread, .last = thread, .count = 1}, *family;

	if (!has_siblings(life))
		return;
	family = g_hash_table_lookup(siblings->families, &key);
	if (!family) {
		g_hash_table_insert(siblings->families, g_memdup2(&key, sizeof key),
				    g_memdup2(&fresh, sizeof fresh));
		return;
	}
	if (family->last == thread)
		return;
	last = model_thread(&session->trace.model, family->last);
	/* one that has ended may still be on its way out */
	family->beside |= life->begin < last->begin + (last->end - last->begin) / 2;
	family->last = thread;
	family->count++;
}

void siblings_init(struct siblings *siblings, const struct session *session,
		   const struct path *path)
{
	g_autoptr(GHashTable) pooled = g_hash_table_new(NULL, NULL);

	*siblings = (struct siblings) {.first = NO_THREAD};
	siblings->families = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	for (guint i = 0; i < path->pieces->len; i++) {
		uint32_t thread = g_array_index(path->pieces, struct piece, i).thread;

		if (!is_pooled(session, thread))
			add(siblings, session, thread);
		else if (g_hash_table_add(pooled, GUINT_TO_POINTER(thread)))
			add_pooled(siblings, session, thread);
	}
}

static void add_peer(struct siblings *siblings, const struct session *session, uint32_t thread)
{
	gint64 name = model_thread(&session->trace.model, thread)->name;
	struct family fresh = {.first = thread, .last = thread}, *family;

	if (!g_hash_table_contains(siblings->pids, GUINT_TO_POINTER(process_of(session, thread))))
		return;
	family = g_hash_table_lookup(siblings->peers, &name);
	if (!family) {
		family = g_memdup2(&fresh, sizeof fresh);
		g_hash_table_insert(siblings->peers, g_memdup2(&name, sizeof name), family);
	}
	family->count++;
}

void siblings_add_crowd(struct siblings *siblings, const struct session *session,
			const struct path *path, const GArray *threads)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

	siblings->crowd = g_hash_table_new(NULL, NULL);
	siblings->pids = g_hash_table_new(NULL, NULL);
	siblings->peers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	siblings->first = g_array_index(threads, uint32_t, 0);
	for (guint i = 0; i < threads->len; i++) {
		uint32_t thread = g_array_index(threads, uint32_t, i);

		g_hash_table_add(siblings->crowd, GUINT_TO_POINTER(thread));
		g_hash_table_add(siblings->pids, GUINT_TO_POINTER(process_of(session, thread)));
		siblings->hosts |= model_thread(&session->trace.model, thread)->host !=
				   model_thread(&session->trace.model, siblings->first)->host;
		siblings->differ |= model_thread(&session->trace.model, thread)->name !=
				    model_thread(&session->trace.model, siblings->first)->name;
	}
	for (guint i = 0; i < path->pieces->len; i++) {
		uint32_t thread = g_array_index(path->pieces, struct piece, i).thread;

		if (!g_hash_table_contains(siblings->crowd, GUINT_TO_POINTER(thread)) &&
		    g_hash_table_add(seen, GUINT_TO_POINTER(thread)))
			add_peer(siblings, session, thread);
	}
}

bool siblings_differ(const struct siblings *siblings, uint32_t thread)
{
	return siblings->differ && thread == siblings->first;
}

bool siblings_hosts(const struct siblings *siblings, uint32_t thread)
{
	return siblings->hosts && thread == siblings->first;
}

void siblings_clear(struct siblings *siblings)
{
	if (siblings->crowd) {
		g_hash_table_destroy(siblings->crowd);
		g_hash_table_destroy(siblings->peers);
		g_hash_table_destroy(siblings->pids);
	}
	g_hash_table_destroy(siblings->families);
}

/* The family that is told of as one, NULL. */
static const struct family *family_of(const struct siblings *siblings,
				      const struct session *session, uint32_t thread)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	gint64 key = family_key(life), name = life->name;
	const struct family *family;

	if (siblings->crowd &&
	    g_hash_table_contains(siblings->pids, GUINT_TO_POINTER(process_of(session, thread))))
		return g_hash_table_lookup(siblings->peers, &name);
	if (is_pooled(session, thread)) {
		key = pool_key(session, thread);
		return g_hash_table_lookup(siblings->families, &key);
	}
	family = has_siblings(life) ? g_hash_table_lookup(siblings->families, &key) : NULL;
	return family && family->count >= MANY && !family->beside ? family : NULL;
}

static bool in_crowd(const struct siblings *siblings, uint32_t thread)
{
	return siblings->crowd && g_hash_table_contains(siblings->crowd, GUINT_TO_POINTER(thread));
}

uint32_t siblings_first(const struct siblings *siblings, const struct session *session,
			uint32_t thread)
{
	const struct family *family;

	if (in_crowd(siblings, thread))
		return siblings->first;
	family = family_of(siblings, session, thread);
	return family ? family->first : thread;
}

guint siblings_count(const struct siblings *siblings, const struct session *session,
		     uint32_t thread)
{
	const struct family *family;

	if (in_crowd(siblings, thread))
		return g_hash_table_size(siblings->crowd);
	family = family_of(siblings, session, thread);
	return family ? family->count : 1;
}
