/* SPDX-License-Identifier: MIT */
/* See killed.h. */
#include "stands/killed.h"

#include "lives/restarts.h"
#include "run/choosing.h"
#include "stands/extra_items.h"
#include "util/when.h"
#include "words/names.h"

static const struct thread *life(const struct session *session, uint32_t thread)
{
	return model_thread(&session->trace.model, thread);
}

static bool is_killed(const struct session *session, uint32_t thread)
{
	const struct thread *ended = life(session, thread);

	return ended->ended_by && ended->ended_for == KILL_MEMORY && ended->pid == ended->tid &&
	       ended->end > session->asked.from && ended->end <= session->asked.to;
}

static bool is_sooner(const struct thread *ended, const struct thread *a, const struct thread *b)
{
	bool one = a->parent == ended->parent, other = b->parent == ended->parent;

	return one != other ? one : a->begin < b->begin;
}

/* What has its name, and began after it; of those first what its own parent started. NO_THREAD:
 * there is none. */
static uint32_t next_life(const struct session *session, uint32_t thread)
{
	const struct thread *ended = life(session, thread);
	uint32_t next = NO_THREAD;

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *at = life(session, i);

		if (at->pid != at->tid || !is_thread(at->parent) || at->host != ended->host ||
		    at->name != ended->name || at->begin < ended->end)
			continue;
		if (!is_thread(next) || is_sooner(ended, at, life(session, next)))
			next = i;
	}
	return next;
}

static struct fact *fact_of(const struct session *session, GArray *items, guint first,
			    uint32_t thread)
{
	struct stand item;

	for (guint i = first; i < items->len; i++) {
		const struct stand *at = &g_array_index(items, struct stand, i);

		if (life(session, at->fact->victim)->name == life(session, thread)->name &&
		    at->fact->host == life(session, thread)->host) {
			g_array_append_val(at->victims, thread);
			return at->fact;
		}
	}
	item = stand_of(fact_new(&(struct fact) {.kind = STAND_MEMORY,
						 .host = life(session, thread)->host,
						 .victim = thread,
						 .subject = NO_THREAD,
						 .name = NO_THREAD,
						 .shortest = INT64_MAX,
						 .longest = -1,
						 .life = session->asked.to - session->asked.from}),
			0);
	g_array_append_val(items, item);
	return item.fact;
}

/* Told is the one that was missing longest. */
static void add(const struct session *session, struct fact *fact, uint32_t thread)
{
	uint32_t next = next_life(session, thread);
	int64_t begin = life(session, thread)->end;
	int64_t end = is_thread(next) ? MIN(life(session, next)->begin, session->asked.to)
				      : session->asked.to;

	fact->killed++;
	fact->threads++;
	fact->count++;
	fact->ns += end - begin;
	fact->most = fact->ns;
	fact->shortest = MIN(fact->shortest, end - begin);
	if (end - begin <= fact->longest)
		return;
	fact->longest = end - begin;
	fact->begin = MAX(life(session, thread)->begin, session->asked.from); /* what led to it */
	fact->end = begin;
	fact->victim = thread;
	fact->subject = is_thread(next) ? life(session, next)->parent : NO_THREAD;
}

void killed_items(const struct session *session, GArray *items)
{
	guint first = items->len;
	double heaviest = 0;

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		if (is_killed(session, i) &&
		    session_wants_host(session,
				       model_host(&session->trace.model, life(session, i)->host)))
			add(session, fact_of(session, items, first, i), i);
	/* before what that led to, whatever it took from others */
	for (guint i = 0; i < first; i++)
		heaviest = MAX(heaviest, g_array_index(items, struct stand, i).weight);
	for (guint i = first; i < items->len; i++)
		g_array_index(items, struct stand, i).weight =
			heaviest + (double) g_array_index(items, struct stand, i).fact->ns;
}

void killed_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	char length[32];

	append_one(text, session, fact->victim);
	g_string_append_c(text, ' ');
	append_death(text, session, fact->victim);
	if (fact->killed > 1)
		g_string_append_printf(text, ", as %s %u more of that name",
				       fact->killed > 2 ? "were" : "was", fact->killed - 1);
	if (!is_thread(fact->subject)) {
		g_string_append(text, "; none of that name began later");
		return;
	}
	g_string_append(text, "; ");
	append_one(text, session, fact->subject);
	g_string_append_printf(text, " started the next one %s later%s",
			       when_duration(length, fact->longest),
			       fact->killed > 1 ? " (the longest)" : "");
}
