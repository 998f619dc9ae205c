/* SPDX-License-Identifier: MIT */
/* See hangs.h. */
#include "stands/hangs.h"

#include "contention/deadlocks.h"
#include "contention/holders.h"
#include "lives/restarts.h"
#include "run/choosing.h"
#include "stands/extra_items.h"
#include "stands/stuck.h"
#include "util/when.h"
#include "waits/state_names.h"
#include "words/names.h"

#define HANG_MIN INT64_C(100000000) /* ns: … */
#define HANG_SHARE 0.05 /* … and of the window; less may be just a moment */
#define NAMED_MAX 4 /* threads named in words; of more that had ended none: they come and go */
#define CYCLE_MAX 8 /* threads */

struct hang {
	uint32_t process; /* its first thread; NO_THREAD: of a cycle */
	GArray *waits; /* owned; struct wait, the one that began first first; of a cycle each for a
			  lock of the next one's thread */
	GArray *ended; /* owned; uint32_t: threads that had ended before, the last one first */
	int64_t since, until; /* ns: all wait; whatever the window */
	bool killed; /* else the trace ended */
};

static const struct thread *life(const struct session *session, uint32_t thread)
{
	return model_thread(&session->trace.model, thread);
}

static void hang_free(gpointer data)
{
	struct hang *hang = data;

	g_array_free(hang->waits, TRUE);
	g_array_free(hang->ended, TRUE);
	g_free(hang);
}

/* Of nobody yet, and for all of the trace. */
static struct hang *hang_new(const struct session *session, uint32_t process)
{
	struct hang *hang = g_new(struct hang, 1);

	*hang = (struct hang) {.process = process,
			       .waits = g_array_new(FALSE, FALSE, sizeof(struct wait)),
			       .ended = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
			       .since = session->trace.begin,
			       .until = session->trace.end};
	return hang;
}

/* The wait that was the thread's last: open at the trace's end, or cut off by the signal that ended
 * its process. */
static bool last_wait(const struct session *session, uint32_t thread, struct wait *wait)
{
	const struct thread *at = life(session, thread);
	bool ended = at->state == THREAD_DEAD;
	struct track_pos pos;
	struct span span;

	if ((!ended && at->state != THREAD_BLOCKED) ||
	    !track_find(&session->trace.timeline, &at->track, at->end - (ended ? KILL_STEPS : 1),
			&pos))
		return false;
	while (track_read(&session->trace.timeline, &at->track, &pos, at->end, &span)) {
		if (!leaf_is_blocked(span.leaf))
			continue;
		*wait = wait_of(session, thread, &span);
		if (ended ? wait_is_cut_off(session, wait) : span.end >= at->end)
			return true;
	}
	return false;
}

/* Only a thread of its own process can end it; nobody is known to be about to. */
static bool is_closed(const struct session *session, const struct wait *wait)
{
	return PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL && wait->block->own_futex &&
	       wait->block->timer < 0 && wait->begin > session->trace.begin &&
	       !block_reason(session, wait->block);
}

static bool is_mutex(const struct session *session, const struct wait *wait)
{
	const struct lock *lock = block_lock(session, wait->block);

	return lock && lock->kind == LOCK_FUTEX && lock->certain;
}

/* False: it can go on. */
static bool add_thread(struct hang *hang, const struct session *session, uint32_t thread)
{
	const struct thread *at = life(session, thread);
	struct wait wait;

	if (deadlock_of(session, thread))
		return false;
	if (last_wait(session, thread, &wait)) {
		hang->since = MAX(hang->since, wait.begin);
		hang->until = MIN(hang->until, wait.end);
		hang->killed |= at->state == THREAD_DEAD;
		g_array_append_val(hang->waits, wait);
		return is_closed(session, &wait);
	}
	if (at->state != THREAD_DEAD)
		return false;
	hang->since = MAX(hang->since, at->end);
	g_array_append_val(hang->ended, thread);
	return true;
}

static int first_begun(gconstpointer a, gconstpointer b)
{
	const struct wait *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->thread < y->thread ? -1 : 1;
}

static int last_ended(gconstpointer a, gconstpointer b, gpointer session)
{
	const struct thread *x = life(session, *(const uint32_t *) a);
	const struct thread *y = life(session, *(const uint32_t *) b);

	return x->end > y->end ? -1 : x->end < y->end;
}

