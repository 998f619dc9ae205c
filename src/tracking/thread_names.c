/* SPDX-License-Identifier: MIT */
/* See thread_names.h. */
#include "tracking/thread_names.h"

struct namesakes {
	uint32_t processes[NAMESAKES_MAX + 1];
	guint count;
};

static char *name_key(const struct session *session, uint32_t thread)
{
	return g_strdup_printf("%u %s", model_thread(&session->trace.model, thread)->host,
			       session_thread_name(session, thread));
}

static void count_namesakes(struct thread_names *names)
{
	const struct session *session = names->session;

	for (uint32_t t = 0; t < session->trace.model.thread_count; t++) {
		char *key = name_key(session, t);
		struct namesakes *of = g_hash_table_lookup(names->called, key);
		uint32_t process = session->trace.processes.first[t];
		guint i = 0;

		if (!of) {
			of = g_new0(struct namesakes, 1);
			g_hash_table_insert(names->called, g_strdup(key), of);
		}
		while (i < of->count && of->processes[i] != process)
			i++;
		if (i == of->count && of->count <= NAMESAKES_MAX)
			of->processes[of->count++] = process;
		g_free(key);
	}
}

guint thread_names_sharing(const struct thread_names *names, uint32_t thread)
{
	g_autofree char *key = name_key(names->session, thread);
	const struct namesakes *of = g_hash_table_lookup(names->called, key);

	return of ? of->count : 0;
}

void thread_names_set(struct thread_names *names, uint32_t thread, char *name)
{
	g_free(g_ptr_array_index(names->of, thread));
	g_ptr_array_index(names->of, thread) = name;
	names->numbers[thread] = 0;
}

const char *thread_names_get(const struct thread_names *names, uint32_t thread)
{
	const struct session *session = names->session;
	g_autofree char *process = NULL;
	guint sharing;
	char *name;

	if (!is_thread(thread))
		return session_thread_name(session, thread);
	if (g_ptr_array_index(names->of, thread))
		return g_ptr_array_index(names->of, thread);
	sharing = thread_names_sharing(names, thread);
	if (sharing > 1 &&
	    model_thread(&session->trace.model, session->trace.processes.first[thread])->pid > 0 &&
	    sharing <= NAMESAKES_MAX)
		process = g_strdup_printf(" (%d)",
					  model_thread(&session->trace.model,
						       session->trace.processes.first[thread])
						  ->pid);
	name = g_strconcat(session_thread_name(session, thread), process ? process : "",
			   session_on(session, thread), NULL);
	g_ptr_array_index(names->of, thread) = name;
	return name;
}

uint32_t thread_names_number(const struct thread_names *names, uint32_t thread)
{
	if (!is_thread(thread))
		return intern_id(names->texts, session_thread_name(names->session, thread));
	if (!names->numbers[thread])
		names->numbers[thread] = intern_id(names->texts, thread_names_get(names, thread));
	return names->numbers[thread];
}

struct thread_names *thread_names_new(const struct session *session)
{
	struct thread_names *names = g_new0(struct thread_names, 1);

	names->session = session;
	names->called = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	names->of = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_set_size(names->of, (gint) session->trace.model.thread_count);
	names->texts = intern_new();
	names->numbers = g_new0(uint32_t, session->trace.model.thread_count + 1);
	count_namesakes(names);
	return names;
}

void thread_names_free(struct thread_names *names)
{
	g_hash_table_destroy(names->called);
	g_ptr_array_free(names->of, TRUE);
	intern_free(names->texts);
	g_free(names->numbers);
	g_free(names);
}
