/* SPDX-License-Identifier: MIT */
/* Whom the walk of the exports visits: threads in its order, and their processes; see
 * export_walk.h.
 *
 * Threads are sorted by host and PID first, so that those of a process come together and
 * processes are in order by themselves. A PID that was used again is one process here: the
 * viewers know no other.
 */
#include "export/export_walk.h"

static int32_t shown_pid(const struct thread *thread)
{
	int32_t pid = thread_process(thread);

	return pid >= 0 ? pid : thread->tid;
}

static int by_process(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct session *session = data;
	const struct thread *x = model_thread(&session->trace.model, *(const uint32_t *) a);
	const struct thread *y = model_thread(&session->trace.model, *(const uint32_t *) b);

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (shown_pid(x) != shown_pid(y))
		return shown_pid(x) < shown_pid(y) ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Threads of a process come together: its own is the last one, or a new one. */
static uint32_t process_of(struct walk *walk, const struct thread *thread)
{
	struct walk_process process = {.host = thread->host, .pid = shown_pid(thread)};
	const struct walk_process *last =
		walk->processes->len ? &g_array_index(walk->processes, struct walk_process,
						      walk->processes->len - 1)
				     : NULL;

	if (!last || last->host != process.host || last->pid != process.pid)
		g_array_append_val(walk->processes, process);
	return walk->processes->len - 1;
}

static struct walk_process *process_at(const struct walk *walk, guint index)
{
	return &g_array_index(walk->processes, struct walk_process, index);
}

/* The process of that number, which a binary search finds; NULL: none is exported. */
static struct walk_process *find_process(const struct walk *walk, uint16_t host, int32_t pid)
{
	guint low = 0, high = walk->processes->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		const struct walk_process *at = process_at(walk, middle);

		if (at->host < host || (at->host == host && at->pid < pid))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == walk->processes->len || process_at(walk, low)->host != host ||
	    process_at(walk, low)->pid != pid)
		return NULL;
	return process_at(walk, low);
}

/* The name of the thread that leads the process, of whichever life of it came last; of the
 * first thread there is, where that one was not seen. */
static void name_processes(struct walk *walk)
{
	const struct session *session = walk->session;

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);
		struct walk_process *process;

		if (shown_pid(thread) != thread->tid || thread->begin >= session->asked.to)
			continue;
		process = find_process(walk, thread->host, thread->tid);
		if (process)
			process->name = intern_id(session->trace.model.names,
						  session_thread_name(session, i));
	}
	for (guint i = 0; i < walk->threads->len; i++) {
		const struct walk_thread *thread =
			&g_array_index(walk->threads, struct walk_thread, i);
		struct walk_process *process = process_at(walk, thread->process);

		if (!process->name)
			process->name = intern_id(session->trace.model.names,
						  session_thread_name(session, thread->thread));
	}
}

void walk_init(struct walk *walk, const struct session *session)
{
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	*walk = (struct walk) {.session = session};
	walk->threads = g_array_new(FALSE, FALSE, sizeof(struct walk_thread));
	walk->processes = g_array_new(FALSE, FALSE, sizeof(struct walk_process));
	walk->frames = g_array_new(FALSE, FALSE, sizeof(struct walk_frame));
	walk->numbers = g_new0(uint32_t, session->trace.model.thread_count + 1);
	g_array_append_vals(list, session->asked.selected->data, session->asked.selected->len);
	g_array_sort_with_data(list, by_process, (gpointer) session);
	for (guint i = 0; i < list->len; i++) {
		uint32_t index = g_array_index(list, uint32_t, i);
		const struct thread *life = model_thread(&session->trace.model, index);
		struct walk_thread thread = {.number = i + 1,
					     .thread = index,
					     .process = process_of(walk, life),
					     .begin = MAX(life->begin, session->asked.from),
					     .end = MIN(life->end, session->asked.to)};

		walk->numbers[index] = thread.number;
		g_array_append_val(walk->threads, thread);
	}
	name_processes(walk);
}

void walk_clear(struct walk *walk)
{
	g_array_free(walk->threads, TRUE);
	g_array_free(walk->processes, TRUE);
	g_array_free(walk->frames, TRUE);
	g_free(walk->numbers);
}
