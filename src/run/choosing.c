/* SPDX-License-Identifier: MIT */
/* See choosing.h. */
#include "run/choosing.h"

#include <limits.h>
#include <string.h>

#include "run/anonymise.h"
#include "run/command.h"
#include "run/containers.h"
#include "run/option_values.h"
#include "util/pattern.h"

bool session_wants_host(const struct session *session, const struct host *host)
{
	const struct options *options = session->asked.options;

	return !options->host || g_strcmp0(options->host, host->hostname) == 0 ||
	       (options->anonymiser &&
		g_strcmp0(anonymous_text(options->anonymiser, ANONYMOUS_HOST, options->host),
			  host->hostname) == 0);
}

static bool lived_in_window(const struct session *session, const struct thread *thread)
{
	return MAX(thread->begin, session->asked.from) < MIN(thread->end, session->asked.to);
}

static bool host_wanted(const struct session *session, const struct thread *thread)
{
	const char *wanted = session->asked.options->host;
	const struct host *host = model_host(&session->trace.model, thread->host);

	return !wanted || g_strcmp0(wanted, host->hostname) == 0;
}

/* How a name that the user gave is to be understood. */
enum naming { BY_NUMBER, BY_NAME, BY_LONGEST, BY_PROGRAM };

static bool name_matches(const struct session *session, uint32_t index, const char *wanted)
{
	return pattern_match(wanted, session_thread_name(session, index)) ||
	       pattern_match(wanted, session_own_name(session, index));
}

static const struct name_change *name_change_of(const struct thread *thread, guint i)
{
	return &g_array_index(thread->names, struct name_change, i);
}

/* Of the names that it had in the window the one it had longest: what a program does may end with
 * an exec of another. */
static bool longest_name_matches(const struct session *session, uint32_t index, const char *wanted)
{
	const struct thread *thread = model_thread(&session->trace.model, index);
	int64_t from = MAX(thread->begin, session->asked.from), longest = -1;
	int64_t to = MIN(thread->end, session->asked.to);
	guint count = thread->names ? thread->names->len : 0;
	bool matches = false;

	for (guint i = 0; i <= count && count; i++) {
		int64_t since = i == 0       ? from
				: i == count ? thread->name_since
					     : name_change_of(thread, i)->time;
		int64_t until = i == count       ? to
				: i + 1 == count ? thread->name_since
						 : name_change_of(thread, i + 1)->time;
		uint32_t name = i == count ? thread->name : name_change_of(thread, i)->name;
		int64_t ns = MIN(until, to) - MAX(since, from);

		if (ns <= longest)
			continue;
		longest = ns;
		matches = pattern_match(wanted, session_text(session, name));
	}
	return matches;
}

/* The base name of the thread's program. */
static bool program_matches(const struct session *session, uint32_t index, const char *wanted)
{
	const char *program =
		session_text(session, model_thread(&session->trace.model, index)->program);
	const char *base = strrchr(program, '/');

	return *program && pattern_match(wanted, base ? base + 1 : program);
}

/* A number is a TID or PID; a name, with * and ?, a thread's in the window; only if no thread has
 * such a name, the one that it had longest; only if none had, its program's. */
static enum naming naming_of(const struct session *session, const char *wanted)
{
	gint64 n;

	if (g_ascii_string_to_signed(wanted, 10, 0, INT32_MAX, &n, NULL))
		return BY_NUMBER;
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		if (name_matches(session, i, wanted) && container_has(session, i, NULL))
			return BY_NAME;
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		if (longest_name_matches(session, i, wanted) && container_has(session, i, NULL))
			return BY_LONGEST;
	return BY_PROGRAM;
}

static bool named(const struct session *session, uint32_t index, int32_t number, const char *wanted,
		  enum naming naming)
{
	switch (naming) {
	case BY_NUMBER:
		return number == g_ascii_strtoll(wanted, NULL, 10);
	case BY_NAME:
		return name_matches(session, index, wanted);
	case BY_LONGEST:
		return longest_name_matches(session, index, wanted);
	default:
		return program_matches(session, index, wanted);
	}
}