/* NULL: it does not hang. */
static struct hang *hang_of_process(const struct session *session, uint32_t process)
{
	const struct processes *processes = &session->trace.processes;
	const uint32_t *threads = processes->threads + processes->place[process];
	const struct thread *first = life(session, process);
	struct hang *hang;

	if (first->kernel || first->pid < 0)
		return NULL;
	hang = hang_new(session, process);
	for (uint32_t i = 0; i < processes->count[process]; i++)
		if (!add_thread(hang, session, threads[i]))
			goto none;
	if (!hang->waits->len || hang->until - hang->since < HANG_MIN ||
	    host_unseen(model_host(&session->trace.model, first->host), hang->since, hang->until) ||
	    (!hang->killed && session->trace.passed_from != INT64_MAX) ||
	    (hang->waits->len == 1 &&
	     !is_mutex(session, &g_array_index(hang->waits, struct wait, 0))))
		goto none;
	g_array_sort(hang->waits, first_begun);
	g_array_sort_with_data(hang->ended, last_ended, (gpointer) session);
	return hang;
none:
	hang_free(hang);
	return NULL;
}

/* --- cycles of owners --------------------------------------------------------------- */

/* Who had the lock when the wait was cut off, for certain; NO_THREAD. */
static uint32_t owner_of(const struct session *session, const struct wait *wait)
{
	g_autoptr(lock_wait)
		held = lock_wait_new(session, wait->block, wait->thread, wait->begin, wait->end);
	const struct holding *last;

	if (!held || !held->holdings->len)
		return NO_THREAD;
	last = &g_array_index(held->holdings, struct holding, held->holdings->len - 1);
	return last->proved && last->end > wait->end - KILL_STEPS ? last->thread : NO_THREAD;
}

/* Of threads that a signal ended in a wait for a lock: that wait, by thread. */
static GHashTable *cut_off_waits(const struct session *session)
{
	GHashTable *waits = g_hash_table_new_full(NULL, NULL, NULL, g_free);

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		struct wait wait;

		if (life(session, i)->ended_by && last_wait(session, i, &wait) &&
		    block_lock(session, wait.block))
			g_hash_table_insert(waits, GUINT_TO_POINTER(i),
					    g_memdup2(&wait, sizeof wait));
	}
	return waits;
}

/* The cycle that `thread` is the first of; NULL: there is none. */
static struct hang *cycle_from(const struct session *session, GHashTable *waits, uint32_t thread)
{
	struct hang *hang = hang_new(session, NO_THREAD);
	uint32_t at = thread;

	hang->killed = true;
	do {
		const struct wait *wait = g_hash_table_lookup(waits, GUINT_TO_POINTER(at));

		if (!wait || at < thread || hang->waits->len == CYCLE_MAX)
			goto none;
		g_array_append_vals(hang->waits, wait, 1);
		hang->since = MAX(hang->since, wait->begin);
		hang->until = MIN(hang->until, wait->end);
		at = owner_of(session, wait);
	} while (is_thread(at) && at != thread);
	if (is_thread(at) && hang->waits->len > 1 && hang->until > hang->since)
		return hang;
none:
	hang_free(hang);
	return NULL;
}

static void add_cycles(const struct session *session, GPtrArray *hangs)
{
	g_autoptr(GHashTable) waits = cut_off_waits(session);

	for (uint32_t i = 0; g_hash_table_size(waits) > 1 && i < session->trace.model.thread_count;
	     i++) {
		struct hang *hang = g_hash_table_contains(waits, GUINT_TO_POINTER(i))
					    ? cycle_from(session, waits, i)
					    : NULL;

		if (hang)
			g_ptr_array_add(hangs, hang);
	}
}

/* --- items ---------------------------------------------------------------------------- */

/* GPtrArray of struct hang. */
static void *hangs_new(const struct session *session)
{
	const uint32_t *first = session->trace.processes.first;
	GPtrArray *hangs = g_ptr_array_new_with_free_func(hang_free);

	add_cycles(session, hangs);
	for (uint32_t i = 0;
	     session->trace.kinds[EV_HRTIMER_START] && i < session->trace.model.thread_count; i++) {
		struct hang *hang = first[i] == i ? hang_of_process(session, i) : NULL;

		if (hang)
			g_ptr_array_add(hangs, hang);
	}
	return hangs;
}

static const GPtrArray *hangs_of(const struct session *session)
{
	return session_make_once(session, hangs_new, (GDestroyNotify) g_ptr_array_unref);
}

