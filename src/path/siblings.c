/* SPDX-License-Identifier: MIT */
/* See siblings.h. */
#include "path/siblings.h"

#define MANY 6 /* up to five are told one by one */

struct family {
	uint32_t first, last; /* as the path meets them */
	guint count;
	bool beside; /* two lived at one time */
};

static bool has_siblings(const struct thread *thread)
{
	return thread->born && thread->pid == thread->tid && is_thread(thread->parent);
}

static gint64 family_key(const struct thread *thread)
{
	return (gint64) ((uint64_t) thread->parent << 32 | thread->name);
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
	siblings->families = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	for (guint i = 0; i < path->pieces->len; i++)
		add(siblings, session, g_array_index(path->pieces, struct piece, i).thread);
}

void siblings_clear(struct siblings *siblings)
{
	g_hash_table_destroy(siblings->families);
}

uint32_t siblings_first(const struct siblings *siblings, const struct session *session,
			uint32_t thread)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	gint64 key = family_key(life);
	const struct family *family =
		has_siblings(life) ? g_hash_table_lookup(siblings->families, &key) : NULL;

	return family && family->count >= MANY && !family->beside ? family->first : thread;
}