static int by_host_tid_begin(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct session *session = data;
	const struct thread *x = model_thread(&session->trace.model, *(const uint32_t *) a);
	const struct thread *y = model_thread(&session->trace.model, *(const uint32_t *) b);

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* The thread itself or, for a process, the thread that leads it; numbers are those
 * of the container, if one was asked for. */
static bool is_wanted(const struct session *session, uint32_t index, const char *wanted,
		      bool process, enum naming naming)
{
	const struct thread *thread = model_thread(&session->trace.model, index);
	uint32_t leader = index;
	struct ids ids;

	if (!container_has(session, index, &ids))
		return false;
	if (strcmp(wanted, "all") == 0 && !process)
		return true;
	if (!process)
		return named(session, index, ids.tid, wanted, naming);
	if (thread->pid < 0)
		return false;
	if (thread->pid != thread->tid)
		leader = session_thread_at(session, thread->host, thread->pid, thread->begin);
	return named(session, leader == NO_THREAD ? index : leader, ids.pid, wanted, naming);
}

char *session_nearest_threads(const struct session *session, const char *wanted, bool process,
			      const char *before)
{
	struct nearest nearest = {.wanted = wanted};
	enum naming naming = naming_of(session, wanted);

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);
		const char *name = session_thread_name(session, i);

		if (is_wanted(session, i, wanted, process, naming)) {
			nearest_clear(&nearest);
			return g_strdup("");
		}
		if (strcmp(name, "?") != 0 && container_has(session, i, NULL) &&
		    (!process || thread->pid == thread->tid))
			nearest_offer(&nearest, name);
	}
	return nearest_list(&nearest, before);
}

void session_threads_named(const struct session *session, const char *wanted, bool process,
			   GArray *list)
{
	enum naming naming = naming_of(session, wanted);

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);

		if (host_wanted(session, thread) && lived_in_window(session, thread) &&
		    is_wanted(session, i, wanted, process, naming))
			g_array_append_val(list, i);
	}
}

/* Everything asked for must exist: one name at a time. */
static bool select_names(struct session *session, const GPtrArray *names, const char *option,
			 bool process, GError **error)
{
	for (guint i = 0; i < names->len; i++) {
		const char *wanted = g_ptr_array_index(names, i);
		g_autofree char *near = NULL, *all = NULL;
		enum naming naming = naming_of(session, wanted);
		bool found = false, lived = false;

		for (uint32_t t = 0; t < session->trace.model.thread_count; t++) {
			const struct thread *thread = model_thread(&session->trace.model, t);

			if (!host_wanted(session, thread) ||
			    !is_wanted(session, t, wanted, process, naming))
				continue;
			lived = true;
			if (!lived_in_window(session, thread))
				continue;
			found = true;
			g_array_append_val(session->asked.selected, t);
		}
		/* a damaged trace may have events, but no thread */
		if (found || (strcmp(wanted, "all") == 0 && !session->trace.model.thread_count))
			continue;
		if (lived)
			return options_refuse(error, "--%s '%s': it did not live in the window",
					      option, wanted);
		near = session_nearest_threads(session, wanted, process, "; it has ");
		all = suggested_command(session, &(struct suggestion) {.command = "overview",
								       .option = "limit",
								       .value = "0"});
		return options_refuse(error, "--%s '%s': the %s has no such %s%s (%s lists them)",
				      option, wanted, session->asked.chosen ? "container" : "trace",
				      option, near, all);
	}
	return true;
}

/* --container alone: all its threads; an export is of all unless it says of which. */
static bool select_container(struct session *session, GError **error)
{
	const struct options *options = session->asked.options;
	bool all = options->command->every_thread;

	if ((!options->container && !all) || options->threads->len || options->processes->len)
		return true;
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);

		if (host_wanted(session, thread) && container_has(session, i, NULL) &&
		    lived_in_window(session, thread))
			g_array_append_val(session->asked.selected, i);
	}
	if (session->asked.selected->len || !options->container)
		return true;
	return options_refuse(error, "--container '%s': no thread of it lived in the window%s%s",
			      options->container, options->host ? " on host " : "",
			      options->host ? options->host : "");
}

bool host_exists(const struct session *session, GError **error)
{
	struct nearest nearest = {.wanted = session->asked.options->host};
	g_autofree char *names = NULL;

	if (!session->asked.options->host)
		return true;
	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);

		if (g_strcmp0(host->hostname, session->asked.options->host) == 0) {
			nearest_clear(&nearest);
			return true;
		}
		nearest_offer(&nearest, host->hostname ? host->hostname : "(no name)");
	}
	names = nearest_list(&nearest, "the traces are of ");
	return options_refuse(error, "--host '%s': %s", session->asked.options->host, names);
}

/* "in order of host, tid, begin", each once however often it was named. */
static void sort_selected(struct session *session)
{
	GArray *list = session->asked.selected;
	guint kept = 0;

	g_array_sort_with_data(list, by_host_tid_begin, session);
	for (guint i = 0; i < list->len; i++)
		if (!i ||
		    g_array_index(list, uint32_t, i) != g_array_index(list, uint32_t, kept - 1))
			g_array_index(list, uint32_t, kept++) = g_array_index(list, uint32_t, i);
	g_array_set_size(list, kept);
}

bool threads_choose(struct session *session, GError **error)
{
	const struct options *options = session->asked.options;

	if (!container_choose(session, error) || !select_container(session, error) ||
	    !select_names(session, options->threads, "thread", false, error) ||
	    !select_names(session, options->processes, "process", true, error))
		return false;
	sort_selected(session);
	return true;
}