/* NULL: it is of none. */
static const struct hang *hang_of(const struct session *session, uint32_t thread)
{
	const uint32_t *first = session->trace.processes.first;
	const GPtrArray *hangs = hangs_of(session);

	for (guint i = 0; i < hangs->len; i++) {
		const struct hang *hang = g_ptr_array_index(hangs, i);

		if (hang->process == first[thread])
			return hang;
		for (guint k = 0; !is_thread(hang->process) && k < hang->waits->len; k++)
			if (g_array_index(hang->waits, struct wait, k).thread == thread)
				return hang;
	}
	return NULL;
}

static struct fact *fact_of(const struct session *session, const struct hang *hang)
{
	const struct wait *last = &g_array_index(hang->waits, struct wait, hang->waits->len - 1);
	bool cycle = !is_thread(hang->process);
	int64_t from = MAX(life(session, last->thread)->begin, session->asked.from);
	struct fact one = {
		.kind = STAND_DEADLOCK,
		.inferred = !cycle,
		.host = life(session, last->thread)->host,
		.victim = last->thread,
		.subject = cycle ? g_array_index(hang->waits, struct wait, 0).thread : NO_THREAD,
		.name = NO_THREAD,
		.object = session_resource(session, last->block),
		.threads = hang->waits->len,
		.life = session->asked.to - from,
		.begin = MAX(hang->since, session->asked.from),
		.end = MIN(hang->until, session->asked.to),
		.told = *last,
		.stuck = hang->killed ? STUCK_KILLED : STUCK_OPEN,
		.count = 1};

	one.ns = one.most = one.longest = one.shortest = one.waits = one.end - one.begin;
	return fact_new(&one);
}

/* Their waits are the hang's. */
static bool is_told_there(const struct session *session, const struct stand *item)
{
	const struct fact *fact = item->fact;

	if (fact->kind == STAND_DEADLOCK || (!fact->stuck && fact->kind != STAND_LOCK))
		return false;
	for (guint i = 0; i < item->victims->len; i++) {
		const struct hang *hang =
			hang_of(session, g_array_index(item->victims, uint32_t, i));

		if (!hang || (!fact->stuck && 2 * (hang->until - hang->since) < fact->most))
			return false;
	}
	return true;
}

static void add_victims(struct stand *item, const struct hang *hang)
{
	for (guint i = 0; i + 1 < hang->waits->len; i++) /* the last one is there */
		g_array_append_val(item->victims,
				   g_array_index(hang->waits, struct wait, i).thread);
}

/* For a good part of the window. */
static bool stands_out(const struct session *session, const struct fact *fact)
{
	return session_wants_host(session, model_host(&session->trace.model, fact->host)) &&
	       fact->ns > 0 &&
	       (double) fact->ns >= HANG_SHARE * (double) (session->asked.to - session->asked.from);
}

void hang_items(const struct session *session, GArray *items)
{
	const GPtrArray *hangs = hangs_of(session);

	for (guint i = items->len; hangs->len && i-- > 0;)
		if (is_told_there(session, &g_array_index(items, struct stand, i)))
			g_array_remove_index(items, i);
	for (guint i = 0; i < hangs->len; i++) {
		struct fact *fact = fact_of(session, g_ptr_array_index(hangs, i));
		struct stand item;

		if (!stands_out(session, fact)) {
			fact_free(fact);
			continue;
		}
		item = stand_of(fact, (double) (fact->life + fact->ns));
		add_victims(&item, g_ptr_array_index(hangs, i));
		g_array_append_val(items, item);
	}
}

/* "wrk0 (262) and wrk1 (263) on 0x562c87b66148": of those that wait for the same. */
static void append_waiters(GString *text, const struct session *session, const struct hang *hang,
			   guint first)
{
	const struct wait *like = &g_array_index(hang->waits, struct wait, first);
	uint32_t resource = session_resource(session, like->block);
	guint count = 0, named = 0;

	for (guint i = first; i < hang->waits->len; i++)
		count += session_resource(session,
					  g_array_index(hang->waits, struct wait, i).block) ==
			 resource;
	for (guint i = first; i < hang->waits->len && named < MIN(count, NAMED_MAX); i++) {
		const struct wait *at = &g_array_index(hang->waits, struct wait, i);

		if (session_resource(session, at->block) != resource)
			continue;
		g_string_append(text, !named ? "" : named + 1 == count ? " and " : ", ");
		append_one(text, session, at->thread);
		named++;
	}
	if (named < count)
		g_string_append_printf(text, " and %u more", count - named);
	if (!is_mutex(session, like)) {
		append_on(text, session, resource);
		return;
	}
	g_string_append(text, " for ");
	append_object(text, session, resource, true);
}

