/* SPDX-License-Identifier: MIT */
/* Ends of processes, and restarts; see restarts.h. */
#include "lives/restarts.h"

#include "event/signals.h"
#include "util/when.h"

static const struct thread *life(const struct session *session, uint32_t thread)
{
	return model_thread(&session->trace.model, thread);
}

/* "nosykill (268)" */
static void append_name(GString *text, const struct session *session, uint32_t thread)
{
	g_string_append_printf(text, "%s (%d)%s", session_thread_name(session, thread),
			       life(session, thread)->tid, session_on(session, thread));
}

/* --- how it ended ------------------------------------------------------------------ */

static bool of_own_process(const struct session *session, uint32_t a, uint32_t b)
{
	const uint32_t *process = session->trace.processes.first;

	return process[a] == process[b];
}

bool was_killed(const struct session *session, uint32_t thread)
{
	const struct thread *ended = life(session, thread);

	return ended->ended_by &&
	       (ended->ended_for == KILL_MEMORY ||
		(ended->ended_for == KILL_SENT && is_thread(ended->ended_sender) &&
		 !of_own_process(session, thread, ended->ended_sender)));
}

void append_death(GString *text, const struct session *session, uint32_t thread)
{
	const struct thread *ended = life(session, thread);

	if (!ended->ended_by) {
		g_string_append(text, ended->ended_for == KILL_NONE ? "ended by itself" : "ended");
		return;
	}
	if (ended->ended_for == KILL_MEMORY) {
		g_string_append(text, "was killed by the kernel to free memory (OOM killer, ");
		append_signal(text, ended->ended_by);
		if (ended->cgroup)
			g_string_append_printf(text, "; its cgroup: %s",
					       session_text(session, ended->cgroup));
		g_string_append_c(text, ')');
		return;
	}
	g_string_append(text, was_killed(session, thread) ? "was killed by " : "ended by ");
	append_signal(text, ended->ended_by);
	if (was_killed(session, thread)) {
		g_string_append(text, " from ");
		append_name(text, session, ended->ended_sender);
	}
}

/* --- who was there before ---------------------------------------------------------- */

static gint by_start(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct session *session = data;
	const struct thread *x = life(session, *(const uint32_t *) a);
	const struct thread *y = life(session, *(const uint32_t *) b);

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* GArray of uint32_t: threads that lead a process, in order of who started them, their name, and
 * their begin. */
static void *starts_new(const struct session *session)
{
	GArray *starts = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = life(session, i);

		if (thread->pid == thread->tid && is_thread(thread->parent))
			g_array_append_val(starts, i);
	}
	g_array_sort_with_data(starts, by_start, (gpointer) session);
	return starts;
}

/* The place in the list that it has. */
static guint place_of(const struct session *session, const GArray *starts, uint32_t thread)
{
	guint low = 0, high = starts->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (by_start(&g_array_index(starts, uint32_t, middle), &thread,
			     (gpointer) session) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t leader_of(const struct session *session, uint32_t thread)
{
	return life(session, thread)->pid == life(session, thread)->tid
		       ? thread
		       : session->trace.processes.first[thread];
}

uint32_t service_before(const struct session *session, uint32_t thread, int64_t since)
{
	const GArray *starts =
		session_make_once(session, starts_new, (GDestroyNotify) g_array_unref);
	uint32_t leader = is_thread(thread) ? leader_of(session, thread) : NO_THREAD;
	uint32_t before;
	guint place;

	if (!is_thread(leader) || !is_thread(life(session, leader)->parent))
		return NO_THREAD;
	place = place_of(session, starts, leader);
	if (!place)
		return NO_THREAD;
	before = g_array_index(starts, uint32_t, place - 1);
	if (life(session, before)->parent != life(session, leader)->parent ||
	    life(session, before)->name != life(session, leader)->name ||
	    MIN(life(session, before)->end, life(session, before)->ends_from) > since)
		return NO_THREAD;
	return was_killed(session, before) || life(session, before)->listens ? before : NO_THREAD;
}

/* "; svcmgr (256) started it 1.199 s after the first try" */
static void append_start(GString *text, const struct session *session, uint32_t leader,
			 int64_t since)
{
	const struct thread *started = life(session, leader);
	char length[32];

	if (!started->born || !is_thread(started->parent) || started->begin <= since)
		return;
	g_string_append(text, "; ");
	append_name(text, session, started->parent);
	g_string_append_printf(text, " started it %s after the first try",
			       when_duration(length, started->begin - since));
}

void append_restart(GString *text, const struct session *session, uint32_t thread, int64_t since)
{
	uint32_t before = service_before(session, thread, since);
	uint32_t leader = is_thread(thread) ? leader_of(session, thread) : NO_THREAD;
	char length[32];

	if (!is_thread(before)) {
		if (is_thread(leader))
			append_start(text, session, leader, since);
		return;
	}
	g_string_append(text, "; ");
	append_name(text, session, before);
	g_string_append(text, ", there before, ");
	append_death(text, session, before);
	g_string_append(text, ", and ");
	append_name(text, session, life(session, leader)->parent);
	if (life(session, leader)->begin < life(session, before)->end)
		g_string_append(text, " started the next one before it was gone");
	else
		g_string_append_printf(text, " started the next one %s later",
				       when_duration(length, life(session, leader)->begin -
								     life(session, before)->end));
}