/* Nobody before waits for the same. */
static bool is_first_on_it(const struct session *session, const struct hang *hang, guint at)
{
	uint32_t resource =
		session_resource(session, g_array_index(hang->waits, struct wait, at).block);

	for (guint i = 0; i < at; i++)
		if (session_resource(session, g_array_index(hang->waits, struct wait, i).block) ==
		    resource)
			return false;
	return true;
}

static void append_ended(GString *text, const struct session *session, const struct hang *hang)
{
	guint named = hang->ended->len > NAMED_MAX ? 0 : hang->ended->len;

	for (guint i = 0; i < named; i++) {
		g_string_append(text, !i ? "; " : i + 1 == named ? " and " : ", ");
		append_one(text, session, g_array_index(hang->ended, uint32_t, i));
	}
	if (named)
		g_string_append(text, " had ended before");
}

/* "mover (261) waited in flock for the lock of /b, which packer (262) had, and …" */
static void append_cycle(GString *text, const struct session *session, const struct hang *hang)
{
	for (guint i = 0; i < hang->waits->len; i++) {
		const struct wait *at = &g_array_index(hang->waits, struct wait, i);
		const struct wait *next =
			&g_array_index(hang->waits, struct wait, (i + 1) % hang->waits->len);

		g_string_append(text, i ? ", and " : "");
		append_one(text, session, at->thread);
		g_string_append(text, i ? " for " : " waited for ");
		append_object(text, session, session_resource(session, at->block), true);
		g_string_append(text, ", which ");
		append_one(text, session, next->thread);
		g_string_append(text, " had");
	}
}

/* How many threads the process of `thread` had then. */
static uint32_t threads_at(const struct session *session, uint32_t thread, int64_t time)
{
	const struct processes *processes = &session->trace.processes;
	uint32_t begun, alive = 0;
	const uint32_t *threads =
		process_before(processes, &session->trace.model, thread, time, &begun);

	for (uint32_t i = 0; i < begun; i++)
		alive += life(session, threads[i])->end >= time;
	return alive;
}

/* A child of fork() has its parent's locks as they were, but only the thread that forked. */
static void append_fork(GString *text, const struct session *session, const struct hang *hang)
{
	const struct wait *only = &g_array_index(hang->waits, struct wait, 0);
	const struct thread *child = life(session, hang->process);
	uint32_t threads;

	if (hang->waits->len > 1 || !child->born || child->execed || !is_thread(child->parent) ||
	    !is_mutex(session, only))
		return;
	threads = threads_at(session, child->parent, child->begin);
	if (threads < 2)
		return;
	g_string_append(text, "; it was forked from ");
	append_one(text, session, child->parent);
	g_string_append_printf(text,
			       ", which had %u threads: one of the others may have had the lock "
			       "then",
			       threads);
}

void hang_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	const struct hang *hang = hang_of(session, fact->victim);
	guint count = hang->waits->len;
	char length[32];

	if (!is_thread(hang->process)) {
		append_cycle(text, session, hang);
		g_string_append_printf(text, "; none went on for %s, until %s ",
				       when_duration(length, fact->ns),
				       session_own_name(session, fact->victim));
		append_death(text, session, fact->victim);
		return;
	}
	append_one(text, session, hang->process);
	g_string_append_printf(text, " hung for %s, ", when_duration(length, fact->ns));
	if (hang->killed) {
		g_string_append(text, "until it ");
		append_death(text, session, fact->victim);
	} else {
		g_string_append(text, "up to the trace's end");
	}
	if (count > 1)
		g_string_append_printf(text,
				       ": all of its %u threads waited in futex, and nobody else "
				       "can wake them (inferred): ",
				       count);
	else
		g_string_append(text, ": its only thread waited in futex, and nobody else can wake "
				      "it (inferred): ");
	for (guint i = 0, listed = 0; i < count && listed < NAMED_MAX; i++) {
		if (!is_first_on_it(session, hang, i))
			continue;
		g_string_append(text, listed++ ? ", " : "");
		append_waiters(text, session, hang, i);
	}
	if (count > 1) {
		g_string_append(text, "; the last to begin to wait was ");
		append_one(text, session, fact->victim);
	}
	append_ended(text, session, hang);
	append_fork(text, session, hang);
}
